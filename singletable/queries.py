"""What a query asks, as a value: its key range, its filter, its cursors.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from .cursors import cursor_place, cursor_text, damaged
from .declare import TABLE, AccessPath, Projection
from .errors import RequestError
from .expressions import Condition, Placeholders, one_of
from .keys import Interval
from .plans import Lane, Plan
from .presence import unexpired
from .settings import Settings
from .specs import ENTITY, IndexSpec
from .wire import Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

HEAD = re.compile(r"(?<!\.)#\d+")
"""The attribute with which a path in an expression begins."""


@dataclass(frozen=True)
class Place:
    """Where a page of a query begins: after an item or before it."""

    key: WireItem | None = None
    """The key of the item, or all of it; None for the end of the results at which its direction begins."""
    backward: bool = False
    """The page lies before the item."""


@dataclass(frozen=True, kw_only=True)
class QueryPlan(Plan):
    """The key range of one or several entities in one partition."""

    index: IndexSpec
    partition: str
    intervals: tuple[tuple[type[Entity], Interval], ...]
    """The sort keys that are asked for, entity by entity."""
    reverse: bool = False

    @property
    def key_attributes(self) -> Sequence[str]:
        """The key of the table, and that of the index."""
        return [*dict.fromkeys(["pk", "sk", self.index.pk.attribute, self.index.sk.attribute])]

    @property
    def hydrates(self) -> bool:
        """Whether the index holds less than is wanted of one of the entities."""
        return any(self._lacks(model) for model in self.models)

    @property
    def counts_itself(self) -> bool:
        """Whether the range holds nothing but what is asked for, and the index knows what has expired."""
        return len(self.intervals) == 1 and not self.hydrates

    @property
    def reach(self) -> Interval:
        """From the lowest to the highest sort key that is asked for."""
        intervals = [interval for _, interval in self.intervals]
        return Interval(min(i.low for i in intervals), max(i.high for i in intervals))

    def lanes(self) -> list[Lane]:
        """The whole reading."""
        return [Lane()]

    def request(
        self, now: datetime, *, lane: int = 0, after: WireItem | None = None, limit: int | None = None
    ) -> Request:
        """The request for one page."""
        to = Placeholders()
        params: dict[str, Any] = {"KeyConditionExpression": self._key_condition(to)}
        params |= self._params(to, self._conditions(now))
        params["ScanIndexForward"] = not self.reverse
        if self.index.name == TABLE:
            params["ConsistentRead"] = self.consistent
        else:
            params["IndexName"] = self.index.name
        if limit is not None:
            params["Limit"] = limit
        if after is not None:
            params["ExclusiveStartKey"] = after
        return Request("Query", params | to.params())

    def model_of(self, item: WireItem) -> type[Entity] | None:
        """The entity of an item that was found; None where it lies between the keys that are asked for."""
        if len(self.intervals) == 1:
            return self.intervals[0][0]
        sort = item[self.index.sk.attribute]["S"]
        return next((model for model, interval in self.intervals if sort in interval), None)

    def covers(self, item: WireItem) -> bool:
        """Whether an item has a key in the index that is asked for."""
        partition, sort = (item.get(half.attribute, {}).get("S") for half in (self.index.pk, self.index.sk))
        return partition == self.partition and any(sort and sort in interval for _, interval in self.intervals)

    def reading(self, *, consistent: bool) -> Self:
        """The same, strongly consistent or not; raises RequestError where an index is to be."""
        if consistent and self.index.name != TABLE:
            raise RequestError(f"{self.index.name} cannot be read consistently; read the table, or leave it out")
        return super().reading(consistent=consistent)

    def filtered(self, test: Callable[[Any], bool]) -> Self:
        """The same under one more condition; raises RequestError where the index lacks what it needs."""
        plan = super().filtered(test)
        (spec,) = self.specs
        held, used = self._held(self.models[0]), set(_attributes_of(plan.filters[-1]))
        for field in spec.fields.values():
            if field.stored in used and held != "all" and (held == "keys_only" or field.name not in held):
                raise RequestError(
                    f"{self.index.name} does not hold {spec.name}.{field.name}: name it in projection=, or filter the "
                    "results"
                )
        return plan

    def reversed(self) -> Self:
        """The same in the other direction."""
        return replace(self, reverse=not self.reverse)

    def cursor(self, place: Place) -> str:
        """The opaque text for a place.  The partition is not in it: it is always the query's own."""
        key = None if place.key is None else {name: place.key[name]["S"] for name in self._resumed()}
        return cursor_text(self._question(), [int(place.backward), key])

    def place(self, cursor: str | None) -> Place:
        """The place of a cursor, or the beginning; raises InvalidCursorError unless this query made it."""
        if cursor is None:
            return Place()
        place = cursor_place(self._question(), cursor)
        try:
            backward, key = place
            if key is not None:
                rest = {name: {"S": str(key[name])} for name in self._resumed()}
                key = {self.index.pk.attribute: {"S": self.partition}, **rest}
        except (ValueError, TypeError, KeyError):
            raise damaged() from None
        return Place(key, bool(backward))

    def onward(self, lanes: Sequence[Lane]) -> str:
        """The cursor with which a later page goes on from there."""
        (lane,) = lanes
        return self.cursor(Place(lane.after))

    def _held(self, model: type[Entity]) -> Projection:
        return model.spec.indexes[self.index.name].projection

    def _lacks(self, model: type[Entity]) -> bool:
        held = self._held(model)
        if held == "all" or held == "keys_only":
            return held == "keys_only"  # which does not know what has expired
        if self.counting:
            return False
        wanted = None if self.projection is None or model.spec.upcasters else self.projection.model_fields
        return wanted is None or not wanted.keys() <= set(held)

    def _resumed(self) -> list[str]:
        return sorted({*self.key_attributes} - {self.index.pk.attribute})

    def _question(self) -> tuple[object, ...]:
        return *super()._question(), self.index.name, self.partition, self.reach.low, self.reach.high, self.reverse

    def _key_condition(self, to: Placeholders) -> str:
        pk = f"{to.name(self.index.pk.attribute)} = {to.value({'S': self.partition})}"
        sk, reach = to.name(self.index.sk.attribute), self.reach
        if reach.low == reach.high:
            return f"{pk} AND {sk} = {to.value({'S': reach.low})}"
        return f"{pk} AND {sk} BETWEEN {to.value({'S': reach.low})} AND {to.value({'S': reach.high})}"

    def _conditions(self, now: datetime) -> Iterator[Condition]:
        """What leaves out of the range what is not asked for, as far as the index can tell."""
        held = {self._held(model) for model in self.models}
        if "keys_only" not in held and not self.with_expired:
            yield unexpired(self.settings.expiry, now)
        if len(self.intervals) > 1 and held == {"all"}:
            yield one_of(ENTITY, [{"S": spec.name} for spec in self.specs])


