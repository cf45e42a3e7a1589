"""Messages that are saved one by one, at half the price: the same as by a transaction."""

from __future__ import annotations

import inspect

import pytest

from singletable import (
    AlreadyExistsError,
    DynamoDBStore,
    PartialSaveError,
    RequestError,
    StorageError,
    ThreadDeletedError,
    ThrottledError,
)
from singletable.schemas import Thread
from tests.contract import test_memory as by_transaction
from tests.contract.durability import CASES, Singly, assert_sound, assert_whole, begun, contents, other_process, singly
from tests.contract.support import START, Metered
from tests.pains.support import listed, message, turn

ANYWHERE = [
    by_transaction.test_a_message_comes_back_with_all_that_was_saved,
    by_transaction.test_saving_nothing,
    by_transaction.test_messages_may_come_from_a_generator,
    by_transaction.test_a_save_into_a_thread_without_a_row_creates_none,
    by_transaction.test_a_message_without_created_at_gets_a_time_after_the_last_one,
    by_transaction.test_messages_of_one_call_without_created_at_share_a_time,
    by_transaction.test_messages_with_given_times_are_sorted_by_them,
    by_transaction.test_a_message_that_is_saved_again_is_replaced_in_its_place,
    by_transaction.test_what_was_listed_may_be_saved_again,
    by_transaction.test_a_message_that_is_saved_again_is_stored_once,
    by_transaction.test_a_message_that_comes_twice_in_a_call_counts_as_the_later_one,
    by_transaction.test_more_messages_in_one_call_than_a_transaction_holds,
]
"""What needs no transaction, so that dynalite can do it."""
WITH_TRANSACTIONS = [
    by_transaction.test_a_save_moves_updated_at_of_its_thread_strictly,
    by_transaction.test_a_created_at_that_is_given_moves_a_message_in_its_thread,
    by_transaction.test_a_message_moves_to_another_thread,
    by_transaction.test_a_move_keeps_the_time_of_a_message,
    by_transaction.test_a_listed_message_is_moved_to_another_thread,
    by_transaction.test_a_call_may_save_into_several_threads,
]


def name_of(test):
    return test.__name__.removeprefix("test_")


def observe(test, backend):
    known = {"memory": singly(backend), "backend": backend}
    test(**{name: known[name] for name in inspect.signature(test).parameters})


@pytest.mark.parametrize("test", ANYWHERE, ids=name_of)
def test_as_by_a_transaction(any_backend, test):
    observe(test, any_backend)
    assert_sound(any_backend)


@pytest.mark.parametrize("test", WITH_TRANSACTIONS, ids=name_of)
def test_as_by_a_transaction_where_something_moves(backend, test):
    observe(test, backend)
    assert_sound(backend)


def test_a_thread_with_a_row_without_transactions(any_backend):
    store = any_backend.store()
    store.table.put(Thread(id="t", resource_id="ada", created_at=START, updated_at=START))
    memory = Singly(store.memory)
    memory.save_messages(turn("a", "b"))
    memory.save_messages(turn("b", "c", content="new"))
    assert contents(memory) == [("a", "a"), ("b", "new"), ("c", "new")]
    assert memory.get_thread_by_id("t").updated_at > START


def test_messages_that_are_saved_again_expire_later(backend):
    memory = singly(backend, ttl={"message": {"default_ttl_seconds": 60}})
    memory.save_messages(turn("a", "b"))
    backend.clock.advance(seconds=30)
    memory.save_messages(turn("a"))
    backend.clock.advance(seconds=30)
    (found,) = memory.list_messages("t").items
    assert memory.list_messages_by_id(["a", "b"]) == [found]
    kept, anew = memory.save_messages(turn("a", "b"))
    assert (kept.created_at, anew.created_at) == (START, backend.clock.now)
    assert listed(memory) == ["a", "b"]


def test_a_thread_that_was_deleted_long_ago_is_saved_into(backend):
    memory = singly(backend)
    memory.save_messages(turn("a"))
    memory.delete_thread("t")
    backend.clock.advance(days=1)
    memory.save_messages(turn("a"))
    assert listed(memory) == ["a"]


@pytest.mark.parametrize("name", CASES)
def test_the_requests_of_a_save(fake, name):
    memory, case = begun(fake, name)
    assert memory.save_messages(case.save) == memory.list_messages_by_id([one.id for one in case.save])
    assert fake.sent.operations[: len(case.requests)] == case.requests
    assert_whole(fake, memory, case)


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


@pytest.mark.parametrize("durability", ["", "none", None, True])
def test_another_durability_is_refused_before_anything_is_sent(fake, durability):
    with pytest.raises(RequestError, match="durability"):
        fake.store().memory.save_messages(turn("a"), durability=durability)
    assert fake.sent.operations == []


def test_into_a_deleted_thread_nothing_is_saved(backend):
    saved = singly(backend)
    saved.save_messages(turn("before"))
    saved.delete_thread("t")
    stored = backend.items()
    with pytest.raises(ThreadDeletedError):
        saved.save_messages(turn("a"))
    assert backend.items() == stored


@pytest.mark.parametrize("number", range(1, 5))
def test_a_failure_says_what_is_stored(fake, number):
    """Of the four messages, one is refused: those of the others that were sent are stored."""
    memory = singly(fake)
    failing = [message(f"m{number}")]

    def hook(request):
        item = request.params.get("Item", {})
        if item.get("_entity", {}).get("S") == "message" and item["id"]["S"] == failing[0].id:
            return ThrottledError("no", operation="PutItem")
        return None

    fake.faults.on_request = hook
    with pytest.raises(StorageError) as caught:
        memory.save_messages(turn("m1", "m2", "m3", "m4"))
    fake.faults.on_request = None
    error = caught.value
    assert isinstance(error, PartialSaveError) == bool(listed(memory))
    saved = {one.id for one in getattr(error, "saved", ())}
    assert saved == set(listed(memory))
    assert failing[0].id not in saved
    assert memory.save_messages(turn("m1", "m2", "m3", "m4")) == memory.list_messages("t").items


def test_the_place_of_another_message_is_refused(backend):
    memory = singly(backend)
    (taken,) = memory.save_messages(turn("a"))
    with pytest.raises(AlreadyExistsError):
        memory.save_messages([taken.model_copy(update={"id": "b"})])
    assert memory.list_messages_by_id(["a", "b"]) == [taken]
    assert_sound(backend)


def test_the_messages_of_other_threads_than_the_deleted_one_are_told(fake):
    memory = singly(fake)

    def hook(request):
        if request.operation == "BatchGetItem":
            fake.faults.on_request = None
            other_process(fake).delete_thread("t")

    fake.faults.on_request = hook
    with pytest.raises(PartialSaveError) as caught:
        memory.save_messages([message("a"), message("b", "u")])
    assert isinstance(caught.value.__cause__, ThreadDeletedError)
    assert [one.id for one in caught.value.saved] == listed(memory, "u") == ["b"]
    assert listed(memory) == []
