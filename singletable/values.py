"""The small vocabulary with which keys and patches are declared and filled in.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from typing import Annotated, Final, Generic, Literal, Never, TypeAlias, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Side: TypeAlias = Literal["pk", "sk"]
Operator: TypeAlias = Literal["gt", "gte", "lt", "lte", "between", "starting"]
Verb: TypeAlias = Literal[
    "add", "subtract", "append", "prepend", "discard", "default", "merge", "remove", "set_at", "remove_at"
]


@dataclass(frozen=True)
class Part:
    """Marks a field of a key class as a part of the partition key or of the sort key."""

    side: Side


@dataclass(frozen=True)
class Range(Generic[T]):
    """A condition on the last sort-key part that is given."""

    operator: Operator
    low: T
    high: T | None = None


def gt(value: T) -> Range[T]:
    """After `value`."""
    return Range("gt", value)


def gte(value: T) -> Range[T]:
    """`value` or after."""
    return Range("gte", value)


def lt(value: T) -> Range[T]:
    """Before `value`."""
    return Range("lt", value)


def lte(value: T) -> Range[T]:
    """`value` or before."""
    return Range("lte", value)


def between(low: T, high: T) -> Range[T]:
    """From `low` to `high`, both included."""
    return Range("between", low, high)


def starting(prefix: str) -> Range[str]:
    """Every text that starts with `prefix`."""
    return Range("starting", prefix)


class Keep(Enum):
    """The type of KEEP: an enum of one member, so that checkers can narrow it away."""

    KEEP = auto()


KEEP: Final = Keep.KEEP
"""A patch field that is left as it is stored."""


@dataclass(frozen=True)
class Edit(Generic[T_co]):
    """A change that DynamoDB works out from the stored value, or that it makes inside of it."""

    verb: Verb
    operand: object = None
    path: tuple[str | int, ...] = ()


def add(amount: T) -> Edit[T]:
    """Add `amount` to the stored number, or its members to the stored set; absent counts as nothing.

    No lost answer makes it count twice: what cannot be settled is an OutcomeUnknownError."""
    return Edit("add", amount)


def subtract(amount: T) -> Edit[T]:
    """Subtract `amount` from the stored number; absent counts as 0."""
    return Edit("subtract", amount)


def append(items: T) -> Edit[T]:
    """Put `items` behind those of the stored list; an absent list counts as empty."""
    return Edit("append", items)


def prepend(items: T) -> Edit[T]:
    """Put `items` before those of the stored list; an absent list counts as empty."""
    return Edit("prepend", items)


def discard(members: T) -> Edit[T]:
    """Take `members` out of the stored set; those that are not in it do not matter."""
    return Edit("discard", members)


def default(value: T) -> Edit[T]:
    """Set the field unless it is there."""
    return Edit("default", value)


def merge(entries: T) -> Edit[T]:
    """Set each of `entries` in the stored map and leave its other keys: one level deep, atomic per key."""
    return Edit("merge", entries)


def remove() -> Edit[Never]:
    """Remove the attribute, so that the field reads as its default."""
    return Edit("remove")


def set_at(*path: str | int, value: object) -> Edit[Never]:
    """Set one value inside a `Map[...]`, where its parents are there: `set_at("labels", 0, value="new")`."""
    return Edit("set_at", value, path)


def remove_at(*path: str | int) -> Edit[Never]:
    """Remove one value inside the stored map or list."""
    return Edit("remove_at", None, path)


AutomaticKind: TypeAlias = Literal["created_at", "updated_at", "version"]


@dataclass(frozen=True)
class Automatic:
    """Marks a field that the library fills in."""

    kind: AutomaticKind


@dataclass(frozen=True)
class Form:
    """Marks how a field of free-form JSON is stored."""

    native: bool


Pk: TypeAlias = Annotated[T, Part("pk")]
"""A part of the partition key."""
Sk: TypeAlias = Annotated[T, Part("sk")]
"""A part of the sort key, exactly."""
SkRange: TypeAlias = Annotated[T | Range[T] | None, Part("sk")]
"""A part of the sort key that a query may give, bound by a range, or leave out."""
Change: TypeAlias = T | Edit[T] | Literal[Keep.KEEP]
"""What a patch may do to a field: leave it (KEEP), set it, or have DynamoDB change it."""
Map: TypeAlias = Annotated[T, Form(native=True)]
"""Free-form JSON stored as a map of DynamoDB's, so that it can be merged and filtered on.

Numbers lose the difference between 1.0 and 1 in it, because DynamoDB does not keep it."""
CreatedAt: TypeAlias = Annotated[datetime, Automatic("created_at")]
"""The time of the first write, by the table's clock, unless a time is given; give the field any default."""
UpdatedAt: TypeAlias = Annotated[datetime, Automatic("updated_at")]
"""The time of the last write, by the table's clock, whatever is given; give the field any default."""
Version: TypeAlias = Annotated[str, Automatic("version")]
"""A text that changes with every write and never comes back, for optimistic locking; give the field the default `""`.

`put` demands that the stored version is the one that was read, and that nothing is there for the version `""`."""
Order: TypeAlias = str
"""Fixed-width text assigned by the store at the first save and kept for ever: it breaks ties of `created_at`."""
JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object of any shape."""
