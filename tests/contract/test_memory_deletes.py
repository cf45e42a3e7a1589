"""delete_messages keeps Mastra's contract (MD) on the fake and on moto, sync and async."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import RequestError, ThrottledError
from singletable.schemas import Message, Thread
from singletable.store.message_forms import MessageUpdate
from singletable.testing import Crash
from tests.contract.support import START, FakeBackend


def message(message_id, thread_id="t", **fields):
    return Message(id=message_id, thread_id=thread_id, role="user", **{"content": message_id, **fields})


def ids(found):
    return [one.id for one in found]


def listed(memory, thread_id="t"):
    return ids(memory.list_messages(thread_id, per_page=None).items)


def stored(backend):
    """The entities of all that is stored, and the messages that pointers lead to."""
    return sorted(item["_entity"]["S"] for item in backend.items())


@pytest.fixture
def filled(memory):
    """Two threads with rows, of ada and of bob, and one without."""
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_thread(Thread(id="other", resource_id="bob"))
    memory.save_messages([message(name, resource_id="ada") for name in "abcd"])
    memory.save_messages([message(name, "other", resource_id="bob") for name in "xy"])
    memory.save_messages([message("n", "no-row")])
    return memory


def test_md01_several(filled, backend):
    filled.delete_messages(["a", "c"])
    assert listed(filled) == ["b", "d"]
    assert ids(filled.list_messages_by_id([*"abcd"])) == ["b", "d"]
    assert len(stored(backend)) == 2 + 2 * 5


def test_md01_as_they_were_read(filled):
    filled.delete_messages(filled.list_messages("t").items[1:])
    assert listed(filled) == ["a"]


def test_md02_nothing(filled, backend):
    before = backend.items()
    backend.sent.clear()
    filled.delete_messages([])
    assert (backend.items(), backend.sent.requests) == (before, [])


def test_md03_what_is_not_there(filled, backend):
    before = backend.items()
    filled.delete_messages(["none", "nor"])
    assert backend.items() == before


@pytest.mark.parametrize("hours", [1, 0, -1])
def test_md04_its_thread_moves_forward_and_no_other(filled, backend, hours):
    before, other = filled.get_thread_by_id("t"), filled.get_thread_by_id("other")
    backend.clock.advance(hours=hours)
    filled.delete_messages(["a", "b"])
    after = filled.get_thread_by_id("t")
    assert after.updated_at > before.updated_at
    assert after == before.model_copy(update={"updated_at": after.updated_at})
    assert filled.get_thread_by_id("other") == other


def test_md05_of_different_threads(filled):
    before = [filled.get_thread_by_id(name).updated_at for name in ("t", "other")]
    filled.delete_messages(["a", "y", "n"])
    assert (listed(filled), listed(filled, "other"), listed(filled, "no-row")) == (["b", "c", "d"], ["x"], [])
    after = [filled.get_thread_by_id(name).updated_at for name in ("t", "other")]
    assert all(late > early for late, early in zip(after, before, strict=True))
    assert filled.get_thread_by_id("no-row") is None


def test_md06_fifty_of_a_hundred(memory, backend):
    names = [f"m{number:03}" for number in range(100)]
    memory.save_messages([message(name) for name in names])
    memory.delete_messages(names[::2])
    assert listed(memory) == names[1::2]
    assert len(backend.items()) == 100


def test_md07_some_that_are_not_there(filled):
    filled.delete_messages(["none", "b", "b", "nor", "d"])
    assert listed(filled) == ["a", "c"]


def test_the_id_of_a_deleted_message_is_free(filled):
    filled.delete_messages(["a"])
    filled.save_messages([message("a", "other", content="new")])
    assert [one.content for one in filled.list_messages_by_id(["a"])] == ["new"]


def test_a_message_that_was_moved_since_it_was_read_is_deleted_where_it_is(filled):
    (read, *_) = filled.list_messages("t").items
    filled.update_messages([MessageUpdate(id="a", thread_id="other")])
    filled.delete_messages([read])
    assert filled.list_messages_by_id(["a"]) == []


def test_p101_messages_of_other_resources_are_not_there(filled):
    other = filled.get_thread_by_id("other")
    filled.delete_messages(["a", "x", "n"], resource_id="ada")
    assert (listed(filled), listed(filled, "other"), listed(filled, "no-row")) == (["b", "c", "d"], ["x", "y"], ["n"])
    assert filled.get_thread_by_id("other") == other


def test_messages_of_a_deleted_thread_are_not_there(filled, backend):
    filled.delete_thread("t")
    before = backend.items()
    filled.delete_messages(["a"])
    assert backend.items() == before


def test_the_requests_of_a_deletion(backend):
    memory = backend.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message(f"m{number}") for number in range(33)])
    backend.clock.advance(seconds=1)
    backend.sent.clear()
    memory.delete_messages([f"m{number}" for number in range(33)])
    assert backend.sent.operations == ["BatchGetItem"] * 3 + ["TransactWriteItems"]


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.delete_messages("a"),
        lambda m: m.delete_messages(message("a")),
        lambda m: m.delete_messages(["a", 5]),
        lambda m: m.delete_messages([None]),
        lambda m: m.delete_messages(None),
        lambda m: m.delete_messages(["a", " "]),
        lambda m: m.delete_messages([*(f"m{number}" for number in range(90)), ""]),
        lambda m: m.delete_messages(["a"], resource_id=""),
        lambda m: m.delete_messages(["a"], resource_id=5),
    ],
    ids=["text", "message", "number", "none", "nothing", "blank", "last-of-many", "blank-owner", "owner"],
)
def test_what_names_no_messages_is_refused_before_anything_is_sent(fake, call):
    memory = fake.store().memory
    memory.save_messages([message("a")])
    fake.sent.clear()
    with pytest.raises(RequestError):
        call(memory)
    assert fake.sent.requests == []


# Interrupted, and at the same time.


def many(fake, count=80):
    memory = fake.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    names = [f"m{number:03}" for number in range(count)]
    memory.save_messages([message(name) for name in names])
    return memory, names


@pytest.mark.parametrize("number", range(1, 13))
def test_a_deletion_that_stopped_is_completed_by_the_next(fake, number):
    memory, names = many(fake)
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        memory.delete_messages(names[1:])
    left = listed(memory)
    assert left[0] == "m000"
    assert ids(memory.list_messages_by_id(names)) == left
    assert stored(fake).count("message") == stored(fake).count("message_by_id") == len(left)
    memory.delete_messages(names[1:])
    assert listed(memory) == ["m000"]
    assert stored(fake) == ["message", "message_by_id", "thread"]


def test_an_answer_that_was_lost_counts_once(fake):
    memory, names = many(fake, 3)
    fake.faults.lose_answer(operation="TransactWriteItems")
    memory.delete_messages(names[:2])
    assert listed(memory) == names[2:]


def test_a_failed_deletion_raises(fake):
    memory, names = many(fake, 3)
    fake.faults.throttle(None, operation="TransactWriteItems")
    with pytest.raises(ThrottledError):
        memory.delete_messages(names)
    fake.faults.clear()
    assert listed(memory) == names


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
    "move": lambda m: m.update_messages([MessageUpdate(id="m001", thread_id="other")]),
    "time": lambda m: m.update_messages([MessageUpdate(id="m001", created_at=START + timedelta(days=1))]),
    "change": lambda m: m.update_messages([MessageUpdate(id="m001", role="tool")]),
    "delete": lambda m: m.delete_messages(["m001"]),
    "delete-thread": lambda m: m.delete_thread("t"),
    "save": lambda m: m.save_messages([message("m001", content="new")]),
    "update-thread": lambda m: m.update_thread("t", title="new"),
}


@pytest.mark.parametrize("call", MEANWHILE.values(), ids=MEANWHILE)
@pytest.mark.parametrize("owner", [None, "ada"], ids=["any", "owner"])
def test_what_happens_to_a_message_meanwhile_does_not_save_it(fake, call, owner):
    memory = fake.store().memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message(name, resource_id="ada") for name in ("m000", "m001")])
    before_the_write(fake, call)
    memory.delete_messages(["m000", "m001"], resource_id=owner)
    left = ["m001"] if owner and call is MEANWHILE["save"] else []  # who saved it named no owner, so it has none now
    assert ids(memory.list_messages_by_id(["m000", "m001"])) == left
    assert listed(memory, "other") == []
    assert stored(fake).count("message_by_id") == stored(fake).count("message") == len(left)


def test_p101_a_message_that_is_given_away_meanwhile_stays(fake):
    memory = fake.store().memory
    memory.save_messages([message("a", resource_id="ada"), message("b", resource_id="ada")])
    before_the_write(fake, lambda m: m.update_messages([MessageUpdate(id="a", resource_id="bob")]))
    memory.delete_messages(["a", "b"], resource_id="ada")
    assert listed(memory) == ["a"]
