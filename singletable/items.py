"""An entity to its item and back.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from . import codec
from .codec import AttributeValue
from .compile import EntitySpec, FieldSpec, IndexSpec
from .declare import TABLE, Lookup, PrimaryKey
from .errors import CorruptItemError, InvalidValueError, RequestError, SingleTableError
from .wire import WireItem

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")
R = TypeVar("R", bound=BaseModel)
ENTITY = "_entity"
VERSION = "_version"
WRITE = "_write"
"""Which write made an item what it is, so that one whose answer was lost can be told from one that was refused."""
TARGET = ("targetPk", "targetSk")
"""Where a pointer item keeps the key of the item that it points to."""


def to_item(entity: Entity) -> dict[str, AttributeValue]:
    """The whole item of an entity but its expiry: keys, markers, fields, and what this version does not know.

    Raises InvalidValueError for a value that the item could not be read with again."""
    spec = entity.spec
    values = _checked(entity)
    item: dict[str, AttributeValue] = dict(index_keys(spec.table, values))
    for index in spec.indexes.values():
        if index.name != TABLE and not missing(index, values):
            item |= index_keys(index, values)
    item[ENTITY] = {"S": spec.name}
    item[VERSION] = {"N": str(spec.version)}
    item |= entity._unknown  # pyright: ignore[reportPrivateUsage]
    for field in spec.fields.values():
        value = encode_field(field, values[field.name], spec)
        if value is not None:
            item[field.stored] = value
    return item


def from_item(model: type[E], item: WireItem, ttl_attribute: str) -> E:
    """The entity of an item; raises CorruptItemError where the item does not fit it."""
    spec = model.spec
    name = item.get(ENTITY, {}).get("S")
    if VERSION not in item:
        raise CorruptItemError(f"a stored {spec.name} has no {VERSION}", entity=spec.name, key=table_key(item))
    if name != spec.name:
        raise CorruptItemError(
            f"an item where a {spec.name} should be says that it is {name or 'nothing of this library'}",
            entity=spec.name,
            key=table_key(item),
        )
    entity = _validated(model, item, spec.fields.values(), spec)
    entity._unknown.update(_unknown(spec, item, ttl_attribute))  # pyright: ignore[reportPrivateUsage]
    return entity


def from_projection(model: type[R], item: WireItem, spec: EntitySpec) -> R:
    """The part of an item that a projection asks for; raises CorruptItemError where it does not fit."""
    return _validated(model, item, [spec.fields[name] for name in model.model_fields], spec)


def encode_field(field: FieldSpec, value: object, spec: EntitySpec) -> AttributeValue | None:
    """A field as it is stored; None where it is stored by leaving the attribute out."""
    path = f"{spec.name}.{field.name}"
    if (value is None and field.none_is_absent) or (field.is_set and value in (set(), frozenset())):
        return None
    return codec.encode_json(value, path) if field.json_text else codec.encode(value, path)


def validated(model: type[Entity], name: str, value: object, *, operand: bool = False) -> object:
    """A value as the field takes it; raises InvalidValueError for one that the item could not be read with again.

    An `operand` has the type of the field, and need not meet its constraints."""
    try:
        return _adapter(model, name, operand=operand).validate_python(value)
    except ValidationError as error:
        raise InvalidValueError(f"{model.spec.name}: {name} cannot be changed to that: {_types(error)}") from None


def index_keys(index: IndexSpec, values: Mapping[str, object]) -> dict[str, AttributeValue]:
    """Both key attributes of an index; raises IncompleteKeyError where a part is missing."""
    return {half.attribute: {"S": half.render(values)} for half in (index.pk, index.sk)}


def missing(index: IndexSpec, values: Mapping[str, object]) -> list[str]:
    """The parts of an index that `values` does not give."""
    return index.pk.missing(values) + index.sk.missing(values)


def key_item(key: PrimaryKey[E]) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of a key."""
    return index_keys(key.model.spec.table, key.given())


def entity_key(entity: Entity) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of an entity."""
    return index_keys(entity.spec.table, _values(entity))


def pointer_key(lookup: Lookup[E]) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of the pointer item of a lookup."""
    return index_keys(lookup.model.spec.lookups[type(lookup).__name__], lookup.given())


def lookups_of(entity: E) -> list[Lookup[E]]:
    """The lookups of an entity, as values."""
    return [getattr(type(entity), name).of(entity) for name in entity.spec.lookups]


