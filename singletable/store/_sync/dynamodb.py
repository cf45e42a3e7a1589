# Generated from ../_async/dynamodb.py by scripts/generate_sync.py; edit that file.
"""The store: the state of agents in one DynamoDB table."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from ..._sync.table import Table
from ...adapters.local import CREDENTIALS, REGION, LocalServer
from ...adapters.pynamo import Credentials, PynamoTransport
from ...clock import Clock, utc_now
from ...errors import ConfigurationError
from ...provision import create_table_params
from ...transport import Bucket, Transport
from ..encodings import Compression, check_compression
from ..entities import ENTITIES, known_ttl
from .blobs import Blobs
from .erasing import Erasing
from .exporting import Exporting
from .importing import Importing
from .leases import Leases
from .memory import Memory
from .observability import Observability
from .purging import Purge
from .scores import Scores
from .sessions import Sessions
from .workflows import Workflows


class DynamoDBStore(Erasing, Purge, Exporting, Importing):
    """The memory of agents in one DynamoDB table.

    Where the table is: `region`, `endpoint_url` and `credentials`, or a boto3 `session` or `client`, as boto3 has
    them; or a `transport`, for example of `singletable.testing`.  `ttl` says which entities expire, and when:
    `{"message": {"enabled": True, "default_ttl_seconds": 2592000}}`.  `blobs`, an `S3Blobs`, is where the pieces of
    blobs go, and `compression` how they are stored, from now on.  The constructor contacts nothing; it raises
    ConfigurationError for settings that contradict each other or name what there is not."""

    def __init__(
        self,
        table_name: str,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        credentials: Credentials | None = None,
        session: Any = None,
        client: Any = None,
        transport: Transport | None = None,
        ttl: Mapping[str, object] | None = None,
        blobs: Bucket | None = None,
        compression: Compression | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if not table_name.strip():
            raise ConfigurationError("table_name is blank")
        check_compression(compression)
        if transport is not None and (region, endpoint_url, credentials, session, client) != (None,) * 5:
            raise ConfigurationError("a transport knows where its table is: give it alone, or none")
        self._own: PynamoTransport | None = None
        self._server: LocalServer | None = None
        if transport is None:
            transport = self._own = PynamoTransport(
                client, region=region, endpoint_url=endpoint_url, credentials=credentials, session=session
            )
        self.table = Table(table_name, transport, entities=ENTITIES, ttl=known_ttl(ttl or {}), clock=clock)
        self.memory = Memory(self.table)
        self.observability = Observability(self.table)
        self.workflows = Workflows(self.table)
        self.scores = Scores(self.table)
        self.sessions = Sessions(self.table)
        self.leases = Leases(self.table)
        self.blobs = Blobs(self.table, bucket=blobs, compression=compression)

    @classmethod
    def local(cls, *, ttl: Mapping[str, object] | None = None, clock: Clock = utc_now) -> Self:
        """A store on a DynamoDB in this process, empty, with nothing to install but the extra `local`.

        What it stores is in memory and goes with the store: close it, or use it as a context manager.  It takes a
        second to start.  Raises ConfigurationError that names the extra where it is missing."""
        server = LocalServer()
        try:
            name = f"local-{secrets.token_hex(4)}"
            server.create_table(create_table_params(name, [entity.spec for entity in ENTITIES]))
            url = server.endpoint_url
            store = cls(name, region=REGION, endpoint_url=url, credentials=CREDENTIALS, ttl=ttl, clock=clock)
        except BaseException:
            server.stop()
            raise
        store._server = server
        return store

    def scoped(self, tenant: str) -> Self:
        """The same store for one tenant: it reaches nothing of another tenant, and nothing that has no scope.

        It shares the connections of this store, which is the one to close."""
        store = copy(self)
        store._own = store._server = None
        store.table = self.table.scoped(tenant)
        store.memory = replace(self.memory, table=store.table)
        store.observability = replace(self.observability, table=store.table)
        store.workflows = replace(self.workflows, table=store.table)
        store.scores = replace(self.scores, table=store.table)
        store.sessions = replace(self.sessions, table=store.table)
        store.leases = replace(self.leases, table=store.table)
        store.blobs = replace(self.blobs, table=store.table)
        return store

    @property
    def endpoint_url(self) -> str | None:
        """Where the DynamoDB of `local()` listens, for other processes; None for any other store."""
        return self._server.endpoint_url if self._server else None

    def close(self) -> None:
        """Give up connections and threads, and the DynamoDB of `local()`; what was passed in stays open."""
        if self._own:
            self._own.close()
        if self._server:
            self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
