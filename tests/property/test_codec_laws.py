"""The laws of the codec: what goes in comes out, with its type, or is refused with the path to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from singletable import Entity, JsonObject, Map, Pk, PrimaryKey
from singletable.codec import decode, decode_json, encode, encode_json, item_size_bytes
from singletable.errors import CorruptItemError, InvalidValueError
from singletable.items import from_item, to_item
from singletable.testing._sizes import item_size_bytes as size_by_the_fake


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Address(BaseModel):
    street: str
    numbers: list[int] = []


class Everything(Entity, entity="everything", version=2):
    id: str
    text: str
    whole: int
    real: float
    flag: bool
    exact: Decimal
    raw: bytes
    time: datetime
    day: date
    uid: UUID
    mood: Mood
    maybe: str | None = None
    given_or_five: int | None = 5
    words: list[str]
    counts: dict[str, int]
    tags: set[str]
    numbers: frozenset[int]
    home: Address
    places: list[Address]
    either: int | str
    free: JsonObject
    anything: Any = None
    several: Sequence[JsonObject] = ()
    metadata: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Everything"]):
        id: Pk[str]


TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
REAL = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-130 <= abs(x) <= 9.9e125)
EXACT = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=17)
WHOLE = st.integers(-(10**38) + 1, 10**38 - 1)
TIME = st.datetimes(
    datetime(1970, 1, 1),  # noqa: DTZ001 - Hypothesis takes naive bounds and adds the zone
    datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.just(UTC),
).map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
# In a map of DynamoDB 1.0 and 1 are one number.
MAPPED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | REAL.filter(lambda x: x != int(x)) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=8,
)
ADDRESS = st.builds(Address, street=TEXT, numbers=st.lists(WHOLE, max_size=2))
EVERYTHING = st.builds(
    Everything,
    id=NAME.filter(str.strip),
    text=TEXT,
    whole=WHOLE,
    real=REAL,
    flag=st.booleans(),
    exact=EXACT,
    raw=st.binary(max_size=10),
    time=TIME,
    day=st.dates(),
    uid=st.uuids(),
    mood=st.sampled_from(Mood),
    maybe=st.none() | TEXT,
    given_or_five=st.none() | WHOLE,
    words=st.lists(TEXT, max_size=3),
    counts=st.dictionaries(NAME, WHOLE, max_size=3),
    tags=st.sets(TEXT, max_size=3),
    numbers=st.frozensets(WHOLE, max_size=3),
    home=ADDRESS,
    places=st.lists(ADDRESS, max_size=2),
    either=WHOLE | TEXT,
    free=st.dictionaries(TEXT, JSON, max_size=3),
    anything=JSON,
    several=st.lists(st.dictionaries(TEXT, JSON, max_size=2), max_size=2),
    metadata=st.dictionaries(NAME, MAPPED, max_size=3),
)


def types(value: object) -> object:
    """The types in a value, as deep as it goes."""
    if isinstance(value, dict):
        return {name: types(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [types(inner) for inner in value]
    return type(value)


@settings(max_examples=60)
@given(EVERYTHING)
def test_an_entity_comes_back_as_it_was_with_its_types(entity):
    loaded = from_item(Everything, to_item(entity), "ttl")
    assert loaded == entity
    assert {name: types(value) for name, value in loaded} == {name: types(value) for name, value in entity}


@settings(max_examples=40)
@given(EVERYTHING)
def test_two_ways_of_counting_bytes_agree(entity):
    item = to_item(entity)
    assert item_size_bytes(item) == size_by_the_fake(item)


@settings(max_examples=40)
@given(EVERYTHING, st.dictionaries(NAME.map(lambda name: f"later{name}"), TEXT.map(lambda text: {"S": text})))
def test_unknown_attributes_survive_a_load_and_a_save(entity, unknown):
    stored = to_item(entity) | unknown | {"ttl": {"N": "1"}, "_version": {"N": "7"}}
    assert to_item(from_item(Everything, stored, "ttl")) == {n: v for n, v in stored.items() if n != "ttl"}


@given(JSON)
def test_json_text_is_exact(value):
    back = decode_json(encode_json(value, "x"))
    assert back == value
    assert types(back) == types(value)


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        10**38 + 1,
        Decimal("1E+126"),
        Decimal("1E-131"),
        1e300,
        "\ud800",
        datetime(2026, 1, 1),  # noqa: DTZ001
        object(),
        {1: "x"},
        {"": "x"},
        {"\ud800": "x"},
        {1, "mixed"},
    ],
    ids=[
        "nan",
        "infinity",
        "Decimal nan",
        "39 digits",
        "over the range",
        "under the range",
        "float over the range",
        "lone surrogate",
        "naive time",
        "object",
        "key of a map that is no text",
        "empty key of a map",
        "key of a map with a lone surrogate",
        "set of two types",
    ],
)
def test_what_dynamodb_cannot_hold_is_refused_with_its_path(value):
    with pytest.raises(InvalidValueError, match=r"^Thing\.field\[1\]\.inner"):
        encode([0, {"inner": value}], "Thing.field")


def test_nesting_goes_as_deep_as_dynamodb_has_it():
    value: object = "leaf"
    for _ in range(32):
        value = [value]
    assert decode(encode(value, "x")) == value
    with pytest.raises(InvalidValueError, match="32 levels"):
        encode([value], "x")


@pytest.mark.parametrize(
    "value", [float("nan"), datetime(2026, 1, 1, tzinfo=UTC), {"x"}, b"x", 2**64, {1: 2}, "\ud800"]
)
def test_what_is_not_json_is_refused(value):
    with pytest.raises(InvalidValueError, match=r"Thing\.field"):
        encode_json({"inner": value}, "Thing.field")


@pytest.mark.parametrize(
    ("stored", "value"),
    [
        ({"N": "1"}, 1),
        ({"N": "1.5"}, 1.5),
        ({"N": "1E+2"}, 100),
        ({"N": "1.0"}, 1),
        ({"B": "aGk="}, b"hi"),
        ({"B": b"hi"}, b"hi"),
        ({"BS": ["aGk="]}, {b"hi"}),
        ({"NS": ["1", "2.5"]}, {1, 2.5}),
        ({"M": {"a": {"L": [{"NULL": True}]}}}, {"a": [None]}),
    ],
)
def test_typed_json_is_read(stored, value):
    assert decode(stored) == value
    assert type(decode(stored)) is type(value)


def test_a_tuple_is_stored_as_a_list():
    assert decode(encode((1, 2), "x")) == [1, 2]


def test_an_item_that_does_not_fit_is_told_by_key_and_field_and_not_by_content():
    item = {
        "pk": {"S": "everything#a"},
        "sk": {"S": "everything#"},
        "_entity": {"S": "everything"},
        "_version": {"N": "2"},
        "whole": {"S": "SECRET"},
    }
    with pytest.raises(CorruptItemError, match=r"whole: int_parsing") as caught:
        from_item(Everything, item, "ttl")
    assert caught.value.key == {"pk": {"S": "everything#a"}, "sk": {"S": "everything#"}}
    assert "SECRET" not in str(caught.value)


def test_an_item_of_another_entity_is_not_misread():
    item = {"pk": {"S": "p"}, "sk": {"S": "s"}, "_entity": {"S": "other"}, "_version": {"N": "1"}}
    with pytest.raises(CorruptItemError, match="other"):
        from_item(Everything, item, "ttl")
