# Generated from ../_async/table.py by scripts/generate_sync.py; edit that file.
"""One DynamoDB table and the entities in it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar, overload

from ..catalog import Catalog
from ..clock import Clock, utc_now
from ..declare import AccessPath, Index, PrimaryKey
from ..entity import Entity
from ..errors import IncompleteIndexWarning, RequestError
from ..fences import Fence
from ..queries import query_plan
from ..scans import scan_plan
from ..scopes import scope_text
from ..settings import Settings
from ..transport import Transport
from ..ttl import read_expiry
from .many import Many
from .purging import Purging
from .query import Query
from .reading import Reading
from .reindexing import Reindexing
from .scan import Scan
from .sender import Sender, Sleep
from .transaction import Transaction
from .writing import Writing

E = TypeVar("E", bound=Entity)
E2 = TypeVar("E2", bound=Entity)
E3 = TypeVar("E3", bound=Entity)


class Table(Reading, Writing, Many, Reindexing, Purging):
    """Reads and writes the entities of one table; the constructor sends nothing.

    Reads of items are strongly consistent.  An item that has expired counts as absent, removed by DynamoDB or not."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        entities: Iterable[type[Entity]],
        ttl: Mapping[str, object] | None = None,
        clock: Clock = utc_now,
        sleep: Sleep = time.sleep,
    ) -> None:
        catalog = Catalog(entities)
        expiry = read_expiry(ttl or {}, catalog.ttl_seconds())
        catalog.check_ttl(expiry.attribute)
        super().__init__(name, catalog, Sender(transport, Settings(name, expiry), clock, sleep))

    def scoped(self, tenant: str) -> Self:
        """The same table for one tenant, who is the first part of every partition key, of the table and of indexes.

        No method of it reaches what another tenant, or the table without a scope, has stored; a policy with
        `dynamodb:LeadingKeys` of `@<tenant>#*` says the same to DynamoDB."""
        if self.scope:
            raise RequestError("this table has a scope already; a scope has no scope of its own")
        return self._with(replace(self._sender.settings, scope=scope_text(tenant)))

    def expiring(self, seconds: Mapping[type[Entity], int]) -> Self:
        """The same table, where what is written of these entities expires after other seconds than elsewhere."""
        self._require_models(seconds)
        settings = self._sender.settings
        lives = {model.spec.name: life for model, life in seconds.items()}
        expiry = replace(settings.expiry, seconds={**settings.expiry.seconds, **lives})
        return self._with(replace(settings, expiry=expiry))

    @overload
    def query(self, path: PrimaryKey[E] | Index[E], /) -> Query[E, E]: ...
    @overload
    def query(self, path: PrimaryKey[E] | Index[E], second: PrimaryKey[E2] | Index[E2], /) -> Query[E | E2, E | E2]: ...
    @overload
    def query(
        self, path: PrimaryKey[E] | Index[E], second: PrimaryKey[E2] | Index[E2], third: PrimaryKey[E3] | Index[E3], /
    ) -> Query[E | E2 | E3, E | E2 | E3]: ...
    def query(self, *paths: AccessPath[Any]) -> Query[Any, Any]:
        """A query over one access pattern, or over several that share a partition: one request reads a collection.

        Warns with IncompleteIndexWarning where the index is declared with `filling=True`."""
        self._require_models(path.declared_for for path in paths)
        for path in paths:
            if path.declared_filling:
                name = type(path).__qualname__
                text = (
                    f"{name} lacks items that were written before it: run table.reindex({name}), then drop filling=True"
                )
                warnings.warn(text, IncompleteIndexWarning, stacklevel=2)
        return Query(self._sender, query_plan(self._sender.settings, paths))

    @overload
    def scan(self, model: type[E], /, *, allow_scan: Literal[True], segments: int = 1) -> Scan[E, E]: ...
    @overload
    def scan(
        self, model: type[E], second: type[E2], /, *, allow_scan: Literal[True], segments: int = 1
    ) -> Scan[E | E2, E | E2]: ...
    @overload
    def scan(
        self, model: type[E], second: type[E2], third: type[E3], /, *, allow_scan: Literal[True], segments: int = 1
    ) -> Scan[E | E2 | E3, E | E2 | E3]: ...
    def scan(self, *models: type[Entity], allow_scan: bool = False, segments: int = 1) -> Scan[Any, Any]:
        """All items of one or several entities, by reading the whole table, `segments` parts of it at once.

        The results have no order.  It costs what the table weighs, not what is found: bound it by `within`.  Raises
        RequestError without `allow_scan=True`, with the access patterns to use instead.  A policy must allow
        `dynamodb:Scan`."""
        self._require_models(models)
        return Scan(self._sender, scan_plan(self._sender.settings, models, allow_scan=allow_scan, segments=segments))

    def _with(self, settings: Settings) -> Self:
        """The same table under other settings."""
        other = copy(self)
        other._sender = replace(self._sender, settings=settings)
        return other

    def transaction(self, *, fence: Fence | None = None) -> Transaction:
        """A block whose writes happen together or not at all; with `fence`, a lease, only while that is held.

        The lease is one more member of the transaction.  Raises RequestError for a lease of another table or scope."""
        return Transaction(self._sender.under(fence))
