"""P64: a thread expires with its messages, where they are given no longer a life than it has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from singletable import ConfigurationError
from singletable.schemas import Thread
from singletable.store.message_forms import MessageUpdate
from tests.pains.support import ids, listed, message, thread, turn

LIFE = 60
SETTINGS = {
    "one life": {"thread": LIFE, "message": LIFE},
    "messages first": {"thread": 2 * LIFE, "message": LIFE},
    "messages alone": {"message": LIFE},
}


@pytest.mark.parametrize("part", ["message", "thread_state"])
@pytest.mark.parametrize("longer", [{"default_ttl_seconds": LIFE + 1}, {"enabled": False}], ids=["longer", "never"])
def test_p64_what_would_outlive_its_thread_is_refused(backend, part, longer):
    with pytest.raises(ConfigurationError, match=f"expires after {LIFE} seconds.*give '{part}' at most as many"):
        backend.store(ttl={"thread": {"default_ttl_seconds": LIFE}, part: longer})


def test_p64_what_is_given_no_life_has_the_one_of_its_thread(backend):
    memory = expiring(backend, thread=LIFE).memory
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    memory.set_thread_state("t", type="todo", value=1)
    due = str(int(backend.clock().timestamp()) + LIFE)
    assert {item["_entity"]["S"]: item["ttl"]["N"] for item in backend.items()} == dict.fromkeys(
        ("thread", "message", "message_by_id", "thread_state"), due
    )


def test_p64_a_thread_without_a_life_of_its_own_limits_nothing(backend):
    memory = backend.store(ttl={"thread": {"enabled": False}, "message": {"default_ttl_seconds": LIFE}}).memory
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    assert [[row is None for row in rows] for rows in stamps(backend, "t")] == [[True], [False]]


def expiring(backend, **seconds):
    return backend.store(ttl={name: {"default_ttl_seconds": value} for name, value in seconds.items()})


def stamps(backend, thread_id):
    """When the row of a thread expires, and each of its messages; None for what never does."""
    parts = [item for item in backend.items() if item["pk"] == {"S": f"conversation#{thread_id}"}]
    found = {"thread": [], "message": []}
    for item in parts:
        found[item["_entity"]["S"]].append(int(item["ttl"]["N"]) if "ttl" in item else None)
    return found["thread"], found["message"]


def everything_seen(memory):
    """All that can be seen of the conversation, by every way to it."""
    read = memory.context("t", last=9)
    return [
        *filter(None, [memory.get_thread_by_id("t"), read.thread]),
        *ids(read.messages),
        *listed(memory),
        *listed(memory, last=9),
        *ids(memory.iter_messages("t")),
        *ids(memory.list_messages_by_id(["a", "b", "c"])),
        *ids(memory.list_messages_by_resource_id("ada").items),
        *ids(memory.list_threads("ada").items),
        *ids(memory.list_threads("ada", order_by="updated_at").items),
        *range(memory.list_messages("t", include_total=True).total),
        *range(memory.list_threads("ada", include_total=True).total),
        *range(memory.stats("t").items),
    ]


def test_p64_a_thread_and_its_messages_are_gone_in_one_second(backend):
    memory = expiring(backend, thread=LIFE, message=LIFE).memory
    memory.save_thread(thread())
    backend.clock.advance(seconds=30)
    memory.save_messages(turn("a", "b", "c"))
    stored = backend.items()
    backend.clock.advance(seconds=LIFE - 1)
    assert memory.get_thread_by_id("t").id == "t"
    assert listed(memory) == ["a", "b", "c"]
    backend.clock.advance(seconds=1)
    assert everything_seen(memory) == []
    assert backend.items() == stored


@pytest.mark.parametrize("seconds", SETTINGS.values(), ids=SETTINGS)
def test_p64_a_conversation_that_goes_on_keeps_its_thread_longer_than_any_message(backend, seconds):
    memory = expiring(backend, **seconds).memory
    memory.save_thread(thread())
    for name in "abcdef":
        backend.clock.advance(seconds=20)
        memory.save_messages(turn(name))
        assert memory.get_thread_by_id("t") is not None
        assert listed(memory) == [one for one in "abcdef" if one <= name][-3:]


@pytest.mark.parametrize("seconds", SETTINGS.values(), ids=SETTINGS)
def test_p64_what_has_expired_does_not_come_back_with_a_new_thread_of_its_id(backend, seconds):
    memory = expiring(backend, **seconds).memory
    memory.save_thread(thread(title="old"))
    memory.save_messages(turn("a", "b"))
    backend.clock.advance(seconds=2 * LIFE)
    memory.save_thread(thread(title="new"))
    assert memory.context("t").messages == []
    memory.save_messages(turn("c"))
    assert (memory.get_thread_by_id("t").title, listed(memory)) == ("new", ["c"])


WRITES = {
    "save a message": lambda m: m.save_messages(turn("new")),
    "save one again": lambda m: m.save_messages(turn("a", content="again")),
    "move one by saving": lambda m: m.save_messages(turn("other", thread_id="t")),
    "move one by an update": lambda m: m.update_messages([MessageUpdate(id="other", thread_id="t")]),
    "change a message": lambda m: m.update_messages([MessageUpdate(id="a", content="changed")]),
    "delete a message": lambda m: m.delete_messages(["a"]),
    "save the thread": lambda m: m.save_thread(thread(title="again")),
    "change the thread": lambda m: m.update_thread("t", metadata={"a": 1}),
    "change its metadata": lambda m: m.update_thread_metadata("t", resource_id="ada", update=lambda _: {"a": 1}),
    "give it away": lambda m: m.transfer_thread("t", to_resource_id="bob"),
    "copy into it": lambda m: m.copy_thread("source", new_thread_id="copy"),
    "clone it": lambda m: m.clone_thread("source", new_thread_id="copy"),
}


@pytest.mark.parametrize("seconds", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_p64_no_write_lets_a_message_outlive_its_thread(backend, seconds, write):
    memory = expiring(backend, **seconds).memory
    for name, inside in (("t", turn("a", "b")), ("source", turn("c", thread_id="source"))):
        memory.save_thread(thread(name))
        memory.save_messages(inside)
    memory.save_messages([message("other", "elsewhere")])
    backend.clock.advance(seconds=LIFE // 2)
    write(memory)
    seen = {item["threadId"]["S"] for item in backend.items() if item["_entity"] == {"S": "message"}}
    for one in seen - {"elsewhere"}:
        (row,), messages = stamps(backend, one)
        assert messages
        assert all(row is None or (due is not None and due <= row) for due in messages)


def test_p64_messages_that_go_first_say_when(backend):
    memory = expiring(backend, thread=2 * LIFE, message=LIFE).memory
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    due = datetime.fromtimestamp(int(backend.clock().timestamp()) + LIFE, UTC)
    assert memory.stats("t").next_expiry == due
    backend.clock.advance(seconds=LIFE)
    assert isinstance(memory.get_thread_by_id("t"), Thread)
    assert (listed(memory), memory.stats("t").items) == ([], 0)


def test_p64_a_message_goes_with_its_pointer(backend):
    memory = expiring(backend, message=LIFE).memory
    memory.save_messages(turn("a"))
    backend.clock.advance(seconds=30)
    memory.save_messages(turn("b"))
    memory.save_messages(turn("a", content="again"))
    memory.save_messages(turn("b", thread_id="other"))
    pairs = {}
    for item in backend.items():
        pairs.setdefault(item["id"]["S"] if "id" in item else item["pk"]["S"].rpartition("#")[2], []).append(item)
    assert {name: [item["ttl"] for item in items] for name, items in pairs.items()} == {
        name: [{"N": str(int(backend.clock().timestamp()) + LIFE)}] * 2 for name in "ab"
    }


def test_p64_a_deletion_is_not_undone_by_expiry(backend):
    """The tombstone outlives what was in the thread, whatever lives its parts were given."""
    memory = expiring(backend, thread=LIFE, message=LIFE).memory
    memory.save_thread(thread())
    memory.save_messages(turn("a", "b", "c"))
    memory.delete_thread("t")
    for _ in range(3):
        assert everything_seen(memory) == []
        backend.clock.advance(seconds=LIFE)
