"""How far the removal of what has expired came.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .cursors import cursor_place, cursor_text, damaged
from .entity import Entity
from .wire import WireItem


@dataclass(frozen=True)
class Purged:
    """What has been done so far."""

    read: int = 0
    """Items of the table that were read, whatever they are."""
    deleted: Mapping[str, int] = field(default_factory=dict[str, int])
    """By the name of the entity; the pointers of lookups are deleted as well, and not counted."""
    cursor: str | None = None
    """Goes on after here; None where all is done."""


def owners(models: Iterable[type[Entity]]) -> dict[str, type[Entity]]:
    """The entities by what their items and pointers say they are."""
    known: dict[str, type[Entity]] = {}
    for model in models:
        known |= {lookup.pk.prefix: model for lookup in model.spec.lookups.values()} | {model.spec.name: model}
    return known


def position(key: WireItem, scope: str) -> str:
    """The opaque text from which `resumed` goes on after a key."""
    return cursor_text(("purge", scope), [key["pk"]["S"], key["sk"]["S"]])


def resumed(cursor: str, scope: str) -> WireItem:
    """The key of a position; raises InvalidCursorError unless it is one of this scope."""
    place = cursor_place(("purge", scope), cursor)
    try:
        pk, sk = place
    except (ValueError, TypeError):
        raise damaged() from None
    return {"pk": {"S": str(pk)}, "sk": {"S": str(sk)}}
