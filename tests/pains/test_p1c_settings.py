"""P1c: a wrong setting is an error when the store is made, and never a memory that seems empty."""

from __future__ import annotations

import pytest

from singletable import AsyncDynamoDBStore, ConfigurationError, CorruptItemError, DynamoDBStore, Request
from singletable.testing import MemoryTransport
from tests.contract.users import ADA, TTL_NAMES, all_expire, fill
from tests.pains.support import ids, listed, thread, turn

NAMES = ["thread", "message", "trace", "evaluation", "eval", "workflow_snapshot", "resource", "score", "session"]
"""What the `ttl` setting may name; `eval` is Mastra's word for an evaluation."""


def entry(attribute=None, **fields):
    return {"default_ttl_seconds": 60, **fields, **({} if attribute is None else {"attribute_name": attribute})}


@pytest.mark.parametrize("kind", [DynamoDBStore, AsyncDynamoDBStore])
@pytest.mark.parametrize("second", [*NAMES, "blob", "thread_state", "tombstone"])
def test_p1c_a_second_attribute_is_refused_whatever_entity_names_it(kind, second):
    first = "message" if second == "thread" else "thread"
    other = {"enabled": False, "attribute_name": "expiresAt"} if second == "blob" else entry("expiresAt")
    for ttl in ({first: entry(), second: other}, {second: other, first: entry("ttl")}):
        with pytest.raises(ConfigurationError, match="one TTL attribute, but expiresAt and ttl are asked for"):
            kind("agents", transport=MemoryTransport(), ttl=ttl)


@pytest.mark.parametrize("spelling", ["attribute_name", "attributeName"])
def test_p1c_one_attribute_may_be_named_by_all(spelling, fake):
    ttl = {name: {"default_ttl_seconds": 60, spelling: "expiresAt"} for name in NAMES if name != "eval"}
    ttl |= {"blob": {"enabled": False, spelling: "expiresAt"}, "thread_state": entry("expiresAt")}
    fill(fake.store(ttl=ttl), ADA, "x")
    due = {"N": str(int(fake.clock().timestamp()) + 60)}
    assert {str(item.get("expiresAt")) for item in fake.items()} == {str(due)}
    assert not any("ttl" in item for item in fake.items())


WITH_IT = {
    "eval": {"evaluation"},
    "message": {"message", "message_by_id"},
    "session": {"session", "event"},
    "thread": {"thread", "thread_state", "message", "message_by_id"},
}
"""What expires with an entity: its other name, its pointers, what is in it."""


@pytest.mark.parametrize("name", NAMES)
def test_p1c_the_entity_that_is_named_expires_and_no_other(fake, name):
    fill(fake.store(ttl={name: entry()}), ADA, "x")
    stamped = {item["_entity"]["S"] for item in fake.items() if "ttl" in item}
    assert stamped == WITH_IT.get(name, {name})


def test_p1c_an_entity_has_one_of_its_two_names():
    with pytest.raises(ConfigurationError, match="eval and evaluation"):
        DynamoDBStore("agents", transport=MemoryTransport(), ttl={"eval": entry(), "evaluation": entry()})


@pytest.mark.parametrize("name", ["Thread", "threads", "workflowSnapshot", "workflow_run", "", "eval "])
def test_p1c_a_name_that_is_none_is_refused_with_the_names_there_are(name):
    with pytest.raises(ConfigurationError) as caught:
        DynamoDBStore("agents", transport=MemoryTransport(), ttl={name: entry()})
    assert all(valid in str(caught.value) for valid in TTL_NAMES)


def test_p1c_a_reader_that_looks_for_the_expiry_elsewhere_misses_nothing(fake):
    """The worst that another attribute does is to show what has expired: it hides nothing that is there."""
    fake.store(ttl=all_expire(60)).memory.save_messages(turn("a", "b"))
    reader = fake.store(ttl={"message": entry("expiresAt")})
    assert listed(reader.memory) == ["a", "b"]
    fake.clock.advance(seconds=61)
    assert listed(reader.memory) == ["a", "b"]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda item: item.pop("role"),
        lambda item: item.update(role={"S": "nobody"}),
        lambda item: item.update(content={"N": "1"}),
    ],
    ids=["missing", "not-valid", "of-another-type"],
)
def test_p1c_an_item_that_cannot_be_read_is_an_error_and_no_empty_list(fake, spoil):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("a"))
    (item,) = (one for one in fake.items() if one["_entity"] == {"S": "message"})
    spoil(item)
    fake.database.execute(Request("PutItem", {"TableName": fake.table_name, "Item": item}))
    for read in (
        lambda: memory.context("t"),
        lambda: listed(memory),
        lambda: ids(memory.iter_messages("t")),
        lambda: memory.list_messages_by_id(["a"]),
    ):
        with pytest.raises(CorruptItemError):
            read()
