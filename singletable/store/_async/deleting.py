"""Messages that go, by their ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from singletable.schemas import Message

from ...errors import TransactionFailedError
from ...items import pointer_key
from ...refusals import refused_at
from ...requests import TRANSACTION_MEMBERS
from ..contention import CHANGES, change_pause_seconds
from ..message_forms import several
from ..stamps import after
from .filtering import require_text
from .rows import AsyncRows, touch

DELETED_AT_ONCE = TRANSACTION_MEMBERS // 3
"""A message, its pointer, and the row of its thread, which may be another one for each."""


class AsyncDeleting(AsyncRows):
    """Messages deleted by their ids."""

    async def delete_messages(self, messages: Iterable[str | Message], *, resource_id: str | None = None) -> None:
        """Delete messages by their ids, or as they were read, of any threads; those that are gone do not matter.

        With `resource_id`, messages of other resources are as if they were not there.  `updated_at` of each thread
        that loses a message moves forward.  33 messages at a time go together with their pointers; if this is
        interrupted, call it again.  Four requests for 33 messages, and four more for each caller who changed them
        meanwhile; two write units for each KB of a message, and two each for its pointer and its thread."""
        given = several(messages, (str, Message), "ids or messages")
        wanted = list(dict.fromkeys(one if isinstance(one, str) else one.id for one in given))
        for message_id in wanted:
            pointer_key(Message.ById(id=message_id), self.table.scope)  # refuses what cannot be an id
        if resource_id is not None:
            require_text("resource_id", resource_id)
        for first in range(0, len(wanted), DELETED_AT_ONCE):
            await self._delete(wanted[first : first + DELETED_AT_ONCE], resource_id)

    async def _delete(self, message_ids: Sequence[str], owner: str | None) -> None:
        attempt = 0
        while True:
            found = await self._by_ids(message_ids, owner)
            try:
                await self._remove([*found.values()], owner)
                return
            except TransactionFailedError as error:
                # Another caller moved or deleted a message, or changed the row of its thread.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
            await self.table.sleep(change_pause_seconds(attempt))

    async def _remove(self, messages: Sequence[Message], owner: str | None) -> None:
        known = await self._rows({message.thread_id for message in messages})
        visible = [message for message in messages if message.thread_id not in known.deleted]
        is_owned = None if owner is None else partial(_is_of, owner)
        async with self.table.transaction() as tx:
            for message in visible:
                tx.delete(Message.Key.of(message), Message.ById(id=message.id), where=is_owned)
            for thread in {message.thread_id for message in visible}:
                row = known.threads.get(thread)
                time = after(self.clock(), *([row.updated_at] if row else []))
                touch(tx, thread, has_row=row is not None, time=time)


def _is_of(resource_id: str, message: Message) -> bool:
    return message.resource_id == resource_id
