"""The definition of a table, derived from the entities that lie in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from ..declare import TABLE, Projection
from ..entity import Entity
from ..errors import DeclarationError, RequestError
from ..specs import EntitySpec
from ..ttl import DEFAULT_ATTRIBUTE

INCLUDED_IN_INDEX = 20
INCLUDED_IN_ALL = 100
"""DynamoDB's limits for the attributes that a projection names: of one index, and of all indexes of a table."""

StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
"""What of an item a record of a stream shows."""


@dataclass(frozen=True)
class Capacity:
    """Units a second that are paid for whether they are used or not: of the table, and of each of its indexes."""

    read: int
    write: int


@dataclass(frozen=True)
class IndexDefinition:
    """A global secondary index."""

    name: str
    projection: Projection
    """What it holds beside the keys: all attributes, none, or those that are named."""

    @property
    def key(self) -> tuple[str, str]:
        """The attributes of its partition key and its sort key."""
        return f"{self.name}pk", f"{self.name}sk"


@dataclass(frozen=True, kw_only=True)
class TableDefinition:
    """All that is to be known of a table before it is made.

    `of` derives it from entities; `dataclasses.replace` changes what is a matter of choice."""

    name: str
    indexes: tuple[IndexDefinition, ...]
    ttl_attribute: str = DEFAULT_ATTRIBUTE
    capacity: Capacity | None = None
    """None is on demand: each request is paid for."""
    stream: StreamView | None = None
    kms_key: str | None = None
    """The ARN of a key of yours; None is the key that AWS manages in your account."""
    point_in_time_recovery: bool = True
    deletion_protection: bool = True

    @classmethod
    def of(cls, name: str, entities: Iterable[type[Entity]], *, ttl_attribute: str = DEFAULT_ATTRIBUTE) -> Self:
        """The table that these entities need: on demand, encrypted, with backups, protected from deletion.

        It has the indexes that they use, and no others; an index holds what any of them wants of it.  `ttl_attribute`
        is that of the store's `ttl` setting.  Raises RequestError without entities, and DeclarationError where they
        want more of the indexes than DynamoDB allows."""
        specs = [entity.spec for entity in entities]
        if not specs:
            raise RequestError("a table is derived from entities, and none were given: name those that lie in it")
        return cls(name=name, indexes=indexes_of(specs, ttl_attribute), ttl_attribute=ttl_attribute)

    @property
    def key(self) -> tuple[str, str]:
        """The attributes of the partition key and the sort key."""
        return "pk", "sk"

    @property
    def key_attributes(self) -> tuple[str, ...]:
        """All attributes that are part of a key; each of them is a string."""
        return self.key + tuple(attribute for index in self.indexes for attribute in index.key)


def indexes_of(specs: Sequence[EntitySpec], ttl_attribute: str) -> tuple[IndexDefinition, ...]:
    """The indexes that entities use, in the order of their numbers; raises DeclarationError."""
    names = sorted({index for spec in specs for index in spec.indexes if index != TABLE}, key=_number)
    indexes = tuple(IndexDefinition(name, _projection(name, specs, ttl_attribute)) for name in names)
    _check_included(indexes)
    return indexes


def _projection(index: str, specs: Sequence[EntitySpec], ttl_attribute: str) -> Projection:
    users = [spec for spec in specs if index in spec.indexes]
    if any(spec.indexes[index].projection == "all" for spec in users):
        return "all"
    names = {spec.fields[name].stored for spec in users for name in _included(spec, index)}
    # With the expiry, so that what has expired is left out of queries of the index.
    return tuple(sorted(names | {ttl_attribute})) if names else "keys_only"


def _included(spec: EntitySpec, index: str) -> tuple[str, ...]:
    projection = spec.indexes[index].projection
    return projection if isinstance(projection, tuple) else ()


def _check_included(indexes: Iterable[IndexDefinition]) -> None:
    total = 0
    for index in indexes:
        count = len(index.projection) if isinstance(index.projection, tuple) else 0
        total += count
        if count > INCLUDED_IN_INDEX or total > INCLUDED_IN_ALL:
            raise DeclarationError(
                f"{index.name}: the projections of its entities name {count} attributes, and those of all "
                f"indexes up to it {total}; DynamoDB allows {INCLUDED_IN_INDEX} and {INCLUDED_IN_ALL}: "
                'take "all" or "keys_only"'
            )


def _number(index: str) -> int:
    return int(index.removeprefix("gsi"))
