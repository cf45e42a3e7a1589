"""Leases: the heart that beats beside a block, and what is no lease."""

from __future__ import annotations

import asyncio
import threading

import pytest

from singletable import AsyncDynamoDBStore, DynamoDBStore, LeaseHeldError, LeaseLostError, RequestError
from singletable.schemas import Lease
from singletable.store import HeldLease
from singletable.testing import AsyncMemoryTransport, MemoryTransport
from tests.contract.support import FakeBackend
from tests.pains.leases import Worker


@pytest.fixture
def fake():
    return FakeBackend()


@pytest.fixture
def mine(fake):
    return Worker(fake)


def row(worker):
    return worker.leases.table.get(Lease.Key(name="s"))


def test_a_lease_is_taken_renewed_given_back_and_taken_again(store):
    with store.leases.acquire("s", 30) as first:
        store.leases.renew(first)
        with pytest.raises(LeaseHeldError), store.leases.acquire("s", 30):
            pass
    with store.leases.acquire("s", 30, wait=1) as second:
        assert second.token > first.token
        with pytest.raises(LeaseLostError):
            store.leases.renew(first)


# The heart itself, once as a thread and once as a task.


def test_a_thread_renews_beside_the_block_and_ends_with_it():
    store, beats = DynamoDBStore("t", transport=(transport := MemoryTransport())), threading.Semaphore(0)
    transport.faults.on_request = lambda request: beats.release() if request.operation == "UpdateItem" else None
    with store.leases.acquire("s", 0.06):
        assert all(beats.acquire(timeout=10) for _ in range(3))
    assert not [one for one in threading.enumerate() if "heartbeat" in one.name]


def test_a_task_renews_beside_the_block_and_ends_with_it():
    async def run():
        store, beats = AsyncDynamoDBStore("t", transport=(transport := AsyncMemoryTransport())), asyncio.Semaphore(0)
        transport.faults.on_request = lambda request: beats.release() if request.operation == "UpdateItem" else None
        async with store.leases.acquire("s", 0.06):
            for _ in range(3):
                await asyncio.wait_for(beats.acquire(), 10)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(run())


def test_a_task_that_is_cancelled_gives_the_lease_back():
    async def run():
        store, entered = AsyncDynamoDBStore("t", transport=AsyncMemoryTransport()), asyncio.Event()

        async def hold():
            async with store.leases.acquire("s", 30):
                entered.set()
                await asyncio.Event().wait()

        task = asyncio.ensure_future(hold())
        await entered.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        async with store.leases.acquire("s", 30):
            pass

    asyncio.run(run())


# Bad input


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), 12 * 3600 + 1, True, "30", None], ids=repr)
def test_a_length_that_no_lease_has_is_refused(fake, mine, ttl):
    with pytest.raises(RequestError, match="ttl"), mine.leases.acquire("s", ttl):
        pass
    assert fake.sent.requests == []


@pytest.mark.parametrize("options", [{"wait": -1}, {"wait": float("inf")}, {"wait": None}, {"name": " "}], ids=repr)
def test_what_nobody_can_wait_for_is_refused(fake, mine, options):
    with pytest.raises(RequestError), mine.leases.acquire(**{"name": "s", "ttl": 1, **options}):
        pass
    assert fake.sent.requests == []


def forged(**changes):
    given = {"holds": {"holder": "x", "token": 1}, "name": "s", "token": 1, "ttl_seconds": 1}
    return HeldLease(**{"table": "fake", "scope": "", "key": Lease.Key(name="s"), **given, **changes})


def test_a_lease_that_was_never_given_out_is_no_lease(fake, mine):
    with mine.leases.acquire("s", 30) as lease:
        for one in (forged(), forged(token=lease.token, holds={"holder": "x", "token": lease.token})):
            with pytest.raises(LeaseLostError):
                mine.leases.renew(one)
        assert row(mine).holder == lease.holds["holder"]


@pytest.mark.parametrize("lease", [None, "s", forged(table="other"), forged(scope="@a#")], ids=type)
def test_what_is_no_lease_of_this_table_is_refused(fake, mine, lease):
    with pytest.raises(RequestError, match="lease"):
        mine.leases.renew(lease)
    assert fake.sent.requests == []
