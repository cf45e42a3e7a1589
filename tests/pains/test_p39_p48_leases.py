"""P39: of two invocations for one session, one works.  P48: who waits does not make a slowdown an outage."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from singletable import (
    ConditionFailedError,
    ConfigurationError,
    DynamoDBStore,
    LeaseHeldError,
    LeaseLostError,
    OutcomeUnknownError,
    ThrottledError,
    UnreachableError,
)
from singletable.schemas import Lease
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.support import FakeBackend
from tests.pains.leases import Worker
from tests.pains.support import another


@pytest.fixture
def fake():
    return FakeBackend()


@pytest.fixture
def mine(fake):
    return Worker(fake)


@pytest.fixture
def theirs(fake):
    return Worker(another(fake))


def row(worker):
    return worker.leases.table.get(Lease.Key(name="s"))


# P39


def test_p39_who_comes_second_is_told_who_has_it_and_until_when(fake, mine, theirs):
    with mine.leases.acquire("s", 30) as lease:
        before = fake.items()
        with pytest.raises(LeaseHeldError) as caught, theirs.leases.acquire("s", 30):
            pytest.fail("two have one lease")
        assert caught.value.current.token == lease.token
        assert caught.value.current.ends_at == fake.clock.now + timedelta(seconds=30)
        assert fake.items() == before


def test_p39_one_request_takes_it_and_one_gives_it_back_new_or_used_or_left_by_a_dead_holder(fake, mine, theirs):
    tokens = []
    for pause in (0, 1, 1):
        fake.clock.advance(seconds=pause)
        fake.sent.clear()
        with mine.leases.acquire("s", 30) as lease:
            tokens.append(lease.token)
        assert fake.sent.operations == ["PutItem", "UpdateItem"]
    theirs.hold("s", 30)
    fake.clock.advance(seconds=36)
    fake.sent.clear()
    with mine.leases.acquire("s", 30) as lease:
        tokens.append(lease.token)
    assert fake.sent.operations == ["PutItem", "UpdateItem"]
    assert tokens == sorted(set(tokens))


def test_p39_the_token_grows_though_the_clock_goes_back(fake, mine, theirs):
    with theirs.leases.acquire("s", 30) as lease:
        tokens = [lease.token]
    fake.clock.advance(hours=-1)
    for worker in (mine, theirs):
        with worker.leases.acquire("s", 30) as lease:
            tokens.append(lease.token)
    assert tokens == [tokens[0], tokens[0] + 1, tokens[0] + 2]


def test_p39_the_token_grows_though_the_item_has_expired(fake):
    day = {"lease": {"enabled": True, "default_ttl_seconds": 24 * 3600}}
    worker = Worker(fake, ttl=day)
    with worker.leases.acquire("s", 30) as first:
        worker.leases.renew(first)
    fake.clock.advance(days=2)
    assert row(worker) is None
    with worker.leases.acquire("s", 30) as second:
        assert second.token > first.token


def test_p39_leases_that_would_forget_their_tokens_are_refused():
    with pytest.raises(ConfigurationError, match="86400"):
        DynamoDBStore("t", transport=MemoryTransport(), ttl={"lease": {"default_ttl_seconds": 3600}})


def test_p39_a_lease_is_renewed_three_times_in_its_length(fake, mine, theirs):
    with mine.leases.acquire("s", 30) as lease:
        ((beat, seconds),) = mine.beats
        assert seconds == 10
        for _ in range(9):
            fake.clock.advance(seconds=10)
            assert beat()
        with pytest.raises(LeaseHeldError), theirs.leases.acquire("s", 30):
            pass
        assert row(mine).token == lease.token


@pytest.mark.parametrize("error", [ThrottledError("no"), UnreachableError("no")], ids=["throttled", "unreachable"])
def test_p39_a_renewal_that_fails_is_tried_again_and_one_that_is_refused_is_not(fake, mine, theirs, error):
    with mine.leases.acquire("s", 30) as lease:
        ((beat, _),) = mine.beats
        fake.faults.on_request = lambda _: error
        assert beat()
        fake.faults.on_request = None
        assert beat()
        fake.clock.advance(seconds=36)
        with theirs.leases.acquire("s", 30):
            assert not beat()
            assert lease.is_lost
            with pytest.raises(LeaseLostError):
                mine.leases.renew(lease)


def test_p39_a_clock_that_is_a_little_ahead_takes_nothing_from_a_living_holder(fake, mine, theirs):
    mine.hold("s", 30)
    fake.clock.advance(seconds=35)
    with pytest.raises(LeaseHeldError), theirs.leases.acquire("s", 30):
        pass
    fake.clock.advance(milliseconds=1)
    with theirs.leases.acquire("s", 30):
        pass


def test_p39_a_clock_that_is_hours_behind_learns_by_watching_that_the_holder_is_dead(fake, mine, theirs):
    mine.hold("s", 30)
    fake.clock.advance(hours=-5)
    begin = fake.clock.now
    with theirs.leases.acquire("s", 30, wait=60):
        assert timedelta(seconds=30) <= fake.clock.now - begin <= timedelta(seconds=32)


def test_p39_a_holder_that_renews_is_not_dead_whatever_its_clock_says(fake, mine, theirs):
    with mine.leases.acquire("s", 30) as lease:
        fake.clock.advance(hours=-5)

        def renewing(request):
            if request.operation == "GetItem":
                mine.leases.renew(lease)

        theirs.backend.faults.on_request = renewing
        with pytest.raises(LeaseHeldError), theirs.leases.acquire("s", 30, wait=120):
            pass
        assert sum(theirs.pauses) == pytest.approx(120)


def test_p39_a_dead_holder_that_renews_in_the_last_moment_keeps_it(fake, mine, theirs):
    with mine.leases.acquire("s", 30) as lease:
        fake.clock.advance(hours=-5)

        def renewing(request):
            if request.operation == "PutItem" and theirs.pauses:
                mine.leases.renew(lease)

        theirs.backend.faults.on_request = renewing
        with pytest.raises(LeaseHeldError), theirs.leases.acquire("s", 30, wait=40):
            pass
        assert row(mine).token == lease.token


def test_p39_a_block_that_fails_gives_the_lease_back_and_its_own_error_is_told(fake, mine, theirs):
    with pytest.raises(ValueError, match="mine"), mine.leases.acquire("s", 30):
        raise ValueError("mine")
    with theirs.leases.acquire("s", 30):
        pass


def test_p39_the_error_of_a_block_is_told_though_the_lease_cannot_be_given_back(fake, mine):
    holding = mine.leases.acquire("s", 30)
    holding.__enter__()
    fake.faults.on_request = lambda _: UnreachableError("no")
    error = ValueError("mine")
    assert holding.__exit__(ValueError, error, None) is False


def test_p39_a_lease_that_cannot_be_given_back_is_told(fake, mine):
    with pytest.raises(UnreachableError), mine.leases.acquire("s", 30):
        fake.faults.on_request = lambda _: UnreachableError("no")


def test_p39_who_lost_it_does_not_give_back_what_others_have(fake, mine, theirs):
    with mine.leases.acquire("s", 30):
        fake.clock.advance(seconds=36)
        theirs.hold("s", 30)
        taken = row(theirs)
    assert row(theirs) == taken


def test_p44_a_lost_answer_is_a_lease_all_the_same(fake, mine):
    fake.faults.lose_answer(operation="PutItem")
    with mine.leases.acquire("s", 30) as lease:
        fake.faults.lose_answer(operation="UpdateItem")
        mine.leases.renew(lease)
    assert row(mine).holder is None


def test_p44_what_cannot_be_settled_is_told(fake, mine):
    fake.faults.lose_answer(operation="PutItem")
    fake.faults.on_request = lambda request: UnreachableError("no") if request.operation == "GetItem" else None
    with pytest.raises(OutcomeUnknownError), mine.leases.acquire("s", 30):
        pass


# P48


def test_p48_who_waits_writes_twice_and_reads_at_growing_random_times(fake, mine, theirs):
    holding = mine.leases.acquire("s", 3600)
    holding.__enter__()

    def give_back(_):
        if len(theirs.pauses) == 30 and row(mine).holder:
            holding.__exit__(None, None, None)

    theirs.backend.faults.on_request = give_back
    with theirs.leases.acquire("s", 30, wait=120):
        sent = theirs.backend.sent.operations
    assert [sent.count(name) for name in ("PutItem", "GetItem")] == [2, 30]
    assert theirs.pauses == sorted(theirs.pauses)
    assert (theirs.pauses[0], theirs.pauses[-1]) == (0.025, 1.0)


def test_p48_the_waiting_ends_at_its_deadline(fake, mine, theirs):
    mine.hold("s", 3600)
    with pytest.raises(LeaseHeldError) as caught, theirs.leases.acquire("s", 30, wait=7):
        pass
    assert sum(theirs.pauses) == pytest.approx(7)
    assert theirs.backend.sent.operations.count("PutItem") == 1
    assert isinstance(caught.value, ConditionFailedError)


def test_p39_of_twenty_threads_one_at_a_time_works_and_tokens_follow_one_another():
    database, inside, tokens = MemoryDatabase(), threading.Lock(), list[int]()

    def work():
        store = DynamoDBStore("t", transport=MemoryTransport(database))
        with store.leases.acquire("s", 60, wait=60) as lease:
            assert inside.acquire(blocking=False)
            tokens.append(lease.token)
            inside.release()

    threads = [threading.Thread(target=work) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens) == 20
    assert tokens == sorted(set(tokens))
