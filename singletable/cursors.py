"""Cursors: opaque text that says where a reading goes on, and of which question it is.  Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import Any

import orjson

from .errors import InvalidCursorError

CURSOR_VERSION = 2


def cursor_text(question: object, place: object) -> str:
    """The cursor for a place in the answer to a question."""
    content = orjson.dumps([CURSOR_VERSION, _digest(question), place])
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def cursor_place(question: object, cursor: str) -> Any:
    """The place that a cursor was made for; raises InvalidCursorError unless it is of this very question."""
    try:
        version, digest, place = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, TypeError):
        raise damaged() from None
    if version != CURSOR_VERSION or digest != _digest(question):
        raise InvalidCursorError("the cursor belongs to another query; use it with the query that returned it")
    return place


def damaged() -> InvalidCursorError:
    """The error for a cursor that nothing of this library made."""
    return InvalidCursorError("the cursor is damaged; start again without one")


def _digest(question: object) -> str:
    return hashlib.sha256(repr(question).encode()).hexdigest()[:16]
