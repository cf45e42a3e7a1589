"""Which messages a list has: of one thread as a query, of several threads as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from singletable.schemas import Message

from ..._async.query import AsyncQuery
from ..._async.table import AsyncTable
from ...concurrency import gather_in_tasks
from ...conditions import missing
from ...cursors import cursor_place, cursor_text, damaged
from ...items import key_item
from ...keys import time_text
from ...page import Page
from ...queries import Place
from ...values import JsonObject
from ..metadata import has_metadata
from ..periods import ALWAYS, Period, earlier, later, range_of
from .merging import AsyncMerge


class Mark(NamedTuple):
    """How far a list of several threads was read."""

    created_at: datetime
    order: str
    thread_id: str
    left_out: frozenset[str]
    """Threads that were deleted before the first page, so that they are no surprise on the next."""


@dataclass(frozen=True)
class AsyncSelection:
    """What is wanted of the messages of a thread, and in which order; the period is not empty."""

    table: AsyncTable
    period: Period = ALWAYS
    metadata: JsonObject | None = None
    resource_id: str | None = None
    """Only messages of this resource."""
    is_owner: bool = False
    """The threads are the resource's, so that messages without one are its as well."""
    descending: bool = False

    def of(self, thread_id: str) -> AsyncQuery[Message, Message]:
        """The messages of one thread."""
        return self._owned(self.of_any_resource(thread_id))

    def of_any_resource(self, thread_id: str) -> AsyncQuery[Message, Message]:
        """The same without a look at the resource, which is for the caller to take."""
        query = self.table.query(Message.InThread(thread_id=thread_id, created_at=range_of(self.period)))
        if self.metadata:
            wanted = self.metadata
            query = query.filter(lambda message: has_metadata(message.metadata, wanted))
        return query.reverse() if self.descending else query

    def has_owner(self, message: Message) -> bool:
        """Whether a message is of the resource."""
        return self.resource_id in (None, message.resource_id) or (self.is_owner and message.resource_id is None)

    def after(self, mark: Mark | None) -> AsyncSelection:
        """The same, from the millisecond of a mark on."""
        if mark is None:
            return self
        first, last = self.period
        if self.descending:
            return replace(self, period=(first, earlier(last, mark.created_at)))
        return replace(self, period=(later(first, mark.created_at), last))

    def _owned(self, query: AsyncQuery[Message, Message]) -> AsyncQuery[Message, Message]:
        if self.resource_id is None:
            return query
        if self.is_owner:
            return query.filter(lambda one: missing(one.resource_id) | (one.resource_id == self.resource_id))
        return query.filter(lambda one: one.resource_id == self.resource_id)


@dataclass(frozen=True)
class AsyncUnion:
    """The messages of several threads in one order: of `created_at`, of saving, of the threads' ids.

    Each page begins with one query for each thread, a few messages each, and reads again those of the millisecond
    with which the page before it ended."""

    selection: AsyncSelection
    threads: Sequence[str]
    about: tuple[object, ...]
    """What was asked for, to which cursors are bound."""
    left_out: frozenset[str] = frozenset()

    async def count(self) -> int:
        """How many messages there are; all of them are read."""
        return sum(await gather_in_tasks([self.selection.of(thread).count for thread in self.threads]))

    async def all(self) -> list[Message]:
        """All messages."""
        found = await gather_in_tasks([self.selection.of(thread).all for thread in self.threads])
        return sorted((one for part in found for one in part), key=place_of, reverse=self.selection.descending)

    async def page(self, size: int, cursor: str | None = None) -> Page[Message]:
        """Up to `size` messages, and a cursor where more follow."""
        mark = self.mark(cursor)
        rest = self.selection.after(mark)
        lanes = [rest.of_any_resource(thread) for thread in self.threads]
        merge = AsyncMerge(lanes, place_of, descending=self.selection.descending)
        found: list[Message] = []
        while len(found) <= size and (read := await merge.take(size + 1 - len(found))):
            found += [one for one in read if self.selection.has_owner(one) and self._is_beyond(one, mark)]
        kept = found[:size]
        return Page(kept, self._cursor(kept[-1]) if len(found) > size else None)

    def mark(self, cursor: str | None) -> Mark | None:
        """How far the page of a cursor came; raises InvalidCursorError for that of another list."""
        if cursor is None:
            return None
        try:
            time, order, thread_id, left_out = cursor_place(self._question(), cursor)
            return Mark(datetime.fromisoformat(time), str(order), str(thread_id), frozenset(left_out))
        except (TypeError, AttributeError):
            raise damaged() from None

    def _is_beyond(self, message: Message, mark: Mark | None) -> bool:
        if mark is None:
            return True
        place, end = place_of(message), (mark.created_at, mark.order, mark.thread_id)
        return place < end if self.selection.descending else place > end

    def _cursor(self, message: Message) -> str:
        place = [time_text(message.created_at), message.order, message.thread_id, sorted(self.left_out)]
        return cursor_text(self._question(), place)

    def _question(self) -> tuple[object, ...]:
        asked = self.selection
        metadata = sorted((asked.metadata or {}).items())
        return self.about, asked.table.scope, asked.period, metadata, asked.resource_id, asked.descending


def place_of(message: Message) -> tuple[datetime, str, str]:
    """Where a message stands among those of several threads."""
    return message.created_at, message.order, message.thread_id


def cursor_at(query: AsyncQuery[Message, Message], message: Message) -> str:
    """The cursor with which a query over the thread of a message goes on after it."""
    return query.plan.cursor(Place(key_item(Message.Key.of(message), query.plan.settings.scope)))
