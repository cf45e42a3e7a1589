"""What does not fit is never stored knowingly, and is told by key without its content when it is met."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, Field

from singletable import KEEP, Change, Changes, CorruptItemError, Entity, Pk, PrimaryKey, RequestError, Table, append
from singletable.items import check_projection, from_item, from_projection, to_item
from singletable.testing import MemoryTransport


class Tally(Entity, entity="tally", version=1):
    id: str
    count: int = 0
    words: list[str] = Field(default_factory=list)
    counts: dict[str, int] = Field(default_factory=dict)

    class Key(PrimaryKey["Tally"]):
        id: Pk[str]

    class Patch(Changes["Tally"]):
        count: Change[int] = KEEP
        words: Change[list[str]] = KEEP


class Renamed(BaseModel):
    count: int = Field(alias="total")


def test_an_item_without_a_version_is_told_by_its_key():
    item = to_item(Tally(id="a"))
    del item["_version"]
    with pytest.raises(CorruptItemError) as caught:
        from_item(Tally, item, "ttl")
    assert caught.value.key == {"pk": {"S": "tally#a"}, "sk": {"S": "tally#"}}


def test_the_keys_of_a_stored_map_are_content_and_not_told():
    item = to_item(Tally(id="a")) | {"counts": {"M": {"ada@example.com": {"S": "x"}}}}
    with pytest.raises(CorruptItemError, match="counts") as caught:
        from_item(Tally, item, "ttl")
    assert "ada@example.com" not in str(caught.value)


def test_a_type_that_dynamodb_does_not_have_is_told():
    with pytest.raises(CorruptItemError, match="a stored tally does not fit"):
        from_item(Tally, to_item(Tally(id="a")) | {"count": {"X": "1"}}, "ttl")


@pytest.mark.parametrize(
    "patch", [Tally.Patch(count="x"), Tally.Patch(count=None), Tally.Patch(words=append([1]))], ids=repr
)
def test_a_patch_that_would_spoil_the_item_is_refused_before_it_is_sent(patch):
    table = Table("t", MemoryTransport(), entities=[Tally])
    table.create(Tally(id="a"))
    with pytest.raises(RequestError):
        table.update(Tally.Key(id="a"), patch)
    assert table.get(Tally.Key(id="a")) == Tally(id="a")


def test_an_entity_that_was_spoilt_by_an_assignment_is_refused():
    def save() -> None:
        tally = Tally(id="a")
        tally.count = "x"
        to_item(tally)

    with pytest.raises(ValueError, match="count"):
        save()


def test_a_projection_with_an_alias_is_refused_or_filled():
    try:
        check_projection(Renamed, Tally.spec)
    except RequestError:
        return
    assert from_projection(Renamed, to_item(Tally(id="a", count=3)), Tally.spec).count == 3
