"""An entity to its item and back.  Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from functools import cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from . import codec
from .codec import AttributeValue
from .declare import TABLE, Lookup, PrimaryKey
from .decoding import decode
from .encoding import encode_fields
from .entity import keep_unknown, unknown_of
from .errors import CorruptItemError, InvalidValueError, RequestError, SingleTableError
from .scopes import split_scope
from .specs import ENTITY, TARGET, VERSION, WRITE, EntitySpec, FieldSpec, IndexSpec
from .upcasting import stored_version, upcast
from .wire import WireItem

if TYPE_CHECKING:
    from .entity import Entity

UNCHANGEABLE = (type(None), str, int, float, date, Decimal, bytes, UUID)
"""Types of values that nobody can change in place; a datetime is a date."""

E = TypeVar("E", bound="Entity")
R = TypeVar("R", bound=BaseModel)


def to_item(
    entity: Entity, scope: str = "", automatic: Mapping[str, object] = MappingProxyType({})
) -> dict[str, AttributeValue]:
    """The whole item of an entity but its expiry: keys, markers, fields, and what this version does not know.

    `automatic` are values of the fields that the library fills in.  Raises InvalidValueError for a value that the item
    could not be read with again."""
    spec = entity.spec
    values = _checked(entity, automatic)
    item: dict[str, AttributeValue] = dict(index_keys(spec.table, values, scope))
    for index in spec.indexes.values():
        if index.name != TABLE and not missing(index, values):
            item |= index_keys(index, values, scope)
    item[ENTITY] = {"S": spec.name}
    item[VERSION] = {"N": str(spec.version)}
    item |= unknown_of(entity)
    return item | encode_fields(spec.fields.values(), values, partial(encode_field, spec=spec))


def from_item(model: type[E], item: WireItem, ttl_attribute: str) -> E:
    """The entity of an item; raises CorruptItemError where the item does not fit it."""
    spec = model.spec
    name = item.get(ENTITY, {}).get("S")
    if VERSION not in item:
        raise _corrupt(spec, item, f"a stored {spec.name} has no {VERSION}")
    if name != spec.name:
        raise _corrupt(
            spec, item, f"an item where a {spec.name} should be says that it is {name or 'nothing of this library'}"
        )
    item = _upcast(spec, item)
    entity = _validated(model, item, spec.fields.values(), spec)
    known = _known(model, ttl_attribute)
    if stored_version(item) > spec.version or not known.issuperset(item):
        keep_unknown(entity, _unknown(spec, item, known))
    return entity


def from_projection(model: type[R], item: WireItem, spec: EntitySpec) -> R:
    """The part of an item that a projection asks for; raises CorruptItemError where it does not fit."""
    return _validated(model, _upcast(spec, item), [spec.fields[name] for name in model.model_fields], spec)


def encode_field(field: FieldSpec, value: object, spec: EntitySpec) -> AttributeValue | None:
    """A field as it is stored; None where it is stored by leaving the attribute out."""
    path = f"{spec.name}.{field.name}"
    if (value is None and field.none_is_absent) or (field.is_set and value in (set(), frozenset())):
        return None
    return codec.encode_json(value, path) if field.json_text else codec.encode(value, path)


def validated(model: type[Entity], name: str, value: object, *, operand: bool = False) -> object:
    """A value as the field takes it; raises InvalidValueError for one that the item could not be read with again.

    The field's own validators see it; those over several fields cannot, for the others are not at hand.  An `operand`
    has the type of the field, and need not meet its constraints."""
    try:
        if operand:
            return _operand(model, name).validate_python(value)
        # pydantic-core declares a dict, and gives the fields, what is extra, and the names that were set.
        fields, *_ = cast(
            "tuple[dict[str, object], ...]", _fields_validator(model).validate_assignment({}, name, value)
        )
        return fields[name]
    except ValidationError as error:
        raise InvalidValueError(f"{model.spec.name}: {name} cannot be changed to that: {_types(error)}") from None
    except KeyError as error:
        if not model.model_fields.keys() & set(error.args):
            raise  # from the validator's own work
        raise RequestError(
            f"{model.spec.name}: a validator of {name} asks for other fields, which a patch does not have: get the "
            "entity, change it and put it"
        ) from None


def index_keys(index: IndexSpec, values: Mapping[str, object], scope: str) -> dict[str, AttributeValue]:
    """Both key attributes of an index; raises IncompleteKeyError where a part is missing."""
    return {
        index.pk.attribute: {"S": index.pk.render(values, scope)},
        index.sk.attribute: {"S": index.sk.render(values)},
    }


def missing(index: IndexSpec, values: Mapping[str, object]) -> list[str]:
    """The parts of an index that `values` does not give."""
    return index.pk.missing(values) + index.sk.missing(values)


def key_item(key: PrimaryKey[E], scope: str) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of a key."""
    return index_keys(key.declared_for.spec.table, key.declared_values(), scope)


def key_of(entity: E) -> PrimaryKey[E]:
    """The key of an entity, as a value."""
    return cast("PrimaryKey[E]", cast(Any, type(entity)).Key.of(entity))


