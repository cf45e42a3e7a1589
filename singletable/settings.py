"""What holds for every request of a table: its name, its expiry, and whose items are meant.  Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from .ttl import Expiry


@dataclass(frozen=True)
class Settings:
    """One table, as one caller sees it."""

    table: str
    expiry: Expiry = field(default_factory=Expiry)
    scope: str = ""
    """What stands before every partition key: empty, or that of a tenant (`scopes.scope_text`)."""
