"""Threads that are given to another resource, wholly, and however often it stops on the way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import ConditionFailedError, NotFoundError, RequestError, ThreadDeletedError
from singletable.schemas import Message, Thread
from singletable.testing import Crash
from tests.contract.support import START, FakeBackend


def thread(thread_id="t", **fields):
    return Thread(**{"id": thread_id, "resource_id": "ada", **fields})


def message(message_id, **fields):
    return Message(**{"id": message_id, "thread_id": "t", "role": "user", "content": message_id, **fields})


def ids(found):
    return [one.id for one in found]


def owners(memory, thread_id="t"):
    return {one.resource_id for one in memory.list_messages(thread_id, per_page=None).items}


def other_process(fake):
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


def save(memory, count):
    memory.save_thread(thread(title="Trip", metadata={"a": 1}))
    memory.save_messages(message(f"m{number:03}", resource_id="ada") for number in range(count))


def test_a_transferred_thread_is_in_the_list_of_its_new_owner(memory, backend):
    save(memory, 3)
    memory.save_messages([message("nobodys")])
    before = memory.list_messages("t").items
    saved = memory.get_thread_by_id("t")
    backend.clock.advance(hours=1)
    moved = memory.transfer_thread("t", to_resource_id="bob")
    assert moved == memory.get_thread_by_id("t", resource_id="bob")
    assert moved == saved.model_copy(update={"resource_id": "bob", "updated_at": START + timedelta(hours=1)})
    assert memory.list_threads("bob").items == [moved]
    assert memory.list_threads("ada").items == memory.list_threads("ada", order_by="updated_at").items == []
    assert memory.list_messages("t").items == [one.model_copy(update={"resource_id": "bob"}) for one in before]
    assert memory.list_messages_by_id(["m000"])[0].resource_id == "bob"


def test_updated_at_moves_while_the_clock_stands_still(memory):
    before = memory.save_thread(thread()).updated_at
    assert memory.transfer_thread("t", to_resource_id="bob").updated_at > before


def test_a_thread_that_is_there_already_stays_as_it_is(memory, backend):
    save(memory, 2)
    stored = backend.items()
    assert memory.transfer_thread("t", to_resource_id="ada") == memory.get_thread_by_id("t")
    assert backend.items() == stored


def test_a_thread_that_is_not_there(memory, backend):
    memory.save_messages([message("m", resource_id="ada")])
    stored = backend.items()
    with pytest.raises(NotFoundError):
        memory.transfer_thread("t", to_resource_id="bob")
    assert backend.items() == stored


@pytest.mark.parametrize("owner", ["", "  ", None, 5, "x" * 2100], ids=["empty", "blank", "none", "int", "long"])
def test_an_owner_that_cannot_be_is_refused_before_anything_is_sent(fake, owner):
    with pytest.raises(RequestError):
        fake.store().memory.transfer_thread("t", to_resource_id=owner)
    assert fake.sent.operations == []


def test_a_thread_of_more_messages_than_a_transaction_holds(fake):
    memory = fake.store().memory
    save(memory, 250)
    fake.sent.clear()
    memory.transfer_thread("t", to_resource_id="bob")
    assert owners(memory) == {"bob"}
    assert fake.sent.operations[:3] == ["GetItem", "TransactWriteItems", "Query"]
    assert fake.sent.operations.count("TransactWriteItems") == 4


def test_a_thread_of_more_bytes_than_a_transaction_holds(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(message(f"m{number}", content="x" * 390_000) for number in range(15))
    memory.transfer_thread("t", to_resource_id="bob")
    assert owners(memory) == {"bob"}


@pytest.mark.parametrize("number", range(1, 7))
def test_a_transfer_that_stopped_is_completed_by_the_next(fake, number):
    """Its requests: get, a transaction, query, and three transactions."""
    memory = fake.store().memory
    save(memory, 250)
    fake.sent.clear()
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.transfer_thread("t", to_resource_id="bob")
    assert memory.get_thread_by_id("t").resource_id == ("ada" if number < 3 else "bob")
    memory.transfer_thread("t", to_resource_id="bob")
    assert owners(memory) == {"bob"}
    assert len(memory.list_messages("t", per_page=None).items) == 250


def between(fake, act, transaction=2):
    """Let another process act before a transaction: the first one moves the row, the second one messages."""
    begun = 0

    def hook(request):
        nonlocal begun
        begun += request.operation == "TransactWriteItems"
        if begun == transaction:
            fake.faults.on_request = None
            act(other_process(fake))

    fake.faults.on_request = hook


def test_a_title_that_is_changed_meanwhile_is_kept(fake):
    memory = fake.store().memory
    save(memory, 1)
    between(fake, lambda other: other.update_thread("t", title="theirs"), transaction=1)
    moved = memory.transfer_thread("t", to_resource_id="bob")
    assert (moved.title, moved.resource_id) == ("theirs", "bob")
    assert memory.get_thread_by_id("t") == moved


def test_of_two_transfers_the_later_one_counts_for_all_messages(fake):
    memory = fake.store().memory
    save(memory, 5)
    between(fake, lambda other: other.transfer_thread("t", to_resource_id="eve"))
    with pytest.raises(ConditionFailedError):
        memory.transfer_thread("t", to_resource_id="bob")
    assert memory.get_thread_by_id("t").resource_id == "eve"
    assert owners(memory) == {"eve"}


def test_a_thread_that_is_deleted_meanwhile_stays_deleted(fake):
    memory = fake.store().memory
    save(memory, 5)
    between(fake, lambda other: other.delete_thread("t"))
    with pytest.raises(ConditionFailedError):
        memory.transfer_thread("t", to_resource_id="bob")
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


def test_a_thread_whose_erasure_was_interrupted_is_nobodys_to_give(fake):
    memory = fake.store().memory
    save(memory, 5)
    fake.faults.crash_before(6)
    with pytest.raises(Crash):
        fake.store().erase_resource("ada")
    assert [item["_entity"]["S"] for item in fake.items() if item["pk"]["S"] == "conversation#t"][-2:] == [
        "thread",
        "tombstone",
    ]
    with pytest.raises(ThreadDeletedError):
        memory.transfer_thread("t", to_resource_id="bob")
    fake.store().erase_resource("ada")
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


def test_what_is_saved_into_a_message_meanwhile_is_kept(fake):
    memory = fake.store().memory
    save(memory, 3)
    between(fake, lambda other: other.save_messages([message("m001", content="new", resource_id="ada")]))
    memory.transfer_thread("t", to_resource_id="bob")
    assert [one.content for one in memory.list_messages("t").items] == ["m000", "new", "m002"]
    assert owners(memory) == {"bob"}


def test_a_message_that_is_moved_meanwhile_is_left_where_it_is(fake):
    memory = fake.store().memory
    save(memory, 3)
    between(fake, lambda other: other.save_messages([message("m001", thread_id="other", resource_id="ada")]))
    memory.transfer_thread("t", to_resource_id="bob")
    assert ids(memory.list_messages("t").items) == ["m000", "m002"]
    assert owners(memory) == {"bob"}
    assert owners(memory, "other") == {"ada"}


def test_messages_keep_their_expiry(backend):
    memory = backend.store(ttl={"message": {"default_ttl_seconds": 60}}).memory
    save(memory, 1)
    backend.clock.advance(seconds=30)
    memory.transfer_thread("t", to_resource_id="bob")
    backend.clock.advance(seconds=30)
    assert memory.list_messages("t").items == []


def test_a_thread_is_transferred_within_its_scope(fake):
    store = fake.store()
    acme, other = store.scoped("acme").memory, store.scoped("other").memory
    for memory in (acme, other):
        save(memory, 2)
    acme.transfer_thread("t", to_resource_id="bob")
    assert (owners(acme), owners(other)) == ({"bob"}, {"ada"})
