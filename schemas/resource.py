"""The owner of threads."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Changes, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, JsonObject, Map, Pk


class Resource(Entity, entity="resource", version=1):
    """The owner of threads, usually a user, and what the agent remembers of them."""

    id: str
    working_memory: str | None = None
    metadata: Map[JsonObject] = Field(default_factory=dict)
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)

    class Key(PrimaryKey["Resource"]):
        """One resource by its id."""

        id: Pk[str]

    class Patch(Changes["Resource"]):
        """What may change without writing the resource anew."""

        working_memory: Change[str | None] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP
        updated_at: Change[datetime] = KEEP
