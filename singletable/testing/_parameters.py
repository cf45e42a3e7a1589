"""Which parameters each operation takes, so that a misspelt one is refused instead of ignored.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..wire import Operation, Request
from ._refusal import Refusal

_NAMES = ("ExpressionAttributeNames", "ReturnConsumedCapacity")
_WRITE = (
    "TableName",
    *_NAMES,
    "ExpressionAttributeValues",
    "ConditionExpression",
    "ReturnValuesOnConditionCheckFailure",
)
_SINGLE_WRITE = (*_WRITE, "ReturnValues", "ReturnItemCollectionMetrics")
_PAGE = (
    "TableName",
    *_NAMES,
    "ExpressionAttributeValues",
    "IndexName",
    "FilterExpression",
    "ProjectionExpression",
    "ExclusiveStartKey",
    "Limit",
    "Select",
    "ConsistentRead",
)
_METRICS = ("ReturnConsumedCapacity", "ReturnItemCollectionMetrics")
_REQUIRED: Mapping[Operation, tuple[str, ...]] = {
    "GetItem": ("TableName", "Key"),
    "PutItem": ("TableName", "Item"),
    "UpdateItem": ("TableName", "Key"),
    "DeleteItem": ("TableName", "Key"),
    "Query": ("TableName", "KeyConditionExpression"),
    "Scan": ("TableName",),
    "BatchGetItem": ("RequestItems",),
    "BatchWriteItem": ("RequestItems",),
    "TransactGetItems": ("TransactItems",),
    "TransactWriteItems": ("TransactItems",),
}
_ALLOWED: Mapping[Operation, tuple[str, ...]] = {
    "GetItem": ("TableName", "Key", *_NAMES, "ProjectionExpression", "ConsistentRead"),
    "PutItem": (*_SINGLE_WRITE, "Item"),
    "UpdateItem": (*_SINGLE_WRITE, "Key", "UpdateExpression"),
    "DeleteItem": (*_SINGLE_WRITE, "Key"),
    "Query": (*_PAGE, "KeyConditionExpression", "ScanIndexForward"),
    "Scan": (*_PAGE, "Segment", "TotalSegments"),
    "BatchGetItem": ("RequestItems", "ReturnConsumedCapacity"),
    "BatchWriteItem": ("RequestItems", *_METRICS),
    "TransactGetItems": ("TransactItems", "ReturnConsumedCapacity"),
    "TransactWriteItems": ("TransactItems", "ClientRequestToken", *_METRICS),
}
_MEMBER_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "Get": ("TableName", "Key"),
    "Put": ("TableName", "Item"),
    "Update": ("TableName", "Key", "UpdateExpression"),
    "Delete": ("TableName", "Key"),
    "ConditionCheck": ("TableName", "Key", "ConditionExpression"),
}
_MEMBER_ALLOWED: Mapping[str, tuple[str, ...]] = {
    "Get": ("TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"),
    "Put": (*_WRITE, "Item"),
    "Update": (*_WRITE, "Key", "UpdateExpression"),
    "Delete": (*_WRITE, "Key"),
    "ConditionCheck": (*_WRITE, "Key"),
}


def check_parameters(request: Request) -> None:
    """Refuse an unknown operation, and parameters that it lacks or does not take."""
    if request.operation not in _ALLOWED:
        raise Refusal(f"Unknown operation {request.operation!r}")
    _check(request.params, _REQUIRED[request.operation], _ALLOWED[request.operation])


def check_member(kind: str, params: Mapping[str, Any]) -> None:
    """Refuse parameters that a member of a transaction lacks or does not take."""
    _check(params, _MEMBER_REQUIRED[kind], _MEMBER_ALLOWED[kind])


def _check(params: Mapping[str, Any], required: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for name in required:
        if name not in params:
            raise Refusal(f"The parameter {name!r} is required but was not present in the request")
    for name in params:
        if name not in allowed:
            raise Refusal(f"Unknown parameter {name!r}; it must be one of: {', '.join(allowed)}")
