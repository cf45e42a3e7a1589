"""Entities of the contract suite, beside those of the store."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from singletable import KEEP, Change, Changes, Entity, Index, JsonObject, Lookup, Map, Pk, PrimaryKey, Sk, SkRange


class Box(Entity, entity="box", version=1):
    """What holds notes and labels: the three lie in one partition."""

    id: str
    name: str = "box"

    class Key(PrimaryKey["Box"], collection="shelf"):
        id: Pk[str]


class Label(Entity, entity="label", version=1):
    box_id: str
    name: str

    class Key(PrimaryKey["Label"], collection="shelf"):
        box_id: Pk[str]
        name: Sk[str]

    class InBox(Index["Label"], collection="shelf"):
        box_id: Pk[str]
        name: SkRange[str] = None


class Note(Entity, entity="note", version=1):
    """An entity of most kinds of fields, with two indexes, of which one is sparse."""

    box_id: str
    number: int
    text: str = ""
    state: Literal["open", "done"] = "open"
    owner: str | None = None
    due: datetime | None = None
    count: int = 0
    ratio: float | None = None
    tags: set[str] = Field(default_factory=set)
    lines: list[str] = Field(default_factory=list)
    extra: Map[JsonObject] = Field(default_factory=dict)
    body: JsonObject = Field(default_factory=dict)

    class Key(PrimaryKey["Note"], collection="shelf"):
        box_id: Pk[str]
        number: Sk[int]

    class InBox(Index["Note"], collection="shelf"):
        box_id: Pk[str]
        number: SkRange[int] = None

    class ByOwner(Index["Note"], on="gsi1"):
        owner: Pk[str]
        due: SkRange[datetime] = None

    class ByState(Index["Note"], on="gsi2"):
        state: Pk[Literal["open", "done"]]
        number: SkRange[int] = None

    class Patch(Changes["Note"]):
        text: Change[str] = KEEP
        state: Change[Literal["open", "done"]] = KEEP
        owner: Change[str | None] = KEEP
        due: Change[datetime | None] = KEEP
        count: Change[int] = KEEP
        ratio: Change[float | None] = KEEP
        tags: Change[set[str]] = KEEP
        lines: Change[list[str]] = KEEP
        extra: Change[Map[JsonObject]] = KEEP
        body: Change[JsonObject] = KEEP


class LaterNote(Entity, entity="note", version=2):
    """What a later version of an application stores as a note."""

    box_id: str
    number: int
    text: str = ""
    colour: str | None = None

    class Key(PrimaryKey["LaterNote"], collection="shelf"):
        box_id: Pk[str]
        number: Sk[int]


class Account(Entity, entity="account", version=1):
    """An entity with two unique lookups."""

    id: str
    email: str
    handle: str
    name: str = ""

    class Key(PrimaryKey["Account"]):
        id: Pk[str]

    class ByEmail(Lookup["Account"]):
        email: Pk[str]

    class ByHandle(Lookup["Account"]):
        handle: Pk[str]

    class Patch(Changes["Account"]):
        name: Change[str] = KEEP


ENTITIES = (Box, Label, Note, Account)
