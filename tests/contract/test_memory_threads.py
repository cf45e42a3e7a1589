"""Threads of store.memory, one by one: Mastra's cases by their ids, and to whom a thread belongs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from singletable import (
    AlreadyExistsError,
    InvalidValueError,
    NotFoundError,
    RequestError,
    ThreadDeletedError,
)
from singletable.schemas import Message, Thread, Tombstone
from tests.contract.support import START, FakeBackend

DAY = timedelta(days=1)


def thread(thread_id="t", **fields):
    return Thread(**{"id": thread_id, "resource_id": "ada", **fields})


def message(message_id, **fields):
    return Message(**{"id": message_id, "thread_id": "t", "role": "user", "content": message_id, **fields})


def ids(found):
    return [one.id for one in found]


def other_process(fake):
    """The memory of another process, always sync: it may be used inside a hook."""
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


def before(fake, operation, *changes):
    """Let another process make each of `changes` before one request of this kind."""
    memory, left = other_process(fake), list(changes)

    def hook(request):
        if request.operation == operation and left:
            left.pop(0)(memory)

    fake.faults.on_request = hook


# Saved, read, deleted.


def test_t01_t03_a_thread_with_its_own_id_resource_and_dates(memory):
    given = thread("mine", title="Trip", metadata={"a": 1}, created_at=START - DAY, updated_at=START - DAY)
    assert memory.save_thread(given) == memory.get_thread_by_id("mine") == given


@pytest.mark.parametrize("title", ["", "é😀日本語 \"quotes\" 'and' <tags> & \\ \n \u0000", "x" * 5_000], ids=len)
def test_t02_t21_a_title_comes_back_as_it_was_given(memory, title):
    memory.save_thread(thread(title=title))
    assert memory.get_thread_by_id("t").title == title
    assert [one.title for one in memory.list_threads("ada").items] == [title]


def test_t04_a_thread_that_is_not_there_is_none(memory):
    assert memory.get_thread_by_id("t") is None


@pytest.mark.parametrize(("options", "found"), [("ada", True), ("bob", False), ("", False), (None, True)])
def test_t05_t06_t07_t08_a_thread_is_given_to_its_resource(memory, options, found):
    memory.save_thread(thread())
    assert (memory.get_thread_by_id("t", resource_id=options) is not None) == found


def test_t10_t11_t12_an_update_is_stored_as_it_is_given_back(memory, backend):
    saved = memory.save_thread(thread(title="old", metadata={"a": 1, "kept": {"x": 1}}))
    backend.clock.advance(seconds=1)
    updated = memory.update_thread("t", title="new", metadata={"a": 2, "b": None})
    assert (updated.title, updated.metadata) == ("new", {"a": 2, "b": None, "kept": {"x": 1}})
    assert updated.updated_at > saved.updated_at
    assert updated.created_at == saved.created_at
    assert memory.get_thread_by_id("t") == updated


def test_t13_a_thread_has_the_same_times_read_and_listed(memory):
    memory.save_thread(thread())
    memory.update_thread("t", title="new")
    (listed,) = memory.list_threads("ada").items
    assert listed == memory.get_thread_by_id("t")


def test_t14_t15_a_deleted_thread_is_gone_with_its_messages(memory):
    memory.save_thread(thread())
    memory.save_messages([message("a"), message("b")])
    memory.delete_thread("t")
    assert memory.get_thread_by_id("t") is None
    assert memory.list_messages("t").items == memory.list_messages_by_id(["a", "b"]) == []


def test_t16_a_saved_message_moves_updated_at(memory):
    saved = memory.save_thread(thread())
    memory.save_messages([message("a")])
    assert memory.get_thread_by_id("t").updated_at > saved.updated_at


JSON_TEXT = '{"format":2,"parts":[{"type":"text","text":"hi"}]}'


@pytest.mark.parametrize(
    "content",
    [JSON_TEXT, {"format": 2, "parts": [{"type": "text", "text": JSON_TEXT}], "content": JSON_TEXT}],
    ids=["text", "object"],
)
def test_t17_content_that_is_json_text_is_not_nested_in_json_once_more(memory, content):
    memory.save_messages([message("a", content=content)])
    memory.save_messages(memory.list_messages("t").items)
    (found,) = memory.list_messages("t").items
    assert found.content == content


def test_t20_large_metadata_comes_back(memory):
    metadata = {"text": "x" * 100_000, "list": list(range(500)), "deep": {"a": [{"b": [True, None, 1.5, "é"]}] * 20}}
    memory.save_thread(thread(metadata=metadata))
    assert memory.get_thread_by_id("t").metadata == metadata


def test_t22_updates_at_once_are_all_kept(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda number: memory.update_thread("t", metadata={f"k{number}": number}), range(5)))
    assert memory.get_thread_by_id("t").metadata == {f"k{number}": number for number in range(5)}


# Whose a thread is.


def test_a_save_under_an_id_of_another_resource_is_refused_and_changes_nothing(memory, backend):
    memory.save_thread(thread(title="secret-title"))
    memory.save_messages([message("m")])
    stored = backend.items()
    with pytest.raises(AlreadyExistsError) as caught:
        memory.save_thread(thread(resource_id="bob"))
    assert backend.items() == stored
    assert (caught.value.current, caught.value.item, caught.value.__context__) == (None, None, None)


def test_a_save_is_refused_that_meets_the_thread_of_another_resource_on_its_way(fake):
    """It sees its own thread, which is then given to another."""
    memory = fake.store().memory
    memory.save_thread(thread())
    before(fake, "TransactWriteItems", lambda _: None, lambda other: other.transfer_thread("t", to_resource_id="bob"))
    with pytest.raises(AlreadyExistsError):
        memory.save_thread(thread(title="mine"))
    assert (memory.get_thread_by_id("t").resource_id, memory.get_thread_by_id("t").title) == ("bob", None)


def test_an_id_whose_thread_has_expired_is_free(backend):
    memory = backend.store(ttl={"thread": {"default_ttl_seconds": 60}}).memory
    memory.save_thread(thread())
    backend.clock.advance(seconds=60)
    assert memory.save_thread(thread(resource_id="bob")).resource_id == "bob"


BY_OWNER = {
    "update": lambda memory, owner: memory.update_thread("t", resource_id=owner, title="new"),
    "update-nothing": lambda memory, owner: memory.update_thread("t", resource_id=owner),
    "metadata": lambda memory, owner: memory.update_thread_metadata("t", resource_id=owner, update=lambda _: {"a": 1}),
    "delete": lambda memory, owner: memory.delete_thread("t", resource_id=owner),
}
by_owner = pytest.mark.parametrize("call", BY_OWNER.values(), ids=BY_OWNER)


def refusal(memory, call, owner):
    with pytest.raises(NotFoundError) as caught:
        call(memory, owner)
    error = caught.value
    return str(error), error.current, error.item, error.key, error.entity, error.operation, error.__context__


@by_owner
def test_a_thread_of_another_resource_is_as_absent_as_one_that_is_not_there(memory, backend, call):
    absent = refusal(memory, call, "bob")
    memory.save_thread(thread())
    stored = backend.items()
    assert refusal(memory, call, "bob") == refusal(memory, call, "") == absent
    assert backend.items() == stored


@by_owner
def test_the_owner_may(memory, call):
    saved = memory.save_thread(thread())
    call(memory, "ada")
    assert memory.get_thread_by_id("t") != saved


@pytest.mark.parametrize(("name", "operation"), [("update", "UpdateItem"), ("metadata", "UpdateItem")])
def test_a_thread_that_is_given_away_meanwhile_is_not_changed(fake, name, operation):
    memory = fake.store().memory
    memory.save_thread(thread())
    before(fake, operation, lambda other: other.transfer_thread("t", to_resource_id="bob"))
    with pytest.raises(NotFoundError):
        BY_OWNER[name](memory, "ada")
    found = memory.get_thread_by_id("t")
    assert (found.resource_id, found.title, found.metadata) == ("bob", None, {})


def test_a_thread_that_is_given_away_meanwhile_is_not_deleted(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages([message("m")])
    before(fake, "TransactWriteItems", lambda other: other.transfer_thread("t", to_resource_id="bob"))
    with pytest.raises(NotFoundError):
        memory.delete_thread("t", resource_id="ada")
    assert memory.get_thread_by_id("t").resource_id == "bob"
    assert ids(memory.list_messages("t").items) == ["m"]


def test_messages_without_a_thread_are_nobodys_to_delete(memory):
    memory.save_messages([message("m", resource_id="ada")])
    with pytest.raises(NotFoundError):
        memory.delete_thread("t", resource_id="ada")
    assert ids(memory.list_messages("t").items) == ["m"]


def test_an_owner_may_delete_twice(memory, backend):
    memory.save_thread(thread())
    memory.delete_thread("t", resource_id="ada")
    stored = backend.items()
    memory.delete_thread("t", resource_id="ada")
    assert backend.items() == stored


def test_an_owners_deletion_that_stopped_is_completed_by_the_next(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages([message("m")])
    fake.faults.on_request = lambda request: ConnectionError() if request.operation == "PutItem" else None
    with pytest.raises(ConnectionError):
        memory.delete_thread("t", resource_id="ada")
    fake.faults.on_request = None
    memory.delete_thread("t", resource_id="ada")
    (left,) = fake.items()
    assert "doneAt" in left


def test_no_thread_that_came_to_be_is_deleted_in_the_name_of_another(fake):
    """A deletion goes on where a tombstone is, which meanwhile makes way for the thread of another."""
    store = fake.store()
    store.table.put(Tombstone(thread_id="t", deleted_at=START))

    def replace(other):
        table = FakeBackend(database=fake.database).store().table
        table.delete(Tombstone.Key(thread_id="t"))
        other.save_thread(thread(resource_id="bob"))

    before(fake, "TransactWriteItems", replace)
    with pytest.raises(NotFoundError):
        store.memory.delete_thread("t", resource_id="ada")
    assert store.memory.get_thread_by_id("t").resource_id == "bob"


# Metadata that depends on what is stored.


def test_metadata_is_replaced_by_what_is_made_of_it(memory):
    saved = memory.save_thread(thread(title="Trip", metadata={"count": 1, "gone": True}))
    updated = memory.update_thread_metadata(
        "t", resource_id="ada", update=lambda metadata: {"count": metadata["count"] + 1}
    )
    assert updated == memory.get_thread_by_id("t")
    assert (updated.metadata, updated.title, updated.created_at) == ({"count": 2}, "Trip", saved.created_at)
    assert updated.updated_at > saved.updated_at


def test_metadata_stays_where_the_update_says_none(memory, backend):
    saved = memory.save_thread(thread(metadata={"a": {"b": 1}}))
    stored = backend.items()

    def update(metadata):
        metadata["a"]["b"] = 2

    assert memory.update_thread_metadata("t", resource_id="ada", update=update) == saved
    assert backend.items() == stored


def test_an_update_of_metadata_is_made_again_of_what_others_wrote_meanwhile(fake):
    memory = fake.store().memory
    memory.save_thread(thread(metadata={"list": []}))

    def append(name):
        return lambda metadata: {**metadata, "list": [*metadata["list"], name]}

    before(
        fake,
        "UpdateItem",
        lambda other: other.update_thread_metadata("t", resource_id="ada", update=append("theirs")),
        lambda _: None,
        lambda other: other.save_messages([message("m")]),
    )
    updated = memory.update_thread_metadata("t", resource_id="ada", update=append("own"))
    assert updated.metadata == {"list": ["theirs", "own"]}


def test_many_updates_of_metadata_at_once_are_all_kept(fake):
    memory = fake.store().memory
    memory.save_thread(thread(metadata={"count": 0}))

    def increment(_):
        memory.update_thread_metadata("t", resource_id="ada", update=lambda found: {"count": found["count"] + 1})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(increment, range(16)))
    assert memory.get_thread_by_id("t").metadata == {"count": 16}


@pytest.mark.parametrize(
    "wrong",
    [[1], "x", 5, {1: 2}, {"a": {1, "b"}}, {"a": float("nan")}],
    ids=["list", "text", "number", "number as a name", "set", "nan"],
)
def test_metadata_that_is_no_json_is_refused(memory, backend, wrong):
    memory.save_thread(thread())
    stored = backend.items()
    with pytest.raises((RequestError, InvalidValueError)):
        memory.update_thread_metadata("t", resource_id="ada", update=lambda _: wrong)
    assert backend.items() == stored


def test_metadata_without_an_owner_is_not_found(memory):
    memory.save_thread(thread())
    with pytest.raises(NotFoundError):
        memory.update_thread_metadata("t", resource_id=None, update=lambda _: {"a": 1})


def test_metadata_of_a_deleted_thread_is_not_found(memory):
    memory.save_thread(thread())
    memory.delete_thread("t")
    with pytest.raises(NotFoundError):
        memory.update_thread_metadata("t", resource_id="ada", update=lambda _: {"a": 1})
    with pytest.raises(ThreadDeletedError):
        memory.save_thread(thread())
