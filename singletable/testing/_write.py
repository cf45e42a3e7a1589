"""PutItem, UpdateItem, DeleteItem and the condition check of a transaction, as plans.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..wire import Response
from ._actions import parse_update
from ._capacity import Meter
from ._conditions import parse_condition
from ._evaluate import holds, project
from ._refusal import ConditionFailure, Refusal
from ._schema import Schema, check_not_key, key_item, key_of, parse_key
from ._syntax import Action, Condition, Path
from ._table import TableItems
from ._tokens import Placeholders
from ._update import updated
from ._values import Item, Key, copied, normalise_item

_RETURN_VALUES = {
    "PutItem": ("NONE", "ALL_OLD"),
    "DeleteItem": ("NONE", "ALL_OLD"),
    "UpdateItem": ("NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
}


@dataclass(frozen=True, slots=True)
class Write:
    """One write that has passed every check that needs no stored item."""

    table: str
    key: Key
    condition: Condition | None
    change: Callable[[Item | None], Item | None]
    """From what is stored to what shall be; refuses where DynamoDB would only then."""
    shows_stored: bool
    """Whether a failed condition shows what is stored."""
    touched: tuple[Path, ...] = ()
    is_check: bool = False

    def allowed(self, stored: Item | None) -> bool:
        """Whether the condition holds."""
        return self.condition is None or holds(self.condition, stored or {})

    def revealed(self, stored: Item | None) -> Item | None:
        """What a failed condition shows."""
        return copied(stored) if self.shows_stored else None


def plan(kind: str, params: Mapping[str, Any], schema: Schema) -> Write:
    """The write of this kind (`Put`, `Update`, `Delete`, `ConditionCheck`), or a refusal."""
    placeholders = Placeholders(params)
    actions: tuple[Action, ...] = ()
    if "UpdateExpression" in params:
        actions = parse_update(params["UpdateExpression"], placeholders)
    condition = None
    if "ConditionExpression" in params:
        condition = parse_condition("ConditionExpression", params["ConditionExpression"], placeholders)
    placeholders.check_all_used()
    key, change = _change(kind, params, schema, actions)
    return Write(
        table=params["TableName"],
        key=key,
        condition=condition,
        change=change,
        shows_stored=_shows_stored(params),
        touched=tuple(action.path for action in actions),
        is_check=kind == "ConditionCheck",
    )


def write_item(operation: str, params: Mapping[str, Any], items: TableItems, schema: Schema, meter: Meter) -> Response:
    """Plan and apply a single write, and give the response."""
    returned = params.get("ReturnValues", "NONE")
    if returned not in _RETURN_VALUES[operation]:
        raise Refusal("Return values set to invalid value")
    write = plan(operation.removesuffix("Item"), params, schema)
    stored = items.view().get(write.key)
    if not write.allowed(stored):
        raise ConditionFailure(write.revealed(stored))
    changed = write.change(stored)
    meter.write(write.table, stored, changed, schema)
    items.apply({write.key: changed})
    attributes = _returned(returned, write, stored, changed)
    return {"Attributes": attributes} if attributes else {}


def _change(
    kind: str, params: Mapping[str, Any], schema: Schema, actions: tuple[Action, ...]
) -> tuple[Key, Callable[[Item | None], Item | None]]:
    if kind == "Put":
        item = normalise_item(params["Item"])
        schema.check_item(item)
        return key_of(item), lambda _: item
    key = parse_key(params["Key"])
    if kind == "Delete":
        return key, lambda _: None
    if kind == "ConditionCheck":
        return key, lambda stored: stored
    for action in actions:
        check_not_key(action.path)
    return key, lambda stored: _update(key, stored, actions, schema)


def _update(key: Key, stored: Item | None, actions: tuple[Action, ...], schema: Schema) -> Item:
    # Nesting can have become too deep only now, so the whole item is checked again.
    item = normalise_item(updated(stored or key_item(key), actions))
    schema.check_item(item)
    return item


def _shows_stored(params: Mapping[str, Any]) -> bool:
    shown = params.get("ReturnValuesOnConditionCheckFailure", "NONE")
    if shown not in ("NONE", "ALL_OLD"):
        raise Refusal("Value at 'returnValuesOnConditionCheckFailure' must be one of: ALL_OLD, NONE")
    return bool(shown == "ALL_OLD")


def _returned(returned: str, write: Write, stored: Item | None, changed: Item | None) -> Item:
    item = stored if returned.endswith("OLD") else changed
    if returned == "NONE" or item is None:
        return {}
    return copied(item) if returned.startswith("ALL") else project(item, write.touched)
