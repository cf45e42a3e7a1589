"""Threads of a memory, deleted with all that is in them."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel

from singletable.schemas import Message, Thread, ThreadState, Tombstone

from ...errors import TransactionFailedError
from ...refusals import refused_at
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after, milliseconds
from .domain import AsyncDomain
from .threads import thread_not_found

DELETED_AT_ONCE = 50
"""A message and its pointer are two members of a transaction, which has at most 100."""


class _Place(BaseModel):
    """As much of a message as its deletion needs."""

    id: str
    thread_id: str
    created_at: datetime
    order: str


class _StatePlace(BaseModel):
    """As much of a state as its deletion needs."""

    thread_id: str
    type: str


class AsyncThreadDeletion(AsyncDomain):
    """Threads that go, with their messages and states."""

    async def delete_thread(self, thread_id: str, *, resource_id: str | None = None) -> None:
        """Delete a thread, all its messages and its states; a thread that is not there is fine.

        With `resource_id` it must be a thread of that resource, or one that was deleted within a day: NotFoundError
        otherwise.  Nothing of it is visible after the first write.  If this is interrupted, call it again: it goes on
        where it stopped.  Two requests for 50 messages, and one for 25 states.  Saves into the thread raise
        ThreadDeletedError for a day."""
        tombstone = await self._bury(thread_id, resource_id)
        if tombstone is None:
            return
        await self._delete_messages(thread_id)
        await self._delete_states(thread_id)
        await self.table.put(tombstone.model_copy(update={"done_at": milliseconds(self.clock())}))

    async def _bury(self, thread_id: str, owner: str | None) -> Tombstone | None:
        """The tombstone in place of the thread's row; None where there is nothing to delete, or it is done."""
        attempt = 0
        while True:
            end = await self.table.query(*self._conversation(thread_id)).reverse().first()
            if owner is not None and not _may_delete(end, owner):
                raise thread_not_found(self.table.name)
            if end is None or (isinstance(end, Tombstone) and end.done_at):
                return None
            try:
                return await self._put_tombstone(thread_id, owner, end if isinstance(end, Tombstone) else None)
            except TransactionFailedError as error:
                # The thread was given to another resource since it was seen, or came to be.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
            await self.table.sleep(change_pause_seconds(attempt))

    async def _put_tombstone(self, thread_id: str, owner: str | None, old: Tombstone | None) -> Tombstone:
        # Later than the one before, so that a copy that is being made under this id sees that it is no longer its own.
        time = after(self.clock(), old.deleted_at) if old else milliseconds(self.clock())
        tombstone = Tombstone(thread_id=thread_id, deleted_at=time)
        async with self.table.transaction() as tx:
            if owner is None:
                tx.delete(Thread.Key(id=thread_id))
            elif old is None:
                tx.delete(Thread.Key(id=thread_id), where=lambda row: row.resource_id == owner)
            else:
                tx.check_absent(Thread.Key(id=thread_id))
            # It must not expire before the last message is gone, or what is left would come back.
            tx.put(tombstone, expiry="clear")
        return tombstone

    async def _delete_messages(self, thread_id: str) -> None:
        attempt = 0
        places = self.table.query(Message.InThread(thread_id=thread_id)).select(_Place).limit(DELETED_AT_ONCE)
        while found := await places.all():
            try:
                async with self.table.transaction() as tx:
                    for place in found:
                        tx.delete(Message.Key(**place.model_dump(exclude={"id"})), Message.ById(id=place.id))
            except TransactionFailedError as error:
                # A message that was moved to another thread since it was listed: list again.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
                await self.table.sleep(change_pause_seconds(attempt))
            else:
                attempt = 0

    async def _delete_states(self, thread_id: str) -> None:
        """All states: none is set any more where a tombstone is."""
        places = await self.table.query(ThreadState.InThread(thread_id=thread_id)).select(_StatePlace).all()
        await self.table.delete_many(ThreadState.Key(thread_id=place.thread_id, type=place.type) for place in places)


def _may_delete(end: Thread | Message | Tombstone | None, owner: str) -> bool:
    return isinstance(end, Tombstone) or (isinstance(end, Thread) and end.resource_id == owner)
