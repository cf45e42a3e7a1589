"""A conversation."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Changes, Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, JsonObject, Map, Pk, SkRange


class Thread(Entity, entity="thread", version=1):
    """A conversation between a resource (a user) and an agent."""

    id: str
    resource_id: str
    title: str | None = None
    metadata: Map[JsonObject] = Field(default_factory=dict)
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)

    class Key(PrimaryKey["Thread"], collection="conversation"):
        """One thread by its id."""

        id: Pk[str]

    class ByResource(Index["Thread"], on="gsi1"):
        """The threads of a resource in the order of their creation."""

        resource_id: Pk[str]
        created_at: SkRange[datetime] = None

    class ByActivity(Index["Thread"], on="gsi2"):
        """The threads of a resource in the order of their last message or change."""

        resource_id: Pk[str]
        updated_at: SkRange[datetime] = None

    class Patch(Changes["Thread"]):
        """What may change without writing the thread anew."""

        title: Change[str | None] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP
        updated_at: Change[datetime] = KEEP
