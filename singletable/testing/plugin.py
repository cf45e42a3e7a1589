"""Fixtures for the tests of applications; pytest finds them by itself wherever singletable is installed.

Each fixture imports what it needs, because pytest loads this module in every run of every project there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeAlias

import pytest

if TYPE_CHECKING:
    from singletable.testing import AsyncMemoryTransport, Clock, MemoryTransport

AssertRequests: TypeAlias = Callable[[int], AbstractContextManager[None]]


@pytest.fixture
def dynamodb() -> MemoryTransport:
    """A transport of an empty DynamoDB in memory; override it to give the database other indexes."""
    from singletable.testing import MemoryTransport

    return MemoryTransport()


@pytest.fixture
def async_dynamodb(dynamodb: MemoryTransport) -> AsyncMemoryTransport:
    """The same DynamoDB for async code; its faults and its requests are its own."""
    from singletable.testing import AsyncMemoryTransport

    return AsyncMemoryTransport(dynamodb.database)


@pytest.fixture
def dynamodb_clock() -> Clock:
    """A time that stands still until it is moved, to pass as `clock=`."""
    from singletable.testing import Clock

    return Clock()


@pytest.fixture
def assert_requests(dynamodb: MemoryTransport, async_dynamodb: AsyncMemoryTransport) -> AssertRequests:
    """`with assert_requests(2): ...` fails where the block sends more or fewer requests to either transport."""

    @contextmanager
    def sends(count: int) -> Generator[None]:
        transports = (dynamodb, async_dynamodb)
        before = [len(transport.requests) for transport in transports]
        yield
        sent = [
            request.operation
            for transport, start in zip(transports, before, strict=True)
            for request in transport.requests[start:]
        ]
        if len(sent) != count:
            pytest.fail(f"{count} requests expected, {len(sent)} sent: {', '.join(sent) or 'none'}", pytrace=False)

    return sends
