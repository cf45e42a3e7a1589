# Generated from ../_async/filtering.py by scripts/generate_sync.py; edit that file.
"""Queries narrowed to fields that hold given texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel

from ..._sync.query import Query
from ...entity import Entity
from ...errors import RequestError

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=BaseModel)


def having(query: Query[E, R], **texts: str | None) -> Query[E, R]:
    """The results with these texts in their fields, as DynamoDB filters them; a field may hold anything for None."""
    for name, text in texts.items():
        if text is not None:
            require_text(name, text)
            query = query.filter(_holds(name, text))
    return query


def require_text(name: str, value: object) -> None:
    """Raise RequestError unless a value is a text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise RequestError(f"{name} must be a text that is not blank")


def _holds(name: str, text: str) -> Callable[[Entity], bool]:
    return lambda entity: getattr(entity, name) == text
