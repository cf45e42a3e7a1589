# Generated from ../_async/threads.py by scripts/generate_sync.py; edit that file.
"""Threads of a memory: read, saved and changed, each by its id."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from datetime import datetime

from singletable.schemas import Thread, Tombstone

from ...errors import (
    AlreadyExistsError,
    ConditionFailedError,
    NotFoundError,
    ThreadDeletedError,
    TransactionFailedError,
)
from ...fences import Fence
from ...refusals import REFUSED, refused_at
from ...values import KEEP, JsonObject, Keep, merge
from ..contention import CHANGES, change_pause_seconds
from ..metadata import require_object
from ..stamps import after, milliseconds, stamped
from .domain import Domain, require


class Threads(Domain):
    """Threads, each of which belongs to one resource: no call but `transfer_thread` gives it to another."""

    def get_thread_by_id(self, thread_id: str, *, resource_id: str | None = None) -> Thread | None:
        """The thread, or None; with `resource_id`, only if it is of that resource.  One strongly consistent read."""
        thread = self.table.get(Thread.Key(id=thread_id))
        return thread if thread and resource_id in (None, thread.resource_id) else None

    def save_thread(self, thread: Thread, *, fence: Fence | None = None) -> Thread:
        """Store a thread, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the thread that is replaced, or now.  Raises AlreadyExistsError
        where the id is that of another resource's thread, without a word about that one, and ThreadDeletedError for
        an id that was deleted.  With `fence`, a lease, it is stored only while that is held: LeaseLostError otherwise.
        One request for a new thread, two for one that is there."""
        require(thread, Thread)
        now = milliseconds(self.clock())
        new, current, attempt = stamped(thread, created_at=now, updated_at=now), None, 0
        while True:
            try:
                self._put_thread(new, current, fence)
            except TransactionFailedError as error:
                # A thread is there, or another caller changed it since it was seen.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
                current = self._in_the_way(error)
            else:
                return new
            new = stamped(thread, created_at=now, updated_at=now)
            if current:
                if current.resource_id != thread.resource_id:
                    raise thread_exists(self.table.name)
                time = after(self.clock(), current.updated_at)
                new = stamped(thread, created_at=current.created_at, updated_at=time)

    def update_thread(
        self,
        thread_id: str,
        *,
        resource_id: str | None = None,
        title: str | Keep | None = KEEP,
        metadata: JsonObject | Keep = KEEP,
    ) -> Thread:
        """The thread after the change; raises NotFoundError if there is none, or, with `resource_id`, not of that one.

        `metadata` is merged key by key, so that callers who change different keys at once all win; `updated_at`
        always moves forward.  One request, and one more where the clock of this machine is behind."""
        merged = KEEP if isinstance(metadata, Keep) else merge(metadata)
        time, attempt = milliseconds(self.clock()), 0
        while True:
            patch = Thread.Patch(title=title, metadata=merged, updated_at=time)
            try:
                return self._touch(thread_id, patch, time, resource_id)
            except ConditionFailedError as error:
                refusal, current, attempt = error, error.current, attempt + 1
            if isinstance(refusal, NotFoundError) or _is_foreign(current, resource_id):
                raise thread_not_found(self.table.name)
            if attempt == CHANGES or not isinstance(current, Thread):
                raise refusal
            time = after(self.clock(), current.updated_at)
            self.table.sleep(change_pause_seconds(attempt))

    def update_thread_metadata(
        self, thread_id: str, *, resource_id: str, update: Callable[[JsonObject], JsonObject | None]
    ) -> Thread:
        """The thread with the metadata that `update` makes of the stored one; it takes that one's place, whole.

        Of changes that are made at the same time none is lost: `update` is called again with what is stored by then,
        so it should do nothing else.  Where it returns None the thread stays as it is.  Raises NotFoundError if the
        resource has no such thread.  Two requests, and two more for each caller who was faster."""
        attempt = 0
        while True:
            thread = self.table.get(Thread.Key(id=thread_id))
            if thread is None or thread.resource_id != resource_id:
                raise thread_not_found(self.table.name)
            metadata = update(deepcopy(thread.metadata))
            if metadata is None:
                return thread
            try:
                return self._replace_metadata(thread, require_object("what update returns", metadata))
            except ConditionFailedError:
                attempt += 1
                if attempt == CHANGES:
                    raise
            self.table.sleep(change_pause_seconds(attempt))

    def _touch(self, thread_id: str, patch: Thread.Patch, time: datetime, owner: str | None) -> Thread:
        def may_change(row: Thread) -> bool:
            is_earlier = row.updated_at < time
            return is_earlier if owner is None else is_earlier & (row.resource_id == owner)

        return self.table.update(Thread.Key(id=thread_id), patch, where=may_change, expiry="refresh")

    def _replace_metadata(self, seen: Thread, metadata: JsonObject) -> Thread:
        """The thread with other metadata, unless it has changed since it was seen: every change moves `updated_at`."""
        patch = Thread.Patch(metadata=metadata, updated_at=after(self.clock(), seen.updated_at))
        return self.table.update(
            Thread.Key(id=seen.id), patch, where=lambda row: row.updated_at == seen.updated_at, expiry="refresh"
        )

    def _put_thread(self, thread: Thread, current: Thread | None, fence: Fence | None) -> None:
        """Store a thread where none is, or over the one that was seen."""
        with self.table.transaction(fence=fence) as tx:
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


def thread_exists(table: str) -> AlreadyExistsError:
    """What a save under an id that is taken raises: it holds nothing of the thread that has it."""
    return AlreadyExistsError(
        "the id of the thread is taken; save under another id, or move the thread by transfer_thread if it is yours",
        operation="TransactWriteItems",
        table=table,
        entity="thread",
    )


def thread_not_found(table: str) -> NotFoundError:
    """What a call for a thread raises that is absent, has expired, or is of another resource: there is one error."""
    return NotFoundError(
        "there is no such thread: it was never saved, was deleted, has expired, or is of another resource",
        operation="UpdateItem",
        table=table,
        entity="thread",
    )


def _is_foreign(current: object, resource_id: str | None) -> bool:
    return resource_id is not None and isinstance(current, Thread) and current.resource_id != resource_id
