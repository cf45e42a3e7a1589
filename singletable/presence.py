"""Conditions on whether an item is there: one that has expired is not, removed by DynamoDB or not.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from .codec import AttributeValue
from .expressions import Condition, absent, all_of, compare, exists
from .items import encode_field
from .specs import EntitySpec
from .ttl import Expiry
from .wire import WireItem


def unexpired(expiry: Expiry, now: datetime) -> Condition:
    """An item that is there has not expired."""
    return absent(expiry.attribute) | compare(expiry.attribute, ">", _epoch(now))


def living(expiry: Expiry, now: datetime) -> Condition:
    """An item is there, and has not expired."""
    return exists("pk") & unexpired(expiry, now)


def gone(expiry: Expiry, now: datetime) -> Condition:
    """No item is there, or one that has expired."""
    return absent("pk") | expired(expiry, now)


def expired(expiry: Expiry, now: datetime) -> Condition:
    """An item is there, and has expired."""
    return compare(expiry.attribute, "<=", _epoch(now))


def holds(spec: EntitySpec, values: Mapping[str, object]) -> Condition:
    """The stored item has these values; at least one."""
    conditions: list[Condition] = []
    for name, value in values.items():
        field = spec.fields[name]
        encoded = encode_field(field, value, spec)
        conditions.append(absent(field.stored) if encoded is None else compare(field.stored, "=", encoded))
    return all_of(conditions)


def same(item: WireItem) -> Condition:
    """The stored item has all attributes of `item`, as they are there."""
    return all_of([compare((name,), "=", value) for name, value in item.items() if name not in ("pk", "sk")])


def _epoch(now: datetime) -> AttributeValue:
    return {"N": str(int(now.timestamp()))}
