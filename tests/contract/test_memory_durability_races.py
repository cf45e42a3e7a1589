"""Messages that are saved one by one, where others act on them at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import pytest

from singletable import DynamoDBStore, PartialSaveError, ThreadDeletedError
from singletable.store.message_forms import MessageUpdate
from singletable.testing import Crash, MemoryDatabase, MemoryTransport
from tests.contract.durability import (
    CHECK,
    EACH_REQUEST,
    LATER,
    ROW,
    assert_sound,
    assert_whole,
    begun,
    contents,
    other_process,
    singly,
)
from tests.contract.support import FakeBackend
from tests.pains.support import listed, thread, turn


def before_request(fake, number, act):
    """Let another process act before the request of this number."""
    left = number

    def hook(request):
        nonlocal left
        left -= 1
        if left == 0:
            fake.faults.on_request = None
            act(other_process(fake))

    fake.faults.on_request = hook


ACTS = {
    "save": lambda other: other.save_messages(turn("a", "b", content="new")),
    "save-by-transaction": lambda other: other._memory.save_messages(turn("a", "b", content="new")),
    "save-elsewhere": lambda other: other.save_messages(turn("a", thread_id="u")),
    "save-at-another-time": lambda other: other.save_messages(turn("a", created_at=LATER)),
    "move": lambda other: other.update_messages([MessageUpdate(id="a", thread_id="u")]),
    "delete": lambda other: other.delete_messages(["a"]),
    "append": lambda other: other.save_messages(turn("x")),
    "rename": lambda other: other.update_thread("t", title="new"),
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(("name", "number"), [one for one in EACH_REQUEST if one[0] in ("new", "again", "move")])
def test_nothing_is_lost_or_doubled_where_another_acts_at_the_same_time(fake, name, number, act):
    memory, case = begun(fake, name)
    before_request(fake, number, ACTS[act] if act != "rename" or case.has_row else ACTS["append"])
    memory.save_messages(case.save)
    assert fake.faults.on_request is None
    found = listed(memory) + listed(memory, "u")
    wanted = {one.id for one in case.before + case.save} | ({"x"} if act == "append" else set())
    assert len(found) == len(set(found))
    assert set(found) | ({"a"} if act == "delete" else set()) >= wanted
    assert {one.id for one in memory.list_messages_by_id([*"abcx"])} == set(found)
    assert_sound(fake)


@pytest.mark.parametrize(("name", "number"), EACH_REQUEST)
def test_nothing_is_left_of_a_thread_that_is_deleted_at_the_same_time(fake, name, number):
    memory, case = begun(fake, name)
    before_request(fake, number, lambda other: other.delete_thread("t"))
    with suppress(ThreadDeletedError, PartialSaveError):
        memory.save_messages(case.save)
    is_deleted = any(item["_entity"]["S"] == "tombstone" for item in fake.items())
    assert is_deleted or name == "no-row"  # of which there is nothing to delete before it has a message
    for _ in range(2):
        assert contents(memory) == ([] if is_deleted else case.after)
        fake.clock.advance(days=2)
    assert_sound(fake)


def test_what_is_deleted_while_it_is_saved_does_not_come_back(fake):
    """It was stored when it was deleted, before the last request: that was after the save."""
    memory, case = begun(fake, "new")
    before_request(fake, len(case.requests), lambda other: other.delete_messages(["a"]))
    memory.save_messages(case.save)
    assert contents(memory) == [("b", "b")]


@pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])
def test_appends_from_8_threads(has_row):
    database = MemoryDatabase()
    stores = [DynamoDBStore("agents", transport=MemoryTransport(database)) for _ in range(8)]
    if has_row:
        stores[0].memory.save_thread(thread())
    names = [f"m{number:03}" for number in range(80)]

    def append(number):
        return stores[number % 8].memory.save_messages(turn(names[number]), durability="batch")

    with ThreadPoolExecutor(8) as pool:
        saved = [one for found in pool.map(append, range(80)) for one in found]
    found = stores[0].memory.list_messages("t", per_page=None).items
    assert sorted(found, key=lambda one: one.id) == saved
    assert len(database.items("agents")) == 2 * 80 + has_row


MOVES = {
    "saves": lambda memory: memory.save_messages(turn("a", "b", thread_id="u"), durability="batch"),
    "moves": lambda memory: memory.update_messages(MessageUpdate(id=one, thread_id="u") for one in "ab"),
}


@pytest.mark.parametrize("move", MOVES)
def test_messages_that_many_save_into_two_threads_are_stored_once(move):
    fake = FakeBackend()
    memories = [fake.store().memory for _ in range(8)]

    def save(number):
        if number % 2:
            return memories[number % 8].save_messages(turn("a", "b"), durability="batch")
        return MOVES[move](memories[number % 8])

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(save, range(24)))) == 24
    assert sorted(listed(memories[0]) + listed(memories[0], "u")) == ["a", "b"]
    assert_sound(fake)


def test_what_is_put_over_a_message_that_is_taken_back_goes_with_it(fake):
    """One saves a new message, a second one saves it too, a third one moves it before either has put it."""
    second, third = FakeBackend(database=fake.database), other_process(fake)
    is_about_to_put, may_put = Event(), Event()

    def before_second(request):
        if "content" in request.params.get("Item", {}):
            is_about_to_put.set()
            assert may_put.wait(10)

    def before_first(request):
        if "content" in request.params.get("Item", {}):
            saving.append(pool.submit(singly(second).save_messages, turn("a")))
            assert is_about_to_put.wait(10)
            third.save_messages(turn("a", thread_id="u"))
        elif request.operation == CHECK:
            fake.faults.on_request = None
            may_put.set()
            saving[0].result(10)

    saving = []
    second.faults.on_request, fake.faults.on_request = before_second, before_first
    with ThreadPoolExecutor(1) as pool:
        singly(fake).save_messages(turn("a"))
    assert listed(third) + listed(third, "u") == ["a"]
    assert_sound(fake)


def test_what_is_deleted_while_it_is_replaced_does_not_come_back_though_the_save_dies(fake):
    memory = singly(fake)
    memory.save_messages(turn("a"))

    def hook(request):
        if request.params.get("Item", {}).get("content") == {"S": '"new"'}:
            fake.faults.on_request = None
            other_process(fake).delete_messages(["a"])
            fake.faults.crash_before(1)

    fake.faults.on_request = hook
    with pytest.raises(Crash):
        memory.save_messages(turn("a", content="new"))
    assert listed(memory) == []
    assert_sound(fake)


def test_the_row_is_changed_by_another_while_the_answer_about_it_is_lost(fake):
    memory, case = begun(fake, "new")
    fake.faults.lose_answer(operation=ROW)

    def hook(request):
        if request.operation == "GetItem":
            fake.faults.on_request = None
            other_process(fake).update_thread("t", title="theirs")

    fake.faults.on_request = hook
    memory.save_messages(case.save)
    assert memory.get_thread_by_id("t").title == "theirs"
    assert_whole(fake, memory, case)
