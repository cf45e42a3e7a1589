"""P21: all pages together are the whole list, and «more follow» is true.  P27: a cursor does not shift under writes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import between, gte, lt
from tests.contract.support import START, FakeBackend
from tests.pains.support import another, ids, listed, message, thread, turn

NAMES = [f"m{number:02}" for number in range(12)]
SECOND = timedelta(seconds=1)


def conversation(backend):
    """Two threads of twelve messages, three of each second; and seven threads, of which six are Ada's."""
    memory = backend.store().memory
    for thread_id in ("t", "t2"):
        memory.save_messages(
            message(f"{thread_id}-{name}", thread_id, created_at=START + SECOND * (number // 3))
            for number, name in enumerate(NAMES)
        )
    for number in range(6):
        backend.clock.advance(seconds=1)
        memory.save_thread(thread(f"a{number}"))
    memory.save_thread(thread("b").model_copy(update={"resource_id": "bob"}))
    return memory


@pytest.fixture(scope="module")
def shared():
    """Stored once: these tests only read."""
    backend = FakeBackend()
    conversation(backend)
    return backend.database


@pytest.fixture(params=["fake-sync", "fake-async"])
def memory(request, shared, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=shared).store().memory


def expected(order, *seconds):
    names = [f"t-{name}" for number, name in enumerate(NAMES) if number // 3 in seconds]
    return names if order == "asc" else names[::-1]


EVERY = (0, 1, 2, 3)
WINDOWS = {
    "all": (None, EVERY),
    "from": (gte(START + SECOND), (1, 2, 3)),
    "before": (lt(START + 2 * SECOND), (0, 1)),
    "between": (between(START + SECOND, START + 2 * SECOND), (1, 2)),
    "nothing": (gte(START + 9 * SECOND), ()),
}


def assert_pages(read, whole, per_page):
    """By number and by cursor, with and without a total: no gap, nothing twice, and more follow where more follow."""
    pages, cursor = -(-len(whole) // per_page) or 1, None
    for number in range(pages + 2):
        part = whole[number * per_page : (number + 1) * per_page]
        page = read(page=number, per_page=per_page, include_total=True)
        follows = bool(whole[(number + 1) * per_page :])
        assert (ids(page.items), page.has_more, page.total) == (part, follows, len(whole))
        if number < pages:
            page = read(cursor=cursor, per_page=per_page)
            assert (ids(page.items), page.has_more, page.total) == (part, follows, None)
            cursor = page.cursor
    assert cursor is None


@pytest.mark.parametrize("per_page", [1, 3, 4, 6, 11, 12, 13])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("window", WINDOWS)
def test_p21_pages_of_messages_are_the_whole_list(memory, window, order, per_page):
    created_at, seconds = WINDOWS[window]

    def read(**options):
        return memory.list_messages("t", created_at=created_at, order=order, **options)

    assert ids(read(per_page=None).items) == expected(order, *seconds)
    assert_pages(read, expected(order, *seconds), per_page)


@pytest.mark.parametrize("per_page", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("order_by", ["created_at", "updated_at"])
def test_p21_pages_of_threads_are_the_whole_list(memory, order_by, order, per_page):
    whole = [f"a{number}" for number in range(6)]

    def read(**options):
        return memory.list_threads("ada", order_by=order_by, order=order, **options)

    assert_pages(read, whole if order == "asc" else whole[::-1], per_page)


@pytest.mark.parametrize("last", [1, 3, 6, 11, 12, 13])
def test_p21_the_newest_and_those_before_them_are_the_whole_list(memory, last):
    page = memory.list_messages("t", last=last)
    found = ids(page.items)
    while page.has_more:
        page = memory.list_messages("t", last=last, cursor=page.cursor)
        assert page.items
        found = ids(page.items) + found
    assert found == expected("asc", *EVERY)


def test_p21_everything_at_once_and_a_total_alone(memory):
    everything = memory.list_messages("t", per_page=None, include_total=True)
    assert (len(everything.items), everything.has_more, everything.total) == (12, False, 12)
    total = memory.list_messages("t", per_page=0, include_total=True)
    assert (total.items, total.has_more, total.total) == ([], False, 12)
    nothing = memory.list_messages("none", include_total=True)
    assert (nothing.items, nothing.has_more, nothing.total) == ([], False, 0)


@pytest.mark.parametrize("per_page", [3, 12])
def test_p21_messages_that_expired_are_in_no_page_and_no_total(fake, per_page):
    memory = fake.store(ttl={"message": {"enabled": True, "default_ttl_seconds": 60}}).memory
    memory.save_messages(turn(*NAMES))
    fake.clock.advance(seconds=30)
    memory.save_messages(turn("n0", "n1", "n2"))
    fake.clock.advance(seconds=30)
    page = memory.list_messages("t", per_page=per_page, include_total=True)
    assert (ids(page.items), page.has_more, page.total) == (["n0", "n1", "n2"], False, 3)


# P27


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_p27_two_messages_between_two_pages_shift_nothing(fake, order):
    memory, other = fake.store().memory, another(fake).store().memory
    memory.save_messages(turn(*NAMES, created_at=START))
    whole = NAMES if order == "asc" else NAMES[::-1]
    first = memory.list_messages("t", per_page=4, order=order)
    other.save_messages([message("newer", created_at=START + SECOND), message("older", created_at=START - SECOND)])
    second = memory.list_messages("t", per_page=4, order=order, cursor=first.cursor)
    assert ids(first.items) + ids(second.items) == whole[:8]
    third = memory.list_messages("t", per_page=9, order=order, cursor=second.cursor)
    assert ids(third.items) == [*whole[8:], "newer" if order == "asc" else "older"]


def test_p27_a_cursor_survives_the_message_it_stands_on(fake):
    memory = fake.store().memory
    memory.save_messages(turn(*NAMES, created_at=START))
    page = memory.list_messages("t", per_page=4)
    moved = page.items[-1].model_copy(update={"thread_id": "elsewhere"})
    memory.save_messages([moved])
    assert "m03" not in listed(memory)
    assert ids(memory.list_messages("t", per_page=4, cursor=page.cursor).items) == NAMES[4:8]


def test_p27_a_thread_that_becomes_active_between_two_pages_is_not_missed_by_creation(fake):
    memory = conversation(fake)
    first = memory.list_threads("ada", per_page=3)
    memory.update_thread("a1", title="active")
    fake.clock.advance(seconds=1)
    memory.save_thread(thread("new"))
    second = memory.list_threads("ada", per_page=9, cursor=first.cursor)
    assert ids(first.items) + ids(second.items) == ["a5", "a4", "a3", "a2", "a1", "a0"]


def test_p27_a_cursor_says_nothing_of_the_partition(fake):
    """It is opaque, and cannot be turned on another thread."""
    memory = conversation(fake)
    page = memory.list_messages("t", per_page=4)
    with pytest.raises(ValueError, match="belongs to another query"):
        memory.list_messages("t2", per_page=4, cursor=page.cursor)
