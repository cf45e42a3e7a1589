"""Applies an update expression to an item.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from ._evaluate import lookup
from ._numbers import add_numbers
from ._refusal import Refusal
from ._syntax import (
    Action,
    Addition,
    Arithmetic,
    Assignment,
    IfNotExists,
    ListAppend,
    Literal,
    Path,
    Removal,
    Subtraction,
    UpdateOperand,
)
from ._values import AttributeValue, Item, copied, rank, type_of

_WRONG_TYPE = "An operand in the update expression has an incorrect data type"


def updated(old: Item, actions: Sequence[Action]) -> Item:
    """`old` with all `actions` applied; each of them sees `old`, none sees what another one did."""
    new = copied(old)
    writes = [(action.path, _result(action, old)) for action in actions if not isinstance(action, Removal)]
    # Lower list positions first, so that those past the end are appended in their order.
    for path, value in sorted(writes, key=lambda write: _position(write[0])):
        if value is None:
            _remove(new, path)
        else:
            _assign(new, path, value)
    removals = [action.path for action in actions if isinstance(action, Removal)]
    # Higher list positions first, so that a removal does not move what is still to be removed.
    for path in sorted(removals, key=_position, reverse=True):
        _remove(new, path)
    return new


def _result(action: Assignment | Addition | Subtraction, old: Item) -> AttributeValue | None:
    """The value that `action` leaves at its path; None where it leaves nothing."""
    if isinstance(action, Assignment):
        return copied(_evaluate(action.value, old))
    current = lookup(action.path, old)
    if isinstance(action, Subtraction):
        return _without(current, action.value)
    if current is None:
        return copied(action.value)
    return _added(current, action.value)


def _evaluate(operand: UpdateOperand, old: Item) -> AttributeValue:
    match operand:
        case Literal(value):
            return value
        case Path():
            return _existing(operand, old)
        case IfNotExists(path, default):
            existing = lookup(path, old)
            return _evaluate(default, old) if existing is None else existing
        case ListAppend(left, right):
            return {"L": [*_content("L", left, old), *_content("L", right, old)]}
        case Arithmetic(operator, left, right):
            sign = 1 if operator == "+" else -1
            return {"N": add_numbers(_content("N", left, old), _content("N", right, old), sign=sign)}


def _content(tag: str, operand: UpdateOperand, old: Item) -> Any:
    value = _evaluate(operand, old)
    if tag not in value:
        raise Refusal(_WRONG_TYPE)
    return value[tag]


def _existing(path: Path, old: Item) -> AttributeValue:
    value = lookup(path, old)
    if value is None:
        raise Refusal("The provided expression refers to an attribute that does not exist in the item")
    return value


def _added(current: AttributeValue, more: AttributeValue) -> AttributeValue:
    tag = type_of(more)
    if tag not in current:
        raise Refusal(_WRONG_TYPE)
    if tag == "N":
        return {"N": add_numbers(current["N"], more["N"])}
    return {tag: sorted({*current[tag], *more[tag]}, key=_ranking(tag))}


def _without(current: AttributeValue | None, fewer: AttributeValue) -> AttributeValue | None:
    tag = type_of(fewer)
    if current is None:
        return None
    if tag not in current:
        raise Refusal(_WRONG_TYPE)
    left = [member for member in current[tag] if member not in fewer[tag]]
    return {tag: left} if left else None


def _ranking(tag: str) -> Any:
    def of(member: Any) -> bytes | Decimal:
        return rank({tag[0]: member})

    return of


def _position(path: Path) -> list[tuple[str, Any]]:
    return [(type(part).__name__, part) for part in path.parts]


def _parent(item: Item, path: Path) -> Any:
    """The map or list that holds the end of `path`, as a container to change in place."""
    *way, last = path.parts
    if not way:
        return item
    parent = lookup(Path(tuple(way)), item)
    tag = "L" if isinstance(last, int) else "M"
    if parent is None or tag not in parent:
        raise Refusal("The document path provided in the update expression is invalid for update")
    return parent[tag]


def _assign(item: Item, path: Path, value: AttributeValue) -> None:
    parent, last = _parent(item, path), path.parts[-1]
    if isinstance(last, int) and last >= len(parent):
        parent.append(value)
    else:
        parent[last] = value


def _remove(item: Item, path: Path) -> None:
    parent, last = _parent(item, path), path.parts[-1]
    if last in parent if isinstance(last, str) else last < len(parent):
        del parent[last]
