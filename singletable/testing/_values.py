"""Attribute values in typed JSON: checked, normalised, copied and ordered.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, TypeAlias, TypeVar, cast

from ..wire import Request
from ._numbers import normalise_number
from ._refusal import Refusal

AttributeValue: TypeAlias = dict[str, Any]
Item: TypeAlias = dict[str, AttributeValue]
Key: TypeAlias = tuple[str, str]
_T = TypeVar("_T")

MAX_NESTING = 32
_CONTENT: Mapping[str, type | tuple[type, ...]] = {
    "S": str,
    "N": str,
    "B": (bytes, bytearray),
    "BOOL": bool,
    "NULL": bool,
    "L": (list, tuple),
    "M": Mapping,
    "SS": (list, tuple),
    "NS": (list, tuple),
    "BS": (list, tuple),
}
TYPES = frozenset(_CONTENT)
SETS = frozenset({"SS", "NS", "BS"})
ORDERED = frozenset({"S", "N", "B"})


def normalise_item(item: Any) -> Item:
    """A checked copy of `item`, in the form in which DynamoDB gives it back."""
    if not isinstance(item, Mapping):
        raise Refusal("An item must be a map of attribute values")
    members = cast("Mapping[str, Any]", item)
    if "" in members:
        raise Refusal("One or more parameter values were invalid: Empty attribute name")
    return {name: normalise(value) for name, value in members.items()}


def normalise(value: Any, depth: int = 0) -> AttributeValue:
    """A checked copy of `value`, whose equality is DynamoDB's: numbers are plain, sets sorted."""
    tag, content = _open(value)
    if tag in ("L", "M") and depth >= MAX_NESTING:
        text = "Attributes in the item have nested levels beyond supported limit"
        raise Refusal(f"Nesting Levels have exceeded supported limits: {text}")
    if tag == "L":
        return {"L": [normalise(member, depth + 1) for member in content]}
    if tag == "M":
        return {"M": {_text(name): normalise(member, depth + 1) for name, member in content.items()}}
    if tag in SETS:
        return {tag: _normalise_set(tag, content)}
    if tag == "NULL" and not content:
        raise Refusal(
            "One or more parameter values were invalid: Null attribute value types must have the value of true"
        )
    return {tag: _SCALARS.get(tag, _unchanged)(content)}


def copied(value: _T) -> _T:
    """A copy that shares no list and no map with `value`."""
    # The copy has the shape of what was copied, which recursion over JSON cannot express.
    return cast("_T", _copied(value))


def copied_request(request: Request) -> Request:
    """A copy of `request` that does not change when its sender goes on changing what it has sent."""
    return Request(request.operation, _copied(request.params))


def type_of(value: AttributeValue) -> str:
    """The type tag of `value`: `S`, `N`, …"""
    return next(iter(value))


def rank(value: AttributeValue) -> bytes | Decimal:
    """What DynamoDB orders `value` by, among values of its type; only for `S`, `N` and `B`."""
    ((tag, content),) = value.items()
    if tag == "S":
        return cast(str, content).encode()
    return Decimal(content) if tag == "N" else cast(bytes, content)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(member) for name, member in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, (list, tuple)):
        return [_copied(member) for member in cast("list[Any]", value)]
    return value


def _open(value: Any) -> tuple[str, Any]:
    if not isinstance(value, Mapping) or len(cast("Mapping[str, Any]", value)) != 1:
        raise Refusal("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
    ((tag, content),) = cast("Mapping[str, Any]", value).items()
    if tag not in _CONTENT or not isinstance(content, _CONTENT[tag]):
        raise Refusal(f"Supplied AttributeValue does not hold what its datatype {tag!r} asks for")
    return tag, content


def _normalise_set(tag: str, members: Any) -> list[Any]:
    if not members:
        raise Refusal("One or more parameter values were invalid: A set may not be empty")
    scalar = tag[0]
    normal = [normalise({scalar: member})[scalar] for member in members]
    if len(set(normal)) != len(normal):
        raise Refusal("One or more parameter values were invalid: Input collection contains duplicates.")
    return sorted(normal, key=lambda member: rank({scalar: member}))


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise Refusal("The name of an attribute must be a string")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Refusal("A string must be encodable as UTF-8") from None
    return text


def _unchanged(content: Any) -> Any:
    return content


_SCALARS: Mapping[str, Callable[[Any], Any]] = {"S": _text, "N": normalise_number, "B": bytes}
