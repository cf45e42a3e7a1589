"""Items that were stored before an entity got its index or its map."""

from __future__ import annotations

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    Entity,
    Index,
    JsonObject,
    Map,
    OutdatedItemError,
    Pk,
    PrimaryKey,
    Request,
    SkRange,
    Table,
    merge,
)
from singletable.testing import MemoryTransport


class Before(Entity, entity="job", version=1):
    id: str
    status: str

    class Key(PrimaryKey["Before"]):
        id: Pk[str]


class After(Entity, entity="job", version=2):
    id: str
    status: str
    size: int = 0
    metadata: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["After"]):
        id: Pk[str]

    class ByStatus(Index["After"], on="gsi1"):
        status: Pk[str]
        size: SkRange[int] = None

    class Patch(Changes["After"]):
        status: Change[str] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP


@pytest.fixture
def transport():
    transport = MemoryTransport()
    Table("t", transport, entities=[Before]).create(Before(id="a", status="new"))
    return transport


def test_an_update_never_leaves_half_an_index_key(transport):
    table = Table("t", transport, entities=[After])
    with pytest.raises(OutdatedItemError, match="lacks gsi1sk"):
        table.update(After.Key(id="a"), After.Patch(status="done"))
    key = {"pk": {"S": "job#a"}, "sk": {"S": "job#"}}
    stored = transport.send(Request("GetItem", {"TableName": "t", "Key": key}))["Item"]
    assert "gsi1pk" not in stored
    table.put(After(id="a", status="new"))
    assert table.update(After.Key(id="a"), After.Patch(status="done")).status == "done"
    assert table.query(After.ByStatus(status="done")).count() == 1


def test_a_merge_into_a_map_that_was_never_stored_makes_it(transport):
    table = Table("t", transport, entities=[After])
    assert table.update(After.Key(id="a"), After.Patch(metadata=merge({"x": 1}))).metadata == {"x": 1}


class Textual(Entity, entity="sheet", version=1):
    id: str
    cells: JsonObject = Field(default_factory=dict)

    class Key(PrimaryKey["Textual"]):
        id: Pk[str]


class Mapped(Entity, entity="sheet", version=1):
    id: str
    cells: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Mapped"]):
        id: Pk[str]


@pytest.mark.parametrize(("old", "new"), [(Textual, Mapped), (Mapped, Textual)], ids=["to map", "to text"])
def test_json_is_read_whichever_way_it_was_stored(old, new):
    transport = MemoryTransport()
    Table("t", transport, entities=[old]).create(old(id="a", cells={"A1": [1, "x", None]}))
    table = Table("t", transport, entities=[new])
    found = table.get(new.Key(id="a"))
    assert found.cells == {"A1": [1, "x", None]}
    table.put(found)
    assert table.get(new.Key(id="a")) == found
