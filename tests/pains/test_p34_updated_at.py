"""P33, P34: changes of one row do not overwrite each other, and its `updated_at` only moves forward."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable.schemas import Resource
from tests.contract.support import START, Clock
from tests.pains.support import another, thread, turn


def between_requests(fake, operation, number, change):
    """Let another process, whose clock is ahead, make a change before the request of this number is applied."""
    other = another(fake)
    other.clock = Clock(START + timedelta(seconds=5))
    memory, seen = other.store().memory, []

    def hook(request):
        if request.operation == operation:
            seen.append(request)
            if len(seen) == number:
                change(memory)

    fake.faults.on_request = hook


@pytest.mark.parametrize(
    ("call", "number"),
    [
        (lambda memory: memory.save_messages(turn("own")), 1),
        (lambda memory: memory.save_thread(thread(title="own")), 1),
        (lambda memory: memory.save_thread(thread(title="own")), 2),
    ],
    ids=["save-messages", "save-thread-first", "save-thread-second"],
)
def test_p34_a_transaction_never_moves_updated_at_backwards(fake, call, number):
    memory = fake.store().memory
    memory.save_thread(thread())
    between_requests(fake, "TransactWriteItems", number, lambda other: other.save_messages(turn("theirs")))
    call(memory)
    assert [one.id for one in memory.list_messages_by_id(["theirs"])] == ["theirs"]
    assert memory.get_thread_by_id("t").updated_at >= START + timedelta(seconds=5)


def test_p34_an_update_never_moves_updated_at_backwards(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    between_requests(fake, "UpdateItem", 1, lambda other: other.save_messages(turn("theirs")))
    assert memory.update_thread("t", title="own").updated_at > START + timedelta(seconds=5)


def test_p34_a_saved_message_leaves_the_title_that_was_changed_meanwhile(fake):
    memory = fake.store().memory
    memory.save_thread(thread(title="old"))
    between_requests(fake, "TransactWriteItems", 1, lambda other: other.update_thread("t", title="theirs"))
    memory.save_messages(turn("own"))
    assert memory.get_thread_by_id("t").title == "theirs"


def test_p33_metadata_of_two_writers_is_merged(fake):
    memory = fake.store().memory
    memory.save_thread(thread(metadata={"a": 1}))
    between_requests(fake, "UpdateItem", 1, lambda other: other.update_thread("t", metadata={"b": 2}))
    memory.update_thread("t", metadata={"c": 3})
    assert memory.get_thread_by_id("t").metadata == {"a": 1, "b": 2, "c": 3}


def test_p34_a_saved_resource_never_moves_updated_at_backwards(fake):
    memory = fake.store().memory
    memory.save_resource(Resource(id="ada"))
    between_requests(fake, "PutItem", 2, lambda other: other.update_resource("ada", working_memory="theirs"))
    memory.save_resource(Resource(id="ada", working_memory="own"))
    assert memory.get_resource_by_id("ada").updated_at >= START + timedelta(seconds=5)
