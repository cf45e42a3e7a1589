"""Which entities are read by one validator over the wire form, and that the others are read all the same."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from singletable import Entity, JsonObject, Map, Pk, PrimaryKey, decoding
from singletable.decoding import _wire_validator
from singletable.errors import CorruptItemError
from singletable.items import from_item, from_projection, to_item
from singletable.schemas.message import Message
from singletable.schemas.thread import Thread
from tests.property.kinds import takes_wire_form

in_one_step = pytest.mark.skipif(not takes_wire_form(), reason="this pydantic-core reads through the values")


class Base(Entity):
    id: str
    size: int = 0
    note: str = "none"
    tags: set[str] = Field(default_factory=set)


class Simple(Base, entity="thing"):
    _cache: dict[str, int] = PrivateAttr(default_factory=dict)
    _seen: list[str] = PrivateAttr(default_factory=list)

    class Key(PrimaryKey["Simple"]):
        id: Pk[str]

    def model_post_init(self, context: Any) -> None:
        self._seen.append(self.id)

    @field_validator("note", mode="before")
    @classmethod
    def _shouted(cls, value: object) -> object:
        return value.upper() if isinstance(value, str) else value


class Before(Base, entity="thing"):
    class Key(PrimaryKey["Before"]):
        id: Pk[str]

    @model_validator(mode="before")
    @classmethod
    def _sees_values(cls, values: Any) -> Any:
        assert values.keys() <= {"id", "size", "note", "tags"}
        return values


class After(Base, entity="thing"):
    class Key(PrimaryKey["After"]):
        id: Pk[str]

    @model_validator(mode="after")
    def _fits(self) -> After:
        assert self.size < 10
        return self


class Open(Base, entity="thing"):
    model_config = ConfigDict(extra="allow")

    class Key(PrimaryKey["Open"]):
        id: Pk[str]


class ByName(Base, entity="thing"):
    model_config = ConfigDict(populate_by_name=True)

    class Key(PrimaryKey["ByName"]):
        id: Pk[str]


class Strict(Base, entity="thing"):
    model_config = ConfigDict(strict=True)

    class Key(PrimaryKey["Strict"]):
        id: Pk[str]


class CheckedDefaults(Base, entity="thing"):
    labels: Map[JsonObject] = Field({}, validate_default=True)

    class Key(PrimaryKey["CheckedDefaults"]):
        id: Pk[str]


class OwnInit(Base, entity="thing"):
    class Key(PrimaryKey["OwnInit"]):
        id: Pk[str]

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)


class AsText(Entity, entity="data"):
    id: str
    data: Any = None

    class Key(PrimaryKey["AsText"]):
        id: Pk[str]


class AsMap(Entity, entity="data"):
    id: str
    data: Map[Any] = None

    class Key(PrimaryKey["AsMap"]):
        id: Pk[str]


class Sizes(BaseModel):
    size: int
    note: str = "absent"


ITEM = to_item(Simple(id="a", size=3, note="none")) | {"later": {"S": "x"}}


@in_one_step
@pytest.mark.parametrize("model", [Message, Thread, Simple])
def test_an_entity_whose_fields_tell_all_is_read_in_one_step(model):
    validator, _ = _wire_validator(model)
    assert validator is not None


@pytest.mark.parametrize("model", [Before, After, Open, ByName, Strict, CheckedDefaults, OwnInit])
def test_an_entity_with_more_to_say_is_read_by_its_own_validator(model):
    assert _wire_validator(model) == (None, ())
    loaded = from_item(model, ITEM, "ttl")
    assert loaded.model_dump(exclude={"labels"}) == {"id": "a", "size": 3, "note": "NONE", "tags": set()}
    assert loaded.model_fields_set == {"id", "size", "note", "tags"}
    assert to_item(loaded) | ITEM == to_item(loaded)


def test_a_version_of_pydantic_core_without_the_argument_reads_as_well(monkeypatch):
    def without_it(_: object):
        raise AssertionError

    monkeypatch.setattr(decoding, "SchemaValidator", without_it)
    _wire_validator.cache_clear()
    try:
        assert _wire_validator(Simple) == (None, ())
        assert from_item(Simple, ITEM, "ttl").size == 3
    finally:
        _wire_validator.cache_clear()


@in_one_step
def test_a_field_that_is_absent_has_its_default_and_a_set_is_found_empty():
    item = {name: ITEM[name] for name in ("pk", "sk", "_entity", "_version", "id")}
    with patch.object(decoding, "decode_fields", side_effect=AssertionError("the long way")):
        loaded = from_item(Simple, item, "ttl")
    assert dict(loaded) == {"id": "a", "size": 0, "note": "none", "tags": set()}
    assert loaded.model_fields_set == {"id", "tags"}


def test_private_attributes_and_validators_of_fields_work():
    loaded = from_item(Simple, ITEM, "ttl")
    assert (loaded._seen, loaded._cache, loaded.note) == (["a"], {}, "NONE")
    assert to_item(loaded)["later"] == {"S": "x"}


def test_an_attribute_of_another_kind_is_not_taken_for_absent():
    with pytest.raises(CorruptItemError, match="note: string_type"):
        from_item(Simple, ITEM | {"note": {"NULL": True}}, "ttl")
    with pytest.raises(CorruptItemError, match="size: int_type"):
        from_item(Simple, ITEM | {"size": {"NULL": True}}, "ttl")


def test_another_entity_as_a_projection_is_read_as_the_first_is_stored():
    item = to_item(AsText(id="a", data={"x": 1.0}))
    assert repr(from_projection(AsMap, item, AsText.spec).data) == "{'x': 1.0}"


def test_a_projection_has_the_defaults_of_its_own():
    assert from_projection(Sizes, ITEM, Simple.spec) == Sizes(size=3, note="NONE")
    assert from_projection(Sizes, {"size": {"N": "3"}}, Simple.spec) == Sizes(size=3, note="absent")


class Leaf(BaseModel):
    name: str = "none"
    size: int = 0


class Branch(BaseModel, extra="forbid"):
    leaf: Leaf = Leaf()
    leaves: list[Leaf] = []
    by_name: dict[str, list[Leaf]] = {}
    maybe: Leaf | None = None


class Grown(Entity, entity="grown", version=1):
    id: str
    leaf: Leaf = Leaf()
    leaves: list[Leaf] = Field(default_factory=list)
    branch: Branch | None = None
    words: dict[str, list[str]] = Field(default_factory=dict)

    class Key(PrimaryKey["Grown"]):
        id: Pk[str]


LEAF = {"M": {"name": {"S": "x"}, "size": {"N": "3"}}}


@pytest.mark.parametrize(
    ("attribute", "damaged"),
    [
        ("leaf", {"S": "x"}),
        ("leaf", {"L": []}),
        ("leaf", {"NULL": True}),
        ("leaf", {"M": {"size": {"S": "three"}}}),
        ("leaf", {"M": {"name": {"N": "1"}}}),
        ("leaves", {"M": {}}),
        ("leaves", {"L": [LEAF, {"S": "x"}]}),
        ("leaves", {"L": [{"NULL": True}]}),
        ("branch", {"M": {"other": {"S": "x"}}}),
        ("branch", {"M": {"leaf": {"S": "x"}}}),
        ("words", {"M": {"a": {"L": [{"N": "1"}]}}}),
        ("words", {"M": {"a": {"S": "x"}}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_a_nested_value_of_another_kind_is_not_taken_for_absent(attribute, damaged):
    item = to_item(Grown(id="a")) | {attribute: damaged}
    with pytest.raises(CorruptItemError, match=attribute):
        from_item(Grown, item, "ttl")


def test_nested_models_come_back_as_they_were():
    leaf = Leaf(name="x", size=3)
    for branch in (None, Branch(), Branch(leaf=leaf, leaves=[leaf], by_name={"a": [leaf], "b": []}, maybe=leaf)):
        grown = Grown(id="a", leaf=leaf, leaves=[leaf, Leaf()], branch=branch, words={"a": ["b", ""], "c": []})
        assert from_item(Grown, to_item(grown), "ttl") == grown


@in_one_step
def test_nested_models_are_read_in_one_step():
    grown = Grown(id="a", leaf=Leaf(name="x"), leaves=[Leaf()], words={"a": ["b"]})
    with patch.object(decoding, "decode_fields", side_effect=AssertionError):
        assert from_item(Grown, to_item(grown), "ttl") == grown
