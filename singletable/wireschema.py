"""From pydantic's schema of an entity to one that reads the typed JSON of its items.  Pure.

Whatever is not plain sailing in a field - an optional value inside of a map, a union, a set, free-form JSON - is left
to a reader that makes plain values of it first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, TypeAlias, cast

from pydantic_core.core_schema import no_info_before_validator_function

from .specs import EntitySpec, FieldSpec

Reader: TypeAlias = Callable[[Any], object]
Schema: TypeAlias = Mapping[str, Any]
KINDS = {"str": "S", "datetime": "S", "date": "S", "uuid": "S", "bool": "BOOL", "int": "N", "float": "N"}
"""Types of pydantic-core that take the content of one kind of typed JSON as it is, and take no dict."""
PLAIN_ONLY = {"populate_by_name", "validate_by_name", "validate_default", "strict"}
"""Settings with which the wire form would be read in another way than the values in it."""


def wire_schema(schema: Schema, spec: EntitySpec, reader: Callable[[FieldSpec], Reader]) -> Schema | None:
    """The schema over the wire form; None where a model says more about its input than its fields do.

    `reader` gives what reads a whole attribute that no schema here can."""
    if schema["type"] == "definitions":
        inner = wire_schema(schema["schema"], spec, reader)
        return None if inner is None else {**schema, "schema": inner}
    if not _is_plain(schema):
        return None
    fields = schema["schema"]["fields"]
    wire = {name: _field(field, spec.fields[name], reader) for name, field in fields.items()}
    config = {**schema.get("config", {}), "extra_fields_behavior": "ignore"}
    return {**schema, "config": config, "schema": {**schema["schema"], "fields": wire}}


def _is_plain(schema: Schema) -> bool:
    """Whether a model is what its fields say, under the names that they have."""
    if schema["type"] != "model" or schema["schema"]["type"] != "model-fields":
        return False
    config = schema.get("config", {})
    if schema.get("custom_init") or config.get("extra_fields_behavior") == "allow" or config.keys() & PLAIN_ONLY:
        return False
    return not any(field["schema"].get("validate_default") for field in schema["schema"]["fields"].values())


def _field(schema: Schema, field: FieldSpec, reader: Callable[[FieldSpec], Reader]) -> Schema:
    value = schema["schema"]
    kind = None if field.json_text else _leaf(_bare(value, nullable=field.none_is_absent))
    if kind is not None:
        return {**schema, "validation_alias": _paths(field.stored, kind)}
    typed = None if field.json_text or field.decimal else _typed(_bare(value, nullable=False))
    if typed is None:
        return {
            **schema,
            "schema": _with(value, lambda inner: _read(reader(field), inner)),
            "validation_alias": field.stored,
        }
    return {**schema, "schema": _with(value, lambda _: typed), "validation_alias": field.stored}


def _paths(name: str, kind: str) -> list[list[str]]:
    """Where the content of an attribute is.  One of another kind is not absent: the second path finds it, and fails."""
    return [[name, kind], [name]]


def _bare(schema: Schema, *, nullable: bool) -> Schema:
    """The schema without its default, which is a value already, and without None, where that is never stored."""
    while schema["type"] == "default" or (nullable and schema["type"] == "nullable"):
        schema = schema["schema"]
    return schema


def _with(schema: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """The schema with what is inside of its default changed."""
    if schema["type"] == "default":
        return {**schema, "schema": _with(schema["schema"], change)}
    return change(schema)


def _read(read: Reader, schema: Schema) -> Schema:
    return cast("Schema", no_info_before_validator_function(read, cast(Any, schema)))


def _leaf(schema: Schema) -> str | None:
    """The one kind of typed JSON whose content a schema takes as it is stored."""
    if schema["type"] == "literal" and all(type(value) is str for value in schema["expected"]):
        return "S"
    return None if schema.get("strict") else KINDS.get(schema["type"])


def _typed(schema: Schema) -> Schema | None:
    """The schema over a whole value in typed JSON; None where a value may have several kinds."""
    kind = _leaf(schema)
    if kind is not None:
        return _read(itemgetter(kind), schema)
    match schema["type"]:
        case "model":
            model = _nested(schema)
            return None if model is None else _read(itemgetter("M"), model)
        case "list":
            return _members(schema, "items_schema", "L", _unwrapped_list)
        case "dict" if schema.get("keys_schema", {}).get("type") == "str":
            return _members(schema, "values_schema", "M", _unwrapped_map)
        case _:
            return None


def _members(schema: Schema, name: str, kind: str, unwrapped: Callable[[str, str], Reader]) -> Schema | None:
    """A list or a map whose members are all of one kind."""
    member = schema.get(name)
    if member is None or schema.get("strict"):
        return None
    leaf = _leaf(member)
    if leaf is not None:
        return _read(unwrapped(kind, leaf), schema)
    typed = _typed(member)
    return None if typed is None else _read(itemgetter(kind), {**schema, name: typed})


def _unwrapped_list(kind: str, leaf: str) -> Reader:
    return lambda value: [member[leaf] for member in value[kind]]


def _unwrapped_map(kind: str, leaf: str) -> Reader:
    return lambda value: {name: member[leaf] for name, member in value[kind].items()}


def _nested(schema: Schema) -> Schema | None:
    if not _is_plain(schema) or schema.get("root_model"):
        return None
    fields: dict[str, Schema] = {}
    for name, field in schema["schema"]["fields"].items():
        wire = _nested_field(field, field.get("validation_alias", name))
        if wire is None:
            return None
        fields[name] = wire
    return {**schema, "schema": {**schema["schema"], "fields": fields}}


def _nested_field(schema: Schema, alias: object) -> Schema | None:
    inner = _bare(schema["schema"], nullable=False)
    kind = _leaf(inner)
    if kind is not None and isinstance(alias, str):
        return {**schema, "validation_alias": _paths(alias, kind)}
    typed = _typed(inner) if isinstance(alias, str) else None
    return None if typed is None else {**schema, "schema": _with(schema["schema"], lambda _: typed)}
