"""P06, P07: a write that fails is not seen, nor half of one.  P58: who shrinks a value does not destroy another's.

P5b: what is left of a write that died is found.  P54: all of an item counts for what it can hold.  P126: so it is
where a write is cancelled."""

from __future__ import annotations

import asyncio
from itertools import permutations

import pytest

from singletable import AsyncDynamoDBStore, StorageError, UnreachableError
from singletable.testing import AsyncMemoryTransport, Crash
from tests.contract.blobs import (
    BIG,
    KEY,
    MANY,
    PUT,
    SWAP,
    assert_collected,
    assert_nothing_is_left,
    before_request,
    contents,
    items_of,
    others,
    value,
)
from tests.contract.support import FakeBackend
from tests.pains.support import another

COMPRESSIONS = [None, "gzip", "zstd"]
OLD, NEW = value("o", "big"), value("n", "big")


@pytest.mark.parametrize("operation", [PUT, MANY, SWAP])
def test_p06_a_write_that_fails_leaves_the_old_bytes(fake, operation):
    fake.store().blobs.write(KEY, OLD)
    fake.faults.on_request = lambda request: UnreachableError("gone") if request.operation == operation else None
    with pytest.raises(StorageError):
        fake.store().blobs.write(KEY, NEW)
    assert contents(fake) == {KEY: OLD}


@pytest.mark.parametrize(("before", "after"), list(permutations(COMPRESSIONS, 2)))
def test_p07_no_reader_gets_bytes_of_one_write_as_those_of_another(fake, before, after):
    fake.store(compression=before).blobs.write(KEY, OLD)
    blobs = fake.store(compression=after).blobs
    for number in (2, 3, 4):
        fake.faults.crash_before(number)
        with pytest.raises(Crash):
            blobs.write(KEY, NEW)
        assert fake.store().blobs.read(KEY) == OLD
    blobs.write(KEY, NEW)
    assert fake.store().blobs.read(KEY) == NEW


def test_p07_what_a_pointer_says_of_its_bytes_is_in_one_item(fake):
    for compression in COMPRESSIONS:
        fake.store(compression=compression).blobs.write(KEY, NEW)
        (blob,) = items_of(fake, "blob")
        assert blob["encoding"]["S"] == (compression or "identity")
        assert {item["payload"]["S"] for item in items_of(fake, "blob_piece")} == {blob["payload"]["S"]}


SHRINK, GROW = value("s"), value("g", "big")


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize(("first", "second"), [(SHRINK, GROW), (GROW, SHRINK), (GROW, NEW), (SHRINK, None)])
def test_p58_who_grows_and_who_shrinks_a_value_leave_one_of_both(fake, first, second, number):
    """The other one is paused before each of its requests in its turn."""
    blobs = fake.store().blobs
    blobs.write(KEY, OLD)
    before_request(
        fake, number, lambda: others(fake).delete(KEY) if second is None else others(fake).write(KEY, second)
    )
    blobs.write(KEY, first)
    fake.faults.clear()
    assert blobs.read(KEY) in (first, second)
    assert_nothing_is_left(fake)


def test_p58_two_that_are_both_paused_remove_only_what_they_replaced_themselves(fake):
    """One pauses before it removes what it has replaced; meanwhile the second replaces that, and a third this."""
    blobs = fake.store().blobs
    blobs.write(KEY, OLD)
    second = another(fake)

    def third():
        others(fake).write(KEY, NEW)

    def hook():
        before_request(second, 5, third)
        second.store().blobs.write(KEY, GROW)

    before_request(fake, 5, hook)
    blobs.write(KEY, b"f" * BIG)
    assert contents(fake) == {KEY: NEW}
    assert_nothing_is_left(fake)


@pytest.mark.parametrize("number", range(1, 7))
def test_p5b_what_is_left_of_a_write_that_died_is_found_and_removed(fake, number):
    fake.store().blobs.write(KEY, OLD)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        fake.store().blobs.write(KEY, NEW)
    found = contents(fake)
    assert_collected(fake)
    assert contents(fake) == found


def test_p5b_the_pieces_of_what_expires_expire(fake):
    fake.store(ttl={"blob": {"default_ttl_seconds": 60}}).blobs.write(KEY, OLD)
    stays = [item["_entity"]["S"] for item in fake.items() if "ttl" not in item]
    assert stays == ["blob_folder"]


@pytest.mark.parametrize("extra", ["k", "k" * 900, "a/" + "é" * 400])
def test_p54_what_an_item_holds_is_asked_of_the_whole_item(fake, extra):
    blobs = fake.store(ttl={"blob": {"default_ttl_seconds": 60}}).scoped("tenant").blobs
    for size in range(BIG - 2000, BIG, 61):
        blobs.write(extra, bytes(size))
        assert blobs.head(extra).size == size


class Cancelling:
    """A transport that cancels a task before its request of this number."""

    def __init__(self, database, number):
        self.inner, self.left, self.task = AsyncMemoryTransport(database), number, None

    async def send(self, request):
        self.left -= 1
        if self.left == 0:
            self.task.cancel()
        await asyncio.sleep(0)  # here it is
        return await self.inner.send(request)

    async def aclose(self):
        await self.inner.aclose()


async def cancelled(fake, number):
    transport = Cancelling(fake.database, number)
    blobs = AsyncDynamoDBStore("fake", transport=transport, clock=fake.clock).blobs
    transport.task = asyncio.ensure_future(blobs.write(KEY, NEW))
    await transport.task


@pytest.mark.parametrize("number", range(1, 7))
def test_p126_a_write_that_is_cancelled_leaves_the_old_or_the_new_bytes(number):
    fake = FakeBackend()
    fake.store().blobs.write(KEY, OLD)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled(fake, number))
    assert contents(fake) == {KEY: OLD if number < 5 else NEW}
    assert_collected(fake)
