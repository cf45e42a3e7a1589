"""What a query asks, as a value: its key range, its filter, its cursors.  Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel

from .compile import EntitySpec, IndexSpec
from .declare import TABLE, AccessPath
from .errors import InvalidCursorError, RequestError
from .expressions import Condition, Placeholders, one_of
from .items import ENTITY
from .keys import Interval
from .requests import Requests
from .wire import Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

CURSOR_VERSION = 1


@dataclass(frozen=True)
class Plan:
    """The key range of one or several entities in one partition."""

    requests: Requests
    index: IndexSpec
    partition: str
    intervals: tuple[tuple[type[Entity], Interval], ...]
    """The sort keys that are asked for, entity by entity."""
    reverse: bool = False
    consistent: bool = True
    filters: tuple[Condition, ...] = ()
    projection: type[BaseModel] | None = None

    @property
    def specs(self) -> list[EntitySpec]:
        """The entities that are asked for."""
        return [model.spec for model, _ in self.intervals]

    @property
    def reach(self) -> Interval:
        """From the lowest to the highest sort key that is asked for."""
        intervals = [interval for _, interval in self.intervals]
        return Interval(min(i.low for i in intervals), max(i.high for i in intervals))

    def request(self, now: datetime, *, limit: int | None = None, start: WireItem | None = None) -> Request:
        """The request for one page."""
        to = Placeholders()
        params: dict[str, Any] = {
            "TableName": self.requests.table,
            "KeyConditionExpression": self._key_condition(to),
            "FilterExpression": self._filter(now).render(to),
            "ScanIndexForward": not self.reverse,
        }
        if self.index.name == TABLE:
            params["ConsistentRead"] = self.consistent
        else:
            params["IndexName"] = self.index.name
        if self.projection:
            params["ProjectionExpression"] = ", ".join(to.name(name) for name in self._projected(self.projection))
        if limit is not None:
            params["Limit"] = limit
        if start is not None:
            params["ExclusiveStartKey"] = start
        return Request("Query", params | to.params())

    def model_of(self, item: WireItem) -> type[Entity] | None:
        """The entity of an item; None where it lies between the sort keys that are asked for."""
        name, sort = item.get(ENTITY, {}).get("S"), item[self.index.sk.attribute]["S"]
        if len(self.intervals) == 1:
            return self.intervals[0][0]
        return next((model for model, interval in self.intervals if model.spec.name == name and sort in interval), None)

    def cursor(self, item: WireItem) -> str:
        """The opaque text from which a later page goes on after `item`."""
        keys = {name: item[name]["S"] for name in self._resumed()}
        return base64.urlsafe_b64encode(orjson.dumps([CURSOR_VERSION, self._digest(), keys])).decode().rstrip("=")

    def start(self, cursor: str) -> WireItem:
        """The key after which a cursor goes on; raises InvalidCursorError unless this query made it."""
        try:
            decoded = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
            version, digest, keys = decoded
            start = {name: {"S": str(keys[name])} for name in self._resumed()}
        except (binascii.Error, ValueError, TypeError, KeyError):
            raise InvalidCursorError("the cursor is damaged; start again without one") from None
        if version != CURSOR_VERSION or digest != self._digest():
            raise InvalidCursorError("the cursor belongs to another query; use it with the query that returned it")
        return {self.index.pk.attribute: {"S": self.partition}, **start}

    def _resumed(self) -> list[str]:
        """The key attributes in a cursor.  The partition is not: it is always the query's own."""
        attributes = {"pk", "sk", self.index.pk.attribute, self.index.sk.attribute} - {self.index.pk.attribute}
        return sorted(attributes)

    def _digest(self) -> str:
        to = Placeholders()
        filters = [condition.render(to) for condition in self.filters]
        names = [spec.name for spec in self.specs]
        reach = self.reach
        text = repr((self.index.name, self.partition, reach.low, reach.high, names, self.reverse, filters, to.params()))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def _key_condition(self, to: Placeholders) -> str:
        pk = f"{to.name(self.index.pk.attribute)} = {to.value({'S': self.partition})}"
        sk, reach = to.name(self.index.sk.attribute), self.reach
        if reach.low == reach.high:
            return f"{pk} AND {sk} = {to.value({'S': reach.low})}"
        return f"{pk} AND {sk} BETWEEN {to.value({'S': reach.low})} AND {to.value({'S': reach.high})}"

    def _filter(self, now: datetime) -> Condition:
        condition = self.requests.live_filter(now)
        if len(self.intervals) > 1:
            condition &= one_of(ENTITY, [{"S": spec.name} for spec in self.specs])
        for extra in self.filters:
            condition &= extra
        return condition

    def _projected(self, model: type[BaseModel]) -> list[str]:
        (spec,) = self.specs
        stored = [spec.fields[name].stored for name in model.model_fields]
        return [*dict.fromkeys(["pk", "sk", self.index.pk.attribute, self.index.sk.attribute, ENTITY, *stored])]


def plan(requests: Requests, paths: Sequence[AccessPath[Any]]) -> Plan:
    """The plan of one query over `paths`; raises RequestError unless they lie in one partition."""
    first = paths[0].model.spec.indexes[paths[0].on]
    partitions = {(path.on, path.model.spec.indexes[path.on].pk.render(path.given())) for path in paths}
    if len(partitions) != 1:
        names = " and ".join(type(path).__qualname__ for path in paths)
        raise RequestError(f"{names} do not lie in one partition, so one query cannot read them")
    ((_, partition),) = partitions
    intervals = tuple((path.model, path.model.spec.indexes[path.on].sk.interval(path.given())) for path in paths)
    return Plan(requests, first, partition, intervals, consistent=first.name == TABLE)
