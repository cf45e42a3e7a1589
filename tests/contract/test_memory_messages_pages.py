"""P21: all pages together are the whole list, for all ways to list messages.  P4c: a deletion is not the end of one."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from singletable import AccessDeniedError, InvalidCursorError, ThreadDeletedError, gte, lt
from singletable.schemas import Message, Thread
from singletable.store.message_forms import Include
from singletable.testing import Crash
from tests.contract.support import FAKES, START, FakeBackend

SECOND = timedelta(seconds=1)
THREADS = ["t0", "t1", "t2"]


def message(number, thread_id, second, **fields):
    fields = {"role": "user", "content": "x", "resource_id": "ada", **fields}
    return Message(id=f"{thread_id}-{number}", thread_id=thread_id, created_at=START + SECOND * second, **fields)


def everything():
    """Three threads of eight messages; in each second there are messages of all of them, two of each thread."""
    return [
        message(number, thread, number // 2, metadata={"odd": number % 2 == 1}, resource_id=owner)
        for number in range(8)
        for thread, owner in zip(THREADS, ["ada", "ada", "bob" if number == 3 else "ada"], strict=True)
    ]


def fill(memory):
    for name in THREADS:
        memory.save_thread(Thread(id=name, resource_id="ada"))
    for one in everything():
        memory.save_messages([one])
    # The copy of a message has its place, but for the thread: neither hides the other.
    (same,) = memory.list_messages("t0", per_page=1, page=5).items
    memory.save_messages([same.model_copy(update={"id": "t1-copy", "thread_id": "t1"})])


@pytest.fixture(scope="module")
def stored():
    backend = FakeBackend()
    fill(backend.store().memory)
    return backend.database


@pytest.fixture(params=FAKES)
def memory(request, stored, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=stored).store().memory


LISTS = {
    "one": lambda m, **o: m.list_messages("t1", **o),
    "one-in-a-list": lambda m, **o: m.list_messages(["t2"], **o),
    "several": lambda m, **o: m.list_messages(THREADS, **o),
    "some-that-are-not-there": lambda m, **o: m.list_messages(["none", "t0", "nor", "t1"], **o),
    "resource": lambda m, **o: m.list_messages_by_resource_id("ada", **o),
}
FILTERS = {
    "all": {},
    "from": {"created_at": gte(START + SECOND)},
    "until": {"created_at": lt(START + 3 * SECOND)},
    "metadata": {"metadata": {"odd": True}},
    "owner": {"resource_id": "ada"},
    "all-three": {"metadata": {"odd": True}, "created_at": gte(START + SECOND), "resource_id": "ada"},
    "nothing": {"metadata": {"odd": "never"}},
}


def ids(page):
    return [one.id for one in page.items]


def is_wanted(one, options):
    metadata, owner, times = options.get("metadata"), options.get("resource_id"), options.get("created_at")
    return (
        (metadata is None or one.metadata == metadata)
        and (owner is None or one.resource_id == owner)
        and (times is None or (one.created_at >= times.low if times.operator == "gte" else one.created_at < times.low))
    )


@pytest.mark.parametrize("per_page", [1, 5, 24, 30])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("name", LISTS)
def test_p21_the_pages_are_the_whole_list(memory, name, filters, order, per_page):
    options = dict(FILTERS[filters])
    if name == "resource":
        options.pop("resource_id", None)

    def read(**paging):
        return LISTS[name](memory, order=order, **options, **paging)

    whole = read(per_page=None)
    assert not whole.has_more
    assert {*ids(whole)} <= {*ids(LISTS[name](memory, per_page=None))}
    assert all(is_wanted(one, options) for one in whole.items)
    number, cursor, found, more = 0, None, [], True
    while more:
        page = read(per_page=per_page, cursor=cursor, include_total=number == 0)
        assert ids(page) == ids(read(per_page=per_page, page=number))
        assert len(page.items) == per_page or not page.has_more
        assert page.items or number == 0
        assert page.total == (len(whole.items) if number == 0 else None)
        found += ids(page)
        number, cursor, more = number + 1, page.cursor, page.has_more
    assert found == ids(whole)
    assert ids(read(per_page=per_page, page=number)) == []


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("name", ["several", "resource"])
def test_several_threads_are_in_the_order_of_time_then_of_saving(memory, name, order):
    found = LISTS[name](memory, per_page=None, order=order).items
    places = [(one.created_at, one.order, one.thread_id) for one in found]
    assert places == sorted(places, reverse=order == "desc")
    assert len(places) == len(set(places))
    for thread in THREADS:
        of_thread = [one.id for one in found if one.thread_id == thread]
        alone = ids(memory.list_messages(thread, per_page=None, order=order))
        assert of_thread == [one for one in alone if one in of_thread]


def test_two_messages_of_one_place_are_both_listed(memory):
    found = memory.list_messages(THREADS, per_page=None).items
    assert ["t0-5", "t1-copy"] in [[one.id, other.id] for one, other in pairwise(found)]


@pytest.mark.parametrize("last", [1, 4, 24, 25, 26])
def test_p21_the_newest_of_several_and_those_before_them(memory, last):
    page = memory.list_messages(THREADS, last=last)
    found = ids(page)
    while page.has_more:
        page = memory.list_messages(THREADS, last=last, cursor=page.cursor)
        assert page.items
        found = ids(page) + found
    assert found == ids(memory.list_messages(THREADS, per_page=None))


@pytest.mark.parametrize("name", LISTS)
def test_a_cursor_belongs_to_its_list(memory, name):
    cursor = LISTS[name](memory, per_page=2).cursor
    others = [
        lambda: LISTS[name](memory, per_page=2, order="desc", cursor=cursor),
        lambda: LISTS[name](memory, per_page=2, metadata={"odd": True}, cursor=cursor),
        lambda: LISTS[name](memory, per_page=2, created_at=gte(START + SECOND), cursor=cursor),
        *[lambda other=other: LISTS[other](memory, per_page=2, cursor=cursor) for other in LISTS if other != name],
    ]
    for other in others:
        with pytest.raises(InvalidCursorError):
            other()


def test_the_order_in_which_threads_are_named_does_not_matter(memory):
    cursor = memory.list_messages(["t0", "t1"], per_page=2).cursor
    found = memory.list_messages(["t1", "t0"], per_page=2, cursor=cursor)
    assert ids(found) == ids(memory.list_messages(["t0", "t1"], per_page=2, page=1))


@pytest.mark.parametrize("broken", ["x", "", "W10", "WzIsImEiLFtdXQ"])
@pytest.mark.parametrize("name", LISTS)
def test_a_broken_cursor_is_refused(memory, name, broken):
    with pytest.raises(InvalidCursorError):
        LISTS[name](memory, per_page=2, cursor=broken)


# What several threads cost.


@pytest.fixture(params=FAKES)
def counted(request, stored, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=stored)


def test_a_page_of_several_threads_is_one_query_each(counted):
    counted.store().memory.list_messages(THREADS, per_page=2)
    assert sorted(counted.sent.operations) == ["BatchGetItem", "Query", "Query", "Query"]
    assert max(counted.sent.scanned_counts) <= 3


def test_a_page_of_a_resource_is_one_query_each_and_one_for_the_threads(counted):
    counted.store().memory.list_messages_by_resource_id("ada", per_page=2)
    assert sorted(counted.sent.operations) == ["BatchGetItem"] + ["Query"] * 4


def test_a_later_page_does_not_read_the_earlier_ones(counted):
    memory = counted.store().memory
    page = memory.list_messages(THREADS, per_page=18)
    counted.sent.clear()
    memory.list_messages(THREADS, per_page=2, cursor=page.cursor)
    assert sum(counted.sent.scanned_counts) < 18


# P03.


READS = {
    "several": lambda m: m.list_messages(THREADS, per_page=2, include_total=True),
    "all-of-several": lambda m: m.list_messages(THREADS, per_page=None),
    "resource": lambda m: m.list_messages_by_resource_id("ada", per_page=2),
    "included": lambda m: m.list_messages("t0", per_page=7, include=[Include("t1-3", 1, 1), Include("t0-7")]),
    "turn": lambda m: m.list_messages("t0", last=2, align="turn"),
    "context": lambda m: m.context("t0", last=2, align="turn"),
    "stats": lambda m: m.stats("t0"),
    "diagnose": lambda m: m.diagnose("t0"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_p03_each_request_of_a_read_may_fail(counted, read):
    memory = counted.store().memory
    read(memory)
    for number in range(1, len(counted.sent.requests) + 1):
        counted.faults.on_request = fail_at(number)
        with pytest.raises(AccessDeniedError):
            read(memory)


def fail_at(number):
    seen = []

    def hook(request):
        seen.append(request)
        return AccessDeniedError("refused", operation=request.operation) if len(seen) == number else None

    return hook


# P4c.


@pytest.fixture
def filled(fake):
    memory = fake.store().memory
    fill(memory)
    return memory


GOING_ON = {
    "one-by-cursor": ("t1", {}, lambda page: {"cursor": page.cursor}),
    "one-by-number": ("t1", {}, lambda page: {"page": 1}),
    "one-desc": ("t1", {"order": "desc"}, lambda page: {"cursor": page.cursor}),
    "several-by-cursor": (["t0", "t1"], {}, lambda page: {"cursor": page.cursor}),
    "several-by-number": (["t0", "t1"], {}, lambda page: {"page": 1}),
    "several-desc": (["t1", "t0"], {"order": "desc"}, lambda page: {"cursor": page.cursor}),
}


@pytest.mark.parametrize(("threads", "options", "onward"), GOING_ON.values(), ids=GOING_ON)
def test_p4c_a_thread_that_is_deleted_between_two_pages(filled, threads, options, onward):
    page = filled.list_messages(threads, per_page=3, **options)
    filled.delete_thread("t1")
    with pytest.raises(ThreadDeletedError, match="while its messages were read"):
        filled.list_messages(threads, per_page=3, **options, **onward(page))


def test_p4c_the_newest_of_a_thread_that_is_deleted_meanwhile(filled):
    page = filled.list_messages("t1", last=3)
    filled.delete_thread("t1")
    with pytest.raises(ThreadDeletedError):
        filled.list_messages("t1", last=3, cursor=page.cursor)


@pytest.mark.parametrize(
    "options", [{}, {"last": 3}, {"per_page": None}, {"per_page": 0}, {"last": 3, "align": "turn"}], ids=repr
)
def test_p4c_the_first_page_of_a_deleted_thread_is_empty(filled, options):
    filled.delete_thread("t1")
    page = filled.list_messages("t1", include_total=True, **options)
    assert (page.items, page.has_more, page.total) == ([], False, 0)


def test_p4c_threads_that_were_deleted_before_are_left_out_to_the_end(filled):
    filled.delete_thread("t0")
    whole = ids(filled.list_messages(THREADS, per_page=None))
    assert whole
    assert not any(one.startswith("t0") for one in whole)
    page = filled.list_messages(THREADS, per_page=4)
    found = ids(page)
    while page.has_more:
        page = filled.list_messages(THREADS, per_page=4, cursor=page.cursor)
        found += ids(page)
    assert found == whole


def delete_before(fake, operation, number):
    """Delete the thread t1 just before the request of this number among those of one operation."""
    other, seen = FakeBackend(database=fake.database), []
    other.clock = fake.clock

    def hook(request):
        if request.operation == operation:
            seen.append(request)
            if len(seen) == number:
                other.store().memory.delete_thread("t1")

    fake.faults.on_request = hook


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_p4c_a_deletion_between_two_requests_of_one_call(fake, order):
    memory = fake.store().memory
    memory.save_messages(message(number, "t1", number, content="x" * 200_000) for number in range(20))
    delete_before(fake, "Query", 3)
    assert memory.list_messages("t1", per_page=None, order=order).items == []


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_p4c_a_deletion_while_messages_are_given_out(fake, order):
    memory = fake.store().memory
    memory.save_messages(message(number, "t1", number, content="x" * 200_000) for number in range(20))
    delete_before(fake, "Query", 3)
    with pytest.raises(ThreadDeletedError):
        list(memory.iter_messages("t1", order=order))


HALVES = {
    "page": lambda m: m.list_messages("t1", per_page=500),
    "newest": lambda m: m.list_messages("t1", last=3),
    "turn": lambda m: m.list_messages("t1", last=3, align="turn"),
    "all": lambda m: m.list_messages("t1", per_page=None),
    "several": lambda m: m.list_messages(["t1", "none"], per_page=500, include_total=True),
    "iterate": lambda m: list(m.iter_messages("t1")),
    "context": lambda m: m.context("t1"),
    "states": lambda m: m.list_thread_states("t1"),
}


@pytest.mark.parametrize("read", HALVES.values(), ids=HALVES)
def test_p4c_a_thread_that_is_deleted_in_part_is_shown_whole_or_not_at_all(fake, read):
    """The deletion has removed some when the first request of the reader arrives, and goes on later."""
    memory = fake.store().memory
    memory.save_messages(message(number, "t1", number) for number in range(80))
    memory.set_thread_state("t1", type="a", value=1)
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    other.faults.crash_before(5)

    def hook(_):
        fake.faults.on_request = None
        with pytest.raises(Crash):
            other.store().memory.delete_thread("t1")

    fake.faults.on_request = hook
    found = read(memory)
    assert len([item for item in fake.items() if item["_entity"]["S"] == "message"]) == 30
    assert [] in (found, getattr(found, "items", None), getattr(found, "messages", None))


def test_p4c_a_deletion_before_the_last_request_of_a_list(filled, fake):
    page = filled.list_messages("t1", per_page=7)
    delete_before(fake, "Query", 1)
    with pytest.raises(ThreadDeletedError):
        filled.list_messages("t1", per_page=7, cursor=page.cursor)


def test_p4c_a_thread_of_a_resource_that_is_deleted_is_no_longer_its_own(filled):
    page = filled.list_messages_by_resource_id("ada", per_page=3)
    filled.delete_thread("t1")
    rest = filled.list_messages_by_resource_id("ada", per_page=None)
    assert {one.thread_id for one in rest.items} == {"t0", "t2"}
    onward = filled.list_messages_by_resource_id("ada", per_page=50, cursor=page.cursor)
    assert ids(onward) == [one for one in ids(rest) if one not in ids(page)]


def test_a_deleted_thread_that_the_index_still_has_is_left_out(fake):
    memory = fake.store().memory
    fill(memory)
    memory.delete_thread("t1")
    memory.save_thread(Thread(id="last", resource_id="ada"))
    fake.faults.stale_reads(2)
    page = memory.list_messages_by_resource_id("ada", per_page=None)
    assert {one.thread_id for one in page.items} == {"t0", "t2"}


def test_p4c_included_messages_of_deleted_threads_are_left_out(filled):
    filled.delete_thread("t1")
    page = filled.list_messages("t0", per_page=0, include=[Include("t1-3", previous=1), Include("t0-3")])
    assert ids(page) == ["t0-3"]
