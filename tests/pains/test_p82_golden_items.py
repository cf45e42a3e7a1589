"""P82: what a released version stored is read by this one, and stored again as it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from singletable import Request, Table
from singletable.items import key_of
from singletable.schemas import Message, Resource, Thread, Tombstone
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryTransport

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "items.json").read_text("utf-8"))["items"]
NOON = datetime(2026, 11, 30, 12, 0, 0, 120_000, tzinfo=UTC)
ORDER = "01796089440213413-0000-2fe24d"
NESTED = {"tags": ["a", 1, 1.5, None, True], "deep": {"": "blank key", "é😀": [[]]}}
EXAMPLES = {
    "thread": Thread(
        id="t#1",
        resource_id="Ada Å",
        title="Trip",
        metadata={"tag": "x", "n": 3},
        created_at=NOON,
        updated_at=NOON + timedelta(seconds=5),
    ),
    "thread-bare": Thread(id="t", resource_id="ada", created_at=NOON, updated_at=NOON),
    "message": Message(
        id="m%1",
        thread_id="t#1",
        resource_id="Ada Å",
        role="user",
        content="Is Oslo nice in May?\nYes – é😀",
        created_at=NOON,
        order=ORDER,
    ),
    "message-json": Message(
        id="m2",
        thread_id="t",
        role="tool",
        type="tool-result",
        content=[{"type": "text", "text": "", "score": 1.0, "n": 2**53}, {"args": NESTED}],
        metadata={"tokens": 12, "model": "x"},
        created_at=NOON,
        order=ORDER,
    ),
    "resource": Resource(
        id="Ada Å", working_memory="# Ada\n- likes Oslo", metadata={"plan": "pro"}, created_at=NOON, updated_at=NOON
    ),
    "resource-bare": Resource(id="ada", created_at=NOON, updated_at=NOON),
    "tombstone": Tombstone(thread_id="t#1", deleted_at=NOON, done_at=NOON + timedelta(seconds=1)),
}
STORED = [(version, name) for version, items in GOLDEN.items() for name in items]


def table(transport):
    return Table("t", transport, entities=ENTITIES, clock=lambda: NOON)


def written(entity):
    """What this version stores of an entity: its item, and its pointers."""
    transport = MemoryTransport()
    table(transport).put(entity)
    return transport.database.items("t")


def without_write_id(items):
    """As text, so that nothing counts as equal that is not written alike."""
    return [json.dumps({**item, "_write": "any"} if "_write" in item else item, sort_keys=True) for item in items]


@pytest.fixture(params=STORED, ids="-".join)
def stored(request):
    """An entity, and a table in which a released version stored it."""
    version, name = request.param
    transport = MemoryTransport()
    for item in GOLDEN[version][name]:
        transport.send(Request("PutItem", {"TableName": "t", "Item": item}))
    return EXAMPLES[name], transport, GOLDEN[version][name]


def test_p82_a_golden_item_is_read(stored):
    entity, transport, _ = stored
    assert table(transport).get(key_of(entity)) == entity


def test_p82_a_golden_item_is_written_again_as_it_was(stored):
    entity, transport, items = stored
    read = table(transport).get(key_of(entity))
    table(transport).put(read)
    assert without_write_id(transport.database.items("t")) == without_write_id(items)


def test_p82_this_version_writes_an_entity_as_it_was_written(stored):
    entity, _, items = stored
    assert without_write_id(written(entity)) == without_write_id(items)


def test_p82_a_golden_item_is_found_by_every_way_to_it(stored):
    entity, transport, _ = stored
    found = table(transport)
    ways = [found.query(getattr(type(entity), name).of(entity)).all() for name in paths(entity)]
    ways += [[found.get(getattr(type(entity), name).of(entity))] for name in entity.spec.lookups]
    assert ways == [[entity]] * (len(paths(entity)) + len(entity.spec.lookups))


def paths(entity):
    return [name for name in ("Key", "InThread", "ByResource", "ByActivity") if hasattr(type(entity), name)]


def test_p82_each_entity_has_a_golden_item():
    stored = [item for items in GOLDEN.values() for group in items.values() for item in group]
    lookups = {lookup.pk.prefix for entity in ENTITIES for lookup in entity.spec.lookups.values()}
    assert {item["_entity"]["S"] for item in stored} == {entity.spec.name for entity in ENTITIES} | lookups
    assert {name for _, name in STORED} == set(EXAMPLES)
