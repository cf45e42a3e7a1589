"""Entities of these tests."""

from __future__ import annotations

from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    Entity,
    Index,
    JsonObject,
    Lookup,
    Map,
    Pk,
    PrimaryKey,
    Sk,
    SkRange,
    UpdatedAt,
    utc_now,
)


class Store(Entity, entity="store", version=1):
    """ElectroDB's favourite example: a key of several parts, and two indexes."""

    city: str
    mall: str
    unit: int = 0
    rent: int = 0
    owner: str | None = None
    since: int | None = None

    class Key(PrimaryKey["Store"], collection="place"):
        city: Pk[str]
        mall: Sk[str]
        unit: Sk[int]

    class In(Index["Store"], collection="place"):
        city: Pk[str]
        mall: SkRange[str] = None
        unit: SkRange[int] = None

    class ByOwner(Index["Store"], on="gsi1"):
        owner: Pk[str]
        since: SkRange[int] = None

    class Patch(Changes["Store"]):
        rent: Change[int] = KEEP
        owner: Change[str | None] = KEEP
        since: Change[int | None] = KEEP


class StoreTwo(Entity, entity="store_2", version=1):
    """Another entity of the same partitions, whose name begins like that of the first."""

    city: str
    mall: str

    class Key(PrimaryKey["StoreTwo"], collection="place"):
        city: Pk[str]
        mall: Sk[str]


class Tag(Entity, entity="tag", version=1):
    """Two texts in the partition key."""

    a: str
    b: str
    text: str = ""

    class Key(PrimaryKey["Tag"]):
        a: Pk[str]
        b: Pk[str]


class TagA(Entity, entity="tag_a", version=1):
    """One text, under a name that is another entity's with a part of its key."""

    b: str

    class Key(PrimaryKey["TagA"]):
        b: Pk[str]


class User(Entity, entity="user", version=1):
    id: str
    name: str = ""

    class Key(PrimaryKey["User"]):
        id: Pk[str]

    class ByName(Lookup["User"]):
        name: Pk[str]


class Task(Entity, entity="task", version=1):
    """Two indexes: every task is in the first, only those of a team in the second."""

    id: str
    title: str = ""
    state: str = "open"
    rank: int = 0
    team: str | None = None
    points: int = 0
    tags: set[str] = Field(default_factory=set)
    steps: list[str] = Field(default_factory=list)
    extra: Map[JsonObject] = Field(default_factory=dict)
    updated_at: UpdatedAt = Field(default_factory=utc_now)

    class Key(PrimaryKey["Task"]):
        id: Pk[str]

    class ByState(Index["Task"], on="gsi1"):
        state: Pk[str]
        rank: SkRange[int] = None

    class ByTeam(Index["Task"], on="gsi2"):
        team: Pk[str]
        state: SkRange[str] = None
        rank: SkRange[int] = None

    class Patch(Changes["Task"]):
        title: Change[str] = KEEP
        state: Change[str] = KEEP
        rank: Change[int] = KEEP
        team: Change[str | None] = KEEP
        points: Change[int] = KEEP
        tags: Change[set[str]] = KEEP
        steps: Change[list[str]] = KEEP
        extra: Change[Map[JsonObject]] = KEEP


KEY = Task.Key(id="a")


def task(name="a", **fields):
    return Task(id=name, **fields)
