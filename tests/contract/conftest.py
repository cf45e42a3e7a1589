"""The DynamoDBs that the contract is checked on, each as a sync and as an async user has it.

One test body serves all: where the library is async, `Blocking` waits for its coroutines.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import pytest

from tests.contract.entities import ENTITIES
from tests.contract.support import ALL, TRANSACTING, Backend, FakeBackend, Loop, Server, make_backend


@pytest.fixture(scope="session")
def loop() -> Generator[Loop]:
    loop = Loop()
    yield loop
    loop.close()


@pytest.fixture(scope="session")
def moto(moto_url, loop) -> Generator[Server]:
    server = Server(moto_url, loop)
    yield server
    server.close()


@pytest.fixture(scope="session")
def dynalite(dynalite_url, loop) -> Generator[Server]:
    server = Server(dynalite_url, loop)
    yield server
    server.close()


@pytest.fixture(params=TRANSACTING)
def backend(request) -> Backend:
    """The fake and moto.

    Dynalite is not among them: it has no transactions, without which there are no lookups and no store.  Nor does it
    say what is stored where a condition fails."""
    return make_backend(request, request.param)


@pytest.fixture(params=ALL)
def any_backend(request) -> Backend:
    """The fake, moto and dynalite."""
    return make_backend(request, request.param)


@pytest.fixture(params=["fake-sync", "fake-async"])
def fake(request) -> FakeBackend:
    """The fake alone, for what only it can do."""
    return make_backend(request, request.param)


@pytest.fixture
def table_factory(any_backend) -> Callable:
    """Makes tables over the same items: `table_factory(Note, ttl=…)`."""
    return any_backend.table


@pytest.fixture
def table(any_backend):
    """A table of the entities of this suite, on every DynamoDB."""
    return any_backend.table(*ENTITIES)


@pytest.fixture
def tx_table(backend):
    """The same, where there are transactions."""
    return backend.table(*ENTITIES)


@pytest.fixture
def store(backend):
    """A store on the fake and on moto; not on dynalite, because it saves messages by transactions."""
    return backend.store()


@pytest.fixture
def memory(store):
    return store.memory
