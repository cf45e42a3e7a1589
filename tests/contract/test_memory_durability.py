"""Messages that are saved one by one, at half the price: cheaper, and still never lost, doubled or out of order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from singletable import DynamoDBStore, PartialSaveError, RequestError, ThreadDeletedError, ThrottledError
from singletable.schemas import Message, Thread
from singletable.testing import Crash
from tests.contract.support import START, FakeBackend, Metered, sent_by


def message(message_id, **fields):
    return Message(**{"id": message_id, "thread_id": "t", "role": "user", "content": message_id, **fields})


def turn(*ids, **fields):
    return [message(one, **fields) for one in ids]


def listed(memory, thread_id="t"):
    return [one.id for one in memory.list_messages(thread_id, per_page=None).items]


def by_id(memory, ids):
    return {one.id for one in memory.list_messages_by_id(ids)}


def other_process(fake):
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


@pytest.fixture
def saved(memory):
    """A memory with a thread, whose messages are saved one by one."""
    memory.save_thread(Thread(id="t", resource_id="ada"))
    return memory


@pytest.mark.parametrize("has_row", [True, False])
def test_a_turn_is_stored_as_in_a_transaction(backend, has_row):
    stored = {}
    for durability in ("transaction", "batch"):
        memory = backend.store().scoped(durability).memory
        if has_row:
            memory.save_thread(Thread(id="t", resource_id="ada"))
        given = [message("a", created_at=START, order="1"), message("b", order="2")]
        saved = memory.save_messages(given, durability=durability)
        assert saved == memory.list_messages("t").items
        stored[durability] = (saved, memory.get_thread_by_id("t"))
    assert stored["batch"] == stored["transaction"]


def test_a_turn_costs_half_the_write_units():
    spent = {}
    for durability in ("transaction", "batch"):
        transport = Metered()
        DynamoDBStore("agents", transport=transport).memory.save_messages(
            turn("a", "b", content="x" * 500), durability=durability
        )
        spent[durability] = transport.written
    # Two messages, and their pointers; the check that their thread is not deleted is billed in a transaction only.
    assert spent == {"transaction": 10, "batch": 4}


def test_a_turn_is_three_requests_and_two_for_each_message(saved, backend):
    requests = sent_by(backend, lambda: saved.save_messages(turn("a", "b"), durability="batch"))
    assert requests == ["Query", "UpdateItem", *["PutItem"] * 4, "BatchGetItem"]


@pytest.mark.parametrize("durability", ["", "none", None, True])
def test_another_durability_is_refused_before_anything_is_sent(fake, durability):
    with pytest.raises(RequestError, match="durability"):
        fake.store().memory.save_messages(turn("a"), durability=durability)
    assert fake.sent.operations == []


def test_saving_again_replaces_in_place(saved, backend):
    saved.save_messages(turn("a", "b", "c"), durability="batch")
    saved.save_messages(turn("b", content="new"), durability="batch")
    saved.save_messages([*turn("c", content="new"), *turn("d")], durability="batch")
    assert [(one.id, one.content) for one in saved.list_messages("t").items] == [
        ("a", "a"),
        ("b", "new"),
        ("c", "new"),
        ("d", "d"),
    ]
    assert len([item for item in backend.items() if item["_entity"]["S"] == "message_by_id"]) == 4


def test_a_message_moves_between_threads(saved):
    saved.save_messages(turn("a", "b"), durability="batch")
    saved.save_messages([message("a", thread_id="other")], durability="batch")
    assert (listed(saved), listed(saved, "other")) == (["b"], ["a"])
    assert saved.list_messages_by_id(["a"])[0].thread_id == "other"


def test_into_a_deleted_thread_nothing_is_saved(saved, backend):
    saved.delete_thread("t")
    stored = backend.items()
    with pytest.raises(ThreadDeletedError):
        saved.save_messages(turn("a"), durability="batch")
    assert backend.items() == stored


@pytest.mark.parametrize("has_row", [True, False])
@pytest.mark.parametrize("number", range(1, 9))
def test_a_save_that_died_is_completed_by_the_next_one(fake, has_row, number):
    """Its requests: a query, the thread's row, three pointers, three messages, the tombstone."""
    memory = fake.store().memory
    memory.save_messages(turn("before"))
    if has_row:
        memory.save_thread(Thread(id="t", resource_id="ada"))
    fake.sent.clear()
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.save_messages(turn("a", "b", "c"), durability="batch")
    fake.clock.advance(seconds=1)
    other = other_process(fake)
    assert set(listed(other)) == {"before"} | by_id(other, ["a", "b", "c"])
    other.save_messages(turn("a", "b", "c"), durability="batch")
    assert sorted(listed(other)) == ["a", "b", "before", "c"]
    assert by_id(other, ["a", "b", "c"]) == {"a", "b", "c"}
    assert len([item for item in fake.items() if item["_entity"]["S"] == "message"]) == 4


def test_lost_answers_do_not_matter(fake):
    memory = fake.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    fake.faults.lose_answer(5)
    memory.save_messages(turn("a", "b", "c"), durability="batch")
    assert listed(memory) == ["a", "b", "c"]


def test_a_failure_says_how_far_the_parts_before_came(fake):
    memory = fake.store().memory
    writes = count()

    def hook(request):
        if request.operation == "PutItem" and next(writes) == 70:
            return ThrottledError("no", operation="PutItem")
        return None

    fake.faults.on_request = hook
    with pytest.raises(PartialSaveError) as error:
        memory.save_messages(turn(*(f"m{number:03}" for number in range(60))), durability="batch")
    saved = [one.id for one in error.value.saved]
    assert saved == listed(memory)[: len(saved)]
    assert 0 < len(saved) < 60
    memory.save_messages(turn(*(f"m{number:03}" for number in range(60))), durability="batch")
    assert sorted(listed(memory)) == [f"m{number:03}" for number in range(60)]


@pytest.mark.parametrize(
    ("has_row", "operation"),
    [(True, "UpdateItem"), (True, "PutItem"), (True, "BatchGetItem"), (False, "PutItem"), (False, "BatchGetItem")],
)
def test_a_thread_that_is_deleted_meanwhile_stays_deleted(fake, has_row, operation):
    memory = fake.store().memory
    memory.save_messages(turn("before"))
    if has_row:
        memory.save_thread(Thread(id="t", resource_id="ada"))
    left = [other_process(fake)]

    def hook(request):
        if request.operation == operation and left:
            left.pop().delete_thread("t")

    fake.faults.on_request = hook
    with pytest.raises(ThreadDeletedError):
        memory.save_messages(turn("a", "b"), durability="batch")
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


def test_writers_of_the_same_messages_store_each_once(fake_sync):
    memory = fake_sync.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: memory.save_messages(turn("a", "b", "c"), durability="batch"), range(4)))
    assert sorted(listed(memory)) == ["a", "b", "c"]
    assert by_id(memory, ["a", "b", "c"]) == {"a", "b", "c"}


def test_writers_of_one_thread_lose_nothing(fake_sync):
    memory = fake_sync.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))

    def write(worker):
        for number in range(10):
            memory.save_messages(turn(f"{worker}-{number}"), durability="batch")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = listed(memory)
    assert sorted(found) == sorted(f"{worker}-{number}" for worker in range(4) for number in range(10))
    for worker in range(4):
        assert [one for one in found if one.startswith(f"{worker}-")] == [f"{worker}-{n}" for n in range(10)]


@pytest.fixture
def fake_sync():
    return FakeBackend()