def entity_key(entity: Entity, scope: str) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of an entity."""
    return index_keys(entity.spec.table, _values(entity), scope)


def pointer_key(lookup: Lookup[E], scope: str) -> dict[str, AttributeValue]:
    """The `pk` and `sk` of the pointer item of a lookup."""
    return index_keys(lookup.declared_for.spec.lookups[type(lookup).__name__], lookup.declared_values(), scope)


def lookups_of(entity: E) -> list[Lookup[E]]:
    """The lookups of an entity, as values."""
    return [getattr(type(entity), name).of(entity) for name in entity.spec.lookups]


def pointers(
    entity: Entity, scope: str = "", automatic: Mapping[str, object] = MappingProxyType({})
) -> list[dict[str, AttributeValue]]:
    """The pointer items of an entity, one for each of its lookups."""
    spec = entity.spec
    if not spec.lookups:
        return []
    values = {**_values(entity), **automatic}
    target = index_keys(spec.table, values, scope)
    return [index_keys(lookup, values, scope) | pointer_body(lookup, target) for lookup in spec.lookups.values()]


def pointer_body(lookup: IndexSpec, target: WireItem) -> dict[str, AttributeValue]:
    """What a pointer item holds beside its key."""
    return {ENTITY: {"S": lookup.pk.prefix}, TARGET[0]: target["pk"], TARGET[1]: target["sk"]}


def target_key(pointer: WireItem) -> dict[str, AttributeValue]:
    """The key of the item that a pointer item points to."""
    return {"pk": pointer[TARGET[0]], "sk": pointer[TARGET[1]]}


def key_fields(model: type[Entity], key: WireItem) -> dict[str, object]:
    """The fields that a stored key holds, whatever scope it is in."""
    table = model.spec.table
    _, partition = split_scope(key["pk"]["S"])
    return table.pk.parse(partition) | table.sk.parse(key["sk"]["S"])


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


def _validated(model: type[R], item: WireItem, fields: Collection[FieldSpec], spec: EntitySpec) -> R:
    try:
        return decode(model, spec, fields, item)
    except (ValidationError, SingleTableError, ArithmeticError, ValueError, KeyError) as error:
        cause = None if isinstance(error, ValidationError) else error
        raise _corrupt(spec, item, f"a stored {spec.name} does not fit: {_problems(error)}") from cause


def _upcast(spec: EntitySpec, item: WireItem) -> WireItem:
    try:
        return upcast(spec, item)
    except Exception as error:  # an upcaster is code of the user's, and one bad item must not look like a bug of ours
        raise _corrupt(spec, item, f"a stored {spec.name} cannot be cast up: {type(error).__name__}") from error


def _corrupt(spec: EntitySpec, item: WireItem, problem: str) -> CorruptItemError:
    return CorruptItemError(problem, entity=spec.name, key=table_key(item), item=item)


def _checked(entity: Entity, automatic: Mapping[str, object]) -> dict[str, object]:
    """The fields of an entity, validated once more: model_copy(update=...) and nested changes go round validation.

    A default that nothing can have changed is taken as it is, as pydantic takes it, unless a validator of the whole
    model wants to see it."""
    given = {**_values(entity), **automatic}
    defaults: dict[str, object] = {}
    if not type(entity).__pydantic_decorators__.model_validators:
        for name in given.keys() - entity.model_fields_set - automatic.keys():
            if isinstance(given[name], UNCHANGEABLE):
                defaults[name] = given.pop(name)
    try:
        return vars(type(entity).model_validate(given)) | defaults
    except ValidationError as error:
        raise InvalidValueError(f"{entity.spec.name} cannot be stored: {_problems(error)}") from None


def _values(entity: Entity) -> dict[str, object]:
    return {name: getattr(entity, name) for name in entity.spec.fields}


@cache
def _operand(model: type[Entity], name: str) -> TypeAdapter[object]:
    return TypeAdapter(cast(Any, model.model_fields[name].annotation))


@cache
def _fields_validator(model: type[Entity]) -> SchemaValidator:
    """The validator of a model's fields, each with its own validators, without those of the whole model."""
    return SchemaValidator(cast(Any, _only_fields(model.__pydantic_core_schema__)))


def _only_fields(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    match schema["type"]:
        case "model-fields":
            return schema
        case "definitions":
            return {**schema, "schema": _only_fields(schema["schema"])}
        case _:
            return _only_fields(schema["schema"])


def _problems(error: Exception) -> str:
    if isinstance(error, ValidationError):
        # Deeper than the field a location may hold keys of a stored map, which are content.
        # What a validator of the whole model refuses has no location.
        return "; ".join(f"{(*e['loc'], 'as a whole')[0]}: {e['type']}" for e in error.errors(include_input=False))
    return type(error).__name__


def _types(error: ValidationError) -> str:
    return ", ".join(sorted({e["type"] for e in error.errors(include_input=False)}))


def _unknown(spec: EntitySpec, item: WireItem, known: frozenset[str]) -> dict[str, AttributeValue]:
    unknown = {name: value for name, value in item.items() if name not in known}
    if stored_version(item) > spec.version:
        # A later version of the entity wrote it: what is saved again must not pass for an older one.
        unknown[VERSION] = item[VERSION]
    return unknown


@cache
def _known(model: type[Entity], ttl_attribute: str) -> frozenset[str]:
    # Keys of an index that only a later version declares are unknown as well: its items stay in that index.
    spec = model.spec
    keys = {half.attribute for index in spec.indexes.values() for half in (index.pk, index.sk)}
    stored = {field.stored for field in spec.fields.values()}
    return frozenset(stored | keys | {ttl_attribute, ENTITY, VERSION, WRITE})
