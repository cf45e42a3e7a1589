"""Says whether a condition holds for an item, and projects items.  Pure."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ._syntax import Between, Call, Comparison, Condition, Literal, Logical, Membership, Negation, Operand, Path, Size
from ._values import ORDERED, AttributeValue, Item, copied, rank, type_of

_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def holds(condition: Condition, item: Mapping[str, AttributeValue]) -> bool:
    """Whether `condition` is true of `item`; an item that is not there is an empty one."""
    match condition:
        case Logical("AND", left, right):
            return holds(left, item) and holds(right, item)
        case Logical(_, left, right):
            return holds(left, item) or holds(right, item)
        case Negation(inner):
            return not holds(inner, item)
        case Comparison(sign, left, right):
            return compare(sign, resolve(left, item), resolve(right, item))
        case Between(operand, low, high):
            value = resolve(operand, item)
            return compare(">=", value, resolve(low, item)) and compare("<=", value, resolve(high, item))
        case Membership(operand, options):
            return any(compare("=", resolve(operand, item), resolve(option, item)) for option in options)
        case Call():
            return _call_holds(condition, item)


def compare(sign: str, left: AttributeValue | None, right: AttributeValue | None) -> bool:
    """`left sign right` by DynamoDB's rules: different types are unequal and in no order, and so is what is missing."""
    if sign == "<>":
        return left != right
    if left is None or right is None:
        return False
    if sign == "=":
        return left == right
    if type_of(left) != type_of(right) or type_of(left) not in ORDERED:
        return False
    return _ORDER[sign](rank(left), rank(right))


def resolve(operand: Operand, item: Mapping[str, AttributeValue]) -> AttributeValue | None:
    """The value of `operand` in `item`; None where it has none."""
    match operand:
        case Literal(value):
            return value
        case Path():
            return lookup(operand, item)
        case Size(path):
            size = _length(lookup(path, item))
            return None if size is None else {"N": str(size)}


def lookup(path: Path, item: Mapping[str, AttributeValue]) -> AttributeValue | None:
    """What is at `path`; None where nothing is."""
    value: AttributeValue | None = item.get(path.attribute)
    for part in path.parts[1:]:
        if value is None:
            return None
        members = value.get("L" if isinstance(part, int) else "M")
        if members is None or (isinstance(part, int) and part >= len(members)):
            return None
        value = members[part] if isinstance(part, int) else members.get(part)
    return value


def project(item: Mapping[str, AttributeValue], paths: Iterable[Path]) -> Item:
    """A copy of what `item` holds at `paths`, in the same shape; what a list lacks is closed up."""
    tree: dict[Any, Any] = {}
    for path in paths:
        branch = tree
        for part in path.parts:
            branch = branch.setdefault(part, {})
    kept: Item = {}
    for name, branch in tree.items():
        if name in item and (value := _prune(item[name], branch)) is not None:
            kept[name] = value
    return kept


def _prune(value: AttributeValue, tree: dict[Any, Any]) -> AttributeValue | None:
    if not tree:
        return copied(value)
    if "M" in value and all(isinstance(part, str) for part in tree):
        members = {part: _prune(value["M"][part], tree[part]) for part in tree if part in value["M"]}
        members = {part: member for part, member in members.items() if member is not None}
        return {"M": members} if members else None
    if "L" in value and all(isinstance(part, int) for part in tree):
        listed = [_prune(value["L"][part], tree[part]) for part in sorted(tree) if part < len(value["L"])]
        listed = [member for member in listed if member is not None]
        return {"L": listed} if listed else None
    return None


def _call_holds(call: Call, item: Mapping[str, AttributeValue]) -> bool:
    value = lookup(call.path, item)
    if call.argument is None:
        return (value is not None) == (call.function == "attribute_exists")
    argument = resolve(call.argument, item)
    if value is None or argument is None:
        return False
    return _FUNCTIONS[call.function](value, argument)


def _begins_with(value: AttributeValue, prefix: AttributeValue) -> bool:
    tag = type_of(value)
    return tag == type_of(prefix) and tag in ("S", "B") and bool(value[tag].startswith(prefix[tag]))


def _contains(value: AttributeValue, sought: AttributeValue) -> bool:
    tag, content = next(iter(value.items()))
    if tag == "L":
        return sought in content
    if tag in ("SS", "NS", "BS"):
        return tag[0] in sought and bool(sought[tag[0]] in content)
    return tag in ("S", "B") and tag in sought and bool(sought[tag] in content)


def _attribute_type(value: AttributeValue, tag: AttributeValue) -> bool:
    return bool(type_of(value) == tag["S"])


_FUNCTIONS: Mapping[str, Callable[[AttributeValue, AttributeValue], bool]] = {
    "begins_with": _begins_with,
    "contains": _contains,
    "attribute_type": _attribute_type,
}


def _length(value: AttributeValue | None) -> int | None:
    if value is None:
        return None
    tag, content = next(iter(value.items()))
    if tag == "S":
        return len(content.encode())
    return None if tag in ("N", "BOOL", "NULL") else len(content)
