"""From an entity class to its spec; every mistake in a declaration is found here, at import.  Pure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping
from enum import EnumType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from pydantic.alias_generators import to_camel, to_snake
from typing_extensions import get_original_bases

from .annotations import alternatives as alternatives_of
from .annotations import (
    changed_type,
    fault,
    holds_decimal,
    holds_free_form,
    is_free_form,
    is_mapping,
    is_set,
    part_kind,
    part_type,
    side,
)
from .declare import TABLE, AccessPath, Changes, Declared, Index, Lookup, PrimaryKey, Projection
from .errors import DeclarationError
from .keys import PARTITION_BYTES, SORT_BYTES, KeyPart, KeyTemplate, is_part_kind, part_kinds
from .specs import RESERVED, WRITE, EntitySpec, FieldSpec, IndexSpec, Upcaster
from .values import KEEP, Automatic, AutomaticKind

if TYPE_CHECKING:
    from .entity import Entity

D = TypeVar("D", bound=Declared[Any])
NAME = re.compile("[a-z][a-z0-9_]*")
INDEX_NAME = re.compile(r"gsi\d+")
NONE = type(None)


def compile_spec(
    model: type[Entity], *, name: str, version: int, ttl_seconds: int | None, upcasters: Mapping[int, Upcaster]
) -> EntitySpec:
    """Compile an entity class; raises DeclarationError with class and field for every mistake in it."""
    _check_name(model.__name__, "entity", name)
    if version < 1 or (ttl_seconds is not None and ttl_seconds < 1):
        raise DeclarationError(f"{model.__name__}: version and ttl_seconds must be 1 or more")
    _check_upcasters(model, version, upcasters)
    fields = {field: _field(model, field) for field in model.model_fields}
    automatic = _automatic(model)
    _check_stored(model, fields.values())
    for declared in nested_in(model, Declared):
        _check_declared(model, declared)
    indexes = _indexes(model, name)
    lookups = {path.__name__: _lookup(model, path, name) for path in nested_in(model, Lookup)}
    _check_automatic(model, automatic, indexes.values(), [indexes[TABLE], *lookups.values()])
    for patch in nested_in(model, Changes):
        _check_patch(model, patch, [indexes[TABLE], *lookups.values()], automatic.values())
    return EntitySpec(name, version, ttl_seconds, fields, indexes, lookups, automatic, upcasters)


def nested_in(model: type[Entity], base: type[D]) -> list[type[D]]:
    """The classes in the body of `model` that derive from `base`."""
    return [value for value in vars(model).values() if isinstance(value, type) and issubclass(value, base)]


def _field(model: type[Entity], name: str) -> FieldSpec:
    info = model.model_fields[name]
    if info.alias or info.validation_alias or info.serialization_alias:
        raise DeclarationError(f"{model.__name__}.{name}: fields of an entity have no alias; it is stored in camelCase")
    json_text = is_free_form(info.annotation, info.metadata)
    problem = fault(info.annotation, json_text=json_text)
    if problem:
        raise DeclarationError(f"{model.__name__}.{name}: {problem}")
    return FieldSpec(
        name=name,
        stored=WRITE if _kind(model, name) == "version" else to_camel(name),
        json_text=json_text,
        text_is_json=json_text or is_mapping(info.annotation),
        free_form=holds_free_form(info.annotation),
        decimal=holds_decimal(info.annotation),
        is_set=is_set(info.annotation),
        none_is_absent=info.default is None,
    )


def _kind(model: type[Entity], name: str) -> AutomaticKind | None:
    marks = (mark for mark in model.model_fields[name].metadata if isinstance(mark, Automatic))
    return next((mark.kind for mark in marks), None)


def _automatic(model: type[Entity]) -> dict[AutomaticKind, str]:
    automatic: dict[AutomaticKind, str] = {}
    for name, info in model.model_fields.items():
        kind = _kind(model, name)
        if kind is None:
            continue
        if info.is_required() or (kind == "version" and info.default != ""):
            default = '"" as its default' if kind == "version" else "a default"
            raise DeclarationError(f"{model.__name__}.{name} is filled in by the library: give it {default}")
        other = automatic.setdefault(kind, name)
        if other != name:
            raise DeclarationError(f"{model.__name__}.{other} and {name} are both the {kind}")
    return automatic


def _check_automatic(
    model: type[Entity],
    automatic: Mapping[AutomaticKind, str],
    indexes: Iterable[IndexSpec],
    fixed: Iterable[IndexSpec],
) -> None:
    """What changes with every write is no part of what an item is found by; a version is no part of any index."""
    version, updated_at = automatic.get("version"), automatic.get("updated_at")
    for name, where in ((version, indexes), (version, fixed), (updated_at, fixed)):
        for index in where:
            if name in [part.name for part in index.parts]:
                raise DeclarationError(
                    f"{model.__name__}.{name} changes with every write: it is no part of {index.name}"
                )


def _check_upcasters(model: type[Entity], version: int, upcasters: Mapping[int, Upcaster]) -> None:
    if (upcasters and sorted(upcasters) != list(range(min(upcasters), version))) or min(upcasters, default=1) < 1:
        raise DeclarationError(
            f"{model.__name__}: upcasters must lead to version {version} step by step: one for each version before it, "
            "from the oldest that is stored"
        )


def _check_stored(model: type[Entity], fields: Iterable[FieldSpec]) -> None:
    owners: dict[str, str] = {}
    for field in fields:
        if RESERVED.fullmatch(field.stored) and field.stored != WRITE:
            raise DeclarationError(f"{model.__name__}.{field.name}: {field.stored} is an attribute of the table's own")
        other = owners.setdefault(field.stored, field.name)
        if other != field.name:
            raise DeclarationError(f"{model.__name__}.{field.name} and {other} are both stored as {field.stored}")


def _check_declared(model: type[Entity], declared: type[Declared[Any]]) -> None:
    declared.declared_for = model
    owner = [getattr(argument, "__forward_arg__", None) for argument in get_args(get_original_bases(declared)[0])]
    if owner != [model.__name__]:
        expected = f'{declared.__mro__[1].__name__}["{model.__name__}"]'
        raise DeclarationError(f"{declared.__qualname__} must derive from {expected}")
    for field in _hints(declared):
        if field not in model.model_fields:
            raise DeclarationError(f"{declared.__qualname__}.{field}: {model.__name__} has no such field")
        if field == "of" or field.startswith("declared_"):
            raise DeclarationError(
                f"{declared.__qualname__}.{field} is a name of the library's own: call the field otherwise"
            )


def _hints(declared: type[Declared[Any]]) -> dict[str, Any]:
    try:
        hints = get_type_hints(
            declared, localns={declared.declared_for.__name__: declared.declared_for}, include_extras=True
        )
    except NameError as error:
        raise DeclarationError(
            f"{declared.__qualname__}: {error}; declare entities at the top of a module, after what they refer to"
        ) from None
    return {field.name: hints[field.name] for field in dataclasses.fields(cast(Any, declared))}


def _indexes(model: type[Entity], name: str) -> dict[str, IndexSpec]:
    keys = nested_in(model, PrimaryKey)
    if [key.__name__ for key in keys] != ["Key"]:
        raise DeclarationError(f"{model.__name__} needs exactly one class Key(PrimaryKey)")
    indexes = {TABLE: _index(model, keys[0], name)}
    # The longest sort key of an index is the whole one; the other classes on it leave out trailing parts.
    paths = sorted(nested_in(model, Index), key=lambda path: -len(_sort_parts(path)))
    for path in paths:
        index = _index(model, path, name)
        whole = indexes.setdefault(path.declared_on, index)
        prefix = dataclasses.replace(whole.sk, parts=whole.sk.parts[: len(index.sk.parts)])
        if (index.pk, index.sk) != (whole.pk, prefix):
            raise DeclarationError(
                f"{path.__qualname__} and another class disagree on the key of the {path.declared_on}"
            )
        if index.projection != whole.projection:
            raise DeclarationError(
                f"{path.__qualname__} and another class disagree on the projection of the {path.declared_on}"
            )
    return indexes


def _sort_parts(path: type[Declared[Any]]) -> list[str]:
    return [field for field, hint in _hints(path).items() if side(hint) == "sk"]


def _index(model: type[Entity], path: type[AccessPath[Any]], name: str) -> IndexSpec:
    if path.declared_on != TABLE and (issubclass(path, PrimaryKey) or not INDEX_NAME.fullmatch(path.declared_on)):
        raise DeclarationError(
            f'{path.__qualname__}: on="{path.declared_on}" must be an index like gsi1, and a Key has none'
        )
    tag = path.declared_collection or name
    _check_name(path.__qualname__, "collection", tag)
    on = "" if path.declared_on == TABLE else path.declared_on
    key = _key(model, path, (f"{on}pk", tag), (f"{on}sk", name))
    return dataclasses.replace(key, projection=_projection(model, path)) if issubclass(path, Index) else key


def _projection(model: type[Entity], path: type[Index[Any]]) -> Projection:
    projection = path.declared_projection
    if path.declared_on == TABLE and (projection != "all" or path.declared_filling):
        raise DeclarationError(
            f'{path.__qualname__}: only an index has a projection or is being filled, and this has no on="gsi1"'
        )
    return projection if projection == "all" or projection == "keys_only" else _included(model, path, projection)


def _included(model: type[Entity], path: type[Index[Any]], projection: object) -> tuple[str, ...]:
    if not isinstance(projection, tuple) or not projection:
        raise DeclarationError(f'{path.__qualname__}: projection is "all", "keys_only", or a tuple of fields')
    fields = cast("tuple[str, ...]", projection)
    unknown = set(fields) - model.model_fields.keys()
    if unknown:
        raise DeclarationError(f"{path.__qualname__}: {model.__name__} has no field {', '.join(map(str, unknown))}")
    return tuple(sorted(set(fields)))


def _lookup(model: type[Entity], path: type[Lookup[Any]], name: str) -> IndexSpec:
    pointer = f"{name}_{to_snake(path.__name__)}"
    return _key(model, path, ("pk", pointer), ("sk", pointer))


def _key(model: type[Entity], path: type[Declared[Any]], pk: tuple[str, str], sk: tuple[str, str]) -> IndexSpec:
    parts: dict[str, list[KeyPart]] = {"pk": [], "sk": []}
    for field, hint in _hints(path).items():
        half = side(hint)
        if half is None:
            raise DeclarationError(f"{path.__qualname__}.{field} must be Pk[...], Sk[...] or SkRange[...]")
        parts[half].append(_part(model, path, field, hint))
    if not parts["pk"]:
        raise DeclarationError(f"{path.__qualname__} needs a Pk part: one partition for all items would be too hot")
    if all(_has_one_value(model, part.name) for part in parts["pk"]):
        raise DeclarationError(f"{path.__qualname__}: all its items would be in one partition, which would be too hot")
    optional = [part.name for half in parts.values() for part in half if _may_be_none(model, part.name)]
    if optional and not (issubclass(path, Index) and path.declared_on != TABLE):
        raise DeclarationError(f"{path.__qualname__}.{optional[0]} may be None, so that items would have no key")
    return IndexSpec(
        name=path.declared_on if issubclass(path, AccessPath) else path.__name__,
        pk=KeyTemplate(*pk, tuple(parts["pk"]), PARTITION_BYTES),
        sk=KeyTemplate(*sk, tuple(parts["sk"]), SORT_BYTES),
        always=not optional,
    )


def _part(model: type[Entity], path: type[Declared[Any]], field: str, hint: object) -> KeyPart:
    declared, actual = part_type(hint), alternatives_of(model.model_fields[field].annotation)
    if declared - {NONE} != actual - {NONE}:
        raise DeclarationError(f"{path.__qualname__}.{field} and {model.__name__}.{field} have different types")
    kind = part_kind(declared)
    if not isinstance(kind, type) or not is_part_kind(kind):
        raise DeclarationError(f"{path.__qualname__}.{field}: a key part must be {part_kinds()}")
    return KeyPart(field, kind)


def _has_one_value(model: type[Entity], field: str) -> bool:
    values = alternatives_of(model.model_fields[field].annotation) - {NONE}
    literals = [get_args(value) for value in values if get_origin(value) is Literal]
    enums: list[tuple[object, ...]] = [tuple(value) for value in values if isinstance(value, EnumType)]
    return len(values) == 1 and [len(members) for members in literals + enums] == [1]


def _may_be_none(model: type[Entity], field: str) -> bool:
    return NONE in alternatives_of(model.model_fields[field].annotation)


def _check_patch(
    model: type[Entity], patch: type[Changes[Any]], unchanging: Iterable[IndexSpec], automatic: Collection[str]
) -> None:
    fixed = {part.name for index in unchanging for part in index.parts}
    defaults = {field.name: field.default for field in dataclasses.fields(cast(Any, patch))}
    for field, hint in _hints(patch).items():
        if field in fixed:
            raise DeclarationError(
                f"{patch.__qualname__}.{field} is part of the key or of a lookup, so it cannot change"
            )
        if field in automatic:
            raise DeclarationError(f"{patch.__qualname__}.{field} is filled in by the library, so it cannot be patched")
        if changed_type(hint) != alternatives_of(model.model_fields[field].annotation):
            raise DeclarationError(f"{patch.__qualname__}.{field} and {model.__name__}.{field} have different types")
        if defaults[field] is not KEEP:
            raise DeclarationError(f"{patch.__qualname__}.{field} must have the default KEEP")


def _check_name(owner: str, what: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise DeclarationError(f"{owner}: {what} {name!r} must be lower case: letters, digits and _")
