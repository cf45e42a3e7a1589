"""An entity with a field of every kind, its values, and values that belong into no field."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Literal
from uuid import UUID
from zoneinfo import ZoneInfo

from hypothesis import strategies as st
from pydantic import AliasPath, BaseModel, BeforeValidator, Field, JsonValue, RootModel
from pydantic_core import SchemaValidator
from pydantic_core.core_schema import any_schema

from singletable import Entity, JsonObject, Map, Pk, PrimaryKey


class Mood(Enum):
    GOOD = "good"
    BAD = "bad"


class Role(StrEnum):
    USER = "user"
    TOOL = "tool"


class Level(IntEnum):
    LOW = 1
    HIGH = -100


class Address(BaseModel):
    street: str
    numbers: list[int] = []
    mood: Mood | None = None


class Money(BaseModel):
    amount: Decimal


class Renamed(BaseModel):
    count: int = Field(validation_alias="größe")
    total: float = Field(alias="Total")


class Open(BaseModel, extra="allow"):
    a: int = 1


class Tree(BaseModel):
    name: str
    children: list[Tree] = []


class Numbers(RootModel[list[int]]):
    pass


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    name: str


class Kinds(Entity, entity="kinds", version=1):
    id: str
    text: str
    letter: Literal["a", "ö", 3]
    mood: Mood
    role: Role
    level: Level
    whole: int
    real: float
    flag: bool
    exact: Decimal
    raw: bytes
    time: datetime
    day: date
    uid: UUID
    maybe: str | None = None
    given_or_five: int | None = 5
    never_left_out: bool | None
    words: list[str]
    reals: list[float]
    times: list[datetime]
    pair: tuple[int, str]
    counts: dict[str, int]
    prices: dict[str, Decimal]
    ids_by_name: dict[str, list[UUID]]
    tags: set[str]
    numbers: frozenset[int]
    exact_numbers: set[Decimal]
    blobs: set[bytes]
    days: set[date]
    moods: set[Mood]
    home: Address
    places: list[Address]
    moneys: dict[str, Money]
    renamed: Renamed | None = None
    opened: Open | None = None
    tree: Tree | None = None
    root: Numbers | None = None
    pet: Annotated[Cat | Dog, Field(discriminator="kind")]
    either: int | str
    mixed: int | str | bytes | bool | list[str] | None = None
    doubled: Annotated[int, BeforeValidator(lambda value: value)]
    short: Annotated[str, Field(max_length=10)]
    free: JsonObject
    anything: Any = None
    json_value: JsonValue = None
    several: Sequence[JsonObject] = ()
    content: str | JsonObject | Sequence[JsonObject]
    metadata: Map[JsonObject] = Field(default_factory=dict)
    labels: Map[JsonObject] | None = None

    class Key(PrimaryKey["Kinds"]):
        id: Pk[str]


TEXT = st.text(st.characters(codec="utf-8"), max_size=10)
NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
REAL = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0 or 1e-130 <= abs(x) <= 9.9e125)
EXACT = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=17)
WHOLE = st.integers(-(10**38) + 1, 10**38 - 1)
ZONE = st.sampled_from([UTC, timezone(timedelta(hours=2)), timezone(timedelta(seconds=20)), ZoneInfo("Europe/London")])
FINE_TIME = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=ZONE)  # noqa: DTZ001
TIME = FINE_TIME.map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000).astimezone(UTC))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
# In a map of DynamoDB 1.0 and 1 are one number.
MAPPED = st.recursive(
    st.none() | st.booleans() | WHOLE | REAL.filter(lambda x: x != int(x)) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAME, inner, max_size=3),
    max_leaves=8,
)
ADDRESS = st.builds(Address, street=TEXT, numbers=st.lists(WHOLE, max_size=2), mood=st.none() | st.sampled_from(Mood))
TREE = st.recursive(st.builds(Tree, name=TEXT), lambda inner: st.builds(Tree, name=TEXT, children=st.lists(inner)))
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "id": NAME.filter(str.strip),
    "text": TEXT,
    "letter": st.sampled_from(["a", "ö", 3]),
    "mood": st.sampled_from(Mood),
    "role": st.sampled_from(Role),
    "level": st.sampled_from(Level),
    "whole": WHOLE,
    "real": REAL,
    "flag": st.booleans(),
    "exact": EXACT,
    "raw": st.binary(max_size=10),
    "time": TIME,
    "day": st.dates(),
    "uid": st.uuids(),
    "maybe": st.none() | TEXT,
    "given_or_five": st.none() | WHOLE,
    "never_left_out": st.none() | st.booleans(),
    "words": st.lists(TEXT, max_size=3),
    "reals": st.lists(REAL, max_size=3),
    "times": st.lists(TIME, max_size=2),
    "pair": st.tuples(WHOLE, TEXT),
    "counts": st.dictionaries(NAME, WHOLE, max_size=3),
    "prices": st.dictionaries(NAME, EXACT, max_size=3),
    "ids_by_name": st.dictionaries(NAME, st.lists(st.uuids(), max_size=2), max_size=2),
    "tags": st.sets(TEXT, max_size=3),
    "numbers": st.frozensets(WHOLE, max_size=3),
    "exact_numbers": st.sets(EXACT, max_size=3),
    "blobs": st.sets(st.binary(max_size=5), max_size=3),
    "days": st.sets(st.dates(), max_size=3),
    "moods": st.sets(st.sampled_from(Mood)),
    "home": ADDRESS,
    "places": st.lists(ADDRESS, max_size=2),
    "moneys": st.dictionaries(NAME, st.builds(Money, amount=EXACT), max_size=2),
    "renamed": st.none() | st.builds(Renamed, **{"größe": WHOLE, "Total": REAL}),
    "opened": st.none() | st.builds(Open, a=WHOLE, b=TEXT) | st.builds(Open, a=WHOLE),
    "tree": st.none() | TREE,
    "root": st.none() | st.builds(Numbers, st.lists(WHOLE, max_size=2)),
    "pet": st.builds(Cat, lives=WHOLE) | st.builds(Dog, name=TEXT),
    "either": WHOLE | TEXT,
    "mixed": st.none() | WHOLE | TEXT | st.binary(max_size=5) | st.booleans() | st.lists(TEXT, max_size=2),
    "doubled": WHOLE,
    "short": TEXT,
    "free": OBJECT,
    "anything": JSON,
    "json_value": JSON,
    "several": st.lists(OBJECT, max_size=2),
    "content": TEXT | OBJECT | st.lists(OBJECT, max_size=2),
    "metadata": st.dictionaries(NAME, MAPPED, max_size=3),
    "labels": st.none() | st.dictionaries(NAME, MAPPED, max_size=3),
}
KINDS = st.fixed_dictionaries(VALUES).map(lambda values: Kinds(**values))


class Shout(str):
    pass


class OddEnum(Enum):
    TUPLE = (1, "x")
    MODEL = Address(street="x")
    ENUM = Mood.GOOD
    OBJECT = object()


class Aliased(BaseModel):
    deep: int = Field(1, validation_alias=AliasPath("a", 0))


ODDS = [
    float("nan"),
    float("-inf"),
    -0.0,
    1e300,
    5e-324,
    1e22,
    1e-7,
    10**38,
    10**38 + 1,
    -(10**40),
    2**64,
    Decimal("NaN"),
    Decimal("sNaN"),
    Decimal("1E+126"),
    Decimal("-0"),
    Decimal("1.000"),
    "\ud800",
    "\ud83d",
    datetime(2026, 1, 1),  # noqa: DTZ001
    datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=2))),
    datetime(2026, 1, 1, tzinfo=timezone(timedelta(microseconds=1))),
    object(),
    Shout("x"),
    True,
    int,
    range(3),
    b"",
    bytearray(b"x"),
    memoryview(b"x"),
    set(),
    frozenset({1, "mixed"}),
    frozenset({True}),
    frozenset({frozenset({1})}),
    frozenset({Role.USER, "user", Mood.BAD}),
    {Shout("x"), "y"},
    {datetime(2026, 1, 1, 0, 0, 0, fine, UTC) for fine in (1, 2)},
    {"": "x"},
    {1: "x"},
    {"\ud83d": 1},
    {"\ud83d": 1, "\ude00x": 2},
    {Role.USER: 1, Shout("x"): 2},
    OrderedDict(a=1),
    MappingProxyType({"a": 1}),
    Aliased(),
    Numbers([1]),
    Open.model_construct(**{"\ud800": 1}),
    Tree.model_construct(name=float("nan")),
    *OddEnum,
]
# Hypothesis prints its strategies, and a lone surrogate cannot be printed.
ODD = st.integers(0, len(ODDS) - 1).map(lambda position: ODDS[position])
ANY = st.recursive(
    ODD | MAPPED | FINE_TIME | EXACT | st.sampled_from([*Mood, *Role, *Level]) | st.uuids() | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(NAME, inner, max_size=3)
        | st.tuples(inner, inner)
        | st.builds(lambda value: Address.model_construct(street=value), inner)
    ),
    max_leaves=6,
)


def takes_wire_form() -> bool:
    """Whether this version of pydantic-core can compile a validator over the wire form: 2.13 and later do."""
    try:
        SchemaValidator(any_schema(), _use_prebuilt=False)
    except TypeError:
        return False
    return True


def deep(levels: int, wrap: type[list[Any]] | type[dict[str, Any]] | type[Tree]) -> object:
    """A value inside of so many lists, maps or models."""
    value: object = "leaf"
    for _ in range(levels):
        if wrap is list:
            value = [value]
        elif wrap is dict:
            value = {"a": value}
        else:
            value = Tree.model_construct(name=value)
    return value


def shape(value: object) -> object:
    """A value with the types in it, so that 1, 1.0 and True differ."""
    if isinstance(value, Mapping):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [type(value), *map(shape, value)]
    if isinstance(value, set | frozenset):
        return type(value), set(map(type, value)), value
    # NaN is not equal to itself.
    return type(value), value if value == value else "NaN"
