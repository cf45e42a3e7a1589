"""The value classes a user nests in an entity: its key, its access patterns, its lookups, its patch."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Self, TypeAlias, TypeVar, cast

from typing_extensions import dataclass_transform

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")
TABLE = "table"
"""The name under which the table itself stands among its indexes."""
Projection: TypeAlias = Literal["all", "keys_only"] | tuple[str, ...]
"""What an index holds of an item besides its keys: everything, nothing, or these fields."""


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Declared(Generic[E]):
    """Makes each subclass a frozen, keyword-only dataclass, bound to the entity that it is nested in."""

    if TYPE_CHECKING:  # get_type_hints, which compile.py calls, would look for Entity at run time
        declared_for: ClassVar[type[Entity]]

    declared_names: ClassVar[tuple[str, ...]]
    """The fields of the value, which are fields of the entity."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        dataclass(frozen=True, kw_only=True)(cls)
        cls.declared_names = tuple(field.name for field in dataclasses.fields(cast(Any, cls)))

    def declared_values(self) -> dict[str, object]:
        """The fields and their values."""
        return {name: getattr(self, name) for name in self.declared_names}

    @classmethod
    def of(cls, item: E) -> Self:
        """The value with the fields of `item`."""
        return cls(**{name: getattr(item, name) for name in cls.declared_names})


class AccessPath(Declared[E]):
    """What can be queried: the table itself or an index."""

    declared_on: ClassVar[str] = TABLE
    declared_collection: ClassVar[str | None] = None
    declared_filling: ClassVar[bool] = False

    def __init_subclass__(cls, *, on: str = TABLE, collection: str | None = None) -> None:
        super().__init_subclass__()
        cls.declared_on = on
        cls.declared_collection = collection


class PrimaryKey(AccessPath[E]):
    """The identity of one item.  Nest it in the entity under the name `Key`.

    Entities that name the same `collection` share partitions: one query reads them together."""


class Index(AccessPath[E]):
    """One access pattern, on the index `on="gsiN"`, or on the table itself where `on` is left out.

    It may leave out trailing sort parts.  An item is in the index only while all parts of its key are present.
    `projection` says what else the index holds: everything, nothing ("keys_only"), or a tuple of fields.  The less it
    holds, the fewer writes to an item are billed for the index as well; a query then reads the items themselves from
    the table, unless all that it selects is in the tuple.

    `filling=True` says that older items are not in the index yet: a query on it warns with IncompleteIndexWarning,
    until `table.reindex` has filled it and the declaration says so no more."""

    declared_projection: ClassVar[Projection] = "all"

    def __init_subclass__(
        cls, *, on: str = TABLE, collection: str | None = None, projection: Projection = "all", filling: bool = False
    ) -> None:
        super().__init_subclass__(on=on, collection=collection)
        cls.declared_projection = projection
        cls.declared_filling = filling


class Lookup(Declared[E]):
    """A unique, strongly consistent way to an item: a pointer item, written in the same transaction."""


class Changes(Declared[E]):
    """The fields that an update may change.  Nest it in the entity under the name `Patch`."""
