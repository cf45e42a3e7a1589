"""What an agent knows between two turns."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from singletable.clock import utc_now
from singletable.codec import decode_json
from singletable.declare import Changes, Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, JsonObject, Pk, SkRange, Version


class SessionTurn(BaseModel):
    """A turn that was committed, and what came of it."""

    id: str
    version: int
    """The version that it made of the session."""
    request: str | None = None
    """The digest of what was asked for, where that was given."""
    result_text: str = "null"
    """The result as JSON, so that it comes back exactly as it was given."""

    @property
    def result(self) -> object:
        """What came of it."""
        return decode_json({"S": self.result_text})


class Session(Entity, entity="session", version=1):
    """The state of one session of one actor: any JSON object, and it comes back as it was given.

    `version` counts the turns without a gap; 0 is a session of which nothing is stored."""

    actor_id: str
    session_id: str
    state: JsonObject = Field(default_factory=dict[str, object])
    version: int = 0
    turns: list[SessionTurn] = Field(default_factory=list[SessionTurn])
    """The newest turns, oldest first: who delivers one of them again gets its result."""
    created_at: datetime = Field(default_factory=utc_now)
    changed_at: datetime = Field(default_factory=utc_now)
    etag: Version = ""
    """Tells a session from one that was deleted and begun anew, and came to the same version."""

    def turn(self, turn_id: str) -> SessionTurn | None:
        """The turn with this id, if it is one of those that are remembered."""
        return next((turn for turn in self.turns if turn.id == turn_id), None)

    class Key(PrimaryKey["Session"], collection="agent_session"):
        """One session of one actor."""

        actor_id: Pk[str]
        session_id: Pk[str]

    class ByActor(Index["Session"], on="gsi8", projection="keys_only"):
        """The sessions of an actor by their ids."""

        actor_id: Pk[str]
        session_id: SkRange[str] = None

    class Patch(Changes["Session"]):
        """What a turn changes."""

        state: Change[JsonObject] = KEEP
        version: Change[int] = KEEP
        turns: Change[list[SessionTurn]] = KEEP
        changed_at: Change[datetime] = KEEP
