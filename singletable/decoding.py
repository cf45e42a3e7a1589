"""Stored items to entities: what `codec` and `model_validate` give for them, in a third of the time.  Pure.

An entity is read by one validator that pydantic-core compiles over the wire form of its items.  A model that has more
to say about its input than its fields do, and a projection, go through the values of the fields; an item that fails
goes through `codec` once more, so that one place words what is wrong with it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection
from decimal import Decimal
from functools import cache
from typing import Any, TypeVar, cast

import orjson
from pydantic import BaseModel
from pydantic_core import SchemaValidator

from . import codec
from .codec import AttributeValue
from .entity import Entity
from .specs import EntitySpec, FieldSpec
from .wire import WireItem
from .wireschema import Reader, wire_schema

R = TypeVar("R", bound=BaseModel)
NO_MEMBERS: AttributeValue = {"SS": []}
"""What is read for a set whose attribute is absent: DynamoDB has no empty sets."""


def decode(model: type[R], spec: EntitySpec, fields: Collection[FieldSpec], item: WireItem) -> R:
    """An item as an entity, or as a projection to `fields` of it.

    A damaged item raises what `codec` and `model_validate` raise for it."""
    if issubclass(model, Entity) and model.spec is spec:
        validator, sets = _wire_validator(model)
        if validator is not None:
            absent = [stored for stored in sets if stored not in item]
            wire = {**item, **dict.fromkeys(absent, NO_MEMBERS)} if absent else item
            try:
                return cast("R", validator.validate_python(wire))
            except Exception:  # whatever is odd about the item, the plain way tells
                pass
    return model.model_validate(decode_fields(fields, item))


def decode_fields(fields: Collection[FieldSpec], item: WireItem) -> dict[str, object]:
    """The values of `fields` by name; a field whose attribute is absent has none, unless it is a set, which is empty.

    A damaged item raises what `decode_field` raises for it."""
    try:
        return _decoded(fields, item)
    except Exception:  # whatever is odd about the item, the plain way tells
        pass
    return {field.name: decode_field(field, item) for field in fields if field.stored in item or field.is_set}


def decode_field(field: FieldSpec, item: WireItem) -> object:
    """The value of one field, by `codec`."""
    value = item.get(field.stored)
    if value is None:
        return set[object]()
    if field.text_is_json and "S" in value:
        return codec.decode_json(value)
    return codec.decode(value, decimal=field.decimal)


@cache
def _wire_validator(model: type[Entity]) -> tuple[SchemaValidator | None, tuple[str, ...]]:
    """The validator of an entity over the wire form, None where its fields do not tell all, and the stored sets."""
    wire: Any = wire_schema(model.__pydantic_core_schema__, model.spec, _reader)
    if wire is None:
        return None, ()
    try:
        # Without the argument pydantic-core would take the model's own validator, which does not read the wire form.
        validator = SchemaValidator(wire, _use_prebuilt=False)
    except TypeError:  # a version of pydantic-core without the argument
        return None, ()
    return validator, tuple(field.stored for field in model.spec.fields.values() if field.is_set)


def _reader(field: FieldSpec) -> Reader:
    kinds = _DECIMALS if field.decimal else _NUMBERS
    if field.text_is_json:
        kinds = kinds | {"S": orjson.loads}

    def read(value: AttributeValue) -> object:
        (kind,) = value
        return kinds[kind](value[kind])

    return read


def _decoded(fields: Collection[FieldSpec], item: WireItem) -> dict[str, object]:
    values: dict[str, object] = {}
    for field in fields:
        if field.stored in item:
            value = item[field.stored]
            (kind,) = value
            if kind == "S":
                values[field.name] = orjson.loads(value[kind]) if field.text_is_json else value[kind]
            else:
                values[field.name] = (_DECIMALS if field.decimal else _NUMBERS)[kind](value[kind])
        elif field.is_set:
            values[field.name] = set()
    return values


def _readers(number: Callable[[str], object]) -> dict[str, Reader]:
    """How the content of each kind of typed JSON is read."""

    def read_map(content: dict[str, dict[str, Any]]) -> object:
        values: dict[str, object] = {}
        for name, value in content.items():
            (kind,) = value
            values[name] = value[kind] if kind == "S" else kinds[kind](value[kind])
        return values

    def read_list(content: list[dict[str, Any]]) -> object:
        values: list[object] = []
        for value in content:
            (kind,) = value
            values.append(value[kind] if kind == "S" else kinds[kind](value[kind]))
        return values

    kinds: dict[str, Reader] = {
        "S": lambda content: content,
        "BOOL": lambda content: content,
        "N": number,
        "B": _binary,
        "NULL": lambda _: None,
        "M": read_map,
        "L": read_list,
        "SS": set,
        "NS": lambda content: {number(member) for member in content},
        "BS": lambda content: {_binary(member) for member in content},
    }
    return kinds


def _number(text: str) -> object:
    if "." not in text and "E" not in text:
        return int(text)
    number = float(text)
    return number if number % 1 > 0 else codec.decode({"N": text})


def _binary(content: bytes | str) -> bytes:
    return base64.b64decode(content) if isinstance(content, str) else bytes(content)


_NUMBERS = _readers(_number)
_DECIMALS = _readers(Decimal)
