"""Fields whose values would not come back as they were are refused at import; None and Map come back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field

from singletable import DeclarationError, Entity, JsonObject, Map, Pk, PrimaryKey
from singletable.annotations import fault, is_free_form
from singletable.items import from_item, to_item


class Color(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


class Money(BaseModel):
    amount: Decimal


class Free(BaseModel):
    anything: JsonObject


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Loose(Entity, entity="loose", version=1):
    id: str
    text: str | None = None
    metadata: Map[JsonObject] | None = None
    bare: Mapping = Field(default_factory=dict)  # type: ignore[type-arg]
    stamps: set[datetime] = Field(default_factory=set)
    tree: Tree | None = None
    mixed: int | str | bytes | bool | list[str] | None = None

    class Key(PrimaryKey["Loose"]):
        id: Pk[str]


def test_none_is_an_absent_attribute_where_it_is_the_default():
    item = to_item(Loose(id="a"))
    assert item.keys() & {"text", "metadata", "tree"} == set()
    assert from_item(Loose, item, "ttl") == Loose(id="a")


def test_a_map_that_may_be_none_is_a_map_of_dynamodb():
    assert to_item(Loose(id="a", metadata={"a": 1}))["metadata"] == {"M": {"a": {"N": "1"}}}


def test_a_bare_mapping_is_free_form_json():
    loose = Loose(id="a", bare={"a": 1.0})
    assert repr(from_item(Loose, to_item(loose), "ttl").bare) == "{'a': 1.0}"


def test_a_model_may_contain_itself():
    loose = Loose(id="a", tree=Tree(name="a", children=[Tree(name="b")]))
    assert from_item(Loose, to_item(loose), "ttl") == loose


@pytest.mark.parametrize("value", [1, "x", b"x", True, ["x"], None])
def test_members_of_a_union_that_are_stored_differently_come_back(value):
    loaded = from_item(Loose, to_item(Loose(id="a", mixed=value)), "ttl").mixed
    assert loaded == value
    assert type(loaded) is type(value)


def test_a_set_is_never_sent_with_a_member_twice():
    one, other = (datetime(2026, 1, 1, 0, 0, 0, microsecond, UTC) for microsecond in (1, 2))
    assert len(to_item(Loose(id="a", stamps={one, other}))["stamps"]["SS"]) == 1


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (datetime | str, "datetime and str are stored alike"),
        (UUID | str | None, "UUID and str are stored alike"),
        (date | datetime, "date and datetime are stored alike"),
        (Color | str, "Color and str are stored alike"),
        (int | float, "float and int are stored alike"),
        (Level | int, "Level and int are stored alike"),
        (dict[str, Decimal | int], "Decimal and int are stored alike"),
        (list[Literal["a"] | UUID], "UUID and str are stored alike"),
        (set[str] | None, "DynamoDB has no empty sets"),
        (frozenset[str] | list[str], "DynamoDB has no empty sets"),
        (dict[int, str], "keys of a map are texts"),
        (dict[Color, int], "keys of a map are texts"),
        (dict[int, Any], "keys of a map are texts"),
        (Free | None, r"Free\.anything is free-form JSON inside a model"),
        (list[dict[str, Free]], r"Free\.anything is free-form JSON inside a model"),
    ],
    ids=repr,
)
def test_an_annotation_that_would_lose_types_is_refused(annotation, problem):
    found = fault(annotation, json_text=is_free_form(annotation, []))
    assert found is not None
    assert problem.replace("\\", "") in found


@pytest.mark.parametrize(
    "annotation",
    [
        str | None,
        Literal["a", "b"] | None,
        int | bool,
        int | str,
        dict[str, Money],
        Money | None,
        set[int],
        Tree,
        Color,
        Any,
    ],
    ids=repr,
)
def test_an_annotation_that_keeps_its_types_is_accepted(annotation):
    assert fault(annotation, json_text=is_free_form(annotation, [])) is None


def test_the_refusal_names_class_and_field():
    with pytest.raises(DeclarationError, match=r"Bad\.when: datetime and str are stored alike"):

        class Bad(Entity, entity="bad"):
            id: str
            when: datetime | str

            class Key(PrimaryKey["Bad"]):
                id: Pk[str]
