"""Builders of requests for reading, for batches and for transactions, before anything is sent.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from .codec import fits, item_size_bytes
from .errors import RequestError
from .expressions import Condition, Placeholders, call, exists, one_of
from .presence import expired
from .settings import Settings
from .specs import ENTITY, EntitySpec
from .wire import Request, WireItem
from .writes import Write

TRANSACTION_MEMBERS = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
BATCH_GET_KEYS = 100
BATCH_WRITE_ITEMS = 25
"""DynamoDB's limits.  25 items of 400 KB stay below the 16 MB of a batch, so a batch is cut by count alone."""


@dataclass(frozen=True)
class Requests:
    """The requests of one table."""

    settings: Settings

    @property
    def table(self) -> str:
        """The name of the table."""
        return self.settings.table

    def get(self, key: WireItem, *, consistent: bool) -> Request:
        """Read one item."""
        return Request("GetItem", {"TableName": self.table, "Key": key, "ConsistentRead": consistent})

    def batch_get(self, keys: Sequence[WireItem], *, consistent: bool) -> Request:
        """Read up to 100 items."""
        return Request("BatchGetItem", {"RequestItems": {self.table: {"Keys": keys, "ConsistentRead": consistent}}})

    def batch_write(self, members: Sequence[Mapping[str, Any]]) -> Request:
        """Put or delete up to 25 items, without conditions."""
        return Request("BatchWriteItem", {"RequestItems": {self.table: members}})

    def scan(self, spec: EntitySpec, start: WireItem | None) -> Request:
        """Read on through the whole table for the items of one entity: of one tenant, or of all without a scope."""
        return self._scan(one_of(ENTITY, [{"S": spec.name}]), start, [])

    def scan_expired(self, now: datetime, start: WireItem | None) -> Request:
        """Read on through the whole table for the keys of what has expired: of one tenant, or all without a scope."""
        return self._scan(exists(ENTITY) & expired(self.settings.expiry, now), start, ["pk", "sk", ENTITY])

    def transact_get(self, keys: Iterable[WireItem]) -> Request:
        """Read up to 100 items as of one moment."""
        members = [{"Get": {"TableName": self.table, "Key": key}} for key in keys]
        return Request("TransactGetItems", {"TransactItems": members})

    def transact_write(self, writes: Sequence[Write], token: str) -> Request:
        """All of `writes` or none; raises RequestError over DynamoDB's limits."""
        keys: set[tuple[str, str]] = set()
        for write in writes:
            key = (write.key["pk"]["S"], write.key["sk"]["S"])
            if key in keys:
                raise RequestError(f"a transaction changes one {write.what} twice; combine the changes")
            keys.add(key)
        if len(writes) > TRANSACTION_MEMBERS:
            raise RequestError(f"a transaction has {len(writes)} members, DynamoDB allows {TRANSACTION_MEMBERS}")
        counted = [_counted(write) for write in writes]
        if not fits(counted, TRANSACTION_BYTES):
            size = sum(map(item_size_bytes, counted))
            raise RequestError(f"a transaction has {size:,} bytes, DynamoDB allows {TRANSACTION_BYTES:,}")
        members = [{write.verb: write.params} for write in writes]
        return Request("TransactWriteItems", {"TransactItems": members, "ClientRequestToken": token})

    def _scan(self, condition: Condition, start: WireItem | None, attributes: Sequence[str]) -> Request:
        to = Placeholders()
        if self.settings.scope:
            condition &= call("begins_with", ("pk",), {"S": self.settings.scope})
        params: dict[str, Any] = {
            "TableName": self.table,
            "FilterExpression": condition.render(to),
            "ConsistentRead": True,
        }
        if attributes:
            params["ProjectionExpression"] = ", ".join(map(to.name, attributes))
        if start is not None:
            params["ExclusiveStartKey"] = start
        return Request("Scan", params | to.params())


def _counted(write: Write) -> WireItem:
    """What a member counts for the 4 MB of a transaction: the item it puts, or the values that it carries."""
    return cast("WireItem", write.params.get("Item") or write.params.get("ExpressionAttributeValues", {}))
