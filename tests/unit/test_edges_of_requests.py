"""What DynamoDB would refuse, or what cannot be meant, is refused before it is sent."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    ConfigurationError,
    DeclarationError,
    Entity,
    JsonObject,
    Map,
    Pk,
    PrimaryKey,
    RequestError,
    Table,
    remove_at,
    set_at,
)
from singletable.conditions import size
from singletable.expressions import Placeholders, record
from singletable.moment import Moment
from singletable.settings import Settings
from singletable.testing import MemoryTransport
from singletable.writes import Writes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Box(Entity, entity="box", version=1):
    id: str
    count: int | None = None
    tags: set[str] = Field(default_factory=set)
    lines: list[str] = Field(default_factory=list)
    free: JsonObject = Field(default_factory=dict)
    other: JsonObject = Field(default_factory=dict)
    metadata: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Box"]):
        id: Pk[str]

    class Patch(Changes["Box"]):
        lines: Change[list[str]] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP


@pytest.mark.parametrize(
    "test",
    [
        lambda box: box.count < None,
        lambda box: box.count >= None,
        lambda box: box.tags < set(),
        lambda box: box.tags >= set(),
        lambda box: box.free < box.other,
        lambda box: size(box.tags) == True,  # noqa: E712
        lambda box: box.count in {1, 2},
    ],
    ids=["< None", ">= None", "< empty set", ">= empty set", "order of JSON text", "size and bool", "in a set"],
)
def test_a_comparison_without_a_meaning_is_refused(test):
    with pytest.raises(RequestError):
        record(test, Box.spec).render(Placeholders())


@pytest.mark.parametrize(
    "patch",
    [
        Box.Patch(lines=set_at(-1, value="x")),
        Box.Patch(lines=remove_at(-1)),
        Box.Patch(metadata=set_at(value=3)),
        Box.Patch(lines=remove_at()),
        Box.Patch(metadata=set_at("", value=3)),
    ],
    ids=repr,
)
def test_a_path_that_no_value_has_is_refused(patch):
    with pytest.raises(RequestError):
        Writes(Settings("t")).update(Box.Key(id="a"), patch, Moment(NOW, "w1"))


@pytest.mark.parametrize("attribute", ["pk", "sk", "gsi1pk", "gsi4sk", "_entity", "_version", "targetPk"])
def test_the_expiry_has_an_attribute_of_its_own(attribute):
    ttl = {"box": {"default_ttl_seconds": 60, "attribute_name": attribute}}
    with pytest.raises((ConfigurationError, DeclarationError), match=attribute):
        Table("t", MemoryTransport(), entities=[Box], ttl=ttl)
