"""The value classes a user nests in an entity: its key, its access patterns, its lookups, its patch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

from typing_extensions import dataclass_transform

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")
TABLE = "table"
"""The name under which the table itself stands among its indexes."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Declared(Generic[E]):
    """Makes each subclass a frozen, keyword-only dataclass, bound to the entity that it is nested in."""

    if TYPE_CHECKING:  # get_type_hints, which compile.py calls, would look for Entity at run time
        model: ClassVar[type[Entity]]

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, kw_only=True)(cls)

    def given(self) -> dict[str, object]:
        """The fields and their values."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(cast(Any, self))}

    @classmethod
    def of(cls, item: E) -> Self:
        """The value with the fields of `item`."""
        return cls(**{field.name: getattr(item, field.name) for field in dataclasses.fields(cast(Any, cls))})


class AccessPath(Declared[E]):
    """What can be queried: the table itself or an index."""

    on: ClassVar[str] = TABLE
    collection: ClassVar[str | None] = None

    def __init_subclass__(cls, *, on: str = TABLE, collection: str | None = None, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.on = on
        cls.collection = collection


class PrimaryKey(AccessPath[E]):
    """The identity of one item.  Nest it in the entity under the name `Key`.

    Entities that name the same `collection` share partitions: one query reads them together."""


class Index(AccessPath[E]):
    """One access pattern, on the index `on="gsiN"`, or on the table itself where `on` is left out.

    It may leave out trailing sort parts.  An item is in the index only while all parts of its key are present."""


class Lookup(Declared[E]):
    """A unique, strongly consistent way to an item: a pointer item, written in the same transaction."""


class Changes(Declared[E]):
    """The fields that an update may change.  Nest it in the entity under the name `Patch`."""
