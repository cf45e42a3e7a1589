"""What a scan asks, as a value: whose items of the whole table, in how many parts.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .compile import nested_in
from .cursors import cursor_place, cursor_text, damaged
from .declare import AccessPath
from .errors import RequestError
from .expressions import Condition, Placeholders, call, one_of
from .plans import Lane, Plan
from .presence import unexpired
from .scopes import SCOPE
from .settings import Settings
from .specs import ENTITY
from .wire import Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

MOST_SEGMENTS = 1_000_000
"""DynamoDB's limit."""


@dataclass(frozen=True, kw_only=True)
class ScanPlan(Plan):
    """All items of one or several entities, wherever they lie."""

    segments: int

    @property
    def key_attributes(self) -> Sequence[str]:
        """The key of the table."""
        return "pk", "sk"

    @property
    def is_selective(self) -> bool:
        """Always: it reads the items of all entities."""
        return True

    def lanes(self) -> list[Lane]:
        """The segments."""
        return [Lane()] * self.segments

    def request(
        self, now: datetime, *, lane: int = 0, after: WireItem | None = None, limit: int | None = None
    ) -> Request:
        """The request for one page of a segment."""
        to = Placeholders()
        params = self._params(to, self._conditions(now))
        params["ConsistentRead"] = self.consistent
        if self.segments > 1:
            params |= {"Segment": lane, "TotalSegments": self.segments}
        if limit is not None:
            params["Limit"] = limit
        if after is not None:
            params["ExclusiveStartKey"] = after
        return Request("Scan", params | to.params())

    def model_of(self, item: WireItem) -> type[Entity] | None:
        """The entity of an item."""
        if len(self.models) == 1:
            return self.models[0]
        return next(model for model in self.models if item[ENTITY] == {"S": model.spec.name})

    def onward(self, lanes: Sequence[Lane]) -> str:
        """The cursor with which a later page goes on from there, in every segment."""
        places = [lane.finished or (lane.after and [lane.after["pk"]["S"], lane.after["sk"]["S"]]) for lane in lanes]
        return cursor_text(self._question(), places)

    def resumed(self, cursor: str | None) -> list[Lane]:
        """The segments where a cursor left them, or at their beginnings; raises InvalidCursorError for another's."""
        if cursor is None:
            return self.lanes()
        places = cursor_place(self._question(), cursor)
        try:
            return [_lane(place) for place in places]
        except (ValueError, TypeError):
            raise damaged() from None

    def _question(self) -> tuple[object, ...]:
        return *super()._question(), "scan", self.settings.scope, self.segments

    def _conditions(self, now: datetime) -> Iterator[Condition]:
        yield one_of(ENTITY, [{"S": spec.name} for spec in self.specs])
        scope = self.settings.scope
        # Without a scope, the items of tenants are as invisible as they are to any query.
        yield call("begins_with", ("pk",), {"S": scope}) if scope else ~call("begins_with", ("pk",), {"S": SCOPE})
        if not self.with_expired:
            yield unexpired(self.settings.expiry, now)


def scan_plan(settings: Settings, models: Sequence[type[Entity]], *, allow_scan: bool, segments: int) -> ScanPlan:
    """The plan of a scan; raises RequestError unless it is allowed, and names what there is instead."""
    if not models:
        raise RequestError("a scan needs an entity: name at least one")
    if not allow_scan:
        paths = ", ".join(path.__qualname__ for model in models for path in nested_in(model, AccessPath))
        raise RequestError(
            f"a scan reads, and bills, the whole table: query by {paths}, or say allow_scan=True if it is meant"
        )
    if not 1 <= segments <= MOST_SEGMENTS:
        raise RequestError(f"a scan has 1 to {MOST_SEGMENTS:,} segments, not {segments}")
    return ScanPlan(settings=settings, models=tuple(dict.fromkeys(models)), consistent=True, segments=segments)


def _lane(place: Any) -> Lane:
    if place is True:
        return Lane(finished=True)
    if place is None:
        return Lane()
    pk, sk = place
    return Lane({"pk": {"S": str(pk)}, "sk": {"S": str(sk)}})
