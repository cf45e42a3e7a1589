"""BatchGetItem and BatchWriteItem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..wire import Response
from ._capacity import Meter
from ._read import projection_of, shown
from ._refusal import Refusal
from ._schema import Schema, parse_key, partition_hash
from ._sizes import item_size_bytes, wire_size_bytes
from ._syntax import Path
from ._table import TableItems, View
from ._tokens import Placeholders
from ._values import Item, Key, copied
from ._write import Write, plan

MAX_WRITES = 25
MAX_GETS = 100
MAX_BATCH_BYTES = 16 * 1024 * 1024


class _Get(NamedTuple):
    table: str
    key: Key
    projection: tuple[Path, ...] | None
    consistent: bool


def batch_write(
    params: Mapping[str, Any], table: Callable[[str], TableItems], schema: Schema, unprocessed: int, meter: Meter
) -> Response:
    """Apply a batch of writes, except the last `unprocessed` ones."""
    members = [(name, member) for name, listed in _by_table(params).items() for member in _listed(listed, MAX_WRITES)]
    _check_count(len(members), MAX_WRITES)
    writes = [_plan(name, member, schema) for name, member in members]
    _check_distinct([(write.table, write.key) for write in writes])
    if wire_size_bytes(params["RequestItems"]) > MAX_BATCH_BYTES:
        raise Refusal("The batch write request is larger than 16 MB")
    done = max(0, len(writes) - unprocessed)
    for name in dict.fromkeys(name for name, _ in members):
        table(name)
    for write in writes[:done]:
        items, new = table(write.table), write.change(None)
        meter.write(write.table, items.view().get(write.key), new, schema)
        items.apply({write.key: new})
    left: dict[str, list[Any]] = {}
    for name, member in members[done:]:
        left.setdefault(name, []).append(copied(member))
    return {"UnprocessedItems": left}


def batch_get(params: Mapping[str, Any], view: Callable[[str, bool], View], unprocessed: int, meter: Meter) -> Response:
    """The items asked for, except those of the last `unprocessed` keys and of those beyond 16 MB."""
    gets = [get for name, wanted in _by_table(params).items() for get in _gets(name, wanted)]
    _check_count(len(gets), MAX_GETS)
    _check_distinct([(get.table, get.key) for get in gets])
    done = max(0, len(gets) - unprocessed)
    found = [view(get.table, get.consistent).get(get.key) for get in gets]
    done = min(done, _fitting(found))
    responses: dict[str, list[Item]] = {get.table: [] for get in gets}
    # DynamoDB answers in no order; by hash it is another one than asked for, so that nobody relies on it.
    for get, item in sorted(zip(gets[:done], found[:done], strict=True), key=lambda pair: _hash(pair[0])):
        meter.read(get.table, [item], consistent=get.consistent)
        if item is not None:
            responses[get.table].append(shown(item, get.projection))
    return {"Responses": responses, "UnprocessedKeys": _unprocessed_keys(params, gets[done:])}


def _by_table(params: Mapping[str, Any]) -> Mapping[str, Any]:
    wanted: Mapping[str, Any] = params["RequestItems"]
    if not wanted:
        raise Refusal("Value at 'requestItems' must have length greater than or equal to 1")
    return wanted


def _listed(members: Any, limit: int) -> list[Any]:
    if not members:
        raise Refusal(f"A batch must name between 1 and {limit} members for each of its tables")
    return list(members)


def _plan(table: str, member: Mapping[str, Any], schema: Schema) -> Write:
    match dict(member):
        case {"PutRequest": {"Item": item}, **rest} if not rest:
            return plan("Put", {"TableName": table, "Item": item}, schema)
        case {"DeleteRequest": {"Key": key}, **rest} if not rest:
            return plan("Delete", {"TableName": table, "Key": key}, schema)
        case _:
            raise Refusal("Supplied WriteRequest is empty, must contain exactly one of PutRequest or DeleteRequest")


def _gets(table: str, wanted: Mapping[str, Any]) -> list[_Get]:
    placeholders = Placeholders(wanted)
    projection = projection_of(wanted, placeholders)
    placeholders.check_all_used()
    consistent = bool(wanted.get("ConsistentRead", False))
    return [_Get(table, parse_key(key), projection, consistent) for key in _listed(wanted.get("Keys"), MAX_GETS)]


def _check_count(count: int, limit: int) -> None:
    if count > limit:
        raise Refusal(f"Too many items requested for the batch call: {count}, at most {limit}")


def _check_distinct(keys: list[tuple[str, Key]]) -> None:
    if len(set(keys)) != len(keys):
        raise Refusal("Provided list of item keys contains duplicates")


def _fitting(found: list[Item | None]) -> int:
    size_bytes = 0
    for count, item in enumerate(found):
        size_bytes += 0 if item is None else item_size_bytes(item)
        if size_bytes > MAX_BATCH_BYTES:
            return count
    return len(found)


def _hash(get: _Get) -> bytes:
    return partition_hash("\0".join(get.key))


def _unprocessed_keys(params: Mapping[str, Any], gets: list[_Get]) -> dict[str, Any]:
    left: dict[str, Any] = {}
    for get in gets:
        wanted = params["RequestItems"][get.table]
        keys = left.setdefault(get.table, {**copied(dict(wanted)), "Keys": []})["Keys"]
        keys.append({"pk": {"S": get.key[0]}, "sk": {"S": get.key[1]}})
    return left
