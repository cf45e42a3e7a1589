"""Copies of threads: what they hold, and that no half of one is ever seen."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import (
    AlreadyExistsError,
    NotFoundError,
    OutcomeUnknownError,
    RequestError,
    ThreadDeletedError,
    ThrottledError,
    between,
    gte,
    lt,
)
from singletable.schemas import Message, Thread
from singletable.store._sync.memory import Memory
from singletable.store.entities import ENTITIES
from singletable.testing import Crash
from tests.contract.support import START, FakeBackend

DAY = timedelta(days=1)
CLONED_AT = "2026-11-30T22:00:00.000Z"


def thread(thread_id="t", **fields):
    return Thread(**{"id": thread_id, "resource_id": "ada", **fields})


def message(message_id, **fields):
    fields = {"thread_id": "t", "role": "user", "content": message_id, "resource_id": "ada", **fields}
    return Message(id=message_id, **fields)


def contents(memory, thread_id):
    return [one.content for one in memory.list_messages(thread_id, per_page=None).items]


def other_process(fake):
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


@pytest.fixture
def five(memory):
    """A memory whose thread has the messages m0 to m4, a day apart."""
    memory.save_thread(thread(title="Trip", metadata={"secret": 1}))
    memory.save_messages(message(f"m{number}", created_at=START + number * DAY) for number in range(5))
    return memory


def save(memory, count):
    memory.save_thread(thread(title="Trip"))
    memory.save_messages(message(f"m{number:03}") for number in range(count))


# What a copy is.


def test_a_clone_is_a_new_thread_with_all_messages(five, backend):
    source = five.get_thread_by_id("t")
    messages = five.list_messages("t").items
    now = backend.clock.advance(hours=1)
    clone = five.clone_thread("t")
    assert clone.thread == five.get_thread_by_id(clone.thread.id)
    assert clone.thread.id != "t"
    assert (clone.thread.resource_id, clone.thread.title) == ("ada", "Clone of Trip")
    assert clone.thread.created_at == clone.thread.updated_at == now
    assert clone.messages == five.list_messages(clone.thread.id).items
    assert list(clone.message_ids) == [one.id for one in messages]
    assert list(clone.message_ids.values()) == [one.id for one in clone.messages]
    assert not set(clone.message_ids) & set(clone.message_ids.values())
    assert five.get_thread_by_id("t") == source
    assert five.list_messages("t").items == messages


def test_a_copied_message_is_the_same_but_for_id_thread_and_owner(memory):
    memory.save_thread(thread())
    given = {"role": "tool", "type": "tool-result", "content": {"parts": [1, 1.0]}, "metadata": {"a": {"b": 1}}}
    (saved,) = memory.save_messages([message("m", created_at=START - DAY, **given)])
    (copy,) = memory.clone_thread("t", new_thread_id="new", resource_id="bob").messages
    assert copy == saved.model_copy(update={"id": copy.id, "thread_id": "new", "resource_id": "bob"})
    assert memory.list_messages_by_id([copy.id]) == [copy]


def test_messages_of_one_time_keep_their_order(memory):
    memory.save_thread(thread())
    for names in ("zb", "ya"):
        memory.save_messages(message(name, created_at=START) for name in names)
    copy = memory.copy_thread("t", new_thread_id="new")
    assert contents(memory, "new") == ["z", "b", "y", "a"]
    assert list(copy.message_ids) == ["z", "b", "y", "a"]


def test_metadata_says_what_was_copied_and_nothing_of_the_source(five):
    copy = five.copy_thread("t", metadata={"own": [1], "clone": "overwritten"})
    assert copy.thread.metadata == {
        "own": [1],
        "clone": {"sourceThreadId": "t", "clonedAt": CLONED_AT, "lastMessageId": "m4"},
    }


def test_a_thread_without_messages_is_copied(memory):
    memory.save_thread(thread())
    copy = memory.clone_thread("t", new_thread_id="new")
    assert (copy.message_ids, copy.messages, contents(memory, "new")) == ({}, [], [])
    assert copy.thread.metadata == {"clone": {"sourceThreadId": "t", "clonedAt": CLONED_AT}}


@pytest.mark.parametrize(
    ("source", "given", "expected"),
    [("Trip", None, "Clone of Trip"), ("Trip", "Mine", "Mine"), ("Trip", "", ""), (None, None, None), ("", None, None)],
)
def test_the_title_of_a_copy(memory, source, given, expected):
    memory.save_thread(thread(title=source))
    assert memory.copy_thread("t", title=given).thread.title == expected


def test_a_copy_for_another_owner(five):
    copy = five.copy_thread("t", new_thread_id="mine", resource_id="bob")
    assert (copy.thread.id, copy.messages) == ("mine", [])
    assert five.list_threads("bob").items == [copy.thread]
    assert {one.resource_id for one in five.list_messages("mine").items} == {"bob"}
    assert {one.resource_id for one in five.list_messages("t").items} == {"ada"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "01234"),
        ({"message_limit": 2}, "34"),
        ({"message_limit": 5}, "01234"),
        ({"message_limit": 9}, "01234"),
        ({"created_at": between(START + DAY, START + 3 * DAY)}, "123"),
        ({"created_at": gte(START + 3 * DAY)}, "34"),
        ({"created_at": lt(START)}, ""),
        ({"created_at": lt(START + 4 * DAY), "message_limit": 2}, "23"),
        ({"message_ids": ["m3", "m1", "unknown", "m1"]}, "13"),
        ({"message_ids": ["m0", "m2", "m4"], "message_limit": 2}, "24"),
        ({"message_ids": ["m0", "m2", "m4"], "created_at": gte(START + DAY), "message_limit": 1}, "4"),
        ({"message_ids": []}, ""),
    ],
    ids=range(12),
)
@pytest.mark.parametrize("verb", ["clone_thread", "copy_thread"])
def test_the_messages_of_a_copy_are_those_that_were_asked_for(five, verb, options, expected):
    copy = getattr(five, verb)("t", new_thread_id="new", **options)
    assert contents(five, "new") == list(copy.message_ids) == [f"m{digit}" for digit in expected]
    last = copy.thread.metadata["clone"].get("lastMessageId")
    assert last == (f"m{expected[-1]}" if expected else None)


def test_message_ids_may_come_from_a_generator(five):
    copy = five.copy_thread("t", message_ids=(f"m{number}" for number in (4, 0)))
    assert list(copy.message_ids) == ["m0", "m4"]


def test_a_copy_of_a_copy(five):
    first = five.copy_thread("t")
    second = five.copy_thread(first.thread.id)
    assert contents(five, second.thread.id) == [f"m{number}" for number in range(5)]
    assert second.thread.title == "Clone of Clone of Trip"


def test_a_copy_is_saved_into_deleted_and_listed_like_any_thread(five):
    five.copy_thread("t", new_thread_id="new")
    five.save_messages([message("own", thread_id="new", created_at=START + 9 * DAY)])
    assert contents(five, "new")[-1] == "own"
    five.delete_thread("new")
    assert contents(five, "new") == []
    assert len(contents(five, "t")) == 5


def test_a_thread_of_more_messages_than_a_transaction_holds(fake):
    memory = fake.store().memory
    save(memory, 250)
    fake.sent.clear()
    copy = memory.clone_thread("t", new_thread_id="new")
    assert contents(memory, "new") == contents(memory, "t")
    assert len(copy.messages) == len(copy.message_ids) == 250
    assert len(fake.items()) == 2 + 2 * 2 * 250


def test_a_thread_of_more_bytes_than_a_transaction_holds(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(message(f"m{number}", content=str(number) * 390_000) for number in range(9))
    memory.copy_thread("t", new_thread_id="new")
    assert contents(memory, "new") == contents(memory, "t")


def test_the_requests_of_a_copy(fake):
    memory = fake.store().memory
    save(memory, 60)
    fake.sent.clear()
    memory.copy_thread("t")
    assert fake.sent.operations == [
        "GetItem",  # the source
        "TransactWriteItems",  # the tombstone
        "Query",  # whether messages are there already
        "Query",  # the messages of the source
        "TransactWriteItems",  # 49 messages
        "TransactWriteItems",  # 11 messages
        "TransactWriteItems",  # the row
    ]


def test_the_last_messages_are_read_and_no_others(fake):
    memory = fake.store().memory
    save(memory, 60)
    fake.sent.clear()
    memory.copy_thread("t", message_limit=3)
    assert fake.sent.scanned_counts[-1] == 3


# Refused.


def test_a_source_that_is_not_there(memory, backend):
    memory.save_messages([message("m")])
    stored = backend.items()
    with pytest.raises(NotFoundError):
        memory.clone_thread("t")
    assert backend.items() == stored


@pytest.mark.parametrize("target", ["t", "taken", "messages"])
@pytest.mark.parametrize("owner", ["ada", "bob"])
def test_an_id_that_is_taken(five, backend, target, owner):
    five.save_thread(thread("taken", resource_id="secret-owner"))
    five.save_messages([message("x", thread_id="messages")])
    stored = backend.items()
    with pytest.raises(AlreadyExistsError) as caught:
        five.clone_thread("t", new_thread_id=target, resource_id=owner)
    assert backend.items() == stored
    assert "secret" not in str(caught.value)
    assert caught.value.current is None


def test_an_id_that_was_deleted(five, backend):
    five.save_thread(thread("gone"))
    five.delete_thread("gone")
    stored = backend.items()
    with pytest.raises(ThreadDeletedError):
        five.clone_thread("t", new_thread_id="gone")
    assert backend.items() == stored
    backend.clock.advance(days=1)
    five.clone_thread("t", new_thread_id="gone")
    assert len(contents(five, "gone")) == 5


@pytest.mark.parametrize(
    "options",
    [
        {"source_thread_id": " "},
        {"new_thread_id": ""},
        {"new_thread_id": 5},
        {"resource_id": ""},
        {"resource_id": "\t"},
        {"title": 5},
        {"metadata": ["a"]},
        {"metadata": []},
        {"metadata": {"a": object()}},
        {"message_limit": 0},
        {"message_limit": -1},
        {"message_limit": True},
        {"message_ids": "m0"},
        {"created_at": gte("2026-11-30")},
        {"metadata": {"a": "x" * 420_000}},
    ],
    ids=range(15),
)
@pytest.mark.parametrize("verb", ["clone_thread", "copy_thread"])
def test_a_wrong_argument_is_refused_before_anything_is_sent(fake, verb, options):
    memory = fake.store().memory
    with pytest.raises(RequestError):
        getattr(memory, verb)(**{"source_thread_id": "t", **options})
    assert fake.sent.operations == []


# What is seen of a copy on its way, and what is left of one that fails.  120 messages are three transactions, so that
# the requests are: get, reserve, look, read, three times store, reveal.


ON_THE_WAY = range(3, 9)


def assert_nothing_is_seen(memory):
    assert memory.get_thread_by_id("new") is None
    assert memory.context("new").messages == list(memory.iter_messages("new")) == contents(memory, "new") == []
    assert memory.list_threads("bob").items == []


def test_nothing_of_a_copy_is_seen_before_it_is_whole(fake):
    memory, watching = fake.store().memory, other_process(fake)
    save(memory, 120)
    seen = []

    def look(request):
        assert_nothing_is_seen(watching)
        copied = [item["id"]["S"] for item in fake.items() if item["pk"] == {"S": "conversation#new"} and "id" in item]
        assert watching.list_messages_by_id(copied) == []
        seen.append(len(copied))

    fake.faults.on_request = look
    memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    fake.faults.on_request = None
    assert seen == [0, 0, 0, 0, 0, 49, 98, 120]
    assert len(contents(memory, "new")) == 120


@pytest.mark.parametrize("number", range(1, 9))
def test_a_copy_that_fails_is_removed(fake, number):
    memory = fake.store().memory
    save(memory, 120)
    stored, left = fake.items(), iter(range(number))

    def fail(request):
        return ThrottledError("too much") if next(left, None) == number - 1 else None

    fake.faults.on_request = fail
    with pytest.raises(ThrottledError):
        memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    fake.faults.on_request = None
    assert fake.items() == stored
    memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    assert contents(memory, "new") == contents(memory, "t")


@pytest.mark.parametrize("number", ON_THE_WAY)
def test_a_copy_that_dies_stays_invisible_until_it_is_deleted(fake, number):
    memory = fake.store().memory
    save(memory, 120)
    stored = fake.items()
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    assert_nothing_is_seen(memory)
    if number > 5:  # before that no message was written, and the tombstone goes by itself
        fake.clock.advance(days=30)
        assert_nothing_is_seen(memory)
        with pytest.raises(ThreadDeletedError):
            memory.save_messages([message("m", thread_id="new")])
    memory.delete_thread("new")
    fake.clock.advance(days=2)
    assert [item for item in fake.items() if item["_entity"] != {"S": "tombstone"}] == stored


def between_parts(fake, number, act):
    """Let another process act before the transaction of this number: 1 reserves, the last one reveals."""
    seen = []

    def hook(request):
        if request.operation == "TransactWriteItems":
            seen.append(request)
            if len(seen) == number:
                act(other_process(fake))

    fake.faults.on_request = hook


@pytest.mark.parametrize("number", [2, 3, 5])
def test_a_copy_whose_id_is_deleted_meanwhile_stays_deleted(fake, number):
    """Although the clock stands still, so that both tombstones are of one time."""
    memory = fake.store().memory
    save(memory, 120)
    stored = fake.items()
    between_parts(fake, number, lambda other: other.delete_thread("new"))
    with pytest.raises(ThreadDeletedError):
        memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    fake.faults.on_request = None
    assert_nothing_is_seen(memory)
    assert [item for item in fake.items() if item["_entity"] != {"S": "tombstone"}] == stored


@pytest.mark.parametrize(
    "act",
    [lambda other: other.delete_thread("t"), lambda other: other.transfer_thread("t", to_resource_id="eve")],
    ids=["deleted", "transferred"],
)
def test_no_copy_comes_of_a_source_that_went_meanwhile(fake, act):
    """A part of its messages may have been deleted already when they were read."""
    memory = fake.store().memory
    save(memory, 3)
    between_parts(fake, 3, act)
    with pytest.raises(NotFoundError):
        memory.clone_thread("t", new_thread_id="new", resource_id="bob")
    fake.faults.on_request = None
    assert_nothing_is_seen(memory)
    assert {item["pk"]["S"] for item in fake.items()} & {"conversation#new"} == set()


def test_of_two_copies_under_one_id_one_is_made(fake):
    memory = fake.store().memory
    save(memory, 3)
    memory.save_thread(thread("other"))
    refused = []

    def act(other):
        with pytest.raises(ThreadDeletedError):
            other.clone_thread("other", new_thread_id="new")
        refused.append(True)

    between_parts(fake, 2, act)
    memory.clone_thread("t", new_thread_id="new")
    assert refused
    assert len(contents(memory, "new")) == 3


def test_a_copy_whose_last_answer_is_lost_for_good_is_whole():
    """It is not removed: nobody knows whether its row was written, and it was."""
    fake = FakeBackend()
    memory = Memory(fake.table(*ENTITIES))  # the table of this suite does not wait between its many tries
    save(memory, 60)
    seen = []

    def lose(request):
        if request.operation == "TransactWriteItems":
            seen.append(request)
            if len(seen) == 4:
                fake.database.execute(request)
        return OutcomeUnknownError("no answer") if request in seen[3:4] else None

    fake.faults.on_request = lose
    with pytest.raises(OutcomeUnknownError):
        memory.clone_thread("t", new_thread_id="new")
    fake.faults.on_request = None
    assert memory.get_thread_by_id("new") is not None
    assert contents(memory, "new") == contents(memory, "t")


def test_a_copy_is_made_within_its_scope(fake):
    store = fake.store()
    acme, other = store.scoped("acme").memory, store.scoped("other").memory
    save(acme, 2)
    acme.clone_thread("t", new_thread_id="new")
    assert (len(contents(acme, "new")), other.get_thread_by_id("new")) == (2, None)
    with pytest.raises(NotFoundError):
        other.clone_thread("t")
