"""The definition of a table, derived from the entities that lie in it.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .declare import TABLE
from .errors import DeclarationError
from .specs import EntitySpec
from .ttl import DEFAULT_ATTRIBUTE

INCLUDED_IN_INDEX = 20
INCLUDED_IN_ALL = 100
"""DynamoDB's limits for the attributes that a projection names: of one index, and of all indexes of a table."""


def create_table_params(
    name: str, specs: Iterable[EntitySpec], *, ttl_attribute: str = DEFAULT_ATTRIBUTE
) -> dict[str, Any]:
    """The parameters of CreateTable: the key, and the indexes that the entities use, on demand.

    An index holds what any of its entities wants of it.  `ttl_attribute` is that of the table's `ttl` setting: an index
    that names attributes holds it as well, so that what has expired is left out of its queries."""
    entities = list(specs)
    indexes = sorted({index for spec in entities for index in spec.indexes if index != TABLE}, key=_number)
    attributes = ["pk", "sk", *(f"{index}{half}" for index in indexes for half in ("pk", "sk"))]
    params: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in attributes],
        "KeySchema": _key_schema(""),
    }
    if indexes:
        params["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index,
                "KeySchema": _key_schema(index),
                "Projection": _projection(index, entities, ttl_attribute),
            }
            for index in indexes
        ]
        _check_included(params["GlobalSecondaryIndexes"])
    return params


def _projection(index: str, specs: Sequence[EntitySpec], ttl_attribute: str) -> dict[str, Any]:
    users = [spec for spec in specs if index in spec.indexes]
    if any(spec.indexes[index].projection == "all" for spec in users):
        return {"ProjectionType": "ALL"}
    names = {spec.fields[name].stored for spec in users for name in _included(spec, index)}
    if not names:
        return {"ProjectionType": "KEYS_ONLY"}
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": sorted(names | {ttl_attribute})}


def _included(spec: EntitySpec, index: str) -> tuple[str, ...]:
    projection = spec.indexes[index].projection
    return projection if isinstance(projection, tuple) else ()


def _check_included(indexes: Iterable[dict[str, Any]]) -> None:
    total = 0
    for index in indexes:
        names: list[str] = index["Projection"].get("NonKeyAttributes", [])
        total += len(names)
        if len(names) > INCLUDED_IN_INDEX or total > INCLUDED_IN_ALL:
            raise DeclarationError(
                f"{index['IndexName']}: the projections of its entities name {len(names)} attributes, and those of all "
                f"indexes up to it {total}; DynamoDB allows {INCLUDED_IN_INDEX} and {INCLUDED_IN_ALL}: "
                'take "all" or "keys_only"'
            )


def _number(index: str) -> int:
    return int(index.removeprefix("gsi"))


def _key_schema(index: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": f"{index}pk", "KeyType": "HASH"},
        {"AttributeName": f"{index}sk", "KeyType": "RANGE"},
    ]