def query_plan(settings: Settings, paths: Sequence[AccessPath[Any]]) -> QueryPlan:
    """The plan of one query over `paths`; raises RequestError unless they lie in one partition."""
    partitions = {
        (
            path.declared_on,
            path.declared_for.spec.indexes[path.declared_on].pk.render(path.declared_values(), settings.scope),
        )
        for path in paths
    }
    if len(partitions) != 1:
        names = " and ".join(type(path).__qualname__ for path in paths)
        raise RequestError(f"{names or 'no access patterns'} do not lie in one partition, so no query can read them")
    ((_, partition),) = partitions
    index = paths[0].declared_for.spec.indexes[paths[0].declared_on]
    intervals = tuple(
        (path.declared_for, path.declared_for.spec.indexes[path.declared_on].sk.interval(path.declared_values()))
        for path in paths
    )
    return QueryPlan(
        settings=settings,
        models=tuple(dict.fromkeys(path.declared_for for path in paths)),
        index=index,
        partition=partition,
        intervals=intervals,
        consistent=index.name == TABLE,
    )


def _attributes_of(condition: Condition) -> Iterator[str]:
    """The attributes whose values, or insides, a condition is about."""
    to = Placeholders()
    heads = set(HEAD.findall(condition.render(to)))
    return (name for name, alias in to.names.items() if alias in heads)
