"""P131: a value comes back with its type.  P132: what is empty, absent or zoned has a declared way to be stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from singletable import (
    KEEP,
    Change,
    Changes,
    Entity,
    InvalidKeyError,
    InvalidValueError,
    JsonObject,
    Map,
    Pk,
    PrimaryKey,
    Table,
)
from singletable.testing import MemoryTransport
from tests.contract.support import START

pytestmark = pytest.mark.every_engine

ZONE = timezone(timedelta(hours=5))


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Point(BaseModel):
    x: float = 0.0
    label: str | None = None


class Value(Entity, entity="value", version=1):
    """A field of each kind."""

    id: str = "a"
    text: str = ""
    note: str | None = None
    fixed: str | None = "there"
    whole: int = 0
    ratio: float = 0.0
    price: Decimal = Decimal(0)
    flag: bool = False
    data: bytes = b""
    at: datetime = START
    day: date = date(2026, 1, 1)
    code: UUID = UUID(int=0)
    colour: Colour = Colour.RED
    point: Point = Field(default_factory=Point)
    pair: tuple[int, ...] = ()
    lines: list[str] = Field(default_factory=list)
    names: set[str] = Field(default_factory=set)
    numbers: set[int] = Field(default_factory=set)
    keyed: dict[str, int] = Field(default_factory=dict)
    json_text: JsonObject = Field(default_factory=dict)
    json_map: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Value"]):
        id: Pk[str]

    class Patch(Changes["Value"]):
        text: Change[str] = KEEP
        note: Change[str | None] = KEEP
        fixed: Change[str | None] = KEEP
        data: Change[bytes] = KEEP
        names: Change[set[str]] = KEEP
        lines: Change[list[str]] = KEEP
        pair: Change[tuple[int, ...]] = KEEP


KEY = Value.Key(id="a")
EMPTY: dict[str, tuple[object, object]] = {
    "text": ("", {"S": ""}),
    "note": (None, None),
    "fixed": (None, {"NULL": True}),
    "data": (b"", {"B": b""}),
    "names": (set(), None),
    "lines": ([], {"L": []}),
    "pair": ((), {"L": []}),
}
"""What is empty or absent, by field, and how it is stored: None is an attribute that is left out."""


def typed(value: Any) -> object:
    """A value with the types of all that is in it, because True == 1 == 1.0 == Decimal(1)."""
    if isinstance(value, BaseModel):
        return type(value), {name: typed(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, dict):
        return dict, {name: typed(inner) for name, inner in value.items()}
    if isinstance(value, set):
        return set, {typed(inner) for inner in value}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return type(value), [typed(inner) for inner in value]
    return type(value), value, repr(value) if isinstance(value, float) else None


@pytest.fixture
def table(backend):
    return backend.table(Value)


# P131

FULL = Value(
    text="12.50",
    note="null",
    whole=10**30,
    ratio=0.1,
    price=Decimal("12.50"),
    flag=True,
    data=b"\x00\xff",
    at=START,
    day=date(1999, 12, 31),
    code=UUID("12345678-1234-5678-1234-567812345678"),
    colour=Colour.BLUE,
    point=Point(x=1.5, label="1"),
    pair=(1, 2),
    lines=["1", "true"],
    names={"1", "2"},
    numbers={1, 20},
    keyed={"1": 1},
    json_text={"whole": 1, "ratio": 1.0, "text": "1", "flag": True, "nothing": None, "list": [1, 1.0, "1", True, []]},
    json_map={"whole": 1, "ratio": 1.5, "text": "1", "flag": True, "nothing": None, "list": [1, 1.5, "1", True, []]},
)


def test_p131_every_value_comes_back_with_its_type(table):
    table.create(FULL)
    found = table.get(KEY)
    assert typed(found) == typed(FULL)
    assert typed(table.query(KEY).all()) == typed([FULL])


def test_p131_no_number_is_stored_as_a_text(table, backend):
    table.create(FULL)
    (item,) = backend.items()
    kinds = {name: next(iter(item[name])) for name in ("whole", "ratio", "price", "numbers", "pair", "flag")}
    assert kinds == {"whole": "N", "ratio": "N", "price": "N", "numbers": "NS", "pair": "L", "flag": "BOOL"}


def test_p131_a_map_does_not_tell_one_from_one_point_nought(fake):
    """The one exception, as `Map` says: DynamoDB does not keep the difference; JSON text does."""
    stored = fake.table(Value).create(Value(json_map={"n": 1.0}, json_text={"n": 1.0}))
    assert (typed(stored.json_map["n"]), typed(stored.json_text["n"])) == (typed(1), typed(1.0))


TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
LEAF = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(LEAF | TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3))


@settings(max_examples=60)
@given(
    st.dictionaries(TEXT, JSON, max_size=4),
    st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**20), max_value=10**20),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-100 < abs(x) < 1e100),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.sets(st.integers(-(10**20), 10**20)),
)
def test_p131_any_value_comes_back_with_its_type(json, price, ratio, whole, numbers):
    value = Value(json_text=json, price=price, ratio=ratio, whole=whole, numbers=numbers)
    table = Table("t", MemoryTransport(), entities=[Value])
    table.create(value)
    found = table.get(KEY)
    assert typed(found.json_text) == typed(json)
    assert (found.price, type(found.price), found.whole, found.numbers) == (price, Decimal, whole, numbers)
    assert (found.ratio, type(found.ratio)) == (ratio, float)


# P132


@pytest.mark.parametrize("field", EMPTY)
@pytest.mark.parametrize("write", ["create", "update", "batch"])
def test_p132_what_is_empty_comes_back_as_it_was(table, backend, field, write):
    value, stored = EMPTY[field]
    if write == "update":
        table.create(FULL)
        found = table.update(KEY, Value.Patch(**{field: value}))
    elif write == "create":
        found = table.create(Value(**{field: value}))
    else:
        table.put_many([Value(**{field: value})])
        found = table.get(KEY)
    assert typed(getattr(found, field)) == typed(getattr(table.get(KEY), field)) == typed(value)
    (item,) = backend.items()
    assert item.get(field) == stored


def test_p132_bytes_are_bytes(table):
    table.create(Value(data=b"\x00\xffabc"))
    assert type(table.get(KEY).data) is bytes
    assert table.update(KEY, Value.Patch(data=b"")).data == b""


def test_p132_a_tuple_stays_a_tuple_and_a_list_a_list(table):
    table.create(Value(pair=(3,), lines=["x"]))
    assert (table.get(KEY).pair, table.get(KEY).lines) == ((3,), ["x"])


def test_p132_a_time_of_any_zone_is_the_same_moment(table, backend):
    table.create(Value(at=START.astimezone(ZONE), json_text={"at": "2026-11-30"}))
    found = table.get(KEY).at
    assert (found, found.utcoffset()) == (START, timedelta(0))
    assert backend.items()[0]["at"] == {"S": "2026-11-30T22:00:00.000Z"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"at": START.replace(tzinfo=None)}, r"value\.at is a naive datetime"),
        ({"ratio": float("nan")}, r"value\.ratio is nan"),
        ({"ratio": float("inf")}, r"value\.ratio is inf"),
        ({"price": Decimal("NaN")}, "price"),
        ({"whole": 10**40 + 1}, r"value\.whole has more than 38 digits"),
        ({"text": "\ud83d"}, "text|string_unicode"),
        ({"json_text": {"at": datetime(2026, 1, 1, tzinfo=UTC)}}, r"value\.json_text\.at is a datetime"),
        ({"json_text": {"tags": {"x"}}}, r"value\.json_text\.tags is a set"),
        ({"json_map": {"": 1}}, r"value\.json_map has a key that is not a text of at least one character"),
        ({"json_map": {"tags": set()}}, r"value\.json_map\.tags: a set must hold at least one member"),
    ],
    ids=[
        "naive",
        "nan",
        "inf",
        "decimal-nan",
        "digits",
        "surrogate",
        "json-time",
        "json-set",
        "blank-key",
        "empty-set",
    ],
)
def test_p132_what_cannot_be_held_is_refused_with_its_path(fake, wrong, message):
    with pytest.raises(InvalidValueError, match=message):
        fake.table(Value).put(Value.model_construct(**{**dict(Value()), **wrong}))
    assert fake.sent.requests == []


@pytest.mark.parametrize("blank", ["", " ", "\t"], ids=repr)
def test_p132_an_empty_text_is_no_key(fake, blank):
    with pytest.raises(InvalidKeyError, match="id is blank"):
        fake.table(Value).put(Value(id=blank))
    assert fake.sent.requests == []
