"""P82: what a released version stored is read by this one, and stored again as it was."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from singletable import Request, Table
from singletable.compile import nested_in
from singletable.declare import AccessPath
from singletable.items import key_of
from singletable.schemas import (
    Blob,
    BlobEntry,
    BlobFolder,
    BlobPiece,
    BlobUpload,
    Evaluation,
    Event,
    Lease,
    Message,
    Resource,
    Score,
    Session,
    SessionTurn,
    Span,
    Thread,
    ThreadState,
    Tombstone,
    WorkflowSnapshot,
)
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryTransport


def with_bytes(value):
    """A value in typed JSON, whose bytes are base64 in the file."""
    return {"B": b64decode(value["B"])} if value.keys() == {"B"} else value


TEXT = (Path(__file__).parents[1] / "golden" / "items.json").read_text("utf-8")
GOLDEN = json.loads(TEXT, object_hook=with_bytes)["items"]
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
    "blob": Blob(
        path="users/Ada Å/a#b.txt",
        etag="5f0c",
        size=3,
        digest="ab" * 32,
        encoding="gzip",
        content=b"\x00\xff\x1f",
        created_at=NOON,
    ),
    "blob-pieces": Blob(
        path="p",
        etag="5f0d",
        size=400_000,
        digest="cd" * 32,
        payload="9f2c",
        place="s3",
        piece_bytes=393_216,
        created_at=NOON,
    ),
    "blob_entry": BlobEntry(folder="/users/Ada Å", path="users/Ada Å/a#b.txt"),
    "blob_folder": BlobFolder(folder="/users/Ada Å", touched_at=NOON),
    "blob_piece": BlobPiece(payload="9f2c", number=12, content=b"\x00\xff"),
    "blob_upload": BlobUpload(
        shelf="07", started_at=NOON, payload="9f2c", path="p", replaced="9f2b", needs_bucket=True, is_given_up=True
    ),
    "lease": Lease(
        name="session/Ada Å/1",
        token=1796040000120,
        holder="5f0c",
        ttl_seconds=30,
        ends_at=NOON + timedelta(seconds=30),
    ),
    "session": Session(
        actor_id="Ada Å",
        session_id="s#1",
        state={"cart": [1, 1.0, None], "nested": NESTED},
        version=2,
        turns=[
            SessionTurn(id="t#1", version=1),
            SessionTurn(id="t#2", version=2, request="5f0c", result_text='{"reply":"yes"}'),
        ],
        created_at=NOON,
        changed_at=NOON + timedelta(seconds=1),
    ),
    "event": Event(actor_id="Ada Å", session_id="s#1", order=ORDER, data={"tool": "search"}, created_at=NOON),
    "tombstone": Tombstone(thread_id="t#1", deleted_at=NOON, done_at=NOON + timedelta(seconds=1)),
    "thread_state": ThreadState(
        thread_id="t#1", type="plan", value={"steps": [1, 1.0], "nested": NESTED}, created_at=NOON, updated_at=NOON
    ),
    "workflow_snapshot": WorkflowSnapshot(
        workflow_name="book",
        run_id="r#1",
        resource_id="Ada Å",
        thread_id="t#1",
        status="suspended",
        owner="worker-1",
        snapshot={"status": "suspended", "context": {"search": {"output": [1, 1.0, None]}}},
        created_at=NOON,
        updated_at=NOON + timedelta(seconds=1),
    ),
    "score": Score(
        id="s#1",
        scorer_id="tone",
        run_id="r#1",
        scorer={"name": "tone"},
        score=0.75,
        input=[{"role": "user"}],
        output={"text": "yes"},
        source="LIVE",
        entity_type="AGENT",
        entity_id="guide",
        trace_id="tr",
        span_id="sp",
        resource_id="Ada Å",
        organization_id="org",
        metadata={"n": 1},
        created_at=NOON,
        updated_at=NOON,
    ),
    "evaluation": Evaluation(
        id="e#1",
        agent_name="guide",
        metric_name="toxicity",
        input="hello",
        output={"text": "hi"},
        result={"score": 0.5, "info": {"reason": "polite"}},
        run_id="r#1",
        resource_id="Ada Å",
        created_at=NOON,
    ),
    "trace": Span(
        trace_id="tr#1",
        span_id="sp#1",
        name="agent run",
        span_type="agent_run",
        started_at=NOON,
        ended_at=NOON + timedelta(seconds=2),
        entity_type="agent",
        entity_id="guide",
        resource_id="Ada Å",
        tags=["prod"],
        metadata={"n": 1},
        attributes={"model": "m", "temperature": 0.0},
        links=[{"traceId": "other"}],
        input=[{"role": "user", "content": "hi"}],
        output="done",
        created_at=NOON,
        updated_at=NOON,
        listing="root_anchor",
        shard="0",
        arrival=ORDER,
        input_preview="hi",
    ),
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
    marked = [{**item, "_write": "any"} if "_write" in item else item for item in items]
    return [json.dumps(item, sort_keys=True, default=bytes.hex) for item in marked]


def unversioned(entity):
    """An entity without the id of the write that made it, where it has a field for that."""
    name = entity.spec.automatic.get("version")
    return entity.model_copy(update={name: ""}) if name else entity


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
    assert unversioned(table(transport).get(key_of(entity))) == entity


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
    assert [[unversioned(one) for one in way] for way in ways] == [[entity]] * len(ways)
    assert len(ways) == len(paths(entity)) + len(entity.spec.lookups)


def paths(entity):
    return [path.__name__ for path in nested_in(type(entity), AccessPath)]


def test_p82_each_entity_has_a_golden_item():
    stored = [item for items in GOLDEN.values() for group in items.values() for item in group]
    lookups = {lookup.pk.prefix for entity in ENTITIES for lookup in entity.spec.lookups.values()}
    assert {item["_entity"]["S"] for item in stored} == {entity.spec.name for entity in ENTITIES} | lookups
    assert {name for _, name in STORED} == set(EXAMPLES)
