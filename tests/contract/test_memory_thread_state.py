"""The states of a thread: any JSON for each type, and gone with the thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from singletable import (
    InvalidCursorError,
    ItemTooLargeError,
    NotFoundError,
    RequestError,
    ThreadDeletedError,
    VersionConflictError,
)
from singletable.schemas import Message, Thread
from singletable.testing import Crash
from tests.contract.support import START, FakeBackend


def thread(thread_id="t"):
    return Thread(id=thread_id, resource_id="ada")


def state(memory, value, type="todo", thread_id="t", **options):
    return memory.set_thread_state(thread_id, type=type, value=value, **options)


def read(memory, type="todo", thread_id="t"):
    found = memory.get_thread_state(thread_id, type=type)
    return found and found.value


def types(memory, **options):
    return [one.type for one in memory.list_thread_states("t", **options).items]


def other_process(fake):
    other = FakeBackend(database=fake.database)
    other.clock = fake.clock
    return other.store().memory


def between(fake, act):
    """Let another process act before the first transaction."""
    left = [act]

    def hook(request):
        if request.operation == "TransactWriteItems" and left:
            left.pop()(other_process(fake))

    fake.faults.on_request = hook


VALUES = [{}, [], {"a": [1, 1.0, None, True, "é", {"": [[]]}]}, "text", "", 5, 1.5, True, None, [{"b": {}}]]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back_as_it_was_given(memory, value):
    saved = state(memory, value)
    assert memory.get_thread_state("t", type="todo") == saved
    assert repr(saved.value) == repr(value)
    assert memory.list_thread_states("t").items == [saved]


def test_a_state_that_is_not_there_is_none(memory):
    state(memory, 1, type="other")
    state(memory, 1, thread_id="other")
    assert memory.get_thread_state("t", type="todo") is None


def test_a_value_takes_the_place_of_the_one_before(memory, backend):
    first = state(memory, {"a": 1, "b": 2})
    backend.clock.advance(minutes=1)
    second = state(memory, {"a": 3})
    assert read(memory) == {"a": 3}
    assert (second.created_at, second.updated_at) == (START, START + timedelta(minutes=1))
    assert second.version != first.version


def test_updated_at_moves_while_the_clock_stands_still_or_goes_backwards(memory, backend):
    stamps = [state(memory, 1).updated_at, state(memory, 2).updated_at]
    backend.clock.advance(hours=-1)
    stamps.append(state(memory, 3).updated_at)
    assert stamps == sorted(set(stamps))
    assert memory.get_thread_state("t", type="todo").updated_at == stamps[-1]


def test_types_and_threads_do_not_mix(memory):
    for thread_id in ("t", "T", "t1"):
        for type in ("a", "A", "a#b"):
            state(memory, f"{thread_id}-{type}", type=type, thread_id=thread_id)
    assert types(memory) == ["A", "a", "a#b"]
    assert read(memory, "a", "t1") == "t1-a"


def test_a_state_is_deleted(memory):
    state(memory, 1)
    state(memory, 2, type="kept")
    for _ in range(2):
        memory.delete_thread_state("t", type="todo")
    assert read(memory) is None
    assert types(memory) == ["kept"]


def test_states_by_page(memory):
    names = [f"s{number}" for number in range(5)]
    for name in reversed(names):
        state(memory, 1, type=name)
    first = memory.list_thread_states("t", per_page=2, include_total=True)
    assert ([one.type for one in first.items], first.has_more, first.total) == (names[:2], True, 5)
    assert types(memory, per_page=9, cursor=first.cursor) == names[2:]
    assert types(memory, per_page=2, page=2) == names[4:]
    assert types(memory, per_page=None) == names
    with pytest.raises(InvalidCursorError):
        memory.list_thread_states("other", cursor=first.cursor)


def test_a_conversation_is_read_in_one_request_as_before(backend):
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_messages([Message(id="m", thread_id="t", role="user", content="x")])
    state(memory, 1)
    backend.sent.clear()
    context = memory.context("t", last=1)
    assert (context.thread.id, [one.id for one in context.messages]) == ("t", ["m"])
    assert backend.sent.operations == ["Query"]


def test_requests_of_states(backend):
    memory = backend.store().memory
    for _ in range(2):
        backend.sent.clear()
        state(memory, 1)
        assert backend.sent.operations == ["BatchGetItem", "TransactWriteItems"]
    backend.sent.clear()
    read(memory)
    assert backend.sent.operations == ["BatchGetItem"]
    assert backend.sent.requests[0].params["RequestItems"][backend.table_name]["ConsistentRead"] is True


# At once.


def test_a_version_that_was_read_is_replaced_and_no_other(memory):
    first = state(memory, 1)
    second = state(memory, 2, if_version=first.version)
    with pytest.raises(VersionConflictError) as caught:
        state(memory, 3, if_version=first.version)
    assert caught.value.current == second == memory.get_thread_state("t", type="todo")


def test_a_version_of_a_state_that_is_gone(memory, backend):
    first = state(memory, 1)
    memory.delete_thread_state("t", type="todo")
    with pytest.raises(NotFoundError):
        state(memory, 2, if_version=first.version)
    assert backend.items() == []


def test_a_version_that_is_overtaken_on_its_way_is_told(fake):
    memory = fake.store().memory
    first = state(memory, 1)
    between(fake, lambda other: state(other, "theirs"))
    with pytest.raises(VersionConflictError):
        state(memory, "own", if_version=first.version)
    assert read(memory) == "theirs"


def test_of_values_at_once_the_later_one_stays_with_the_time_of_the_first(fake):
    memory = fake.store().memory
    between(fake, lambda other: state(other, "theirs"))
    saved = state(memory, "own")
    assert read(memory) == "own"
    assert saved.created_at == START
    assert saved.updated_at > START


def test_counting_at_once_by_versions_loses_nothing(fake):
    memory = fake.store().memory
    state(memory, 0)

    def increment(_):
        while True:
            found = memory.get_thread_state("t", type="todo")
            try:
                return state(memory, found.value + 1, if_version=found.version)
            except VersionConflictError:
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(increment, range(8)))
    assert read(memory) == 8


# With the thread.


def filled(memory):
    memory.save_thread(thread())
    memory.save_messages([Message(id="m", thread_id="t", role="user", content="x")])
    for number in range(30):
        state(memory, number, type=f"s{number:02}")
    state(memory, 1, thread_id="other")


def assert_gone(memory):
    assert memory.get_thread_state("t", type="s00") is None
    page = memory.list_thread_states("t", include_total=True)
    assert (page.items, page.has_more, page.total) == ([], False, 0)
    assert read(memory, thread_id="other") == 1


def test_the_states_go_with_their_thread(memory, backend):
    filled(memory)
    memory.delete_thread("t")
    assert_gone(memory)
    assert sorted(item["_entity"]["S"] for item in backend.items()) == ["thread_state", "tombstone"]


def test_no_state_is_set_in_a_deleted_thread(memory, backend):
    filled(memory)
    memory.delete_thread("t")
    stored = backend.items()
    with pytest.raises(ThreadDeletedError):
        state(memory, 1)
    assert backend.items() == stored
    backend.clock.advance(days=1)
    state(memory, "new")
    assert types(memory) == ["todo"]


def test_no_state_is_set_in_a_thread_that_is_deleted_meanwhile(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    between(fake, lambda other: other.delete_thread("t"))
    with pytest.raises(ThreadDeletedError):
        state(memory, 1)
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


@pytest.mark.parametrize("number", range(3, 9))
def test_no_state_is_seen_where_a_deletion_stopped_and_the_next_completes_it(fake, number):
    """Its requests: query, tombstone, query, messages, query, states, two batches, the end."""
    memory = fake.store().memory
    filled(memory)
    fake.sent.clear()
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.delete_thread("t")
    assert_gone(memory)
    memory.delete_thread("t")
    assert_gone(memory)
    assert sorted(item["_entity"]["S"] for item in fake.items()) == ["thread_state", "tombstone"]


def test_states_expire_where_they_are_set_to(backend):
    memory = backend.store(ttl={"thread_state": {"default_ttl_seconds": 60}}).memory
    state(memory, 1)
    now = backend.clock.advance(seconds=60)
    assert read(memory) is None
    assert types(memory) == []
    assert state(memory, 2).created_at == now


# Refused.


@pytest.mark.parametrize("wrong", ["", "  ", None, 5, "x" * 2100], ids=["empty", "blank", "none", "int", "long"])
@pytest.mark.parametrize("name", ["thread_id", "type"])
@pytest.mark.parametrize("verb", ["get_thread_state", "set_thread_state", "delete_thread_state"])
def test_a_wrong_id_is_refused_before_anything_is_sent(fake, verb, name, wrong):
    options = {"thread_id": "t", "type": "todo", **({"value": 1} if verb.startswith("set") else {}), name: wrong}
    with pytest.raises(RequestError):
        getattr(fake.store().memory, verb)(**options)
    assert fake.sent.operations == []


@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, {"a": float("nan")}, b"x", {1: 2}],
    ids=["object", "set", "nan", "bytes", "number as a name"],
)
def test_a_value_that_is_no_json_is_refused_before_anything_is_sent(fake, value):
    with pytest.raises(RequestError):
        state(fake.store().memory, value)
    assert fake.sent.operations == []


def test_a_value_that_no_item_holds_is_refused(memory, backend):
    with pytest.raises(ItemTooLargeError):
        state(memory, "x" * 420_000)
    assert backend.items() == []
