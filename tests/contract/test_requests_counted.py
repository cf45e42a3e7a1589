"""How many requests a call costs, and how much they read: counted, not timed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import Request
from singletable.items import to_item
from singletable.schemas import Message, Resource, Thread
from tests.contract.support import START, FakeBackend


def thread():
    return Thread(id="t", resource_id="ada")


def turn(*ids):
    return [Message(id=one, thread_id="t", role="user", content="x", created_at=START) for one in ids]


def new_turn(*ids):
    return [Message(id=one, thread_id="t", role="user", content="x") for one in ids]


def save(memory, count):
    memory.save_messages(turn(*(f"m{number}" for number in range(count))))


def sent_by(backend, call):
    backend.sent.clear()
    call()
    return backend.sent.operations


@pytest.mark.parametrize("count", [0, 1, 20])
@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_context_is_one_request(backend, count, has_row):
    memory = backend.store().memory
    if has_row:
        memory.save_thread(thread())
    save(memory, count)
    assert sent_by(backend, lambda: memory.context("t", last=20)) == ["Query"]


def test_context_is_strongly_consistent(backend):
    memory = backend.store().memory
    sent_by(backend, lambda: memory.context("t"))
    assert backend.sent.requests[0].params["ConsistentRead"] is True


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
@pytest.mark.parametrize("before", [0, 3])
def test_a_turn_is_saved_in_two_requests(backend, has_row, before):
    memory = backend.store().memory
    if has_row:
        memory.save_thread(thread())
    save(memory, before)
    sent = sent_by(backend, lambda: memory.save_messages(new_turn("user", "call", "result", "answer")))
    assert sent == ["Query", "TransactWriteItems"]


def test_a_turn_is_saved_in_two_requests_where_the_clock_is_behind(backend):
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_messages(new_turn("a"))
    backend.clock.advance(seconds=-5)
    assert len(sent_by(backend, lambda: memory.save_messages(new_turn("b")))) == 2


def test_messages_that_were_stored_before_are_saved_in_four_requests(backend):
    memory = backend.store().memory
    memory.save_messages(new_turn("a", "b"))
    assert len(sent_by(backend, lambda: memory.save_messages(new_turn("a", "b", "c")))) <= 4


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_get_thread_by_id_is_one_request(backend, has_row):
    memory = backend.store().memory
    if has_row:
        memory.save_thread(thread())
    assert sent_by(backend, lambda: memory.get_thread_by_id("t", resource_id="ada")) == ["GetItem"]


@pytest.mark.parametrize(
    ("call", "most"),
    [
        (lambda memory: memory.save_thread(Thread(id="new", resource_id="ada")), 1),
        (lambda memory: memory.save_thread(thread()), 2),
        (lambda memory: memory.update_thread("t", title="new"), 1),
        (lambda memory: memory.list_threads("ada"), 1),
        (lambda memory: memory.list_messages("t", last=20), 2),
        (lambda memory: memory.list_messages("t"), 2),
        (lambda memory: list(memory.iter_messages("t")), 2),
        (lambda memory: memory.list_messages_by_id(["a", "b"]), 3),
        (lambda memory: memory.get_resource_by_id("ada"), 1),
        (lambda memory: memory.save_resource(Resource(id="new")), 1),
        (lambda memory: memory.save_resource(Resource(id="ada")), 2),
        (lambda memory: memory.update_resource("ada", working_memory="x"), 1),
        (lambda memory: memory.update_resource("new", working_memory="x"), 2),
        (lambda memory: memory.delete_thread("none"), 1),
    ],
    ids=[
        "save-new-thread",
        "save-thread",
        "update-thread",
        "list-threads",
        "last",
        "page",
        "iterate",
        "by-id",
        "get-resource",
        "save-new-resource",
        "save-resource",
        "update-resource",
        "update-new-resource",
        "delete-nothing",
    ],
)
def test_a_call_costs_no_more_requests_than_it_says(backend, call, most):
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_resource(Resource(id="ada"))
    memory.save_messages(turn("a", "b"))
    backend.clock.advance(seconds=1)
    assert len(sent_by(backend, lambda: call(memory))) <= most


def test_no_call_scans_the_table(backend):
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    memory.list_threads("ada", include_total=True)
    memory.list_messages("t", include_total=True)
    memory.delete_thread("t")
    assert "Scan" not in backend.sent.operations


# A thread of 10,000 messages, 500 bytes each: five pages of 1 MB.


MANY = 10_000


@pytest.fixture(scope="module")
def long_thread():
    """A database with a thread of 10,000 messages, which the tests share; written directly, which takes a second."""
    backend = FakeBackend()
    backend.store().memory.save_thread(thread())
    for number in range(MANY):
        created_at = START + timedelta(milliseconds=number)
        one = Message(
            id=f"m{number}", thread_id="t", role="user", content="x" * 300, created_at=created_at, order="same"
        )
        backend.database.execute(Request("PutItem", {"TableName": backend.table_name, "Item": to_item(one)}))
    return backend.database


@pytest.fixture(params=["fake-sync", "fake-async"])
def many(request, long_thread, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=long_thread)


def test_the_context_of_a_long_thread_is_one_request(many):
    found = many.store().memory.context("t", last=20)
    assert [one.id for one in found.messages] == [f"m{number}" for number in range(MANY - 20, MANY)]
    assert found.thread.id == "t"
    assert many.sent.operations == ["Query"]
    assert many.sent.scanned_counts == [21]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_the_last_messages_of_a_long_thread_read_one_item_more(many, order):
    page = many.store().memory.list_messages("t", last=20, order=order)
    expected = [f"m{number}" for number in range(MANY - 20, MANY)]
    assert [one.id for one in page.items] == (expected if order == "asc" else expected[::-1])
    assert sum(many.sent.scanned_counts) <= 21
    assert many.sent.operations == ["Query", "GetItem"]


def test_a_page_of_a_long_thread_reads_one_item_more(many):
    page = many.store().memory.list_messages("t", per_page=20)
    assert (len(page.items), page.has_more) == (20, True)
    assert sum(many.sent.scanned_counts) <= 21


def test_iterating_a_long_thread_gives_all_of_it_in_order(many):
    found = [one.id for one in many.store().memory.iter_messages("t")]
    assert found == [f"m{number}" for number in range(MANY)]


def test_iterating_a_long_thread_asks_for_a_page_when_it_is_needed(many):
    iterator = iter(many.store().memory.iter_messages("t"))
    next(iterator)
    assert many.sent.operations == ["Query", "GetItem"]
    first = many.sent.scanned_counts[0]
    assert first < MANY / 2
    for _ in range(first - 1):
        next(iterator)
    assert len(many.sent.operations) == 2
    next(iterator)
    assert len(many.sent.operations) == 3
    iterator.close()


def test_a_long_thread_is_counted_to_its_end(many):
    assert many.store().memory.list_messages("t", per_page=1, include_total=True).total == MANY
