"""Python values to DynamoDB's typed JSON and back; one function for puts, patches, filters and keys.  Pure."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Context, Decimal
from enum import Enum
from typing import Any, TypeAlias, cast
from uuid import UUID

import orjson
from pydantic import BaseModel, RootModel

from .errors import InvalidValueError
from .keys import time_text
from .values import KEEP, Keep
from .wire import WireItem

AttributeValue: TypeAlias = Mapping[str, Any]
"""A value in DynamoDB's typed JSON: `{"N": "1"}`."""

DIGITS = 38
"""The significant digits that a number of DynamoDB holds; its exponents run from -130 to 125."""
LARGEST = Decimal("9.9999999999999999999999999999999999999E+125")
SMALLEST = Decimal("1E-130")
NESTING = 32
"""The depth to which DynamoDB nests lists and maps."""
_EXACT = Context(prec=1000)
"""For normalize(), which would round to the 28 digits of the default context."""


def encode(value: object, path: str) -> AttributeValue:
    """`value` in typed JSON; raises InvalidValueError with the path to what DynamoDB cannot hold."""
    return _encode(value, path, 1)


def encode_json(value: object, path: str) -> AttributeValue:
    """`value` as JSON text in a string attribute: free-form JSON comes back exactly as it went in."""
    try:
        _require_json(value, path)
        return {"S": orjson.dumps(value).decode()}
    except InvalidValueError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"{path} cannot be written as JSON: {type(error).__name__}: {error}") from None


def decode(value: AttributeValue, *, decimal: bool = False) -> object:
    """The Python value of typed JSON; with `decimal` every number is a Decimal, otherwise an int or a float."""
    ((kind, content),) = value.items()
    match kind:
        case "S" | "BOOL":
            return content
        case "N":
            return _number(content, decimal=decimal)
        case "B":
            return _binary(content)
        case "NULL":
            return None
        case "M":
            return {name: decode(inner, decimal=decimal) for name, inner in content.items()}
        case "L":
            return [decode(inner, decimal=decimal) for inner in content]
        case "SS" | "NS" | "BS":
            return {decode({kind[0]: member}, decimal=decimal) for member in content}
        case _:
            raise InvalidValueError(f"{kind} is no type of DynamoDB's")


def decode_json(value: AttributeValue) -> object:
    """The value of a string attribute that holds JSON text."""
    return orjson.loads(value["S"])


def size_bytes(value: AttributeValue) -> int:
    """The bytes that DynamoDB counts for a value (developer guide, «DynamoDB item sizes and formats»)."""
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_bytes(content)
        case "B":
            return len(_binary(content))
        case "M":
            return 3 + sum(len(name.encode()) + size_bytes(inner) + 1 for name, inner in content.items())
        case "L":
            return 3 + sum(size_bytes(inner) + 1 for inner in content)
        case "SS" | "NS" | "BS":
            return sum(size_bytes({kind[0]: member}) for member in content)
        case _:
            return 1


def fits(items: Sequence[WireItem], limit_bytes: int) -> bool:
    """Whether items have no more bytes than a limit, all together."""
    try:
        # As JSON an item is longer than what DynamoDB counts, and that is found many times as fast.
        if sum(len(orjson.dumps(item)) for item in items) <= limit_bytes:
            return True
    except TypeError:
        pass  # binary values, which JSON has not
    return sum(map(item_size_bytes, items)) <= limit_bytes


def item_size_bytes(item: WireItem) -> int:
    """The bytes that DynamoDB counts for a whole item."""
    return sum(len(name.encode()) + size_bytes(value) for name, value in item.items())


def _encode(value: object, path: str, depth: int) -> AttributeValue:
    value = value.value if isinstance(value, Enum) and value is not KEEP else value
    encoder = next((_ENCODERS[kind] for kind in type(value).__mro__ if kind in _ENCODERS), None)
    if encoder:
        return encoder(value, path)
    if depth > NESTING:
        raise InvalidValueError(f"{path} is nested deeper than DynamoDB's {NESTING} levels; store it as JSON text")
    match value:
        case RootModel():
            return _encode(_root(cast("BaseModel", value)), path, depth)
        case BaseModel():
            return _encode_map(_model_fields(value), path, depth)
        case Mapping():
            return _encode_map(cast("Mapping[object, object]", value), path, depth)
        case AbstractSet():
            return _encode_set(cast("AbstractSet[object]", value), path)
        case Sequence():
            items = enumerate(cast("Sequence[object]", value))
            return {"L": [_encode(inner, f"{path}[{position}]", depth + 1) for position, inner in items]}
        case _:
            raise InvalidValueError(f"{path} is a {type(value).__name__}, which DynamoDB cannot hold")


def _root(model: BaseModel) -> object:
    return getattr(model, "root")  # noqa: B009 - the checkers know neither its type nor that it is there


