"""What goes over the wire: requests and responses of DynamoDB's API, as values.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

WireItem: TypeAlias = Mapping[str, Any]
"""An item, or a key, in DynamoDB's typed JSON: `{"title": {"S": "Trip"}}`."""

Response: TypeAlias = Mapping[str, Any]
"""A response in DynamoDB's typed JSON.  Binary values are `bytes`, or base64 text past botocore's parser."""

Operation: TypeAlias = Literal[
    "GetItem",
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "Query",
    "Scan",
    "BatchGetItem",
    "BatchWriteItem",
    "TransactGetItems",
    "TransactWriteItems",
]


class Request(NamedTuple):
    """One call of DynamoDB's API, as it would be sent: comparable and printable."""

    operation: Operation
    params: Mapping[str, Any]
