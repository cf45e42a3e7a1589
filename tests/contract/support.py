"""What the contract suites share: DynamoDBs of three kinds, as a sync or as an async user has them."""

from __future__ import annotations

import asyncio
import inspect
import threading
import uuid
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from singletable import AsyncDynamoDBStore, AsyncTable, DynamoDBStore, Request, Table
from singletable.adapters.pynamo import AsyncPynamoTransport, Credentials, PynamoTransport
from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES as STORED
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from singletable.transport import AsyncTransport, Transport
from singletable.wire import Response
from tests import servers
from tests.contract.entities import ENTITIES

START = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
CREDENTIALS = Credentials("test", "test")
REGION = "us-east-1"
FAKES = ["fake-sync", "fake-async"]
TRANSACTING = [*FAKES, "moto-sync"]
"""For the store, which has one source: that both drivers do the same is shown by the suites of the table."""
READS = {"GetItem", "BatchGetItem", "TransactGetItems", "Query", "Scan"}
ALL = [*TRANSACTING, "moto-async", "dynalite-sync", "dynalite-async"]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **amount: float) -> datetime:
        """Move on by the parts of a timedelta, and say what time it is then."""
        self.now += timedelta(**amount)
        return self.now


def ticking(start: datetime) -> Callable[[], datetime]:
    """A clock that is a second later each time it is asked, by whichever thread."""
    seconds = count()  # and no generator over it, which two threads cannot ask at once
    return lambda: start + timedelta(seconds=next(seconds))


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, awaitable: Awaitable[Any]) -> Any:
        async def wait() -> Any:
            return await awaitable

        return asyncio.run_coroutine_threadsafe(wait(), self._loop).result()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking:
    """An async object of the library with the methods of its sync twin: each call waits for its coroutine."""

    def __init__(self, target: Any, loop: Loop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return self._wrapped(found)
        return lambda *args, **kwargs: self._wrapped(found(*args, **kwargs))

    def __iter__(self) -> Iterator[Any]:
        iterator, end = aiter(self._target), object()
        try:
            while (found := self._loop.run(anext(iterator, end))) is not end:
                yield found
        finally:
            self._loop.run(iterator.aclose())

    def __next__(self) -> Any:
        end = object()
        if (found := self._loop.run(anext(self._target, end))) is end:
            raise StopIteration
        return found

    def __enter__(self) -> Any:
        return self._wrapped(self._loop.run(self._target.__aenter__()))

    def __exit__(self, *error: Any) -> Any:
        return self._loop.run(self._target.__aexit__(*error))

    def _wrapped(self, value: Any) -> Any:
        if inspect.isawaitable(value):
            return self._wrapped(self._loop.run(value))
        if inspect.iscoroutinefunction(value):
            return lambda *args, **kwargs: self._wrapped(value(*args, **kwargs))
        is_ours = "._async" in type(value).__module__ or hasattr(value, "__aiter__") or hasattr(value, "__aenter__")
        return Blocking(value, self._loop) if is_ours else value


class Recorded:
    """What went through a transport."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.requests: list[Request] = []
        self.responses: list[Response] = []

    @property
    def operations(self) -> list[str]:
        """What was asked, request by request."""
        return [request.operation for request in self.requests]

    @property
    def scanned_counts(self) -> list[int]:
        """How many items DynamoDB read for each Query and Scan."""
        return [response["ScannedCount"] for response in self.responses if "ScannedCount" in response]

    def clear(self) -> None:
        """Begin to count from here."""
        self.requests.clear()
        self.responses.clear()


class Recording(Recorded):
    """A Transport that sends through another one and remembers what."""

    inner: Transport

    def send(self, request: Request) -> Response:
        self.requests.append(request)
        response = self.inner.send(request)
        self.responses.append(response)
        return response

    def close(self) -> None:
        self.inner.close()


class AsyncRecording(Recorded):
    """An AsyncTransport that sends through another one and remembers what."""

    inner: AsyncTransport

    async def send(self, request: Request) -> Response:
        self.requests.append(request)
        response = await self.inner.send(request)
        self.responses.append(response)
        return response

    async def aclose(self) -> None:
        await self.inner.aclose()


class Metered:
    """A transport that adds up what is consumed."""

    def __init__(self) -> None:
        self.inner, self.units, self.written = MemoryTransport(), 0.0, 0.0

    def send(self, request: Request) -> Response:
        counted = request._replace(params={**request.params, "ReturnConsumedCapacity": "TOTAL"})
        response = self.inner.send(counted)
        consumed = response["ConsumedCapacity"]
        reports = consumed if isinstance(consumed, list) else [consumed]
        units = sum(report["CapacityUnits"] for report in reports)
        self.units += units
        self.written += units if request.operation not in READS else 0
        return response

    def close(self) -> None:
        self.inner.close()

    def spent(self, call: Callable[[], object]) -> float:
        """What one call consumes."""
        before = self.units
        call()
        return self.units - before


class Backend(ABC):
    """One table of one DynamoDB, as a sync or as an async user has it."""

    def __init__(self, transport: Any, table_name: str, loop: Loop | None) -> None:
        self.loop = loop
        self.sent: Any = Recording(transport) if loop is None else AsyncRecording(transport)
        self.table_name = table_name
        self.clock = Clock()

    def table(self, *entities: Any, **settings: Any) -> Any:
        """A Table of these entities; an async one is wrapped, so that both are used alike."""
        settings = {"clock": self.clock, "sleep": _no_sleep if self.loop is None else _no_async_sleep, **settings}
        kind = Table if self.loop is None else AsyncTable
        return self._used_alike(kind(self.table_name, self.sent, entities=entities, **settings))

    def store(self, **settings: Any) -> Any:
        """A DynamoDBStore; an async one is wrapped, so that both are used alike."""
        settings = {"table_name": self.table_name, "transport": self.sent, "clock": self.clock, **settings}
        return self._used_alike((DynamoDBStore if self.loop is None else AsyncDynamoDBStore)(**settings))

    @abstractmethod
    def items(self) -> list[Any]:
        """Everything that is stored in the table, expired items too, by key."""

    def _used_alike(self, made: Any) -> Any:
        return made if self.loop is None else Blocking(made, self.loop)


class FakeBackend(Backend):
    """The fake, with its faults."""

    def __init__(self, loop: Loop | None = None, *, database: MemoryDatabase | None = None) -> None:
        self.database = MemoryDatabase() if database is None else database
        transport: Any = (MemoryTransport if loop is None else AsyncMemoryTransport)(self.database)
        self.faults = transport.faults
        super().__init__(transport, "fake", loop)

    def items(self) -> list[Any]:
        return self.database.items(self.table_name)


class ServerBackend(Backend):
    """A server that is asked over HTTP."""

    def __init__(self, url: str, client: Any, transport: Any, loop: Loop | None) -> None:
        super().__init__(transport, _new_table(client), loop)
        self.url = url
        self._client = client

    def items(self) -> list[Any]:
        found = self._client.scan(TableName=self.table_name, ConsistentRead=True)
        assert "LastEvaluatedKey" not in found, "the table is larger than a page: make the test smaller"
        return sorted(found["Items"], key=lambda item: (item["pk"]["S"].encode(), item["sk"]["S"].encode()))


class Server:
    """A server's URL with the clients that all tests share."""

    def __init__(self, url: str, loop: Loop) -> None:
        self.url = url
        self.client = servers.dynamodb(url)
        self._loop = loop
        self._sync = PynamoTransport(region=REGION, endpoint_url=url, credentials=CREDENTIALS)
        self._async = AsyncPynamoTransport(region=REGION, endpoint_url=url, credentials=CREDENTIALS)

    def backend(self, *, is_async: bool) -> ServerBackend:
        """A new table."""
        transport = self._async if is_async else self._sync
        return ServerBackend(self.url, self.client, transport, self._loop if is_async else None)

    def close(self) -> None:
        self._sync.close()
        self._loop.run(self._async.aclose())
        self.client.close()


def make_backend(request: Any, name: str) -> Any:
    """A new table of the DynamoDB that has this name in ALL, for a fixture."""
    kind, _, way = name.partition("-")
    if kind == "fake":
        return FakeBackend(request.getfixturevalue("loop") if way == "async" else None)
    return request.getfixturevalue(kind).backend(is_async=way == "async")


def make_store_backend(request: Any, name: str) -> Any:
    """The same, where the fake has the indexes of a store's table too, and no others."""
    if name not in FAKES:
        return make_backend(request, name)
    params = create_table_params("fake", [entity.spec for entity in STORED])
    loop = request.getfixturevalue("loop") if name == "fake-async" else None
    return FakeBackend(loop, database=MemoryDatabase.for_table(params))


def sent_by(backend: Any, call: Callable[[], object]) -> list[str]:
    """The operations of the requests that a call sends."""
    backend.sent.clear()
    call()
    return list(backend.sent.operations)


def _new_table(client: Any) -> str:
    name = f"test-{uuid.uuid4().hex}"
    client.create_table(**create_table_params(name, [entity.spec for entity in (*ENTITIES, *STORED)]))
    # Asked again at once: a waiter of boto3 would sleep a whole second, and these servers need a millisecond.
    while client.describe_table(TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        pass
    return name


def _no_sleep(_: float) -> None:
    """Retries need not wait where nothing else runs."""


async def _no_async_sleep(_: float) -> None:
    """Retries need not wait where nothing else runs."""