def _model_fields(model: BaseModel) -> dict[str, object]:
    """The fields of a nested model under the names by which pydantic reads them back."""
    values: dict[str, object] = {}
    for name, info in type(model).model_fields.items():
        alias = info.validation_alias or info.alias or name
        if not isinstance(alias, str):
            raise InvalidValueError(
                f"{type(model).__name__}.{name} has an alias that is a path or a choice; give it a name"
            )
        values[alias] = getattr(model, name)
    return values | (model.__pydantic_extra__ or {})


def _encode_map(value: Mapping[Any, object], path: str, depth: int) -> AttributeValue:
    content: dict[str, AttributeValue] = {}
    for name, inner in value.items():
        if not isinstance(name, str) or not name:
            raise InvalidValueError(f"{path} has a key that is not a text of at least one character")
        content[_utf8(name, path)] = _encode(inner, f"{path}.{name}", depth + 1)
    return {"M": content}


def _encode_set(value: AbstractSet[object], path: str) -> AttributeValue:
    members = [_encode(member, path, NESTING) for member in value]
    kinds = {kind for member in members for kind in member}
    if len(kinds) != 1 or not kinds <= {"S", "N", "B"}:
        raise InvalidValueError(
            f"{path}: a set must hold at least one member, and only texts, only numbers or only bytes"
        )
    kind = kinds.pop()
    # Two members may be stored alike, as two times in one millisecond are.
    return {f"{kind}S": sorted({member[kind] for member in members})}


def _encode_float(value: float, path: str) -> AttributeValue:
    if not math.isfinite(value):
        raise InvalidValueError(f"{path} is {value}, which DynamoDB cannot hold")
    return _encode_decimal(Decimal(repr(value)), path)


def _encode_decimal(value: Decimal, path: str) -> AttributeValue:
    if not value.is_finite():
        raise InvalidValueError(f"{path} is {value}, which DynamoDB cannot hold")
    number = value.normalize(_EXACT)
    if len(number.as_tuple().digits) > DIGITS or (number and not SMALLEST <= abs(number) <= LARGEST):
        raise InvalidValueError(f"{path} has more than {DIGITS} digits, or an exponent outside -130 to 125")
    # As DynamoDB gives it back: without exponent, without zeros at the end, without a sign of zero.
    return {"N": f"{number:f}" if number else "0"}


def _encode_text(value: str, path: str) -> AttributeValue:
    return {"S": _utf8(value, path)}


def _encode_time(value: datetime, path: str) -> AttributeValue:
    if value.tzinfo is None:
        raise InvalidValueError(f"{path} is a naive datetime; give it a time zone, for example datetime.now(UTC)")
    return {"S": time_text(value)}


def _refuse_keep(_: Keep, path: str) -> AttributeValue:
    raise InvalidValueError(f"{path} is KEEP, which stands for what is stored and is no value")


def _utf8(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValueError(f"{path} holds a lone surrogate, which UTF-8 cannot hold") from None
    return value


def _require_json(value: object, path: str) -> None:
    match value:
        case None | str() | bool() | int():
            return
        case float():
            if not math.isfinite(value):
                raise InvalidValueError(f"{path} is {value}, which JSON cannot hold")
        case Mapping():
            for name, inner in cast("Mapping[object, object]", value).items():
                _require_json(inner, f"{path}.{name}")
        case list() | tuple():
            for position, inner in enumerate(cast("Sequence[object]", value)):
                _require_json(inner, f"{path}[{position}]")
        case _:
            raise InvalidValueError(f"{path} is a {type(value).__name__}, which is not JSON")


def _number(text: str, *, decimal: bool) -> int | float | Decimal:
    if decimal:
        return Decimal(text)
    try:
        return int(text)
    except ValueError:
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else float(text)


def _number_bytes(text: str) -> int:
    """A byte for two significant digits, one more, and one for a minus sign."""
    number = Decimal(text)
    return (len(number.normalize(_EXACT).as_tuple().digits) + 1) // 2 + 1 + number.is_signed()


def _binary(content: bytes | str) -> bytes:
    return base64.b64decode(content) if isinstance(content, str) else bytes(content)


_ENCODERS: dict[type, Callable[[Any, str], AttributeValue]] = {
    str: _encode_text,
    bool: lambda value, _: {"BOOL": value},
    int: lambda value, path: _encode_decimal(Decimal(value), path),
    float: _encode_float,
    Decimal: _encode_decimal,
    type(None): lambda _value, _path: {"NULL": True},
    bytes: lambda value, _: {"B": value},
    datetime: _encode_time,
    date: lambda value, _: {"S": value.isoformat()},
    UUID: lambda value, _: {"S": str(value)},
    Keep: _refuse_keep,
}
