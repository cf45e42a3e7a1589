"""What must still be stored, unchanged, for a write to be made.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .declare import PrimaryKey
from .errors import RequestError


@dataclass(frozen=True, kw_only=True)
class Fence:
    """An item, and what it holds as long as its owner may write: every write under it checks that, or is not made."""

    table: str
    scope: str
    key: PrimaryKey[Any]
    holds: Mapping[str, object] = field(repr=False)


def require_fence(value: object, table: str, scope: str) -> None:
    """Raise RequestError unless a value is a fence in the table, and of the tenant, of who uses it."""
    if not isinstance(value, Fence):
        raise RequestError(f"this takes a lease that was acquired, not a {type(value).__name__}")
    if (value.table, value.scope) != (table, scope):
        raise RequestError("the lease is of another table or tenant: acquire it from the store that writes")
