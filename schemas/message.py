"""One message of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import uuid4

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Changes, Index, Lookup, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, JsonObject, Map, Order, Pk, Sk, SkRange

Content: TypeAlias = str | JsonObject | Sequence[JsonObject]
"""Text, or the JSON of any chat format: stored as JSON text, returned exactly as it was given."""
Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
"""Who speaks."""


def _new_id() -> str:
    return str(uuid4())


class Message(Entity, entity="message", version=1):
    """One message of a thread.

    `created_at` and `order` are assigned by the store where they are not given; together they are the place of the
    message in its thread, and they stay the same when the message is saved again."""

    id: str = Field(default_factory=_new_id)
    thread_id: str
    resource_id: str | None = None
    role: Role
    type: str = "text"
    content: Content
    metadata: Map[JsonObject] = Field(default_factory=dict)
    created_at: datetime = Field(default_factory=utc_now)
    order: Order = ""

    class Key(PrimaryKey["Message"], collection="conversation"):
        """One message by its place."""

        thread_id: Pk[str]
        created_at: Sk[datetime]
        order: Sk[Order]

    class InThread(Index["Message"], collection="conversation"):
        """The messages of a thread, oldest first."""

        thread_id: Pk[str]
        created_at: SkRange[datetime] = None

    class ById(Lookup["Message"]):
        """One message by its id, whatever its thread."""

        id: Pk[str]

    class Patch(Changes["Message"]):
        """What may change while the message stays in its place."""

        resource_id: Change[str | None] = KEEP
        role: Change[Role] = KEEP
        type: Change[str] = KEEP
        content: Change[Content] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP
