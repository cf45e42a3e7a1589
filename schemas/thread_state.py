"""What an agent keeps of a thread beside its messages."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk, Sk, SkRange, Version


class ThreadState(Entity, entity="thread_state", version=1):
    """One value of a thread, of which each `type` has one: any JSON, and it comes back as it was given.

    It lies in a partition of its own, so that the conversation is still read in one request."""

    thread_id: str
    type: str
    value: object
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)
    version: Version = ""

    class Key(PrimaryKey["ThreadState"]):
        """The state of one type."""

        thread_id: Pk[str]
        type: Sk[str]

    class InThread(Index["ThreadState"]):
        """The states of a thread by their types."""

        thread_id: Pk[str]
        type: SkRange[str] = None
