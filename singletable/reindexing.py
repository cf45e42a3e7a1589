"""How far the filling of an index came.  Pure."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

import orjson

from .errors import InvalidCursorError
from .specs import EntitySpec
from .wire import WireItem


@dataclass(frozen=True)
class Reindexed:
    """What has been done so far."""

    read: int
    """Items of the entity that were read."""
    written: int
    """Items of them that got a new key."""
    cursor: str | None
    """Goes on after here; None where all is done."""


def position(key: WireItem, spec: EntitySpec, index: str) -> str:
    """The opaque text from which `resumed` goes on after a key."""
    content = orjson.dumps([spec.name, index, key["pk"]["S"], key["sk"]["S"]])
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def resumed(cursor: str, spec: EntitySpec, index: str) -> WireItem:
    """The key of a position; raises InvalidCursorError unless it is one of this entity and index."""
    try:
        name, on, pk, sk = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise InvalidCursorError("the cursor is damaged; start again without one") from None
    if (name, on) != (spec.name, index):
        raise InvalidCursorError("the cursor belongs to another entity or index; use it with the call that gave it")
    return {"pk": {"S": str(pk)}, "sk": {"S": str(sk)}}
