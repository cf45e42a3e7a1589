"""Messages that are saved one by one: how tests save them, and what they look at afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from singletable.schemas import Message, Thread
from singletable.specs import TARGET
from tests.contract.support import START, FakeBackend
from tests.pains.support import turn

LATER = START + timedelta(days=1)


def contents(memory, thread_id="t"):
    return [(one.id, one.content) for one in memory.list_messages(thread_id, per_page=None).items]


class Singly:
    """A memory that saves messages one by one."""

    def __init__(self, memory):
        self._memory = memory

    def __getattr__(self, name):
        return getattr(self._memory, name)

    def save_messages(self, messages):
        return self._memory.save_messages(messages, durability="batch")


def singly(backend, **settings):
    return Singly(backend.store(**settings).memory)


def other_process(fake, *, behind=timedelta()):
    other = FakeBackend(database=fake.database)
    other.clock.now = fake.clock.now - behind
    return singly(other)


def place(item):
    return item["pk"]["S"], item["sk"]["S"]


def assert_sound(backend):
    """Every message has one pointer, which says where it is, and every pointer a message."""
    items = backend.items()
    places = sorted(place(item) for item in items if item["_entity"]["S"] == "message")
    targets = sorted((item[TARGET[0]]["S"], item[TARGET[1]]["S"]) for item in items if TARGET[0] in item)
    assert places == targets


@dataclass
class Case:
    before: list[Message]
    save: list[Message]
    has_row: bool
    requests: list[str]
    after: list[tuple[str, str]]
    others: list[tuple[str, str]] = ()


READ, ROW, PUT, CHECK, MANY = "Query", "UpdateItem", "PutItem", "BatchGetItem", "TransactWriteItems"
CASES = {
    "new": Case([], turn("a", "b"), True, [READ, ROW, *[PUT] * 4, CHECK], [("a", "a"), ("b", "b")]),
    "no-row": Case([], turn("a", "b"), False, [READ, *[PUT] * 4, CHECK], [("a", "a"), ("b", "b")]),
    "again": Case(
        turn("a", "b"),
        turn("a", "b", content="new"),
        True,
        [READ, ROW, PUT, CHECK, *[PUT] * 4],
        [("a", "new"), ("b", "new")],
    ),
    "mixed": Case(
        turn("a", "b"),
        turn("b", "c", content="new"),
        False,
        [READ, PUT, CHECK, *[PUT] * 4, CHECK],
        [("a", "a"), ("b", "new"), ("c", "new")],
    ),
    "move": Case(
        turn("a", "b", thread_id="u"),
        turn("a", "c", content="new"),
        True,
        [READ, ROW, PUT, CHECK, MANY, PUT, PUT, CHECK],
        [("a", "new"), ("c", "new")],
        [("b", "b")],
    ),
    "given-times": Case(
        turn("a", created_at=LATER),
        turn("b", "c", created_at=START),
        True,
        [READ, ROW, *[PUT] * 4, CHECK],
        [("b", "b"), ("c", "c"), ("a", "a")],
    ),
}
EACH_REQUEST = [(name, number) for name, case in CASES.items() for number in range(1, len(case.requests) + 1)]


def begun(fake, name):
    """A memory and a case, with what is stored before its save."""
    case, memory = CASES[name], singly(fake)
    if case.has_row:
        memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages(case.before)
    fake.sent.clear()
    return memory, case


def assert_whole(fake, memory, case):
    assert contents(memory) == case.after
    assert contents(memory, "u") == list(case.others)
    by_id = {one.id: one.content for one in memory.list_messages_by_id([*"abc"])}
    assert by_id == dict([*case.after, *case.others])
    assert_sound(fake)
