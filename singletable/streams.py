"""Records of DynamoDB Streams as typed events of entities.  Pure.

A record may have the form of a Lambda event or of the streams API.  Pointer items, and items of entities that are not
asked for, give no event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar, cast

from .declare import PrimaryKey
from .entity import Entity
from .errors import CorruptItemError
from .items import from_item, key_fields
from .scopes import split_scope, tenant_of
from .specs import ENTITY
from .ttl import DEFAULT_ATTRIBUTE
from .wire import WireItem

E = TypeVar("E", bound=Entity)
TTL_SERVICE = "dynamodb.amazonaws.com"
"""The identity under which DynamoDB deletes what has expired (developer guide, «DynamoDB Streams and Time to Live»)."""


@dataclass(frozen=True)
class StreamEvent(Generic[E]):
    """A change of one item.  Images are there as far as the stream's view type has them."""

    key: PrimaryKey[E]
    sequence_number: str
    """Orders the changes of one item, and tells a record that is delivered twice."""
    at: datetime | None
    """About when it happened, to the second."""
    tenant: str | None
    """Whose item it is; None where it was stored without a scope."""


@dataclass(frozen=True)
class Inserted(StreamEvent[E]):
    """An item that was not there before."""

    new: E | None


@dataclass(frozen=True)
class Modified(StreamEvent[E]):
    """An item that was there before."""

    old: E | None
    new: E | None


@dataclass(frozen=True)
class Removed(StreamEvent[E]):
    """An item that is gone."""

    old: E | None
    expired_by_ttl: bool
    """DynamoDB removed it because it had expired; otherwise somebody deleted it."""


def parse(
    record: Mapping[str, Any], *entities: type[E], ttl_attribute: str = DEFAULT_ATTRIBUTE
) -> Inserted[E] | Modified[E] | Removed[E] | None:
    """The event of a record; None for an item of none of `entities`.

    Raises CorruptItemError for an image that does not fit its entity, and for what is no record."""
    try:
        change: Mapping[str, Any] = record["dynamodb"]
        kind, keys = record["eventName"], change["Keys"]
    except (KeyError, TypeError):
        raise CorruptItemError("this is no record of DynamoDB Streams: it lacks eventName or dynamodb.Keys") from None
    model = _model(change, entities)
    if model is None:
        return None

    def image(name: str) -> E | None:
        return from_item(model, change[name], ttl_attribute) if name in change else None

    key = cast("PrimaryKey[E]", cast(Any, model).Key(**key_fields(model, keys)))
    where = (
        key,
        str(change.get("SequenceNumber", "")),
        _time(change.get("ApproximateCreationDateTime")),
        tenant_of(keys["pk"]["S"]),
    )
    if kind == "INSERT":
        return Inserted(*where, new=image("NewImage"))
    if kind == "MODIFY":
        return Modified(*where, old=image("OldImage"), new=image("NewImage"))
    return Removed(*where, old=image("OldImage"), expired_by_ttl=_is_ttl(record))


def _model(change: Mapping[str, Any], entities: tuple[type[E], ...]) -> type[E] | None:
    item: WireItem = change.get("NewImage") or change.get("OldImage") or {}
    if item:
        name = item.get(ENTITY, {}).get("S")
        return next((model for model in entities if model.spec.name == name), None)
    # A stream of keys alone: the texts of the keys say which entity it is.
    _, partition = split_scope(change["Keys"]["pk"]["S"])
    sort, partition = (text.partition("#")[0] for text in (change["Keys"]["sk"]["S"], partition))
    tables = {model: model.spec.table for model in entities}
    return next((m for m, t in tables.items() if (t.sk.prefix, t.pk.prefix) == (sort, partition)), None)


def _time(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    return datetime.fromtimestamp(float(value), UTC) if isinstance(value, (int, float)) else None


def _is_ttl(record: Mapping[str, Any]) -> bool:
    identity: Mapping[str, str] = record.get("userIdentity") or {}
    principal = identity.get("principalId") or identity.get("PrincipalId")
    return principal == TTL_SERVICE and (identity.get("type") or identity.get("Type")) == "Service"
