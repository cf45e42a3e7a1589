"""The definition of a table, derived from the entities that lie in it.  Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .compile import EntitySpec
from .declare import TABLE


def create_table_params(name: str, specs: Iterable[EntitySpec]) -> dict[str, Any]:
    """The parameters of CreateTable: the key, and the indexes that the entities use, on demand."""
    indexes = sorted({index for spec in specs for index in spec.indexes if index != TABLE}, key=_number)
    attributes = ["pk", "sk", *(f"{index}{half}" for index in indexes for half in ("pk", "sk"))]
    params: dict[str, Any] = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": a, "AttributeType": "S"} for a in attributes],
        "KeySchema": _key_schema(""),
    }
    if indexes:
        params["GlobalSecondaryIndexes"] = [
            {"IndexName": index, "KeySchema": _key_schema(index), "Projection": {"ProjectionType": "ALL"}}
            for index in indexes
        ]
    return params


def _number(index: str) -> int:
    return int(index.removeprefix("gsi"))


def _key_schema(index: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": f"{index}pk", "KeyType": "HASH"},
        {"AttributeName": f"{index}sk", "KeyType": "RANGE"},
    ]
