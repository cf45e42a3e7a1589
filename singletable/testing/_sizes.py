"""The size of an item by DynamoDB's rules, apart from the codec's, so that one checks the other.  Pure."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import Any, cast

from ._numbers import significant_digits
from ._values import AttributeValue


def item_size_bytes(item: Mapping[str, AttributeValue]) -> int:
    """The size of a normalised item: names and values, in bytes."""
    return sum(len(name.encode()) + value_size_bytes(value) for name, value in item.items())


def value_size_bytes(value: AttributeValue) -> int:
    """The size of one normalised attribute value in bytes, without its name."""
    ((tag, content),) = value.items()
    return _SIZES[tag](content)


def wire_size_bytes(params: object) -> int:
    """The size of a request, or of a part of it, as the JSON that is sent: small values take more room there."""
    return len(json.dumps(params, ensure_ascii=False, separators=(",", ":"), default=_wire_form).encode())


def _wire_form(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    return b64encode(cast(bytes, value)).decode()


def _number(text: str) -> int:
    return (significant_digits(text) + 1) // 2 + 1 + text.startswith("-")


def _string(text: str) -> int:
    return len(text.encode())


def _flag(_: object) -> int:
    return 1


def _list(members: list[Any]) -> int:
    return 3 + sum(1 + value_size_bytes(member) for member in members)


def _map(members: dict[str, Any]) -> int:
    return 3 + item_size_bytes(members) + len(members)


def _sum(size: Callable[[Any], int]) -> Callable[[list[Any]], int]:
    return lambda members: sum(map(size, members))


_SIZES: Mapping[str, Callable[[Any], int]] = {
    "S": _string,
    "N": _number,
    "B": len,
    "BOOL": _flag,
    "NULL": _flag,
    "L": _list,
    "M": _map,
    "SS": _sum(_string),
    "NS": _sum(_number),
    "BS": _sum(len),
}
