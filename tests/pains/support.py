"""Short ways to say what the tests of this folder say often."""

from __future__ import annotations

from singletable.schemas import Message, Thread
from singletable.testing import MemoryDatabase
from tests.contract.support import FakeBackend


def thread(thread_id="t", **fields):
    return Thread(id=thread_id, resource_id="ada", **fields)


def message(message_id, thread_id="t", **fields):
    return Message(**{"id": message_id, "thread_id": thread_id, "role": "user", "content": message_id, **fields})


def turn(*names, thread_id="t", **fields):
    return [message(name, thread_id, **fields) for name in names]


def ids(found):
    return [one.id for one in found]


def listed(memory, thread_id="t", **options):
    return ids(memory.list_messages(thread_id, **{"per_page": None, **options}).items)


def another(backend: FakeBackend, database: MemoryDatabase | None = None) -> FakeBackend:
    """Another process with the same database and the same clock, always sync: it may be used inside a hook."""
    other = FakeBackend(database=database or backend.database)
    other.clock = backend.clock
    return other
