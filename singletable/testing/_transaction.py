"""TransactGetItems and TransactWriteItems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import Reason
from ..wire import Response
from ._capacity import Meter
from ._parameters import check_member
from ._read import get_item
from ._refusal import Cancellation, Refusal
from ._schema import Schema, parse_key
from ._sizes import item_size_bytes
from ._table import TableItems
from ._values import Item, Key
from ._write import Write, plan

MAX_MEMBERS = 100
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
_WRITES = ("Put", "Update", "Delete", "ConditionCheck")
_Tables: TypeAlias = Callable[[str], TableItems]


def transact_get(params: Mapping[str, Any], table: _Tables, meter: Meter) -> Response:
    """All items asked for, as they are at one moment."""
    members = [_member(member, ("Get",))[1] for member in _members(params)]
    _check_distinct([(member["TableName"], parse_key(member["Key"])) for member in members])
    found = [table(member["TableName"]).view().get(parse_key(member["Key"])) for member in members]
    _check_size(found)
    return {"Responses": [get_item(member, table(member["TableName"]).view(), meter) for member in members]}


def transact_write(params: Mapping[str, Any], table: _Tables, schema: Schema, meter: Meter) -> Response:
    """Apply all writes, or none of them and say why."""
    members = [_member(member, _WRITES) for member in _members(params)]
    writes = [plan(kind, member, schema) for kind, member in members]
    _check_distinct([(write.table, write.key) for write in writes])
    stored = [table(write.table).view().get(write.key) for write in writes]
    outcomes = [_outcome(write, item) for write, item in zip(writes, stored, strict=True)]
    if any(isinstance(outcome, Reason) for outcome in outcomes):
        raise Cancellation([_reason(outcome) for outcome in outcomes])
    changed = [outcome for outcome in outcomes if not isinstance(outcome, Reason)]
    _check_size(changed)
    changes: dict[str, dict[Key, Item | None]] = {}
    for write, old, item in zip(writes, stored, changed, strict=True):
        meter.write(write.table, old, item, schema)
        if not write.is_check:
            changes.setdefault(write.table, {})[write.key] = item
    for name, of_table in changes.items():
        table(name).apply(of_table)
    return {}


def transact_again(params: Mapping[str, Any], table: _Tables, schema: Schema, meter: Meter) -> Response:
    """The response to a transaction that has been applied already: nothing is changed, its items are read."""
    for kind, member in (_member(member, _WRITES) for member in _members(params)):
        write = plan(kind, member, schema)
        meter.read(write.table, [table(write.table).view().get(write.key)])
    return {}


def _members(params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    members: Sequence[Mapping[str, Any]] = params["TransactItems"]
    if not 1 <= len(members) <= MAX_MEMBERS:
        text = f"Member must have length between 1 and {MAX_MEMBERS}, has {len(members)}"
        raise Refusal(f"Value at 'transactItems' failed to satisfy constraint: {text}")
    return members


def _member(member: Mapping[str, Any], kinds: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
    if len(member) != 1 or next(iter(member)) not in kinds:
        raise Refusal(f"TransactItems can only contain exactly one of {', '.join(kinds)} per member")
    ((kind, params),) = member.items()
    check_member(kind, params)
    return kind, params


def _check_distinct(keys: list[tuple[str, Key]]) -> None:
    if len(set(keys)) != len(keys):
        raise Refusal("Transaction request cannot include multiple operations on one item")


def _check_size(items: list[Item | None]) -> None:
    if sum(item_size_bytes(item) for item in items if item is not None) > MAX_TRANSACTION_BYTES:
        raise Refusal("The aggregate size of the items in the transaction exceeds 4 MB")


def _outcome(write: Write, stored: Item | None) -> Item | Reason | None:
    """The item as it shall be, or why it cannot."""
    if not write.allowed(stored):
        text = "The conditional request failed"
        return Reason(code="ConditionalCheckFailed", message=text, item=write.revealed(stored))
    try:
        return write.change(stored)
    except Refusal as refusal:
        return Reason(code="ValidationError", message=refusal.text)


def _reason(outcome: Item | Reason | None) -> Reason:
    return outcome if isinstance(outcome, Reason) else Reason(code="None")
