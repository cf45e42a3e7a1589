"""The mark of a deleted conversation."""

from __future__ import annotations

from datetime import datetime

from singletable.declare import PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk


class Tombstone(Entity, entity="tombstone", version=1, ttl_seconds=24 * 3600):
    """Says that a thread was deleted: nothing of it is visible, and nothing is saved into it.

    It stays until everything of the thread is removed, and a day longer, for writers that still hold the thread."""

    thread_id: str
    deleted_at: datetime
    done_at: datetime | None = None

    class Key(PrimaryKey["Tombstone"], collection="conversation"):
        """The tombstone of one thread."""

        thread_id: Pk[str]
