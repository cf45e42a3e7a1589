"""All fields of an entity to typed JSON at once: what `codec` gives for them, several times as fast.  Pure.

A value is encoded by its exact type.  Whatever is not plain sailing – a subclass, a zone other than UTC, a value that
DynamoDB cannot hold – is left to `codec`, so that one place decides, and words the refusal with its path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias, cast
from uuid import UUID

import orjson
from pydantic import BaseModel, RootModel

from . import codec
from .codec import NESTING, AttributeValue
from .errors import InvalidValueError
from .specs import FieldSpec

Encoder: TypeAlias = Callable[[Any, int], AttributeValue]
"""Encodes values of one type at a depth of lists and maps; raises one of UNSURE for those it leaves to `codec`."""
Plain: TypeAlias = Callable[[FieldSpec, object], AttributeValue | None]
WHOLE = 10**codec.DIGITS
"""No integer below it has more digits than a number of DynamoDB."""
LEAVES = frozenset({str, int, bool, type(None)})
"""The types that go into JSON text whatever their value."""
NO_OFFSET = timedelta()


class _UnsureError(Exception):
    pass


UNSURE = (_UnsureError, InvalidValueError, TypeError, UnicodeEncodeError, RecursionError)


def encode_fields(fields: Iterable[FieldSpec], values: Mapping[str, object], plain: Plain) -> dict[str, AttributeValue]:
    """The attributes that `plain` gives, field by field, without those that are stored by being absent.

    `plain` is asked only for the values that nothing here is sure of."""
    item: dict[str, AttributeValue] = {}
    for field in fields:
        value = values[field.name]
        if (value is None and field.none_is_absent) or (field.is_set and value == frozenset()):
            continue
        try:
            item[field.stored] = _json_text(value) if field.json_text else _ENCODERS[type(value)](value, 1)
            continue
        except UNSURE:
            pass
        typed = plain(field, value)
        if typed is not None:
            item[field.stored] = typed
    return item


class _Encoders(dict[type, Encoder]):
    """The encoders by exact type; what was found out about a class is kept."""

    def __missing__(self, kind: type) -> Encoder:
        encoder: Encoder = _unsure
        if issubclass(kind, Enum):
            encoder = _enum
        elif issubclass(kind, BaseModel) and not issubclass(kind, RootModel):
            encoder = _model_encoder(kind)
        self[kind] = encoder
        return encoder


def _unsure(_value: object, _depth: int) -> AttributeValue:
    raise _UnsureError


def _json_text(value: object) -> AttributeValue:
    if not _is_json(value):
        raise _UnsureError
    return {"S": orjson.dumps(value).decode()}


def _is_json(value: object) -> bool:
    if type(value) in LEAVES:
        return True
    match value:
        case float():
            return math.isfinite(value)
        case dict():
            return all(map(_is_json, cast("dict[object, object]", value).values()))
        case list() | tuple():
            return all(map(_is_json, cast("Iterable[object]", value)))
        case _:
            return False


def _str(value: str, _depth: int) -> AttributeValue:
    if not value.isascii():
        value.encode()
    return {"S": value}


def _int(value: int, _depth: int) -> AttributeValue:
    return {"N": str(value)} if -WHOLE < value < WHOLE else codec.encode(value, "")


def _float(value: float, _depth: int) -> AttributeValue:
    text = repr(value)
    if "." not in text or "e" in text or text.endswith(".0"):
        return codec.encode(value, "")
    return {"N": text}


def _time(value: datetime, _depth: int) -> AttributeValue:
    if value.tzinfo is not UTC and value.utcoffset() != NO_OFFSET:
        raise _UnsureError
    # orjson is several times as fast as isoformat(); it leaves out a fraction of nothing.
    text = orjson.dumps(value, option=orjson.OPT_UTC_Z).decode()
    return {"S": f"{text[1:24]}Z" if "." in text else f"{text[1:20]}.000Z"}


def _enum(value: Enum, depth: int) -> AttributeValue:
    inner = value.value
    if isinstance(inner, Enum):
        raise _UnsureError
    return _ENCODERS[type(inner)](inner, depth)


def _map(value: dict[str, object], depth: int) -> AttributeValue:
    names = "".join(value)
    if not names.isascii():
        names.encode()
    if "" in value or depth > NESTING:
        raise _UnsureError
    return {"M": {name: _ENCODERS[type(inner)](inner, depth + 1) for name, inner in value.items()}}


def _list(value: list[object] | tuple[object, ...], depth: int) -> AttributeValue:
    if depth > NESTING:
        raise _UnsureError
    return {"L": [_ENCODERS[type(inner)](inner, depth + 1) for inner in value]}


def _set(value: set[Any] | frozenset[Any], depth: int) -> AttributeValue:
    members = [_ENCODERS[type(member)](member, NESTING) for member in value]
    kinds = {kind for member in members for kind in member}
    if depth > NESTING or len(kinds) != 1 or not kinds <= {"S", "N", "B"}:
        raise _UnsureError
    kind = kinds.pop()
    return {f"{kind}S": sorted({member[kind] for member in members})}


def _model_encoder(kind: type[BaseModel]) -> Encoder:
    """Encodes nested models of one class, under the names by which pydantic reads their fields."""
    names = {name: info.validation_alias or info.alias or name for name, info in kind.model_fields.items()}
    if not all(isinstance(alias, str) for alias in names.values()):
        return _unsure

    def encode(model: BaseModel, depth: int) -> AttributeValue:
        if depth > NESTING or model.__pydantic_extra__:
            raise _UnsureError
        values = [(alias, getattr(model, name)) for name, alias in names.items()]
        return {"M": {alias: _ENCODERS[type(value)](value, depth + 1) for alias, value in values}}

    return encode


_ENCODERS = _Encoders(
    {
        str: _str,
        bool: lambda value, _: {"BOOL": value},
        int: _int,
        float: _float,
        Decimal: lambda value, _: codec.encode(value, ""),
        type(None): lambda _value, _depth: {"NULL": True},
        bytes: lambda value, _: {"B": value},
        datetime: _time,
        date: lambda value, _: {"S": value.isoformat()},
        UUID: lambda value, _: {"S": str(value)},
        dict: _map,
        list: _list,
        tuple: _list,
        set: _set,
        frozenset: _set,
    }
)
