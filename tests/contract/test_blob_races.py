"""Blobs that are written and deleted by processes that die, and by others at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from singletable import (
    AlreadyExistsError,
    ConditionFailedError,
    NotFoundError,
    OutcomeUnknownError,
    PartialBatchError,
    PayloadMissingError,
    VersionConflictError,
)
from singletable.store import Blobs
from singletable.store.entities import ENTITIES
from singletable.testing import Crash
from tests.contract.blobs import (
    EACH_REQUEST,
    KEY,
    KINDS,
    MANY,
    PIECE,
    PUT,
    SECONDS,
    SWAP,
    assert_collected,
    assert_nothing_is_left,
    before_request,
    begun,
    begun_at_once,
    change,
    contents,
    left_over,
    listed_as,
    others,
    value,
)
from tests.contract.support import FakeBackend
from tests.pains.support import another


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_change(fake, name):
    blobs, kind = begun(fake, name)
    change(blobs, kind.new)
    assert fake.sent.operations == kind.requests
    assert contents(fake) == listed_as(kind.new)
    assert_nothing_is_left(fake)


@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_a_change_that_dies_is_done_or_not(fake, name, number):
    blobs, kind = begun(fake, name)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        change(blobs, kind.new)
    assert blobs.read(KEY) in (kind.old, kind.new)
    assert contents(fake) == listed_as(blobs.read(KEY))
    found = contents(fake)
    assert_collected(fake)
    assert contents(fake) == found


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_what_died_is_no_hindrance(fake, name, number, second):
    blobs, kind = begun(fake, name)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        change(blobs, kind.new)
    change(blobs, SECONDS[second])
    assert contents(fake) == listed_as(SECONDS[second])
    assert_collected(fake)
    assert contents(fake) == listed_as(SECONDS[second])


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_two_changes_at_the_same_time_leave_one_value_whole(fake, name, number, second):
    blobs, kind = begun(fake, name)
    before_request(fake, number, lambda: change(others(fake), SECONDS[second]))
    change(blobs, kind.new)
    assert fake.faults.on_request is None
    is_made = number > max(at for at, sent in enumerate(kind.requests, 1) if sent == "TransactWriteItems")
    assert contents(fake) == listed_as(SECONDS[second] if is_made else kind.new)
    assert_nothing_is_left(fake)


READS = {
    "read": lambda blobs: blobs.read(KEY),
    "read_many": lambda blobs: blobs.read_many([KEY])[0],
    "read_range": lambda blobs: blobs.read_range(KEY, 0),
    "read_end": lambda blobs: blobs.read_range(KEY, PIECE - 1),
}


def seen_by(read, data):
    """What a way of reading has to find of a value."""
    return data if data is None or read != "read_end" else data[PIECE - 1 :]


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("first", ["small", "big"])
def test_who_reads_while_it_is_changed_gets_the_old_or_the_new_value_whole(fake, first, second, read):
    """A change before each request: most of all between a blob and its pieces."""
    data = value("o", first)
    for number in range(1, 3 if first == "big" else 2):
        blobs = fake.store().blobs
        change(blobs, data)
        before_request(fake, number, lambda: change(others(fake), SECONDS[second]))
        assert READS[read](blobs) == seen_by(read, SECONDS[second])
        assert fake.faults.on_request is None


def test_who_reads_goes_on_while_others_keep_changing_the_value(fake):
    """Each time its pieces are gone when it asks for them."""
    blobs, left = fake.store().blobs, [value(name, "big") for name in "abcd"]
    blobs.write(KEY, left.pop())

    def hook(request):
        if request.operation == "BatchGetItem" and left:
            others(fake).write(KEY, left.pop())

    fake.faults.on_request = hook
    assert blobs.read(KEY) == value("a", "big")
    assert left == []


@pytest.mark.parametrize("second", SECONDS)
def test_a_stream_whose_blob_is_replaced_says_so(fake, second):
    blobs = fake.store().blobs
    blobs.write(KEY, value("o", "big"))
    before_request(fake, 2, lambda: change(others(fake), SECONDS[second]))
    with pytest.raises(PayloadMissingError):
        b"".join(blobs.read_stream(KEY))
    assert fake.faults.on_request is None


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize("first", ["small", "big"])
def test_what_is_listed_while_it_is_changed_is_old_or_new(fake, first, second):
    blobs = fake.store().blobs
    change(blobs, value("o", first))
    for number in (1, 2):
        before_request(fake, number, lambda: change(others(fake), SECONDS[second]))
        assert blobs.list() in ([KEY], [])
        assert fake.faults.on_request is None


@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_an_answer_that_is_lost_for_ever_leaves_the_old_or_the_new_value(name, number):
    fake, blobs, kind = begun_at_once(name)
    operation = kind.requests[number - 1]
    before_request(fake, number, lambda: fake.faults.lose_answer(None, operation=operation))
    with suppress(OutcomeUnknownError, PartialBatchError):
        change(blobs, kind.new)
    fake.faults.clear()
    found = contents(fake)
    assert found in (listed_as(kind.old), listed_as(kind.new))
    assert_collected(fake)
    assert contents(fake) == found


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind.before == "big"])
def test_what_cannot_be_removed_is_no_failure_of_a_change_that_is_made(name):
    fake, blobs, kind = begun_at_once(name)
    before_request(fake, len(kind.requests) - 2, lambda: fake.faults.throttle(None, operation=MANY))
    change(blobs, kind.new)
    fake.faults.clear()
    assert contents(fake) == listed_as(kind.new)
    left = [name[0] for name in left_over(fake) if name[0] != "blob_folder"]
    assert sorted(left) == ["blob_piece", "blob_piece", "blob_upload"]
    assert_collected(fake)


@pytest.mark.parametrize("operation", [SWAP, "PutItem", "DeleteItem"])
@pytest.mark.parametrize("name", KINDS)
def test_conflicts_with_other_transactions_are_nothing_to_know_of(fake, name, operation):
    blobs, kind = begun(fake, name)
    fake.faults.conflict(2, operation=operation)
    change(blobs, kind.new)
    assert contents(fake) == listed_as(kind.new)
    assert_nothing_is_left(fake)


@pytest.mark.parametrize("second", SECONDS)
@pytest.mark.parametrize(("name", "number"), [one for one in EACH_REQUEST if KINDS[one[0]].before])
def test_who_asked_for_one_writing_never_changes_another(fake, name, number, second):
    blobs, kind = begun(fake, name)
    etag = blobs.head(KEY).etag
    asked = partial(blobs.delete, KEY) if kind.new is None else partial(blobs.write, KEY, kind.new)
    before_request(fake, number, lambda: change(others(fake), SECONDS[second]))
    if number > kind.requests.count(PUT) + kind.requests.count(SWAP) + (PUT in kind.requests):
        asked(if_match=etag)  # what is left is to tidy up
    else:
        with pytest.raises(NotFoundError if SECONDS[second] is None else VersionConflictError):
            asked(if_match=etag)
    assert contents(fake) == listed_as(SECONDS[second])
    assert_nothing_is_left(fake)


@pytest.mark.parametrize("name", ["small-over-nothing", "big-over-nothing"])
@pytest.mark.parametrize("second", ["small", "big"])
def test_only_one_is_the_first(fake, name, second):
    for number in range(1, len(KINDS[name].requests) + 1):
        blobs, kind = begun(fake, name)
        before_request(fake, number, lambda: change(others(fake), SECONDS[second]))
        with pytest.raises(AlreadyExistsError):
            blobs.write(KEY, kind.new, if_absent=True)
        assert contents(fake) == listed_as(SECONDS[second])
        assert_nothing_is_left(fake)
        blobs.delete(KEY)


def test_who_is_refused_knows_why_though_its_pieces_cannot_be_removed():
    fake, blobs, kind = begun_at_once("big-over-small")
    before_request(fake, 2, lambda: fake.faults.throttle(None, operation=MANY))
    with pytest.raises(AlreadyExistsError):
        blobs.write(KEY, kind.new, if_absent=True)
    fake.faults.clear()
    assert contents(fake) == listed_as(kind.old)
    assert_collected(fake)


@pytest.mark.parametrize("new", [value("n"), value("n", "big"), None])
def test_who_is_always_overtaken_gives_up_at_last(new):
    fake, blobs, _ = begun_at_once("big-over-nothing")
    theirs = [value(name, "big") for name in "ab"]

    def hook(request):
        if request.operation == SWAP:
            theirs.reverse()
            others(fake).write(KEY, theirs[0])

    fake.faults.on_request = hook
    with pytest.raises(ConditionFailedError, match="other callers keep changing"):
        change(blobs, new)
    assert contents(fake) == listed_as(theirs[0])
    assert_nothing_is_left(fake)


def test_threads_that_write_read_and_delete_one_value():
    fake = FakeBackend()
    written = [value(name, kind) for name in "abc" for kind in ("small", "big")]

    def act(number):
        blobs = Blobs(another(fake).table(*ENTITIES))
        change(blobs, None if number % 7 == 0 else written[number % len(written)])
        return blobs.read(KEY)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(act, range(80))) <= {None, *written}
    assert_nothing_is_left(fake)
