"""Who may work on something, until when."""

from __future__ import annotations

from datetime import datetime

from singletable.declare import Changes, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, Pk


class Lease(Entity, entity="lease", version=1):
    """A name that one holder at a time has; the item stays when it is given back, because it knows the last token."""

    name: str
    token: int
    """Greater than every token under this name before."""
    holder: str | None = None
    """A random text of this holding; None where nobody has the lease."""
    ttl_seconds: float
    """How long it lasts from each renewal on."""
    ends_at: datetime
    """When it ends unless it is renewed, by the clock of the holder."""

    class Key(PrimaryKey["Lease"]):
        """One lease by its name."""

        name: Pk[str]

    class Patch(Changes["Lease"]):
        """What a holder changes: it stays, or it gives the lease back."""

        holder: Change[str | None] = KEEP
        ends_at: Change[datetime] = KEEP
