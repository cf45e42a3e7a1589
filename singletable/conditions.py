"""DynamoDB's functions for conditions: `where=lambda user: begins_with(user.email, "ada@") & missing(user.banned_at)`.

To a checker each function returns a bool, so that it combines with comparisons by `&` and `|`, and by `negate`.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, cast

from . import codec
from .errors import RequestError
from .expressions import Comparable, Condition, Recorded, absent, call, check_path, compare, one_of
from .expressions import exists as stored

AttributeType = Literal["S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"]
MOST_VALUES = 100
"""DynamoDB's limit for the values of IN."""


def exists(field: object) -> bool:
    """The attribute is there, be it NULL."""
    return _as_bool(stored(*_recorded(field).path))


def missing(field: object) -> bool:
    """The attribute is not there."""
    return _as_bool(absent(*_recorded(field).path))


def has_type(field: object, kind: AttributeType) -> bool:
    """The attribute has a type of DynamoDB."""
    return _as_bool(call("attribute_type", _recorded(field).path, {"S": kind}))


def begins_with(field: str | bytes | None, prefix: str | bytes) -> bool:
    """The text, or the bytes, begin with `prefix`."""
    recorded = _native(field, "begins_with")
    return _as_bool(call("begins_with", recorded.path, codec.encode(prefix, recorded.what)))


def contains(field: object, member: object) -> bool:
    """The text has a part, or the list or the set a member."""
    recorded = _native(field, "contains")
    return _as_bool(call("contains", recorded.path, codec.encode(member, recorded.what)))


def is_in(field: object, values: Iterable[object]) -> bool:
    """The value is one of 1 to 100 values."""
    recorded = _recorded(field)
    encoded = [recorded.encode(value) for value in values]
    given = [value for value in encoded if value is not None]
    if not 1 <= len(encoded) <= MOST_VALUES or len(given) != len(encoded):
        raise RequestError(
            f"{recorded.what}: is_in takes 1 to {MOST_VALUES} values, and not None; use missing for that"
        )
    return _as_bool(one_of(recorded.path, given))


def size(field: object) -> int:
    """The length of a text in characters, of bytes, or the number of members: `size(t.tags) > 3`."""
    return cast("int", _Size(_native(field, "size")))


def at(field: object, *path: str | int) -> Any:
    """A value inside a map or a list: `at(t.metadata, "labels", 0) == "new"`."""
    recorded = _native(field, "a path")
    check_path(path, recorded.what)
    return Recorded(recorded.spec, recorded.field, (*recorded.path[1:], *path))


def negate(condition: bool) -> bool:
    """The condition does not hold; for a checker, which takes `~` for arithmetic."""
    return _as_bool(~_condition(condition))


class _Size(Comparable):
    """Stands in for the size of a field."""

    def __init__(self, field: Recorded) -> None:
        self._field = field

    def compared(self, operator: str, other: object) -> Condition:
        """The size compares with a whole number."""
        if not isinstance(other, int) or isinstance(other, bool):
            raise RequestError(f"{self._field.what}: a size compares with a whole number")
        return compare(self._field.path, operator, {"N": str(other)}, "size({})")


def _recorded(field: object) -> Recorded:
    if not isinstance(field, Recorded):
        raise RequestError("a function of a condition takes a field of the entity first, for example t.title")
    return field


def _native(field: object, use: str) -> Recorded:
    recorded = _recorded(field)
    recorded.require_native(use)
    return recorded


def _condition(condition: object) -> Condition:
    if not isinstance(condition, Condition):
        raise RequestError("negate takes a condition, for example negate(t.title == 'Trip')")
    return condition


def _as_bool(condition: Condition) -> bool:
    """For the checker, which sees an entity and a bool where at run time a recorder and a condition stand."""
    return cast("bool", condition)
