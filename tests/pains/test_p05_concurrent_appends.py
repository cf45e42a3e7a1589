"""P05: messages that are appended at the same time do not overwrite each other."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from singletable import AsyncDynamoDBStore, DynamoDBStore
from singletable.schemas import Score
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests.pains.support import another, ids, listed, thread, turn

NAMES = [f"m{number:03}" for number in range(100)]
with_and_without_row = pytest.mark.parametrize("has_row", [True, False], ids=["row", "no-row"])


def new_store(database):
    return DynamoDBStore("agents", transport=MemoryTransport(database))


@with_and_without_row
@pytest.mark.parametrize("shared", [True, False], ids=["one-store", "eight-stores"])
def test_p05_100_appends_from_8_threads(has_row, shared):
    database = MemoryDatabase()
    stores = [new_store(database)] * 8 if shared else [new_store(database) for _ in range(8)]
    if has_row:
        stores[0].memory.save_thread(thread())

    def append(number):
        return stores[number % 8].memory.save_messages(turn(NAMES[number]))

    with ThreadPoolExecutor(8) as pool:
        saved = [one for found in pool.map(append, range(100)) for one in found]
    found = stores[0].memory.list_messages("t", per_page=None).items
    assert sorted(ids(found)) == NAMES
    assert sorted(found, key=lambda one: one.id) == saved


@with_and_without_row
def test_p05_100_appends_from_100_tasks(has_row):
    database = MemoryDatabase()
    store = AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport(database))

    async def append_all():
        if has_row:
            await store.memory.save_thread(thread())
        await asyncio.gather(*(store.memory.save_messages(turn(name)) for name in NAMES))

    asyncio.run(append_all())
    assert sorted(listed(new_store(database).memory)) == NAMES


def test_p05_the_row_of_the_thread_keeps_what_others_write():
    database = MemoryDatabase()
    store = new_store(database)
    store.memory.save_thread(thread(metadata={"old": 1}))

    def work(number):
        if number % 2:
            return store.memory.save_messages(turn(NAMES[number]))
        return store.memory.update_thread("t", metadata={NAMES[number]: number})

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(work, range(24)))) == 24
    found = store.memory.context("t", last=20)
    assert found.thread.metadata == {"old": 1} | {NAMES[number]: number for number in range(0, 24, 2)}
    assert sorted(ids(found.messages)) == NAMES[1:24:2]


def test_p05_one_message_that_is_saved_by_many_is_stored_once():
    database = MemoryDatabase()
    store = new_store(database)
    with ThreadPoolExecutor(8) as pool:
        saved = list(pool.map(lambda _: store.memory.save_messages(turn("same")), range(16)))
    assert listed(store.memory) == ["same"]
    assert len({found[0].order for found in saved}) == 1
    assert len(database.items("agents")) == 2


OVERTAKEN = {
    "a message": lambda store, n: store.memory.save_messages(turn(f"m{n}")),
    "one message": lambda store, n: store.memory.save_messages(
        turn("same", thread_id=f"t{n % 2}", content=f"{n}"), durability="batch"
    ),
    "metadata": lambda store, n: store.memory.update_thread_metadata("t", resource_id="ada", update=lambda _: {"n": n}),
    "a resource": lambda store, n: store.memory.update_resource("ada", metadata={"n": n}),
    "a state": lambda store, n: store.memory.set_thread_state("t", type="todo", value=n),
    "a score": lambda store, n: store.scores.save_score(
        Score(id="s", scorer_id="x", run_id="r", entity_id="e", scorer={}, output={}, source="TEST", score=n)
    ),
}


@pytest.mark.parametrize("change", OVERTAKEN.values(), ids=OVERTAKEN)
def test_p05_a_change_that_others_overtake_twelve_times_comes_through(fake, monkeypatch, change):
    """At each request that writes, another process makes the same change first."""
    monkeypatch.setattr("singletable.retry.random.uniform", lambda _low, _high: 0)  # no pause is worth the wait here
    store, other, left = fake.store(), another(fake).store(), iter(range(1, 13))
    store.memory.save_thread(thread())
    change(store, 100)

    def overtake(request):
        if request.operation in ("TransactWriteItems", "PutItem", "UpdateItem") and (number := next(left, None)):
            change(other, number)

    fake.faults.on_request = overtake
    change(store, 101)
    assert next(left, None) is None
