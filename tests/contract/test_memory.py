"""store.memory keeps its contract on the fake and on moto, sync and async."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from singletable import (
    AlreadyExistsError,
    InvalidCursorError,
    NotFoundError,
    ThreadDeletedError,
    between,
    gt,
    gte,
    lt,
    lte,
)
from singletable.schemas import Message, Resource, Thread, Tombstone
from singletable.testing import Crash
from tests.contract.support import START, TRANSACTING, make_backend

MILLISECOND = timedelta(milliseconds=1)
DAY = timedelta(days=1)
LATER = START + DAY


def thread(thread_id="t", **fields):
    return Thread(id=thread_id, resource_id=fields.pop("resource_id", "ada"), **fields)


def message(message_id, thread_id="t", **fields):
    fields = {"role": "user", "content": message_id, **fields}
    return Message(id=message_id, thread_id=thread_id, **fields)


def turn(*ids, thread_id="t", **fields):
    return [message(one, thread_id, **fields) for one in ids]


def ids(found):
    return [one.id for one in found]


def listed(memory, thread_id="t", **options):
    return ids(memory.list_messages(thread_id, **options).items)


# Threads.


def test_a_thread_comes_back_as_it_was_saved(memory):
    saved = memory.save_thread(thread(title="Trip", metadata={"a": 1, "deep": {"b": [None, 1.5]}}))
    assert memory.get_thread_by_id("t") == saved
    assert (saved.title, saved.metadata) == ("Trip", {"a": 1, "deep": {"b": [None, 1.5]}})


def test_a_thread_that_is_not_there_is_none(memory):
    assert memory.get_thread_by_id("t") is None


def test_a_new_thread_gets_the_time_of_the_clock(memory):
    saved = memory.save_thread(thread())
    assert (saved.created_at, saved.updated_at) == (START, START)


def test_times_are_kept_to_the_millisecond_and_in_utc(memory):
    given = START.replace(microsecond=123_999).astimezone(timezone(timedelta(hours=2)))
    memory.save_thread(thread(created_at=given))
    assert memory.get_thread_by_id("t").created_at == START.replace(microsecond=123_000)


def test_a_thread_that_is_saved_again_keeps_created_at(memory, backend):
    memory.save_thread(thread())
    backend.clock.advance(hours=1)
    saved = memory.save_thread(thread(title="new"))
    assert (saved.created_at, saved.updated_at) == (START, START + timedelta(hours=1))
    assert memory.get_thread_by_id("t") == saved


def test_a_created_at_that_is_given_replaces(memory):
    memory.save_thread(thread())
    memory.save_thread(thread(created_at=LATER))
    assert memory.get_thread_by_id("t").created_at == LATER


def test_an_empty_title_is_kept(memory):
    memory.save_thread(thread(title="Trip"))
    memory.save_thread(thread(title=""))
    assert memory.get_thread_by_id("t").title == ""


def test_a_thread_that_is_saved_again_loses_what_is_not_given(memory):
    memory.save_thread(thread(title="Trip", metadata={"a": 1}))
    memory.save_thread(thread())
    found = memory.get_thread_by_id("t")
    assert (found.title, found.metadata) == (None, {})


def test_a_thread_that_is_saved_for_another_resource_stays_with_its_own(memory):
    saved = memory.save_thread(thread())
    with pytest.raises(AlreadyExistsError):
        memory.save_thread(thread(resource_id="bob"))
    assert memory.get_thread_by_id("t") == saved
    assert ids(memory.list_threads("bob").items) == []


def test_saving_a_thread_keeps_its_messages(memory):
    memory.save_messages(turn("m"))
    memory.save_thread(thread())
    memory.save_thread(thread(title="new"))
    assert listed(memory) == ["m"]


@pytest.mark.parametrize(("resource_id", "found"), [("ada", True), ("bob", False), ("ADA", False), ("", False)])
def test_a_thread_is_given_to_its_resource_alone(memory, resource_id, found):
    memory.save_thread(thread())
    assert (memory.get_thread_by_id("t", resource_id=resource_id) is not None) == found


def test_update_thread_sets_the_title_and_merges_metadata(memory):
    memory.save_thread(thread(title="old", metadata={"a": 1, "deep": {"x": 1, "y": 2}}))
    memory.update_thread("t", title="new", metadata={"b": 2, "deep": {"z": 3}})
    found = memory.get_thread_by_id("t")
    assert (found.title, found.metadata) == ("new", {"a": 1, "b": 2, "deep": {"z": 3}})


def test_update_thread_gives_what_is_stored(memory):
    memory.save_thread(thread())
    assert memory.update_thread("t", title="new") == memory.get_thread_by_id("t")


@pytest.mark.parametrize("title", ["", None])
def test_update_thread_can_empty_the_title(memory, title):
    memory.save_thread(thread(title="old"))
    assert memory.update_thread("t", title=title).title == title


def test_update_thread_leaves_what_is_not_given(memory):
    memory.save_thread(thread(title="old", metadata={"a": 1}))
    updated = memory.update_thread("t")
    assert (updated.title, updated.metadata, updated.created_at) == ("old", {"a": 1}, START)


def test_update_thread_moves_updated_at_while_the_clock_stands_still(memory):
    stamps = [memory.save_thread(thread()).updated_at]
    stamps += [memory.update_thread("t", title=str(number)).updated_at for number in range(3)]
    assert stamps == sorted(set(stamps))


def test_update_thread_moves_updated_at_while_the_clock_goes_backwards(memory, backend):
    before = memory.save_thread(thread()).updated_at
    backend.clock.advance(hours=-1)
    assert memory.update_thread("t", title="new").updated_at > before


def test_update_of_a_thread_that_is_not_there(memory, backend):
    with pytest.raises(NotFoundError):
        memory.update_thread("t", title="new")
    assert backend.items() == []


@pytest.mark.parametrize("name", ["a.b", "size", "#n", "a b", "0", "é", "list[0]"])
def test_metadata_keys_may_be_anything(fake, name):
    memory = fake.store().memory
    memory.save_thread(thread(metadata={"other": 1}))
    memory.update_thread("t", metadata={name: "x"})
    assert memory.get_thread_by_id("t").metadata == {"other": 1, name: "x"}


# Lists of threads.


@pytest.fixture
def three(memory, backend):
    """A memory with threads t0, t1 and t2 of ada, of which t0 was changed last, and one of bob."""
    for name in ("t0", "t1", "t2"):
        memory.save_thread(thread(name))
        backend.clock.advance(minutes=1)
    memory.save_thread(thread("x", resource_id="bob"))
    memory.update_thread("t0", title="new")
    return memory


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["t2", "t1", "t0"]),
        ({"order": "asc"}, ["t0", "t1", "t2"]),
        ({"order_by": "updated_at"}, ["t0", "t2", "t1"]),
        ({"order_by": "updated_at", "order": "asc"}, ["t1", "t2", "t0"]),
    ],
    ids=["newest", "oldest", "active", "idle"],
)
def test_list_threads_in_order(three, options, expected):
    page = three.list_threads("ada", **options)
    assert (ids(page.items), page.has_more) == (expected, False)


@pytest.mark.parametrize(
    ("page", "per_page", "expected", "more"),
    [
        (0, 2, ["t2", "t1"], True),
        (1, 2, ["t0"], False),
        (2, 2, [], False),
        (0, 3, ["t2", "t1", "t0"], False),
        (1, 3, [], False),
        (0, None, ["t2", "t1", "t0"], False),
        (0, 0, [], False),
    ],
)
def test_list_threads_by_page(three, page, per_page, expected, more):
    found = three.list_threads("ada", page=page, per_page=per_page, include_total=True)
    assert (ids(found.items), found.has_more, found.total) == (expected, more, 3)


def test_list_threads_by_cursor(three):
    first = three.list_threads("ada", per_page=2)
    three.save_thread(thread("t9"))
    assert ids(three.list_threads("ada", per_page=2, cursor=first.cursor).items) == ["t0"]


def test_list_threads_of_nobody(three):
    page = three.list_threads("eve", include_total=True)
    assert (page.items, page.has_more, page.total) == ([], False, 0)


def test_saving_messages_makes_a_thread_the_most_active(three, backend):
    backend.clock.advance(minutes=1)
    three.save_messages(turn("m", thread_id="t1"))
    assert ids(three.list_threads("ada", order_by="updated_at").items) == ["t1", "t0", "t2"]


# Saved messages.


@pytest.mark.parametrize(
    "content",
    [
        "",
        "text",
        "é😀日本語",
        {"parts": [{"type": "text", "n": 1.0}]},
        [{"type": "text"}, {}],
        {},
        [],
        '{"json": "text"}',
    ],
    ids=repr,
)
def test_content_comes_back_as_it_was_given(memory, content):
    memory.save_messages([message("m", content=content)])
    (found,) = memory.list_messages("t").items
    assert found.content == content


def test_a_message_comes_back_with_all_that_was_saved(memory):
    given = message("m", role="tool", type="tool-result", resource_id="ada", metadata={"a": {"b": 1}}, created_at=LATER)
    (saved,) = memory.save_messages([given])
    assert memory.list_messages("t").items == [saved]
    assert saved == given.model_copy(update={"order": saved.order})
    assert saved.order


def test_saving_nothing(memory, backend):
    assert memory.save_messages([]) == []
    assert backend.sent.requests == []


def test_messages_may_come_from_a_generator(memory):
    assert ids(memory.save_messages(one for one in turn("a", "b"))) == ["a", "b"]


def test_a_save_into_a_thread_without_a_row_creates_none(memory):
    memory.save_messages(turn("m"))
    assert memory.get_thread_by_id("t") is None
    assert memory.context("t").thread is None
    assert listed(memory) == ["m"]


def test_a_save_moves_updated_at_of_its_thread_strictly(memory):
    stamps = [memory.save_thread(thread(title="Trip")).updated_at]
    for name in ("a", "b"):
        memory.save_messages(turn(name))
        stamps.append(memory.get_thread_by_id("t").updated_at)
    assert stamps == sorted(set(stamps))
    assert memory.get_thread_by_id("t").title == "Trip"


def test_a_message_without_created_at_gets_a_time_after_the_last_one(memory):
    memory.save_messages([message("a", created_at=LATER)])
    (saved,) = memory.save_messages(turn("b"))
    assert saved.created_at == LATER + MILLISECOND
    assert listed(memory) == ["a", "b"]


def test_messages_of_one_call_without_created_at_share_a_time(memory):
    saved = memory.save_messages(turn("z", "a", "m"))
    assert {one.created_at for one in saved} == {START}
    assert listed(memory) == ["z", "a", "m"]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_messages_of_equal_times_keep_the_order_in_which_they_were_saved(memory, order):
    memory.save_messages(turn("z", "b", created_at=START))
    memory.save_messages(turn("y", "a", created_at=START))
    expected = ["z", "b", "y", "a"]
    assert listed(memory, order=order) == (expected if order == "asc" else expected[::-1])


def test_messages_with_given_times_are_sorted_by_them(memory):
    times = {"a": 3, "b": 1, "c": 2}
    memory.save_messages([message(name, created_at=START + DAY * number) for name, number in times.items()])
    assert listed(memory) == ["b", "c", "a"]


def test_a_message_that_is_saved_again_is_replaced_in_its_place(memory, backend):
    memory.save_messages(turn("a", "b", "c"))
    backend.clock.advance(hours=1)
    (saved,) = memory.save_messages([message("b", content="new")])
    found = memory.list_messages("t").items
    assert [(one.id, one.content) for one in found] == [("a", "a"), ("b", "new"), ("c", "c")]
    assert found[1] == saved
    assert found[1].created_at == START


def test_what_was_listed_may_be_saved_again(memory):
    memory.save_messages(turn("a", "b", "c"))
    found = memory.list_messages("t").items
    assert memory.save_messages(found) == found
    assert memory.list_messages("t").items == found


def test_a_message_that_is_saved_again_is_stored_once(memory, backend):
    memory.save_messages(turn("a"))
    stored = len(backend.items())
    memory.save_messages(turn("a"))
    assert len(backend.items()) == stored == 2


def test_a_created_at_that_is_given_moves_a_message_in_its_thread(memory, backend):
    memory.save_messages(turn("a", "b"))
    memory.save_messages([message("a", created_at=LATER)])
    assert listed(memory) == ["b", "a"]
    assert len(backend.items()) == 4


def test_a_message_moves_to_another_thread(memory, backend):
    memory.save_messages(turn("a", "b"))
    (moved,) = memory.save_messages(turn("a", thread_id="other"))
    assert (listed(memory), listed(memory, "other")) == (["b"], ["a"])
    assert memory.list_messages_by_id(["a"]) == [moved]
    assert len(backend.items()) == 4


def test_a_move_keeps_the_time_of_a_message(memory, backend):
    memory.save_messages(turn("a"))
    backend.clock.advance(hours=1)
    (moved,) = memory.save_messages(turn("a", thread_id="other"))
    assert moved.created_at == START


def test_a_message_that_comes_twice_in_a_call_counts_as_the_later_one(memory):
    saved = memory.save_messages([message("a", content="1"), message("b"), message("a", content="2")])
    found = memory.list_messages("t").items
    assert sorted((one.id, one.content) for one in found) == [("a", "2"), ("b", "b")]
    assert sorted(ids(saved)) == ["a", "b"]


def test_a_call_may_save_into_several_threads(memory):
    memory.save_thread(thread("one"))
    memory.save_messages([message("a", "one"), message("b", "two"), message("c", "one")])
    assert (listed(memory, "one"), listed(memory, "two")) == (["a", "c"], ["b"])
    assert memory.get_thread_by_id("one").updated_at > START
    assert memory.get_thread_by_id("two") is None


def test_500_messages_in_one_call(fake):
    memory = fake.store().memory
    names = [f"m{number}" for number in range(500)]
    assert ids(memory.save_messages(turn(*names))) == names
    assert listed(memory, per_page=None) == names


def test_more_messages_in_one_call_than_a_transaction_holds(memory):
    names = [f"m{number}" for number in range(40, 0, -1)]
    assert ids(memory.save_messages(turn(*names))) == names
    assert listed(memory, per_page=None) == names


def test_more_messages_are_moved_in_one_call_than_a_transaction_holds(fake):
    memory = fake.store().memory
    names = [f"m{number}" for number in range(80)]
    memory.save_messages(turn(*names))
    memory.save_messages(turn(*names, thread_id="other"))
    assert (listed(memory), listed(memory, "other", per_page=None)) == ([], names)
    assert len(fake.items()) == 160


def test_a_listed_message_is_moved_to_another_thread(memory):
    memory.save_messages(turn("a", "b"))
    found = memory.list_messages("t").items[0]
    memory.save_messages([found.model_copy(update={"thread_id": "other"})])
    assert (listed(memory), listed(memory, "other")) == (["b"], ["a"])


def test_a_call_may_save_into_more_threads_than_a_transaction_holds(fake):
    memory = fake.store().memory
    names = [f"t{number}" for number in range(40)]
    for name in names:
        memory.save_thread(thread(name))
    memory.save_messages(message(f"m-{name}", name) for name in names)
    assert [listed(memory, name) for name in names] == [[f"m-{name}"] for name in names]
    assert all(memory.get_thread_by_id(name).updated_at > START for name in names)


def test_messages_of_more_bytes_than_a_transaction_holds(fake):
    memory = fake.store().memory
    names = [f"m{number}" for number in range(15)]
    memory.save_messages(turn(*names, content="x" * 390_000))
    assert listed(memory, per_page=None) == names


# Lists of messages.


def save_five(memory):
    memory.save_messages([message(f"m{number}", created_at=START + DAY * number) for number in range(5)])
    return memory


@pytest.fixture
def five(memory):
    """A memory whose thread has the messages m0 to m4, a day apart."""
    return save_five(memory)


@pytest.fixture(scope="module", params=TRANSACTING)
def read_only(request):
    """The same, shared by the tests that only read."""
    return save_five(make_backend(request, request.param).store().memory)


@pytest.mark.parametrize(
    ("options", "expected", "more"),
    [
        ({}, "01234", False),
        ({"order": "desc"}, "43210", False),
        ({"per_page": 2}, "01", True),
        ({"per_page": 2, "page": 1}, "23", True),
        ({"per_page": 2, "page": 2}, "4", False),
        ({"per_page": 2, "page": 3}, "", False),
        ({"per_page": 5}, "01234", False),
        ({"per_page": 5, "page": 1}, "", False),
        ({"per_page": 4}, "0123", True),
        ({"per_page": 1, "page": 4}, "4", False),
        ({"per_page": None}, "01234", False),
        ({"per_page": 0}, "", False),
        ({"per_page": 2, "page": 1, "order": "desc"}, "21", True),
        ({"last": 2}, "34", True),
        ({"last": 2, "order": "desc"}, "43", True),
        ({"last": 5}, "01234", False),
        ({"last": 9}, "01234", False),
        ({"created_at": gt(START + DAY)}, "234", False),
        ({"created_at": gte(START + DAY)}, "1234", False),
        ({"created_at": lt(START + 3 * DAY)}, "012", False),
        ({"created_at": lte(START + 3 * DAY)}, "0123", False),
        ({"created_at": between(START + DAY, START + 3 * DAY)}, "123", False),
        ({"created_at": between(START + DAY, START + 3 * DAY), "per_page": 2}, "12", True),
        ({"created_at": between(START + DAY, START + 3 * DAY), "last": 2}, "23", True),
        ({"created_at": gt(START + 9 * DAY)}, "", False),
        ({"created_at": lt(START + MILLISECOND)}, "0", False),
    ],
    ids=repr,
)
def test_list_messages(read_only, options, expected, more):
    page = read_only.list_messages("t", **options)
    assert (ids(page.items), page.has_more) == ([f"m{digit}" for digit in expected], more)


@pytest.mark.parametrize(
    ("options", "total"),
    [({}, 5), ({"per_page": 2, "page": 1}, 5), ({"created_at": gt(START + DAY)}, 3), ({"per_page": 0}, 5)],
    ids=repr,
)
def test_the_total_is_exact_when_it_is_asked_for(read_only, options, total):
    assert read_only.list_messages("t", include_total=True, **options).total == total


def test_the_total_is_left_out_when_it_is_not_asked_for(read_only):
    assert read_only.list_messages("t").total is None


def test_the_total_of_the_last_messages(read_only):
    assert read_only.list_messages("t", last=2, include_total=True).total == 5


def test_40_messages_are_a_page(fake):
    memory = fake.store().memory
    memory.save_messages(turn(*(f"m{number}" for number in range(41))))
    page = memory.list_messages("t")
    assert (len(page.items), page.has_more) == (40, True)


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("per_page", [1, 2, 3, 5])
def test_the_pages_of_a_thread_are_the_whole_thread(read_only, order, per_page):
    page = read_only.list_messages("t", per_page=per_page, order=order)
    found = page.items
    while page.has_more:
        page = read_only.list_messages("t", per_page=per_page, order=order, cursor=page.cursor)
        assert page.items
        found = found + page.items
    assert found == read_only.list_messages("t", per_page=None, order=order).items


def test_the_cursor_of_the_last_messages_gives_those_before_them(read_only):
    page = read_only.list_messages("t", last=2)
    found = [ids(page.items)]
    while page.has_more:
        page = read_only.list_messages("t", last=2, cursor=page.cursor)
        found.append(ids(page.items))
    assert found == [["m3", "m4"], ["m1", "m2"], ["m0"]]


def test_a_cursor_stays_where_it_is_under_inserts(five):
    page = five.list_messages("t", per_page=2)
    five.save_messages([message("before", created_at=START - DAY), message("after", created_at=START + 9 * DAY)])
    assert listed(five, per_page=3, cursor=page.cursor) == ["m2", "m3", "m4"]


def test_a_cursor_of_another_thread_is_refused(read_only):
    cursor = read_only.list_messages("t", per_page=2).cursor
    with pytest.raises(InvalidCursorError):
        read_only.list_messages("other", cursor=cursor)


def test_a_thread_that_is_not_there_has_no_messages(memory):
    page = memory.list_messages("t", include_total=True)
    assert (page.items, page.has_more, page.total) == ([], False, 0)


def test_a_thread_does_not_show_the_messages_of_another(memory):
    memory.save_messages([message("a", "t"), message("b", "t1"), message("c", "T")])
    assert (listed(memory, "t"), listed(memory, "t1"), listed(memory, "T")) == (["a"], ["b"], ["c"])


# By id.


def test_messages_by_id_are_oldest_first(five):
    five.save_messages([message("x", "other", created_at=START + 2 * DAY + MILLISECOND)])
    found = five.list_messages_by_id(["x", "m3", "m0", "none", "m3", "m2"])
    assert ids(found) == ["m0", "m2", "x", "m3"]


def test_no_ids_give_no_messages(five, backend):
    backend.sent.clear()
    assert five.list_messages_by_id([]) == []
    assert backend.sent.requests == []


def test_more_than_100_ids(fake):
    memory = fake.store().memory
    names = [f"m{number}" for number in range(130)]
    memory.save_messages(turn(*names))
    assert ids(memory.list_messages_by_id(names[::-1])) == names


# Context.


def test_the_context_is_the_thread_and_its_newest_messages(five):
    saved = five.save_thread(thread())
    context = five.context("t", last=2)
    assert (context.thread, ids(context.messages)) == (saved, ["m3", "m4"])


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_the_context_has_as_many_messages_as_are_asked_for(five, has_row):
    if has_row:
        five.save_thread(thread())
    found = {last: ids(five.context("t", last=last).messages) for last in (1, 4, 5, 20)}
    all_five = [f"m{number}" for number in range(5)]
    assert found == {1: all_five[4:], 4: all_five[1:], 5: all_five, 20: all_five}


def test_the_context_of_a_thread_without_messages(memory):
    saved = memory.save_thread(thread())
    context = memory.context("t")
    assert (context.thread, context.messages) == (saved, [])


def test_the_context_of_nothing(memory):
    context = memory.context("t")
    assert (context.thread, context.messages) == (None, [])


# Iteration.


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "01234"), ({"order": "desc"}, "43210"), ({"created_at": lt(START + 2 * DAY)}, "01")],
    ids=["asc", "desc", "range"],
)
def test_iter_messages(read_only, options, expected):
    assert ids(read_only.iter_messages("t", **options)) == [f"m{digit}" for digit in expected]


def test_iter_messages_of_nothing(memory):
    assert list(memory.iter_messages("t")) == []


# Resources.


def resource(**fields):
    return Resource(id="ada", **fields)


def test_a_resource_comes_back_as_it_was_saved(memory):
    saved = memory.save_resource(resource(working_memory='{"json": "text"}', metadata={"a": {"b": 1}}))
    assert memory.get_resource_by_id("ada") == saved
    assert (saved.working_memory, saved.metadata) == ('{"json": "text"}', {"a": {"b": 1}})


def test_a_resource_that_is_not_there_is_none(memory):
    assert memory.get_resource_by_id("ada") is None


def test_a_resource_that_is_saved_again_keeps_created_at_and_loses_the_rest(memory, backend):
    memory.save_resource(resource(working_memory="x", metadata={"a": 1}))
    backend.clock.advance(hours=1)
    saved = memory.save_resource(resource())
    assert memory.get_resource_by_id("ada") == saved
    assert (saved.created_at, saved.updated_at) == (START, START + timedelta(hours=1))
    assert (saved.working_memory, saved.metadata) == (None, {})


def test_a_created_at_of_a_resource_that_is_given_replaces(memory):
    memory.save_resource(resource())
    memory.save_resource(resource(created_at=LATER))
    assert memory.get_resource_by_id("ada").created_at == LATER


def test_update_resource_sets_working_memory_and_merges_metadata(memory):
    memory.save_resource(resource(working_memory="old", metadata={"a": 1}))
    memory.update_resource("ada", working_memory="new", metadata={"b": 2})
    found = memory.get_resource_by_id("ada")
    assert (found.working_memory, found.metadata) == ("new", {"a": 1, "b": 2})


def test_update_resource_leaves_what_is_not_given(memory):
    memory.save_resource(resource(working_memory="old", metadata={"a": 1}))
    memory.update_resource("ada", metadata={"b": 2})
    memory.update_resource("ada", working_memory="")
    found = memory.get_resource_by_id("ada")
    assert (found.working_memory, found.metadata) == ("", {"a": 1, "b": 2})


def test_update_resource_creates_one_that_is_not_there(memory):
    updated = memory.update_resource("ada", working_memory="new", metadata={"a": 1})
    assert memory.get_resource_by_id("ada") == updated
    assert (updated.working_memory, updated.metadata, updated.created_at) == ("new", {"a": 1}, START)


def test_update_resource_moves_updated_at(memory, backend):
    memory.save_resource(resource())
    now = backend.clock.advance(minutes=1)
    assert memory.update_resource("ada", working_memory="new").updated_at == now


def test_update_resource_keeps_updated_at_from_going_backwards(memory, backend):
    before = memory.save_resource(resource()).updated_at
    backend.clock.advance(hours=-1)
    assert memory.update_resource("ada", working_memory="new").updated_at >= before


# Expiry.


def expiring(backend, **seconds):
    return backend.store(ttl={name: {"default_ttl_seconds": value} for name, value in seconds.items()}).memory


def test_messages_expire(backend):
    memory = expiring(backend, message=60)
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    backend.clock.advance(seconds=30)
    memory.save_messages(turn("b"))
    backend.clock.advance(seconds=30)
    assert listed(memory) == ["b"]
    assert listed(memory, last=5) == ["b"]
    assert memory.list_messages("t", include_total=True).total == 1
    assert ids(memory.context("t").messages) == ["b"]
    assert ids(memory.list_messages_by_id(["a", "b"])) == ["b"]
    assert ids(memory.iter_messages("t")) == ["b"]
    assert memory.get_thread_by_id("t") is not None


def test_threads_expire(backend):
    memory = expiring(backend, thread=60)
    memory.save_thread(thread())
    backend.clock.advance(seconds=60)
    assert memory.get_thread_by_id("t") is None
    assert memory.list_threads("ada", include_total=True).total == 0
    assert memory.context("t").thread is None
    with pytest.raises(NotFoundError):
        memory.update_thread("t", title="new")


def test_resources_expire(backend):
    memory = expiring(backend, resource=60)
    memory.save_resource(resource())
    backend.clock.advance(seconds=60)
    assert memory.get_resource_by_id("ada") is None


@pytest.mark.parametrize(
    "use",
    [
        lambda memory: memory.save_thread(thread()),
        lambda memory: memory.update_thread("t", title="new"),
        lambda memory: memory.save_messages(turn("m")),
    ],
    ids=["save-thread", "update-thread", "save-messages"],
)
def test_a_thread_that_is_used_lives_on(backend, use):
    memory = expiring(backend, thread=60)
    memory.save_thread(thread())
    backend.clock.advance(seconds=59)
    use(memory)
    backend.clock.advance(seconds=59)
    assert memory.get_thread_by_id("t") is not None


def test_an_expired_thread_is_created_anew(backend):
    memory = expiring(backend, thread=60)
    memory.save_thread(thread(title="old", metadata={"a": 1}))
    now = backend.clock.advance(seconds=60)
    memory.save_thread(thread(title="new"))
    found = memory.get_thread_by_id("t")
    assert (found.title, found.metadata, found.created_at) == ("new", {}, now)


def test_an_expired_message_is_created_anew(backend):
    memory = expiring(backend, message=60)
    memory.save_messages(turn("a"))
    now = backend.clock.advance(seconds=60)
    (saved,) = memory.save_messages(turn("a"))
    assert saved.created_at == now
    assert memory.list_messages("t").items == memory.list_messages_by_id(["a"]) == [saved]


def test_an_expired_resource_is_created_anew(backend):
    memory = expiring(backend, resource=60)
    memory.save_resource(resource(working_memory="old"))
    now = backend.clock.advance(seconds=60)
    updated = memory.update_resource("ada", metadata={"a": 1})
    assert (updated.working_memory, updated.metadata, updated.created_at) == (None, {"a": 1}, now)


def test_a_save_into_an_expired_thread_brings_nothing_of_it_back(backend):
    memory = expiring(backend, thread=60)
    memory.save_thread(thread())
    backend.clock.advance(seconds=60)
    memory.save_messages(turn("m"))
    assert memory.get_thread_by_id("t") is None
    assert listed(memory) == ["m"]


# Deletion.


NAMES = [f"m{number}" for number in range(3)]


def assert_invisible(memory, names=NAMES):
    assert memory.get_thread_by_id("t") is None
    context = memory.context("t")
    assert (context.thread, context.messages) == (None, [])
    assert listed(memory) == listed(memory, last=5) == []
    assert listed(memory, created_at=gt(datetime(2000, 1, 1, tzinfo=UTC)), last=5) == []
    assert memory.list_messages("t", include_total=True).total == 0
    assert memory.list_messages_by_id(names) == []
    assert list(memory.iter_messages("t")) == []
    assert memory.list_threads("ada").items == []


@pytest.fixture
def filled(memory):
    memory.save_thread(thread())
    memory.save_messages(turn(*NAMES))
    return memory


def test_nothing_of_a_deleted_thread_is_visible(filled):
    filled.delete_thread("t")
    assert_invisible(filled)


def test_only_the_tombstone_of_a_deleted_thread_is_stored(filled, backend):
    filled.delete_thread("t")
    assert [item["_entity"]["S"] for item in backend.items()] == ["tombstone"]


def test_a_thread_without_a_row_is_deleted(memory, backend):
    memory.save_messages(turn(*NAMES))
    memory.delete_thread("t")
    assert_invisible(memory)
    assert [item["_entity"]["S"] for item in backend.items()] == ["tombstone"]


def test_the_threads_beside_a_deleted_one_stay(filled):
    filled.save_thread(thread("t1", resource_id="bob"))
    filled.save_messages(turn("x", thread_id="t1"))
    filled.delete_thread("t")
    assert ids(filled.context("t1").messages) == ["x"]
    assert filled.get_thread_by_id("t1") is not None


def test_deleting_a_thread_that_is_not_there_writes_nothing(memory, backend):
    memory.delete_thread("t")
    assert backend.items() == []


def test_deleting_twice_is_fine(filled, backend):
    filled.delete_thread("t")
    before = backend.items()
    filled.delete_thread("t")
    assert backend.items() == before


@pytest.mark.parametrize(
    "save",
    [
        lambda memory: memory.save_messages(turn("new")),
        lambda memory: memory.save_messages(turn("m0")),
        lambda memory: memory.save_messages([message("x", "fine"), message("y")]),
        lambda memory: memory.save_thread(thread()),
    ],
    ids=["message", "old-message", "two-threads", "thread"],
)
def test_a_save_into_a_deleted_thread_is_an_error_and_stores_nothing(filled, backend, save):
    filled.delete_thread("t")
    before = backend.items()
    with pytest.raises(ThreadDeletedError):
        save(filled)
    assert backend.items() == before


def test_an_update_of_a_deleted_thread_does_not_find_it(filled):
    filled.delete_thread("t")
    with pytest.raises(NotFoundError):
        filled.update_thread("t", title="new")


def test_a_tombstone_is_gone_after_a_day(filled, backend):
    filled.delete_thread("t")
    backend.clock.advance(days=1)
    filled.save_thread(thread(title="new"))
    filled.save_messages(turn("new"))
    context = filled.context("t")
    assert (context.thread.title, ids(context.messages)) == ("new", ["new"])


def test_a_tombstone_is_there_until_a_day_has_gone(filled, backend):
    filled.delete_thread("t")
    backend.clock.advance(hours=23)
    with pytest.raises(ThreadDeletedError):
        filled.save_messages(turn("new"))


def test_a_thread_that_was_deleted_and_made_anew_can_be_deleted(filled, backend):
    filled.delete_thread("t")
    backend.clock.advance(days=1)
    filled.save_thread(thread())
    filled.save_messages(turn("new"))
    filled.delete_thread("t")
    assert_invisible(filled, ["new"])
    assert [item["_entity"]["S"] for item in backend.items()] == ["tombstone"]


@pytest.mark.parametrize("name", ["thread", "message"])
def test_a_thread_that_expires_is_deleted_all_the_same(backend, name):
    memory = expiring(backend, **{name: 60})
    memory.save_thread(thread())
    memory.save_messages(turn(*NAMES))
    memory.delete_thread("t")
    assert_invisible(memory)


def test_the_expired_messages_of_a_deleted_thread_do_not_come_back(backend):
    memory = expiring(backend, message=60)
    memory.save_thread(thread())
    memory.save_messages(turn(*NAMES))
    backend.clock.advance(seconds=60)
    memory.delete_thread("t")
    assert_invisible(memory)


def test_a_message_of_a_deleted_thread_may_be_saved_elsewhere(filled):
    filled.delete_thread("t")
    filled.save_messages(turn("m0", thread_id="other"))
    assert listed(filled, "other") == ["m0"]


# A deletion that stops on its way, and is called again.  80 messages are two transactions.


def stopped_deletion(fake, number, *, size=80):
    """A memory whose deletion of the thread crashed before its request `number`."""
    memory = fake.store().memory
    names = [f"m{count}" for count in range(size)]
    memory.save_thread(thread())
    memory.save_messages(turn(*names))
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.delete_thread("t")
    return memory, names


def requests_of_a_deletion(fake, size=80):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn(*(f"m{count}" for count in range(size))))
    fake.sent.clear()
    memory.delete_thread("t")
    return fake.sent.operations


def test_the_requests_of_a_deletion(fake):
    assert requests_of_a_deletion(fake) == [
        "Query",
        "TransactWriteItems",  # the tombstone
        "Query",
        "TransactWriteItems",  # 50 messages
        "Query",
        "TransactWriteItems",  # 30 messages
        "Query",
        "Query",  # the states
        "PutItem",  # the tombstone's end
    ]


@pytest.mark.parametrize("number", [1, 2])
def test_a_deletion_that_stops_before_its_first_write_changes_nothing(fake, number):
    memory, names = stopped_deletion(fake, number)
    assert memory.get_thread_by_id("t") is not None
    assert listed(memory, per_page=None) == names


@pytest.mark.parametrize("number", range(3, 10))
def test_nothing_is_visible_where_a_deletion_stopped_then_or_later(fake, number):
    memory, names = stopped_deletion(fake, number)
    assert_invisible(memory, names)
    fake.clock.advance(days=30)
    assert_invisible(memory, names)
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn("new"))


@pytest.mark.parametrize("number", range(1, 10))
def test_a_deletion_that_stopped_is_completed_by_the_next(fake, number):
    memory, names = stopped_deletion(fake, number)
    memory.delete_thread("t")
    assert_invisible(memory, names)
    (left,) = fake.items()
    tombstone = fake.store().table.load(Tombstone, left)
    assert tombstone.done_at is not None


@pytest.mark.parametrize("number", [3, 5, 9])
def test_a_tombstone_that_was_completed_late_goes_a_day_later(fake, number):
    memory, _ = stopped_deletion(fake, number)
    fake.clock.advance(days=3)
    memory.delete_thread("t")
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn("new"))
    fake.clock.advance(days=1)
    memory.save_messages(turn("new"))
    assert listed(memory) == ["new"]


def test_nothing_is_visible_between_the_requests_of_a_deletion(fake):
    memory = fake.store().memory
    names = [f"m{count}" for count in range(80)]
    memory.save_thread(thread())
    memory.save_messages(turn(*names))
    watcher = type(fake)(database=fake.database)
    watcher.clock = fake.clock
    watching = watcher.store().memory
    looked = []

    def look(request):
        deleted = any(item["_entity"]["S"] == "tombstone" for item in fake.items())
        if deleted:
            assert_invisible(watching, names)
        looked.append(deleted)

    fake.faults.on_request = look
    memory.delete_thread("t")
    assert looked == [False] * 2 + [True] * 7
