"""P91: a thread of 10,000 messages is deleted by a process that dies again and again, and by those that come after."""

from __future__ import annotations

from random import Random

import pytest

from singletable import Request, ThreadDeletedError
from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES
from singletable.testing import Crash, MemoryDatabase
from tests.contract.support import FakeBackend
from tests.pains.support import another, ids, listed, message, thread, turn

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])
COUNT = 10_000
REQUESTS = 2 * COUNT // 50
"""What a deletion that nobody stops takes, about."""
pytestmark = pytest.mark.no_cover  # long, and it takes three times as long where it is measured


def name(number):
    return f"m{number:05}"


def fill(fake):
    """The thread with all its messages: one is saved, and its items are stored again under other names."""
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_thread(thread("kept"))
    memory.save_messages([message(name(0))])
    first = [item for item in fake.items() if "message" in item["_entity"]["S"]]
    assert len(first) == 2
    others = [_renamed(item, number) for number in range(1, COUNT) for item in first]
    for start in range(0, len(others), 25):
        puts = [{"PutRequest": {"Item": item}} for item in others[start : start + 25]]
        fake.database.execute(Request("BatchWriteItem", {"RequestItems": {fake.table_name: puts}}))


def _renamed(item, number):
    """The message, or its pointer, of another id and a later order: its place is text in keys and fields alike."""

    def renamed(value):
        text = value["S"].replace(name(0), name(number)).replace("-0000-", f"-{number:04}-")
        return {"S": text}

    return {key: renamed(value) if "S" in value else value for key, value in item.items()}


def visible(memory):
    """What can be seen of the thread, by every way to it."""
    read = memory.context("t", last=2)
    return [
        memory.get_thread_by_id("t"),
        read.thread,
        *read.messages,
        *ids(memory.list_messages("t", per_page=2).items),
        *ids(memory.list_messages("t", last=2).items),
        *ids(memory.list_messages_by_id([name(0), name(COUNT // 2), name(COUNT - 1)])),
        *(one for one in ids(memory.list_threads("ada").items) if one == "t"),
    ]


def test_p91_nothing_is_seen_from_the_first_write_on_and_nothing_is_left():
    fake, random = FakeBackend(database=MemoryDatabase.for_table(TABLE)), Random(91)
    fill(fake)
    memory, watcher = fake.store().memory, another(fake).store().memory
    assert ids(memory.list_messages("t", last=2).items) == [name(COUNT - 2), name(COUNT - 1)]
    assert len(visible(memory)) == 1 + 1 + 2 + 2 + 2 + 3 + 1
    written, watched = [], []

    def watch(request):
        """Before each request: has anything come back since the first write?"""
        if written and random.random() < 0.05:
            watched.append(request)
            assert visible(watcher) == [None, None]
        if request.operation != "Query":
            written.append(request)

    fake.faults.on_request = watch
    deaths = [3, *(random.randrange(2, REQUESTS // 10) for _ in range(5))]
    for number in deaths:
        fake.faults.crash_before(number)
        with pytest.raises(Crash):
            memory.delete_thread("t")
        assert visible(watcher) == [None, None]
        with pytest.raises(ThreadDeletedError):
            watcher.save_messages(turn("late"))
    assert COUNT < len(fake.items()) < 2 * COUNT
    memory.delete_thread("t")
    assert len(watched) > 5
    assert sorted(item["_entity"]["S"] for item in fake.items()) == ["thread", "tombstone"]
    assert visible(watcher) == [None, None]
    assert ids(watcher.list_threads("ada").items) == ["kept"]
    assert listed(watcher, "kept") == []
