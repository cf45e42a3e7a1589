"""All that the library knows of an entity class, as values.  Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .declare import TABLE, Projection
from .keys import KeyPart, KeyTemplate
from .values import AutomaticKind

ENTITY = "_entity"
VERSION = "_version"
WRITE = "_write"
"""Which write made an item what it is, so that one whose answer was lost can be told from one that was refused.

An entity may read it as its version."""
TARGET = ("targetPk", "targetSk")
"""Where a pointer item keeps the key of the item that it points to."""
RESERVED = re.compile("|".join((r"pk|sk|gsi\d+[ps]k", ENTITY, VERSION, WRITE, *TARGET)))
"""The attributes that are the library's own."""

Upcaster: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes of the attributes of a stored item, by their stored names, those of the next version."""


@dataclass(frozen=True)
class FieldSpec:
    """How one field is stored."""

    name: str
    stored: str
    json_text: bool
    text_is_json: bool
    """A stored text is JSON: it is kept as text, or was, before the field was declared `Map`."""
    free_form: bool
    """It holds JSON of any shape: as text, or, where it says `Map`, as a map."""
    decimal: bool
    is_set: bool
    none_is_absent: bool
    """None is what a missing attribute reads as, so None is stored by leaving the attribute out."""


@dataclass(frozen=True)
class IndexSpec:
    """One index, or the table itself: the two halves of its key."""

    name: str
    pk: KeyTemplate
    sk: KeyTemplate
    always: bool
    """No part is optional, so that every item of the entity is in the index."""
    projection: Projection = "all"
    """What this entity needs the index to hold: for the sake of others it may hold more."""

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        """The parts of both halves."""
        return self.pk.parts + self.sk.parts


@dataclass(frozen=True)
class EntitySpec:
    """All that the rest of the library needs to know of an entity class."""

    name: str
    version: int
    ttl_seconds: int | None
    fields: Mapping[str, FieldSpec]
    indexes: Mapping[str, IndexSpec]
    lookups: Mapping[str, IndexSpec]
    """By the name of the Lookup class; the keys are those of the pointer items."""
    automatic: Mapping[AutomaticKind, str]
    """The fields that the library fills in, by what it fills them with."""
    upcasters: Mapping[int, Upcaster]
    """By the version that they start from; they lead to this version without a gap."""

    @property
    def table(self) -> IndexSpec:
        """The primary key."""
        return self.indexes[TABLE]
