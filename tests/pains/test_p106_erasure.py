"""P106: an erasure leaves no copies, and touches nobody else's; P126: killed on its way, it is completed later."""

from __future__ import annotations

from itertools import count

import pytest

from singletable.testing import Crash
from tests.contract.support import FakeBackend
from tests.contract.users import ADA, BOB, COUNTS, NOTHING, all_expire, fill, kept, left_of


def test_p106_nothing_of_a_user_is_left(backend):
    store = backend.store()
    fill(store, ADA, "x")
    assert len(left_of(backend, ADA)) == sum(COUNTS.values())
    receipt = store.erase_resource(ADA)
    assert left_of(backend, ADA) == []
    assert (receipt.counts, receipt.dry_run, receipt.total) == (COUNTS, False, 16)
    assert kept(backend) == []


def test_p106_nothing_of_others_changes(backend):
    store = backend.store()
    fill(store, BOB, "y")
    before = backend.items()
    fill(store, ADA, "x")
    store.erase_resource(ADA)
    assert kept(backend) == before


def test_p106_what_remains_is_the_ids_of_threads_and_that_goes_too(backend):
    store = backend.store()
    fill(store, ADA, "x")
    store.erase_resource(ADA)
    left = backend.items()
    assert {item["threadId"]["S"] for item in left} == {"x1", "x2"}
    assert {name for item in left for name in item} == {
        *("pk", "sk", "_entity", "_version", "_write", "threadId", "deletedAt", "doneAt", "ttl")
    }
    backend.clock.advance(days=1)
    assert store.purge_expired(allow_scan=True).deleted == {"tombstone": 2}
    assert backend.items() == []


def test_p106_a_second_call_finds_nothing(backend):
    store = backend.store()
    fill(store, ADA, "x")
    store.erase_resource(ADA)
    before = backend.items()
    assert store.erase_resource(ADA).counts == NOTHING
    assert backend.items() == before


@pytest.mark.parametrize("ago", [59, 60], ids=["alive", "expired"])
def test_p106_what_has_expired_is_erased_as_well(backend, ago):
    """DynamoDB removes it days later: until then it is stored, and may be read in a backup."""
    store = backend.store(ttl=all_expire(60))
    fill(store, ADA, "x")
    backend.clock.advance(seconds=ago)
    receipt = store.erase_resource(ADA)
    assert receipt.counts == COUNTS
    assert kept(backend) == []


def survives_a_crash(fake, number, *, seconds, **options):
    """Whether the erasure came to its end before its request of this number; if not, it is called again."""
    backend = FakeBackend(fake.loop)
    store = backend.store(ttl=all_expire(60))
    fill(store, BOB, "y")
    before = backend.items()
    fill(store, ADA, "x")
    backend.clock.advance(seconds=seconds)
    backend.faults.crash_before(number)
    try:
        store.erase_resource(ADA, **options)
    except Crash:
        backend.faults.clear()
        store.erase_resource(ADA, **options)
        is_complete = False
    else:
        is_complete = True
    assert left_of(backend, ADA) == []
    assert kept(backend) == before
    assert all("ttl" in item for item in backend.items())
    return is_complete


@pytest.mark.parametrize(("seconds", "allow_scan"), [(1, False), (60, True)], ids=["alive", "expired-and-scanned"])
def test_p126_killed_before_any_request_and_called_again_it_is_complete(fake, seconds, allow_scan):
    numbers = count(1)
    while not survives_a_crash(fake, next(numbers), seconds=seconds, allow_scan=allow_scan):
        pass
    assert next(numbers) > 35
