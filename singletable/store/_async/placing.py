"""The places of messages in their threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from singletable.schemas import Message, Thread, Tombstone

from ...items import key_fields, target_key
from ...wire import WireItem
from ..stamps import milliseconds
from .domain import AsyncDomain
from .threads import thread_deleted


@dataclass(frozen=True)
class End:
    """The end of a thread at one moment."""

    has_row: bool
    times: list[datetime]
    """When the thread was last changed, and the time of its newest message, as far as there are such."""


class AsyncPlacing(AsyncDomain):
    """Messages that are to be saved, and where."""

    async def _end(self, thread_id: str) -> End:
        found = await self.table.query(*self._conversation(thread_id)).reverse().limit(2).all()
        if any(isinstance(item, Tombstone) for item in found):
            raise thread_deleted(self.table.name)
        changed = [item.updated_at for item in found if isinstance(item, Thread)]
        return End(bool(changed), changed + [item.created_at for item in found if isinstance(item, Message)])

    def _stamped(
        self, messages: Sequence[Message], olds: Mapping[str, Message], times: Mapping[str, datetime]
    ) -> list[Message]:
        """Messages with their places: the one they have, the one they ask for, or the next one of their thread."""
        latest, kept_at = dict(times), dict[tuple[str, datetime], str]()
        stored: list[Message] = []
        for message, order in zip(messages, self.orders.next(self.clock(), len(messages)), strict=True):
            old = olds.get(message.id)
            if "created_at" in message.model_fields_set:
                created_at = milliseconds(message.created_at)
            else:
                created_at = old.created_at if old else latest[message.thread_id]
            latest[message.thread_id] = max(latest[message.thread_id], created_at)
            before = kept_at.get((message.thread_id, created_at), "")
            # In another thread its order may be taken, by the copy of a message that was copied with its thread.
            if old and old.thread_id == message.thread_id:
                order = old.order
                kept_at[message.thread_id, created_at] = max(before, order)
            elif message.order and not old:
                order = message.order
            elif order <= before:
                order = f"{before}-{order}"  # the one before it was saved by a machine whose clock is ahead
            stored.append(message.model_copy(update={"created_at": created_at, "order": order}))
        return stored


def pointed(message: Message, pointer: WireItem) -> Message:
    """The message in the place that a stored pointer says."""
    return message.model_copy(update=key_fields(Message, target_key(pointer)))
