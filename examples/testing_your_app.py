"""Tests of an application, for pytest: the store is real, DynamoDB is in memory and breaks on demand."""

import pytest

from singletable import DynamoDBStore, ThrottledError
from singletable.schemas import Message, Thread
from singletable.testing import MemoryTransport


def answer(store: DynamoDBStore, thread_id: str, question: str) -> str:
    """The application: it answers with the number of questions that it has been asked."""
    turn = store.memory.context(thread_id, last=20)
    asked = sum(message.role == "user" for message in turn.messages) + 1
    reply = f"This is question {asked}."
    store.memory.save_messages(
        [
            Message(thread_id=thread_id, role="user", content=question),
            Message(thread_id=thread_id, role="assistant", content=reply),
        ]
    )
    return reply


@pytest.fixture
def transport() -> MemoryTransport:
    return MemoryTransport()


@pytest.fixture
def store(transport: MemoryTransport) -> DynamoDBStore:
    return DynamoDBStore(table_name="agents", transport=transport)


def test_it_counts_questions(store: DynamoDBStore) -> None:
    store.memory.save_thread(Thread(id="t1", resource_id="ada"))
    answer(store, "t1", "Is Oslo nice in May?")
    assert answer(store, "t1", "And in June?") == "This is question 2."


def test_a_turn_takes_three_requests(store: DynamoDBStore, transport: MemoryTransport) -> None:
    answer(store, "t1", "Is Oslo nice in May?")
    assert [request.operation for request in transport.requests] == ["Query", "Query", "TransactWriteItems"]


def test_a_turn_that_is_refused_leaves_nothing_behind(store: DynamoDBStore, transport: MemoryTransport) -> None:
    transport.faults.throttle(times=None, operation="TransactWriteItems")
    with pytest.raises(ThrottledError):
        answer(store, "t1", "Is Oslo nice in May?")
    assert store.memory.context("t1").messages == []
