"""gc(): what writings that died have left goes, whatever happens meanwhile, and nothing else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from threading import Event

import pytest

from singletable import ConditionFailedError, RequestError
from singletable.store.blob_forms import Collected
from singletable.testing import Crash
from tests.contract.blobs import (
    DELETE,
    EACH_REQUEST,
    KEY,
    KINDS,
    LONG_AGO,
    MANY,
    SECONDS,
    SWAP,
    assert_collected,
    before_request,
    begun,
    change,
    contents,
    items_of,
    left_over,
    listed_as,
    others,
    value,
)
from tests.contract.support import FakeBackend, sent_by
from tests.pains.support import another

DEAD = [one for one in EACH_REQUEST if len(KINDS[one[0]].requests) > 1]
"""The kinds of change that may leave something, and the requests before which they die."""


def died(name, number):
    """A fake on which a change died long ago, and what can be read."""
    fake = FakeBackend()
    blobs, kind = begun(fake, name)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        change(blobs, kind.new)
    fake.clock.advance(days=LONG_AGO.days)
    return fake, contents(fake)


def crash():
    raise Crash


@pytest.mark.parametrize(("name", "number"), DEAD)
def test_gc_that_dies_goes_on_when_it_is_called_again(name, number):
    for request in count(1):
        fake, found = died(name, number)
        before_request(fake, request, crash, but="Query")
        try:
            fake.store().blobs.gc()
        except Crash:
            assert contents(fake) == found
            assert_collected(fake)
            assert contents(fake) == found
        else:
            break
    assert request > 3 or not left_over(died(name, number)[0])


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize(("name", "number"), [("big-over-big", 5), ("big-over-small", 3), ("delete-big", 3)])
def test_gc_takes_nothing_of_who_writes_meanwhile(name, number, second):
    for request in count(1):
        fake, _ = died(name, number)
        before_request(fake, request, lambda fake=fake: change(others(fake), SECONDS[second]), but="Query")
        fake.store().blobs.gc()
        if fake.faults.on_request is not None:
            break
        assert contents(fake) == listed_as(SECONDS[second])
        assert_collected(fake)
        assert contents(fake) == listed_as(SECONDS[second])
    assert request > 4


def collect_long_after(fake):
    fake.clock.advance(days=LONG_AGO.days)
    others(fake).gc()


@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_a_writing_that_takes_longer_than_gc_waits_is_refused_or_whole(fake, name, number):
    blobs, kind = begun(fake, name)
    before_request(fake, number, lambda: collect_long_after(fake))
    is_done = SWAP not in kind.requests[number - 1 :]
    is_too_late = kind.after == "big" and number > 1 and not is_done
    if is_too_late:
        with pytest.raises(ConditionFailedError, match="longer than gc"):
            change(blobs, kind.new)
    else:
        change(blobs, kind.new)
    assert contents(fake) == listed_as(kind.old if is_too_late else kind.new)
    assert_collected(fake)


def overtaking(fake, name, operation, ending):
    """A writing waits before its first transaction till gc() is about to send such a request; how it ends then."""
    blobs, kind = begun(fake, name)
    may_end, is_waiting = Event(), Event()

    def before_writing(request):
        if request.operation == SWAP:
            fake.faults.on_request = None
            is_waiting.set()
            assert may_end.wait(10)
            ending()

    def before_gc(request):
        if request.operation == operation:
            upkeep.faults.on_request = None
            may_end.set()
            ends.append(writing.exception(10))

    upkeep, ends = another(fake), []
    fake.faults.on_request, upkeep.faults.on_request = before_writing, before_gc
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(change, blobs, kind.new)
        assert is_waiting.wait(10)
        fake.clock.advance(days=LONG_AGO.days)
        upkeep.store().blobs.gc()
    return kind, ends[0]


def test_what_a_writing_replaces_while_gc_gives_it_up_is_removed_though_it_dies_then(fake):
    """It has sent the transaction that says what it replaces, and nothing after it."""
    kind, end = overtaking(fake, "big-over-big", "UpdateItem", lambda: fake.faults.crash_before(2))
    assert isinstance(end, Crash)
    assert contents(fake) == listed_as(kind.new)
    assert left_over(fake) == {}


@pytest.mark.parametrize("name", ["big-over-nothing", "big-over-small", "big-over-big"])
@pytest.mark.parametrize("operation", ["UpdateItem", "GetItem", MANY, DELETE])
def test_a_writing_ends_before_gc_gives_it_up_or_not_at_all(fake, name, operation):
    kind, end = overtaking(fake, name, operation, lambda: None)
    is_whole = operation == "UpdateItem"
    assert isinstance(end, type(None) if is_whole else ConditionFailedError), end
    assert contents(fake) == listed_as(kind.new if is_whole else kind.old)
    assert_collected(fake)


def test_gc_leaves_alone_what_is_not_old(fake):
    blobs, kind = begun(fake, "big-over-big")
    fake.faults.crash_before(3)
    with pytest.raises(Crash):
        change(blobs, kind.new)
    before = fake.items()
    fake.clock.advance(hours=23)
    assert others(fake).gc() == Collected()
    assert fake.items() == before
    assert others(fake).gc(grace=timedelta(hours=3)) == Collected(uploads=1, pieces=2)


@pytest.mark.parametrize("grace", [timedelta(), timedelta(minutes=119), timedelta(days=-1)])
def test_a_grace_in_which_a_writing_may_go_on_is_refused(fake, grace):
    with pytest.raises(RequestError, match="grace"):
        fake.store().blobs.gc(grace=grace)
    assert fake.sent.requests == []


def test_gc_reads_no_blob_and_scans_nothing_where_nothing_died(fake):
    blobs = fake.store().blobs
    for number in range(30):
        blobs.write(f"a/b/{number}", b"x" * 100_000)
    assert sent_by(fake, blobs.gc) == ["Query"] * 17
    assert sum(fake.sent.scanned_counts) == 1  # the folder


def test_gc_tells_what_it_has_done_so_far(fake):
    for name in "ab":
        fake.faults.crash_before(3)
        with pytest.raises(Crash):
            fake.store().blobs.write(name, value(name, "big"))
    fake.clock.advance(days=2)
    told = []
    assert fake.store().blobs.gc(on_progress=told.append) == told[-1] == Collected(uploads=2, pieces=4)
    assert [(one.uploads, one.pieces) for one in told] == [(1, 2), (2, 4)]


def test_gc_of_a_tenant_is_about_that_tenant(fake):
    for tenant in "ab":
        fake.faults.crash_before(3)
        with pytest.raises(Crash):
            fake.store().scoped(tenant).blobs.write("k", value(tenant, "big"))
    fake.clock.advance(days=2)
    assert fake.store().blobs.gc() == Collected()
    assert fake.store().scoped("a").blobs.gc() == Collected(uploads=1, pieces=2)
    assert len(items_of(fake, "blob_piece")) == 2


# Folders


def test_a_folder_in_which_nothing_is_goes_after_a_while(fake):
    blobs = fake.store().blobs
    blobs.write("a/b/c", b"1")
    blobs.write("d/e/f", b"1")
    blobs.delete("a/b/c")
    assert blobs.gc() == Collected()
    fake.clock.advance(days=2)
    assert blobs.gc() == Collected(folders=1)
    assert [item["folder"]["S"] for item in items_of(fake, "blob_folder")] == ["/d/e"]


def test_a_folder_that_is_used_again_while_gc_looks_into_it_stays(fake):
    blobs = fake.store().blobs
    for request in (18, 19):
        blobs.write("a/b/c", b"1")
        blobs.delete("a/b/c")
        fake.clock.advance(days=2)
        assert sent_by(fake, lambda: blobs.gc(dry_run=True)) == ["Query"] * 18
        before_request(fake, request, lambda: others(fake).write("a/b/c", b"2"))
        assert blobs.gc() == Collected()
        assert blobs.list() == ["a/b/c"]


def test_a_folder_in_use_is_written_once_an_hour(fake):
    blobs = fake.store().blobs

    def written():
        fake.sent.clear()
        blobs.write("a/b/c", b"1")
        return len(fake.sent.requests[0].params["TransactItems"]) == 3

    assert [written(), written()] == [True, False]
    fake.clock.advance(minutes=59)
    assert not written()
    fake.clock.advance(minutes=1)
    assert [written(), written()] == [True, False]


def test_a_writing_during_which_the_hour_ends_does_not_count_as_one_of_the_folder(fake):
    blobs = fake.store().blobs
    blobs.write("a/b/c", b"1")
    fake.clock.advance(minutes=59)
    before_request(fake, 1, lambda: fake.clock.advance(minutes=2))
    blobs.write("a/b/c", b"1")
    fake.sent.clear()
    blobs.write("a/b/c", b"1")
    assert len(fake.sent.requests[0].params["TransactItems"]) == 3


def test_a_folder_of_a_writing_that_died_is_written_by_the_next_one(fake):
    blobs = fake.store().blobs
    fake.faults.crash_before(1)
    with pytest.raises(Crash):
        blobs.write("a/b/c", b"1")
    blobs.write("a/b/c", b"1")
    assert others(fake).list() == ["a/b/c"]


@pytest.mark.parametrize("second", SECONDS)
def test_a_value_that_expires_while_it_is_changed_is_none(fake, second):
    """Before each of the two transactions that change a value with pieces."""
    ttl = {"blob": {"default_ttl_seconds": 60}}
    for number in (1, 2):
        blobs = fake.store(ttl=ttl).blobs
        blobs.write(KEY, value("o", "big"))
        fake.clock.advance(seconds=30)
        before_request(fake, number + 2 * (second == "big"), lambda: fake.clock.advance(seconds=40))
        change(blobs, SECONDS[second])
        assert fake.faults.on_request is None
        assert contents(fake, ttl=ttl) == listed_as(SECONDS[second])