def pointers(entity: Entity) -> list[dict[str, AttributeValue]]:
    """The pointer items of an entity, one for each of its lookups."""
    spec = entity.spec
    values = _values(entity)
    target = index_keys(spec.table, values)
    return [index_keys(lookup, values) | pointer_body(lookup, target) for lookup in spec.lookups.values()]


def pointer_body(lookup: IndexSpec, target: WireItem) -> dict[str, AttributeValue]:
    """What a pointer item holds beside its key."""
    return {ENTITY: {"S": lookup.pk.prefix}, TARGET[0]: target["pk"], TARGET[1]: target["sk"]}


def target_key(pointer: WireItem) -> dict[str, AttributeValue]:
    """The key of the item that a pointer item points to."""
    return {"pk": pointer[TARGET[0]], "sk": pointer[TARGET[1]]}


def key_fields(model: type[Entity], key: WireItem) -> dict[str, object]:
    """The fields that a stored key holds."""
    table = model.spec.table
    return table.pk.parse(key["pk"]["S"]) | table.sk.parse(key["sk"]["S"])


def table_key(item: WireItem) -> dict[str, AttributeValue]:
    """The primary key of an item."""
    return {"pk": item["pk"], "sk": item["sk"]}


def check_projection(model: type[BaseModel], spec: EntitySpec) -> None:
    """Raise RequestError unless the fields of `model` are fields of the entity."""
    aliased = {name for name, info in model.model_fields.items() if info.alias or info.validation_alias}
    if aliased:
        raise RequestError(f"{model.__name__}.{aliased.pop()}: the fields of a projection have no alias")
    unknown = model.model_fields.keys() - spec.fields.keys()
    if unknown:
        raise RequestError(f"{model.__name__} asks for {', '.join(sorted(unknown))}, which {spec.name} does not have")


def _validated(model: type[R], item: WireItem, fields: Iterable[FieldSpec], spec: EntitySpec) -> R:
    try:
        values = {field.name: _decoded(field, item) for field in fields if field.stored in item or field.is_set}
        return model.model_validate(values)
    except (ValidationError, SingleTableError, ValueError, KeyError) as error:
        raise CorruptItemError(
            f"a stored {spec.name} does not fit: {_problems(error)}", entity=spec.name, key=table_key(item)
        ) from (None if isinstance(error, ValidationError) else error)


def _decoded(field: FieldSpec, item: WireItem) -> object:
    value = item.get(field.stored)
    if value is None:
        return set[object]()  # DynamoDB has no empty sets: a set without members is an absent attribute
    if field.json_text and "S" in value:
        return codec.decode_json(value)
    return codec.decode(value, decimal=field.decimal)


def _checked(entity: Entity) -> dict[str, object]:
    """The fields of an entity, validated once more: model_copy(update=...) and nested changes go round validation."""
    try:
        return _values(type(entity).model_validate(_values(entity)))
    except ValidationError as error:
        raise InvalidValueError(f"{entity.spec.name} cannot be stored: {_problems(error)}") from None


def _values(entity: Entity) -> dict[str, object]:
    return {name: getattr(entity, name) for name in entity.spec.fields}


@cache
def _adapter(model: type[Entity], name: str, *, operand: bool) -> TypeAdapter[object]:
    info = model.model_fields[name]
    annotation: Any = info.annotation
    if info.metadata and not operand:
        annotation = cast(Any, Annotated)[(annotation, *info.metadata)]
    return TypeAdapter(annotation)


def _problems(error: Exception) -> str:
    if isinstance(error, ValidationError):
        # Deeper than the field a location may hold keys of a stored map, which are content.
        return "; ".join(f"{e['loc'][0]}: {e['type']}" for e in error.errors(include_input=False))
    return type(error).__name__


def _types(error: ValidationError) -> str:
    return ", ".join(sorted({e["type"] for e in error.errors(include_input=False)}))


def _unknown(spec: EntitySpec, item: WireItem, ttl_attribute: str) -> dict[str, AttributeValue]:
    # Keys of an index that only a later version declares are unknown as well: its items stay in that index.
    keys = {half.attribute for index in spec.indexes.values() for half in (index.pk, index.sk)}
    known = {field.stored for field in spec.fields.values()} | keys | {ttl_attribute, ENTITY, VERSION, WRITE}
    unknown = {name: value for name, value in item.items() if name not in known}
    if int(item[VERSION]["N"]) > spec.version:
        # A later version of the entity wrote it: what is saved again must not pass for an older one.
        unknown[VERSION] = item[VERSION]
    return unknown
