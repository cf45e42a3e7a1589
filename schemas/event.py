"""What happened in a session."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import Order, Pk, Sk, SkRange


class Event(Entity, entity="event", version=1):
    """Something that was added to a session and never changes: any JSON, and it comes back as it was given."""

    actor_id: str
    session_id: str
    order: Order
    data: object
    created_at: datetime = Field(default_factory=utc_now)

    class Key(PrimaryKey["Event"], collection="agent_session"):
        """One event by its place."""

        actor_id: Pk[str]
        session_id: Pk[str]
        order: Sk[Order]

    class InSession(Index["Event"], collection="agent_session"):
        """The events of a session, oldest first."""

        actor_id: Pk[str]
        session_id: Pk[str]
        order: SkRange[Order] = None

    class ByActor(Index["Event"], on="gsi8", projection="keys_only"):
        """All events of an actor."""

        actor_id: Pk[str]
        session_id: SkRange[str] = None
        order: SkRange[str] = None
