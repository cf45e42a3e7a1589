"""The three entities of the table model, and how they are stored: spelled out, not asked of the library.

They share a partition and indexes: `Task` is in a sparse index of three parts and has a field for every verb of a
patch; `Doc` has a version; `Account` has a unique lookup.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    CreatedAt,
    Entity,
    Index,
    JsonObject,
    Lookup,
    Map,
    Pk,
    PrimaryKey,
    Range,
    Sk,
    SkRange,
    UpdatedAt,
    Version,
)
from singletable.declare import AccessPath
from tests.contract.support import START


class Task(Entity, entity="task", version=1):
    room: str
    number: int
    state: str = "open"
    owner: str | None = None
    due: int | None = None
    count: int = 5
    tags: set[str] = Field(default_factory=set)
    lines: list[str] = Field(default_factory=list)
    extra: Map[JsonObject] = Field(default_factory=dict)
    updated_at: UpdatedAt = START

    class Key(PrimaryKey["Task"], collection="room"):
        room: Pk[str]
        number: Sk[int]

    class InRoom(Index["Task"], collection="room"):
        room: Pk[str]
        number: SkRange[int] = None

    class Owned(Index["Task"], on="gsi1", collection="owner"):
        owner: Pk[str]
        state: SkRange[str] = None
        due: SkRange[int] = None

    class Recent(Index["Task"], on="gsi2"):
        state: Pk[str]
        updated_at: SkRange[datetime] = None
        number: SkRange[int] = None

    class Patch(Changes["Task"]):
        state: Change[str] = KEEP
        owner: Change[str | None] = KEEP
        due: Change[int | None] = KEEP
        count: Change[int] = KEEP
        tags: Change[set[str]] = KEEP
        lines: Change[list[str]] = KEEP
        extra: Change[Map[JsonObject]] = KEEP


class Doc(Entity, entity="doc", version=1):
    room: str
    id: str
    title: str = "b"
    owner: str | None = None
    created_at: CreatedAt = START
    etag: Version = ""

    class Key(PrimaryKey["Doc"], collection="room"):
        room: Pk[str]
        id: Sk[str]

    class InRoom(Index["Doc"], collection="room"):
        room: Pk[str]
        id: SkRange[str] = None

    class Owned(Index["Doc"], on="gsi1", collection="owner"):
        owner: Pk[str]
        title: SkRange[str] = None

    class Patch(Changes["Doc"]):
        title: Change[str] = KEEP
        owner: Change[str | None] = KEEP


class Account(Entity, entity="account", version=1):
    room: str
    id: str
    email: str
    plan: str = "free"

    class Key(PrimaryKey["Account"], collection="room"):
        room: Pk[str]
        id: Sk[str]

    class InRoom(Index["Account"], collection="room"):
        room: Pk[str]
        id: SkRange[str] = None

    class OfPlan(Index["Account"], on="gsi2"):
        plan: Pk[str]
        email: SkRange[str] = None

    class ByEmail(Lookup["Account"]):
        email: Pk[str]

    class Patch(Changes["Account"]):
        plan: Change[str] = KEEP


Place = tuple[str, str]
"""The `pk` and `sk` of an item."""
TEMPLATES: Mapping[str, Mapping[str, tuple[str, Sequence[str], Sequence[str]]]] = {
    "task": {
        "table": ("room", ["room"], ["number"]),
        "gsi1": ("owner", ["owner"], ["state", "due"]),
        "gsi2": ("task", ["state"], ["updated_at", "number"]),
    },
    "doc": {"table": ("room", ["room"], ["id"]), "gsi1": ("owner", ["owner"], ["title"])},
    "account": {"table": ("room", ["room"], ["id"]), "gsi2": ("account", ["plan"], ["email"])},
}
STORED = {"updated_at": "updatedAt", "created_at": "createdAt"}


def time_text(value: datetime) -> str:
    return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"


def part_text(value: Any) -> str:
    if isinstance(value, int):
        return f"-{10**38 + value:038}" if value < 0 else f"0{value:038}"
    text = time_text(value) if isinstance(value, datetime) else value
    return "".join(f"%{ord(character):02X}" if character < "&" else character for character in text)


def scope_of(tenant: str) -> str:
    return f"@{part_text(tenant)}#" if tenant else ""


def index_key(tenant: str, name: str, index: str, values: Mapping[str, Any]) -> Place | None:
    """Both halves of a key, or none of them."""
    prefix, partition, sort = TEMPLATES[name][index]
    if any(values.get(part) is None for part in (*partition, *sort)):
        return None
    pk, sk = ("#".join(part_text(values[part]) for part in parts) for parts in (partition, sort))
    return f"{scope_of(tenant)}{prefix}#{pk}", f"{name}#{sk}"


def kind_of(thing: Any) -> type[Entity]:
    """The class of an entity, or the one that a key or path is nested in."""
    name, *_ = type(thing).__qualname__.split(".")
    return {kind.__name__: kind for kind in (Task, Doc, Account)}[name]


def index_of(path: Any) -> str:
    return {"Owned": "gsi1", "Recent": "gsi2", "OfPlan": "gsi2"}.get(type(path).__name__, "table")


def place(tenant: str, thing: Any) -> Place:
    """Where an entity, or that of a key, is stored."""
    found = index_key(tenant, kind_of(thing).spec.name, "table", vars(thing))
    assert found
    return found


def pointer_of(tenant: str, email: str) -> Place:
    return f"{scope_of(tenant)}account_by_email#{part_text(email)}", "account_by_email#"


def contents(items: Iterable[Mapping[str, Any]]) -> tuple[dict[Place, Any], dict[Place, tuple[Place, int]]]:
    """The items of entities, and where the pointer items point, until when; the members of sets are in order."""
    stored: dict[Place, Any] = {}
    pointers: dict[Place, tuple[Place, int]] = {}
    for item in items:
        where = item["pk"]["S"], item["sk"]["S"]
        if item["_entity"]["S"] == "account_by_email":
            pointers[where] = (item["targetPk"]["S"], item["targetSk"]["S"]), int(item["ttl"]["N"])
        else:
            stored[where] = {
                name: {"SS": sorted(value["SS"])} if "SS" in value else value for name, value in item.items()
            }
    return stored, pointers


def dumped(entity: Any) -> dict[str, Any] | None:
    return None if entity is None else entity.model_dump()


def attribute(value: Any) -> dict[str, Any]:
    match value:
        case datetime():
            return {"S": time_text(value)}
        case int():
            return {"N": str(value)}
        case set():
            return {"SS": sorted(value)}
        case list():
            return {"L": [attribute(inner) for inner in value]}
        case dict():
            return {"M": {name: attribute(inner) for name, inner in value.items()}}
        case _:
            return {"S": value}


@dataclass(frozen=True)
class Row:
    """One stored entity; an item without a value lacks its attribute."""

    tenant: str
    model: type[Entity]
    values: Mapping[str, Any]
    expires: int | None
    write: str | None = None
    """Its version; None for one that was just written, by a write whose id is not known yet."""

    @property
    def name(self) -> str:
        return self.model.spec.name

    @cached_property
    def place(self) -> Place:
        found = self.key_in("table")
        assert found
        return found

    @cached_property
    def item(self) -> dict[str, Any]:
        """What is stored, in every detail."""
        item: dict[str, Any] = {"_entity": {"S": self.name}, "_version": {"N": "1"}, "_write": {"S": self.write}}
        if self.expires is not None:
            item["ttl"] = {"N": str(self.expires)}
        item |= {STORED.get(name, name): attribute(value) for name, value in self.values.items()}
        for index in TEMPLATES[self.name]:
            if key := self.key_in(index):
                on = "" if index == "table" else index
                item |= {f"{on}pk": {"S": key[0]}, f"{on}sk": {"S": key[1]}}
        return item

    @cached_property
    def view(self) -> dict[str, Any]:
        """What a reader sees, field by field."""
        fields = self.model.model_fields.items()
        shown = {name: info.get_default(call_default_factory=True) for name, info in fields} | self.values
        return shown | {"etag": self.write} if "etag" in shown else shown

    def key_in(self, index: str) -> Place | None:
        return index_key(self.tenant, self.name, index, self.values) if index in TEMPLATES[self.name] else None

    def fits(self, path: AccessPath[Any]) -> bool:
        """Whether a query over `path` finds it while it lives."""
        in_index = kind_of(path) is self.model and self.key_in(index_of(path)) is not None
        return in_index and all(_within(self.values[name], wanted) for name, wanted in vars(path).items())


def _within(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Range):
        return wanted is None or value == wanted
    match wanted.operator:
        case "between":
            return wanted.low <= value <= wanted.high
        case "starting":
            return value.startswith(wanted.low)
        case name:
            return getattr(operator, {"gte": "ge", "lte": "le"}.get(name, name))(value, wanted.low)
