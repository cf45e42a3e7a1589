"""GetItem, Query and Scan.  Pure: a view of a table in, a response out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..wire import Response
from ._capacity import Meter
from ._conditions import parse_condition, parse_projection
from ._evaluate import holds, project
from ._keycondition import KeyCondition, parse_key_condition
from ._refusal import Refusal
from ._schema import AccessPath, parse_key, partition_hash
from ._sizes import item_size_bytes
from ._syntax import Condition, Path, paths_of
from ._table import View
from ._tokens import Placeholders
from ._values import Item, copied, normalise_item, type_of

MAX_PAGE_BYTES = 1024 * 1024
_Order: TypeAlias = Callable[[Item], tuple[bytes, ...]]
_SELECTS = ("ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES", "COUNT")


@dataclass(frozen=True, slots=True)
class _Shape:
    """What of the items that were found goes into the response."""

    filter: Condition | None
    projection: tuple[Path, ...] | None
    counts_only: bool


def get_item(params: Mapping[str, Any], view: View, meter: Meter) -> Response:
    """The response to GetItem, or to one member of TransactGetItems."""
    placeholders = Placeholders(params)
    projection = projection_of(params, placeholders)
    placeholders.check_all_used()
    item = view.get(parse_key(params["Key"]))
    meter.read(params["TableName"], [item], consistent=bool(params.get("ConsistentRead")))
    return {} if item is None else {"Item": shown(item, projection)}


def query(params: Mapping[str, Any], view: View, path: AccessPath, meter: Meter) -> Response:
    """The response to Query."""
    placeholders = Placeholders(params)
    key = parse_key_condition(params, path, placeholders)
    shape = _shape(params, path, placeholders, filters_key=False)
    placeholders.check_all_used()
    candidates = view.partition(key.partition) if path.index is None else view.all()
    entries = [item for item in path.entries(candidates) if item[path.partition]["S"] == key.partition]
    backward = not params.get("ScanIndexForward", True)
    entries.sort(key=path.order, reverse=backward)
    start = _start_key(params, path)
    if start is not None:
        _check_start(start, path, key)
        entries = _after(start, entries, path.order, backward=backward)
    return _page(params, path, filter(key.selects, entries), shape, meter)


def scan(params: Mapping[str, Any], view: View, path: AccessPath, meter: Meter) -> Response:
    """The response to Scan."""
    placeholders = Placeholders(params)
    shape = _shape(params, path, placeholders, filters_key=True)
    placeholders.check_all_used()
    in_segment = _segment(params, path)
    found = sorted(filter(in_segment, path.entries(view.all())), key=path.scan_order)
    start = _start_key(params, path)
    if start is not None:
        if not in_segment(start):
            raise Refusal("The provided starting key is invalid: Invalid ExclusiveStartKey for this Segment")
        found = _after(start, found, path.scan_order, backward=False)
    return _page(params, path, found, shape, meter)


def projection_of(params: Mapping[str, Any], placeholders: Placeholders) -> tuple[Path, ...] | None:
    """The paths that a read asks for; None where it asks for whole items."""
    if "ProjectionExpression" not in params:
        return None
    return parse_projection(params["ProjectionExpression"], placeholders)


def shown(item: Item, projection: tuple[Path, ...] | None) -> Item:
    """A copy of what a read shows of `item`."""
    return copied(item) if projection is None else project(item, projection)


def _shape(params: Mapping[str, Any], path: AccessPath, placeholders: Placeholders, *, filters_key: bool) -> _Shape:
    condition = None
    if "FilterExpression" in params:
        condition = parse_condition("FilterExpression", params["FilterExpression"], placeholders)
        if not filters_key:
            _check_filter(condition, path)
    projection = projection_of(params, placeholders)
    select = params.get("Select")
    if select is not None and select not in _SELECTS:
        raise Refusal("Value at 'select' failed to satisfy constraint: Member must satisfy enum value set")
    if (projection is not None and select not in (None, "SPECIFIC_ATTRIBUTES")) or (
        projection is None and select == "SPECIFIC_ATTRIBUTES"
    ):
        raise Refusal(f"ProjectionExpression and Select={select} do not go together")
    if select == "ALL_PROJECTED_ATTRIBUTES" and path.index is None:
        raise Refusal("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
    _check_projected(projection, select, path)
    return _Shape(condition, projection, counts_only=select == "COUNT")


def _check_projected(projection: tuple[Path, ...] | None, select: str | None, path: AccessPath) -> None:
    if select == "ALL_ATTRIBUTES" and path.included is not None:
        text = f"Select type ALL_ATTRIBUTES is not supported for global secondary index {path.index}"
        raise Refusal(f"One or more parameter values were invalid: {text} because its projection type is not ALL")
    missing = sorted({asked.attribute for asked in projection or () if not path.shows(asked.attribute)})
    if missing:
        text = f"Global secondary index {path.index} does not project [{', '.join(missing)}]"
        raise Refusal(f"One or more parameter values were invalid: {text}")


def _check_filter(condition: Condition, path: AccessPath) -> None:
    for mentioned in paths_of(condition):
        if mentioned.attribute in (path.partition, path.sort):
            text = f"Primary key attribute: {mentioned.attribute}"
            raise Refusal(f"Filter Expression can only contain non-primary key attributes: {text}")


def _start_key(params: Mapping[str, Any], path: AccessPath) -> Item | None:
    if params.get("ExclusiveStartKey") is None:
        return None
    start = normalise_item(params["ExclusiveStartKey"])
    if set(start) != set(path.key_attributes):
        raise Refusal("The provided starting key is invalid: The provided key element does not match the schema")
    if any(type_of(value) != "S" or not value["S"] for value in start.values()):
        raise Refusal("The provided starting key is invalid: a key attribute must be a string that is not empty")
    return start


def _check_start(start: Item, path: AccessPath, key: KeyCondition) -> None:
    if start[path.partition]["S"] != key.partition:
        raise Refusal("The provided starting key is outside query boundaries based on provided conditions")
    if not key.selects(start):
        raise Refusal("The provided starting key does not match the range key predicate")


def _after(start: Item, found: list[Item], order: _Order, *, backward: bool) -> list[Item]:
    place = order(start)
    return [item for item in found if (order(item) < place if backward else order(item) > place)]


def _segment(params: Mapping[str, Any], path: AccessPath) -> Callable[[Item], bool]:
    total, segment = params.get("TotalSegments"), params.get("Segment")
    if (total is None) != (segment is None):
        raise Refusal("The Segment and TotalSegments parameters are required together")
    if total is None or segment is None:
        return lambda _: True
    if not 0 <= segment < total <= 1_000_000:
        raise Refusal("The Segment parameter is zero-based and must be less than parameter TotalSegments")

    def in_segment(item: Item) -> bool:
        return bool(int.from_bytes(partition_hash(item[path.partition]["S"])[:8]) % total == segment)

    return in_segment


def _page(params: Mapping[str, Any], path: AccessPath, found: Iterable[Item], shape: _Shape, meter: Meter) -> Response:
    limit = params.get("Limit")
    if limit is not None and limit < 1:
        raise Refusal(
            "Value at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1"
        )
    read, has_more = _up_to_a_page(found, limit)
    meter.read(params["TableName"], read, consistent=bool(params.get("ConsistentRead")), index=path.index)
    matching = [item for item in read if shape.filter is None or holds(shape.filter, item)]
    response: dict[str, Any] = {"Count": len(matching), "ScannedCount": len(read)}
    if not shape.counts_only:
        response["Items"] = [shown(item, shape.projection) for item in matching]
    # A page that its limit ended has a cursor even where nothing follows: DynamoDB does not look ahead.
    if has_more or (read and len(read) == limit):
        response["LastEvaluatedKey"] = {name: copied(read[-1][name]) for name in path.key_attributes}
    return response


def _up_to_a_page(found: Iterable[Item], limit: int | None) -> tuple[list[Item], bool]:
    """The items of one page, and whether others follow; of those that follow, one is looked at."""
    page: list[Item] = []
    size_bytes = 0
    for item in found:
        size_bytes += item_size_bytes(item)
        if len(page) == limit or size_bytes > MAX_PAGE_BYTES:
            return page, True
        page.append(item)
    return page, False
