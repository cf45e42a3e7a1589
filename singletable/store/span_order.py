"""The order of a list of spans, and where in it a page begins.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal, Protocol, TypeAlias

from ..cursors import cursor_place, cursor_text, damaged
from ..errors import RequestError
from ..keys import time_text

OrderBy: TypeAlias = Literal["started_at", "ended_at"]
Direction: TypeAlias = Literal["asc", "desc"]
EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


class Timed(Protocol):
    """A span, or a light form of one."""

    @property
    def trace_id(self) -> str:
        """The trace."""
        ...

    @property
    def span_id(self) -> str:
        """The span in the trace."""
        ...

    @property
    def started_at(self) -> datetime:
        """When it started."""
        ...

    @property
    def ended_at(self) -> datetime | None:
        """When it ended; None while it runs."""
        ...


@dataclass(frozen=True)
class Place:
    """Where a span lies in a list."""

    started_at: datetime
    ended_at: datetime | None
    trace_id: str
    span_id: str


@dataclass(frozen=True)
class SpanOrder:
    """The order of a list, for one question: the ids decide between equal times."""

    by: OrderBy
    descending: bool
    question: tuple[object, ...]

    def key(self, span: Timed) -> tuple[Any, ...]:
        """What sorts ascending.  What is still running comes after everything that has ended."""
        ids = (span.started_at, span.trace_id, span.span_id)
        return ids if self.by == "started_at" else (span.ended_at is None, span.ended_at or EARLIEST, *ids)

    def is_after(self, span: Timed, place: Place | None) -> bool:
        """Whether a span comes after a place in the direction of the list."""
        if place is None:
            return True
        one, other = self.key(span), self.key(place)
        return one < other if self.descending else one > other

    def cursor(self, span: Timed) -> str:
        """The cursor of a page that ends with a span."""
        ended_at = time_text(span.ended_at) if span.ended_at else None
        return cursor_text(self._question(), [time_text(span.started_at), ended_at, span.trace_id, span.span_id])

    def place(self, cursor: str | None) -> Place | None:
        """The place of a cursor, or None for the beginning; raises InvalidCursorError unless it is of this list."""
        if cursor is None:
            return None
        match cursor_place(self._question(), cursor):
            case [str(started_at), None | str() as ended_at, str(trace_id), str(span_id)]:
                return Place(_time(started_at), _time(ended_at) if ended_at else None, trace_id, span_id)
            case _:
                raise damaged()

    def _question(self) -> Sequence[object]:
        return self.by, self.descending, *self.question


def order_of(order_by: OrderBy, order: Direction, question: tuple[object, ...]) -> SpanOrder:
    """The order that is asked for; raises RequestError for what is none."""
    if order_by not in ("started_at", "ended_at"):
        raise RequestError('order_by must be "started_at" or "ended_at"')
    if order not in ("asc", "desc"):
        raise RequestError('order must be "asc" or "desc"')
    return SpanOrder(order_by, order == "desc", question)


def _time(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise damaged() from None
