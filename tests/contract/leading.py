"""Whether requests stay within the partitions of a tenant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from singletable import Request

PARTITION = re.compile(r"pk|gsi\d+pk|targetPk")


def check_leading(requests: list[Request]) -> None:
    """What a policy with `dynamodb:LeadingKeys` of `@b#*` demands of each request."""
    for request in requests:
        keys = list(partition_keys(request.params))
        assert all(key.startswith("@b#") for key in keys)
        assert keys or request.operation == "Scan"


def partition_keys(params: Any) -> Iterator[str]:
    """The partition keys in a request: of items and keys, and the values that expressions compare or set them with."""
    if isinstance(params, list | tuple):
        for member in params:
            yield from partition_keys(member)
    elif isinstance(params, dict):
        for name, value in params.items():
            if PARTITION.fullmatch(name) and isinstance(value, dict):
                yield value["S"]
            else:
                yield from partition_keys(value)
        yield from compared_keys(params)


def compared_keys(params: dict[str, Any]) -> Iterator[str]:
    expressions = params.get("KeyConditionExpression", "") + params.get("UpdateExpression", "")
    for alias, value in re.findall(r"(#\d+) = (:\d+)", expressions):
        if PARTITION.fullmatch(params["ExpressionAttributeNames"][alias]):
            yield params["ExpressionAttributeValues"][value]["S"]
