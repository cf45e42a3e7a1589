"""Threads of a memory."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel

from singletable.schemas import Message, Thread, Tombstone

from ...errors import (
    ConditionFailedError,
    NotFoundError,
    RequestError,
    ThreadDeletedError,
    TransactionFailedError,
)
from ...page import Page
from ...refusals import REFUSED, refused_at
from ...retry import ATTEMPTS, pause_seconds
from ...values import KEEP, JsonObject, Keep, merge
from ..stamps import after, milliseconds, stamped
from .domain import AsyncDomain, require
from .paging import descending, paged

DELETED_AT_ONCE = 50
"""A message and its pointer are two members of a transaction, which has at most 100."""


class _Place(BaseModel):
    """As much of a message as its deletion needs."""

    id: str
    thread_id: str
    created_at: datetime
    order: str


class AsyncThreads(AsyncDomain):
    """Threads: saved, changed, listed, and deleted with all their messages."""

    async def get_thread_by_id(self, thread_id: str, *, resource_id: str | None = None) -> Thread | None:
        """The thread, or None; with `resource_id`, only if it is of that resource.  One strongly consistent read."""
        thread = await self.table.get(Thread.Key(id=thread_id))
        return thread if thread and resource_id in (None, thread.resource_id) else None

    async def save_thread(self, thread: Thread) -> Thread:
        """Store a thread, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the thread that is replaced, or now.  Raises ThreadDeletedError
        for an id that was deleted.  One request for a new thread, two for one that is there."""
        require(thread, Thread)
        now = milliseconds(self.clock())
        new, current, attempt = stamped(thread, created_at=now, updated_at=now), None, 0
        while True:
            try:
                await self._put_thread(new, current)
            except TransactionFailedError as error:
                # A thread is there, or another caller changed it since it was seen.
                attempt += 1
                if attempt == ATTEMPTS or not refused_at(error):
                    raise
                current = self._in_the_way(error)
            else:
                return new
            new = stamped(thread, created_at=now, updated_at=now)
            if current:
                time = after(self.clock(), current.updated_at)
                new = stamped(thread, created_at=current.created_at, updated_at=time)

    async def update_thread(
        self, thread_id: str, *, title: str | Keep | None = KEEP, metadata: JsonObject | Keep = KEEP
    ) -> Thread:
        """The thread after the change; raises NotFoundError if there is none.

        `metadata` is merged key by key, so that callers who change different keys at once all win; `updated_at`
        always moves forward.  One request, and one more where the clock of this machine is behind."""
        merged = KEEP if isinstance(metadata, Keep) else merge(metadata)
        time, attempt = milliseconds(self.clock()), 0
        while True:
            try:
                return await self._touch(thread_id, Thread.Patch(title=title, metadata=merged, updated_at=time), time)
            except NotFoundError:
                raise
            except ConditionFailedError as error:
                attempt += 1
                if attempt == ATTEMPTS or not isinstance(error.current, Thread):
                    raise
                time = after(self.clock(), error.current.updated_at)
            await self.table.sleep(pause_seconds(attempt))

    async def list_threads(
        self,
        resource_id: str,
        *,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        order_by: Literal["created_at", "updated_at"] = "created_at",
        order: Literal["asc", "desc"] = "desc",
        include_total: bool = False,
    ) -> Page[Thread]:
        """The threads of a resource, newest first.

        Read from an index, which may lag behind a write by moments.  `per_page=None` gives all; `cursor` goes on
        after the page that returned it, whatever is written meanwhile."""
        if order_by not in ("created_at", "updated_at"):
            raise RequestError('order_by must be "created_at" or "updated_at"')
        by_creation, by_activity = (
            Thread.ByResource(resource_id=resource_id),
            Thread.ByActivity(resource_id=resource_id),
        )
        query = self.table.query(by_creation if order_by == "created_at" else by_activity)
        if descending(order):
            query = query.reverse()
        return await paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread and all its messages; a thread that is not there is fine.

        Nothing of it is visible after the first write.  If this is interrupted, call it again: it goes on where it
        stopped.  Two requests for 50 messages.  Saves into the thread raise ThreadDeletedError for a day."""
        end = await self.table.query(*self._conversation(thread_id)).reverse().first()
        if end is None or (isinstance(end, Tombstone) and end.done_at):
            return
        tombstone = Tombstone(thread_id=thread_id, deleted_at=milliseconds(self.clock()))
        async with self.table.transaction() as tx:
            tx.delete(Thread.Key(id=thread_id))
            # It must not expire before the last message is gone, or what is left would come back.
            tx.put(tombstone, expiry="clear")
        await self._delete_messages(thread_id)
        await self.table.put(tombstone.model_copy(update={"done_at": milliseconds(self.clock())}))

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
                if attempt == ATTEMPTS or not refused_at(error):
                    raise
                await self.table.sleep(pause_seconds(attempt))
            else:
                attempt = 0

    async def _touch(self, thread_id: str, patch: Thread.Patch, time: datetime) -> Thread:
        return await self.table.update(
            Thread.Key(id=thread_id), patch, where=lambda row: row.updated_at < time, expiry="refresh"
        )

    async def _put_thread(self, thread: Thread, current: Thread | None) -> None:
        """Store a thread where none is, or over the one that was seen."""
        async with self.table.transaction() as tx:
            if current is None:
                tx.create(thread)
            else:
                tx.put(thread, where=lambda row: row.updated_at == current.updated_at)
            tx.check_absent(Tombstone.Key(thread_id=thread.id))

    def _in_the_way(self, error: TransactionFailedError) -> Thread | None:
        """The thread that is there, if one is; raises ThreadDeletedError where it is a tombstone."""
        row, tombstone = error.reasons
        if tombstone.code == REFUSED:
            raise thread_deleted(self.table.name)
        return None if row.item is None else self.table.load(Thread, row.item)


def thread_deleted(table: str) -> ThreadDeletedError:
    """What a save into a deleted thread raises."""
    return ThreadDeletedError(
        "the thread was deleted; save into a thread with another id",
        operation="TransactWriteItems",
        table=table,
        entity="thread",
    )
