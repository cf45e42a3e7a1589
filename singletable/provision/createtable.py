"""A table as the parameters of DynamoDB's own requests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..declare import Projection
from ..specs import EntitySpec
from ..ttl import DEFAULT_ATTRIBUTE
from .definition import TableDefinition, indexes_of


def create_table_params(
    name: str, specs: Iterable[EntitySpec], *, ttl_attribute: str = DEFAULT_ATTRIBUTE
) -> dict[str, Any]:
    """The parameters of CreateTable: the key, and the indexes that the entities use, on demand and unprotected.

    For tests and for tables on your machine; `setup_requests` is for those that are to last.  `ttl_attribute` is that
    of the table's `ttl` setting."""
    indexes = indexes_of(list(specs), ttl_attribute)
    return {"TableName": name, **shape(TableDefinition(name=name, indexes=indexes))}


def setup_requests(definition: TableDefinition) -> dict[str, dict[str, Any]]:
    """What makes the table: the parameters of each request by its name, in the order in which they are sent.

    After the first of them the table has to become active."""
    table = {"TableName": definition.name}
    requests = {
        "CreateTable": {
            **table,
            **shape(definition),
            **_stream(definition),
            "SSESpecification": encryption(definition),
            "DeletionProtectionEnabled": definition.deletion_protection,
        },
        "UpdateTimeToLive": {**table, "TimeToLiveSpecification": expiry(definition)},
    }
    if definition.point_in_time_recovery:
        wanted = {"PointInTimeRecoveryEnabled": True}
        requests["UpdateContinuousBackups"] = {**table, "PointInTimeRecoverySpecification": wanted}
    return requests


def shape(definition: TableDefinition) -> dict[str, Any]:
    """Billing, keys and indexes, as DynamoDB's requests and CloudFormation have them."""
    throughput = _throughput(definition)
    params: dict[str, Any] = {
        "BillingMode": "PROVISIONED" if throughput else "PAY_PER_REQUEST",
        **throughput,
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in definition.key_attributes],
        "KeySchema": key_schema(definition.key),
    }
    if definition.indexes:
        params["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index.name,
                "KeySchema": key_schema(index.key),
                "Projection": projection(index.projection),
                **throughput,
            }
            for index in definition.indexes
        ]
    return params


def key_schema(key: tuple[str, str]) -> list[dict[str, str]]:
    """A key as DynamoDB has it."""
    return [{"AttributeName": key[0], "KeyType": "HASH"}, {"AttributeName": key[1], "KeyType": "RANGE"}]


def projection(declared: Projection) -> dict[str, Any]:
    """A projection as DynamoDB has it."""
    if isinstance(declared, tuple):
        return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(declared)}
    return {"ProjectionType": declared.upper()}


def expiry(definition: TableDefinition) -> dict[str, Any]:
    """The attribute that holds the expiry, switched on."""
    return {"AttributeName": definition.ttl_attribute, "Enabled": True}


def encryption(definition: TableDefinition) -> dict[str, Any]:
    """The key with which the table is encrypted: never DynamoDB's own, whose use nobody sees."""
    if definition.kms_key is None:
        return {"Enabled": True}
    return {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": definition.kms_key}


def _throughput(definition: TableDefinition) -> Mapping[str, Any]:
    capacity = definition.capacity
    if capacity is None:
        return {}
    return {"ProvisionedThroughput": {"ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write}}


def _stream(definition: TableDefinition) -> Mapping[str, Any]:
    if definition.stream is None:
        return {}
    return {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": definition.stream}}
