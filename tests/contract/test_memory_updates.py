"""update_messages keeps Mastra's contract (MU) on the fake and on moto, sync and async, and loses no change."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from singletable import (
    AsyncDynamoDBStore,
    DynamoDBStore,
    ItemTooLargeError,
    PartialSaveError,
    RequestError,
    ThreadDeletedError,
    ThrottledError,
)
from singletable.schemas import Message, Thread
from singletable.store.message_forms import Include, MessageUpdate
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests.contract.support import START, FakeBackend

DAY = timedelta(days=1)
CONTENT = {
    "format": 2,
    "parts": [{"type": "text", "text": "old"}],
    "content": "old",
    "metadata": {"a": 1, "deep": {"x": 1}},
}


def message(message_id, thread_id="t", **fields):
    fields = {"role": "user", "content": CONTENT, "metadata": {"a": 1, "deep": {"x": 1}}, **fields}
    return Message(id=message_id, thread_id=thread_id, **fields)


def ids(found):
    return [one.id for one in found]


def listed(memory, thread_id="t"):
    return memory.list_messages(thread_id, per_page=None).items


@pytest.fixture
def filled(memory):
    """A thread with the messages a, b, c of ada, and another thread with x of bob."""
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_thread(Thread(id="other", resource_id="bob"))
    memory.save_messages([message(name, resource_id="ada") for name in "abc"])
    memory.save_messages([message("x", "other", resource_id="bob")])
    return memory


CHANGES = {
    "mu01-role": ({"role": "assistant"}, {"role": "assistant"}),
    "type": ({"type": "tool-call"}, {"type": "tool-call"}),
    "resource": ({"resource_id": "eve"}, {"resource_id": "eve"}),
    "no-resource": ({"resource_id": None}, {"resource_id": None}),
    "text": ({"content": "new"}, {"content": "new"}),
    "empty-text": ({"content": ""}, {"content": ""}),
    "list": ({"content": [{"type": "text"}]}, {"content": [{"type": "text"}]}),
    "mu02-metadata-of-content": (
        {"content": {"metadata": {"b": 2}}},
        {"content": {**CONTENT, "metadata": {"a": 1, "deep": {"x": 1}, "b": 2}}},
    ),
    "mu03-text-of-content": ({"content": {"content": "new"}}, {"content": {**CONTENT, "content": "new"}}),
    "mu04-one-level-deep": (
        {"content": {"metadata": {"deep": {"y": 2}}}},
        {"content": {**CONTENT, "metadata": {"a": 1, "deep": {"y": 2}}}},
    ),
    "mu04-metadata": (
        {"metadata": {"b": 2, "deep": {"y": 2}}},
        {"metadata": {"a": 1, "b": 2, "deep": {"y": 2}}},
    ),
    "mu04-no-new-metadata": ({"metadata": {}}, {}),
    "mu05-parts-stay": (
        {"content": {"metadata": {"unavailableAttachments": ["file"]}}},
        {"content": {**CONTENT, "metadata": {"a": 1, "deep": {"x": 1}, "unavailableAttachments": ["file"]}}},
    ),
    "parts": ({"content": {"parts": []}}, {"content": {**CONTENT, "parts": []}}),
    "metadata-of-content-that-is-none": (
        {"content": {"metadata": None}},
        {"content": {**CONTENT, "metadata": None}},
    ),
    "metadata-keys-may-be-anything": (
        {"metadata": {"a.b": 1, "#": 2}},
        {"metadata": {"a": 1, "deep": {"x": 1}, "a.b": 1, "#": 2}},
    ),
    "all": (
        {"role": "tool", "type": "x", "content": "new", "metadata": {"a": 2}},
        {"role": "tool", "type": "x", "content": "new", "metadata": {"a": 2, "deep": {"x": 1}}},
    ),
    "nothing": ({}, {}),
}


@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_mu01_to_mu05_a_change(filled, change, expected):
    before = {one.id: one for one in listed(filled)}
    (updated,) = filled.update_messages([MessageUpdate(id="b", **change)])
    assert updated == before["b"].model_copy(update=expected)
    assert listed(filled) == [before["a"], updated, before["c"]]
    assert filled.list_messages_by_id(["b"]) == [updated]


def test_mu06_several_messages(filled):
    updates = [MessageUpdate(id="c", role="tool"), MessageUpdate(id="x", content="X"), MessageUpdate(id="a", type="T")]
    updated = filled.update_messages(updates)
    assert [(one.id, one.role, one.type) for one in updated] == [
        ("c", "tool", "text"),
        ("x", "user", "text"),
        ("a", "user", "T"),
    ]
    assert [one.content for one in listed(filled, "other")] == ["X"]


def test_a_message_that_comes_twice_is_changed_twice(filled):
    updates = [MessageUpdate(id="a", role="tool"), MessageUpdate(id="b", type="T"), MessageUpdate(id="a", type="U")]
    updated = filled.update_messages(updates)
    assert ids(updated) == ["a", "b", "a"]
    assert (updated[2].role, updated[2].type) == ("tool", "U")
    assert listed(filled)[0] == updated[2]


@pytest.mark.parametrize("hours", [1, 0, -1])
def test_mu07_its_thread_moves_forward_and_no_other(filled, backend, hours):
    before, other = filled.get_thread_by_id("t"), filled.get_thread_by_id("other")
    backend.clock.advance(hours=hours)
    filled.update_messages([MessageUpdate(id="a", role="tool"), MessageUpdate(id="b", role="tool")])
    after = filled.get_thread_by_id("t")
    assert after.updated_at > before.updated_at
    assert after == before.model_copy(update={"updated_at": after.updated_at})
    assert filled.get_thread_by_id("other") == other


def test_mu08_a_move_to_another_thread_moves_both_forward(filled, backend):
    before = [filled.get_thread_by_id(name).updated_at for name in ("t", "other")]
    items = len(backend.items())
    (moved,) = filled.update_messages([MessageUpdate(id="b", thread_id="other", role="tool")])
    assert (moved.thread_id, moved.role, moved.content) == ("other", "tool", CONTENT)
    assert (ids(listed(filled)), sorted(ids(listed(filled, "other")))) == (["a", "c"], ["b", "x"])
    assert filled.list_messages_by_id(["b"]) == [moved]
    after = [filled.get_thread_by_id(name).updated_at for name in ("t", "other")]
    assert all(late > early for late, early in zip(after, before, strict=True))
    assert len(backend.items()) == items


def test_a_move_keeps_the_time_and_another_time_moves_within_the_thread(filled, backend):
    created = listed(filled)[0].created_at
    backend.clock.advance(hours=1)
    (moved,) = filled.update_messages([MessageUpdate(id="a", thread_id="other")])
    assert moved.created_at == created
    (moved,) = filled.update_messages([MessageUpdate(id="b", created_at=START + DAY)])
    assert moved.created_at == START + DAY
    assert ids(listed(filled)) == ["c", "b"]


def test_the_same_place_is_no_move(filled):
    before = listed(filled)[0]
    (updated,) = filled.update_messages([MessageUpdate(id="a", thread_id="t", created_at=before.created_at)])
    assert updated == before
    assert listed(filled)[0] == before


def test_a_move_into_a_thread_without_a_row_creates_none(filled):
    filled.update_messages([MessageUpdate(id="a", thread_id="new")])
    assert ids(listed(filled, "new")) == ["a"]
    assert filled.get_thread_by_id("new") is None


def test_messages_that_move_together_stay_in_order(filled):
    """They have one time, and so had they before."""
    assert len({one.created_at for one in listed(filled)}) == 1
    filled.update_messages([MessageUpdate(id=name, thread_id="new") for name in "cab"])
    assert ids(listed(filled, "new")) == ["a", "b", "c"]


def test_a_move_takes_no_place_that_is_taken(filled):
    original = listed(filled)[0]
    copy = original.model_copy(update={"id": "copy", "thread_id": "copies"})
    filled.save_messages([copy])
    filled.update_messages([MessageUpdate(id="a", thread_id="copies")])
    assert ids(listed(filled, "copies")) == ["copy", "a"]


def test_a_move_into_a_deleted_thread_is_refused(filled, backend):
    filled.delete_thread("other")
    before = backend.items()
    with pytest.raises(ThreadDeletedError):
        filled.update_messages([MessageUpdate(id="b", role="tool"), MessageUpdate(id="a", thread_id="other")])
    assert backend.items() == before


def test_mu09_what_is_not_there_is_left_out(filled, backend):
    filled.delete_thread("other")
    before = backend.items()
    assert filled.update_messages([MessageUpdate(id="none", role="tool"), MessageUpdate(id="x", role="tool")]) == []
    assert filled.update_messages([]) == []
    assert backend.items() == before
    updated = filled.update_messages([MessageUpdate(id="none", role="tool"), MessageUpdate(id="a", role="tool")])
    assert ids(updated) == ["a"]


def test_p101_messages_of_other_resources_are_not_there(filled):
    before = listed(filled, "other")
    updates = [MessageUpdate(id="x", content="stolen"), MessageUpdate(id="a", content="mine")]
    assert ids(filled.update_messages(updates, resource_id="ada")) == ["a"]
    assert listed(filled, "other") == before
    assert filled.update_messages(updates, resource_id="eve") == []


WRONG = {
    "one": lambda m: m.update_messages(MessageUpdate(id="a")),
    "a-message": lambda m: m.update_messages(m.list_messages("t").items),
    "a-dict": lambda m: m.update_messages([{"id": "a", "role": "tool"}]),
    "blank-id": lambda m: m.update_messages([MessageUpdate(id=" ", role="tool")]),
    "blank-thread": lambda m: m.update_messages([MessageUpdate(id="a", thread_id=" ")]),
    "role": lambda m: m.update_messages([MessageUpdate(id="a", role="robot")]),
    "no-content": lambda m: m.update_messages([MessageUpdate(id="a", content=None)]),
    "content": lambda m: m.update_messages([MessageUpdate(id="a", content={"a": object()})]),
    "metadata": lambda m: m.update_messages([MessageUpdate(id="a", metadata=["a"])]),
    "metadata-nan": lambda m: m.update_messages([MessageUpdate(id="a", metadata={"a": float("nan")})]),
    "metadata-blank-key": lambda m: m.update_messages([MessageUpdate(id="a", metadata={"": 1})]),
    "naive-time": lambda m: m.update_messages([MessageUpdate(id="a", created_at=datetime(2026, 1, 1))]),  # noqa: DTZ001
    "text-as-time": lambda m: m.update_messages([MessageUpdate(id="a", created_at="2026-01-01T00:00:00Z")]),
    "too-large": lambda m: m.update_messages([MessageUpdate(id="a", content="x" * 420_000)]),
    "blank-owner": lambda m: m.update_messages([MessageUpdate(id="a", role="tool")], resource_id=" "),
    "the-last-of-many": lambda m: m.update_messages(
        [*(MessageUpdate(id=f"m{n}", role="tool") for n in range(90)), MessageUpdate(id="a", role=5)]
    ),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_what_does_not_fit_is_refused_before_anything_is_sent(fake, call):
    memory = fake.store().memory
    memory.save_messages([message("a")])
    (before,) = listed(memory)
    fake.sent.clear()
    with pytest.raises(RequestError) as caught:
        call(memory)
    assert set(fake.sent.operations) <= ({"Query", "GetItem"} if call is WRONG["a-message"] else set())
    assert "420" not in str(caught.value) or isinstance(caught.value, ItemTooLargeError)
    assert listed(memory) == [before]


def test_a_message_keeps_its_expiry_and_a_moved_one_gets_a_new_one(backend):
    memory = backend.store(ttl={"message": {"default_ttl_seconds": 60}}).memory
    memory.save_messages([message("a"), message("b")])
    backend.clock.advance(seconds=50)
    memory.update_messages([MessageUpdate(id="a", role="tool"), MessageUpdate(id="b", thread_id="other")])
    backend.clock.advance(seconds=50)
    assert (ids(listed(memory)), ids(listed(memory, "other"))) == ([], ["b"])


def test_an_expired_message_is_not_there(backend):
    memory = backend.store(ttl={"message": {"default_ttl_seconds": 60}}).memory
    memory.save_messages([message("a")])
    backend.clock.advance(seconds=60)
    assert memory.update_messages([MessageUpdate(id="a", role="tool")]) == []


# What it costs, and more than a transaction holds.


def test_the_requests_of_a_change(backend):
    memory = backend.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message(f"m{number}") for number in range(20)])
    backend.clock.advance(seconds=1)
    backend.sent.clear()
    memory.update_messages([MessageUpdate(id=f"m{number}", role="tool") for number in range(20)])
    assert backend.sent.operations == ["BatchGetItem"] * 3 + ["TransactWriteItems"]


@pytest.mark.parametrize("change", [{"role": "tool"}, {"thread_id": "other", "role": "tool"}], ids=["change", "move"])
def test_more_changes_than_a_transaction_holds(fake, change):
    memory = fake.store().memory
    names = [f"m{number:03}" for number in range(130)]
    memory.save_messages([message(name) for name in names])
    updated = memory.update_messages([MessageUpdate(id=name, **change) for name in names])
    assert ids(updated) == names
    assert listed(memory, change.get("thread_id", "t")) == updated


def test_changes_of_more_bytes_than_a_transaction_takes(fake):
    memory = fake.store().memory
    names = [f"m{number}" for number in range(12)]
    memory.save_messages([message(name, content="x" * 390_000) for name in names])
    updated = memory.update_messages([MessageUpdate(id=name, content="y" * 390_000) for name in [*names, "none"]])
    assert ids(updated) == names
    assert {one.content[0] for one in listed(memory)} == {"y"}


def test_a_failure_midway_says_how_far_it_came(fake):
    memory = fake.store().memory
    names = [f"m{number:03}" for number in range(80)]
    memory.save_messages([message(name) for name in names])
    fake.faults.on_request = fail_from(2, "TransactWriteItems")
    with pytest.raises(PartialSaveError) as caught:
        memory.update_messages([MessageUpdate(id=name, role="tool") for name in names])
    fake.faults.clear()
    assert ids(caught.value.saved) == names[:50]
    assert [one.id for one in listed(memory) if one.role == "tool"] == names[:50]


def fail_from(number, operation):
    seen = []

    def hook(request):
        seen.extend([request] if request.operation == operation else [])
        return ThrottledError("refused", operation=operation) if len(seen) >= number else None

    return hook


def test_an_answer_that_was_lost_counts_once(fake):
    memory = fake.store().memory
    memory.save_messages([message("a")])
    fake.faults.lose_answer(operation="TransactWriteItems")
    (updated,) = memory.update_messages([MessageUpdate(id="a", role="tool", thread_id="other")])
    assert listed(memory, "other") == [updated]
    assert listed(memory) == []


# At the same time.


def before_the_write(fake, call):
    """Let another process make a call between the reads and the write of this one."""
    other, done = FakeBackend(database=fake.database), []
    other.clock = fake.clock

    def hook(request):
        if request.operation == "TransactWriteItems" and not done:
            done.append(request)
            call(other.store().memory)

    fake.faults.on_request = hook


MEANWHILE = {
    "another-field": (MessageUpdate(id="a", role="tool"), {"role": "tool"}),
    "metadata": (MessageUpdate(id="a", metadata={"c": 3}), {"metadata": {"c": 3}}),
    "content": (MessageUpdate(id="a", content={"extra": 1}), {"content": {"text": "x", "extra": 1}}),
    "resource": (MessageUpdate(id="a", resource_id="eve"), {"resource_id": "eve"}),
    "move": (MessageUpdate(id="a", thread_id="elsewhere"), {"thread_id": "elsewhere"}),
    "time": (MessageUpdate(id="a", created_at=START + DAY), {"created_at": START + DAY}),
}
MINE = {
    "type": (MessageUpdate(id="a", type="T"), {"type": "T"}),
    "content": (MessageUpdate(id="a", content={"text": "y"}), {"content": {"text": "y"}}),
    "metadata": (MessageUpdate(id="a", metadata={"b": 2}), {"metadata": {"b": 2}}),
    "move": (MessageUpdate(id="a", thread_id="other"), {"thread_id": "other"}),
}


@pytest.mark.parametrize(("theirs", "their_result"), MEANWHILE.values(), ids=MEANWHILE)
@pytest.mark.parametrize(("mine", "my_result"), MINE.values(), ids=MINE)
@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_p33_changes_of_different_fields_are_both_kept(fake, mine, my_result, theirs, their_result, has_row):
    memory = fake.store().memory
    if has_row:
        memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message("a", content={"text": "x"}, metadata={})])
    before_the_write(fake, lambda other: other.update_messages([theirs]))
    (updated,) = memory.update_messages([mine])
    expected = {"content": {"text": "x"}, "metadata": {}, **their_result}
    for name, value in my_result.items():
        expected[name] = {**expected[name], **value} if isinstance(value, dict) else value
    assert {name: getattr(updated, name) for name in expected} == expected
    assert memory.list_messages_by_id(["a"]) == [updated]
    assert listed(memory, updated.thread_id) == [updated]


@pytest.mark.parametrize(
    "call", [lambda m: m.delete_messages(["a"]), lambda m: m.delete_thread("t")], ids=["one", "all"]
)
@pytest.mark.parametrize("change", [{"role": "tool"}, {"thread_id": "other"}], ids=["change", "move"])
def test_a_message_that_is_deleted_meanwhile_does_not_come_back(fake, call, change):
    memory = fake.store().memory
    memory.save_messages([message("a"), message("b")])
    before_the_write(fake, call)
    assert memory.update_messages([MessageUpdate(id="a", **change)]) == []
    assert memory.list_messages_by_id(["a"]) == []


def test_p101_a_message_that_is_given_away_meanwhile_is_no_longer_changed(fake):
    memory = fake.store().memory
    memory.save_messages([message("a", resource_id="ada")])
    before_the_write(fake, lambda other: other.update_messages([MessageUpdate(id="a", resource_id="bob")]))
    assert memory.update_messages([MessageUpdate(id="a", content="new")], resource_id="ada") == []
    assert [one.content for one in listed(memory)] == [CONTENT]


def test_a_thread_that_is_deleted_before_a_move_into_it(fake):
    memory = fake.store().memory
    memory.save_messages([message("a"), message("x", "other")])
    before_the_write(fake, lambda other: other.delete_thread("other"))
    with pytest.raises(ThreadDeletedError):
        memory.update_messages([MessageUpdate(id="a", thread_id="other")])
    assert ids(listed(memory)) == ["a"]


NAMES = [f"k{number}" for number in range(12)]


def assert_all_are_kept(memory):
    (found,) = listed(memory)
    assert found.metadata == dict.fromkeys(NAMES, 1)
    assert found.content == {"metadata": dict.fromkeys(NAMES, 1)}


def test_p33_twelve_threads_change_one_message():
    database = MemoryDatabase()
    memory = DynamoDBStore("fake", transport=MemoryTransport(database)).memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message("m", content={"metadata": {}}, metadata={})])

    def change(name):
        mine = DynamoDBStore("fake", transport=MemoryTransport(database)).memory
        mine.update_messages([MessageUpdate(id="m", metadata={name: 1}, content={"metadata": {name: 1}})])

    with ThreadPoolExecutor(len(NAMES)) as threads:
        list(threads.map(change, NAMES))
    assert_all_are_kept(memory)


def test_p33_twelve_tasks_change_one_message():
    database = MemoryDatabase()

    async def change_all():
        memory = AsyncDynamoDBStore("fake", transport=AsyncMemoryTransport(database)).memory
        await memory.save_messages([message("m", content={"metadata": {}}, metadata={})])
        await asyncio.gather(
            *(
                memory.update_messages([MessageUpdate(id="m", metadata={name: 1}, content={"metadata": {name: 1}})])
                for name in NAMES
            )
        )

    asyncio.run(change_all())
    assert_all_are_kept(DynamoDBStore("fake", transport=MemoryTransport(database)).memory)


def test_p103_a_scope_changes_nothing_of_another(backend):
    store = backend.store()
    mine, theirs = store.scoped("a").memory, store.memory
    for memory in (mine, theirs):
        memory.save_thread(Thread(id="t", resource_id="ada"))
        memory.save_messages([message(name, resource_id="ada") for name in "abc"])
    before = listed(theirs), theirs.get_thread_by_id("t"), len(backend.items())
    mine.update_messages([MessageUpdate(id="a", role="tool"), MessageUpdate(id="b", thread_id="other")])
    mine.delete_messages(["c"])
    assert (ids(listed(mine)), ids(listed(mine, "other"))) == (["a"], ["b"])
    window = mine.list_messages(["t", "other"], per_page=1, include=[Include("b", previous=1, next=1)])
    assert ids(window.items) == ["a", "b"]
    assert ids(mine.list_messages_by_resource_id("ada").items) == ["a"]
    assert (mine.stats("t").items, mine.diagnose("t").items) == (1, 1)
    assert (listed(theirs), theirs.get_thread_by_id("t"), len(backend.items()) + 2) == before
