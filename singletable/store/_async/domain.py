"""What the domains of a store share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from singletable.schemas import Message, Thread, Tombstone

from ..._async.table import AsyncTable
from ...entity import Entity
from ...errors import RequestError
from ..stamps import Orders


def require(value: object, model: type[Entity]) -> None:
    """Raise RequestError unless a value is the entity that a call takes."""
    if not isinstance(value, model):
        raise RequestError(f"this takes a {model.__name__}, not a {type(value).__name__}")


@dataclass(frozen=True)
class AsyncDomain:
    """A part of a store: verbs over one table."""

    table: AsyncTable
    orders: Orders = field(default_factory=Orders)

    def clock(self) -> datetime:
        """The time of the table."""
        return self.table.clock()

    def _conversation(self, thread_id: str) -> tuple[Message.InThread, Thread.Key, Tombstone.Key]:
        """All that lies in the partition of a thread; backwards: its tombstone or its row, then its newest message."""
        return Message.InThread(thread_id=thread_id), Thread.Key(id=thread_id), Tombstone.Key(thread_id=thread_id)

    async def _is_deleted(self, thread_id: str) -> bool:
        return await self.table.get(Tombstone.Key(thread_id=thread_id)) is not None
