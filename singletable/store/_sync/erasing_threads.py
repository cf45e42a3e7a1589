# Generated from ../_async/erasing_threads.py by scripts/generate_sync.py; edit that file.
"""A thread that is erased with all that is in it, whether that has expired or not."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import NamedTuple

from pydantic import BaseModel

from singletable.schemas import Message, Thread, ThreadState, Tombstone

from ...declare import PrimaryKey
from ...errors import TransactionFailedError
from ...refusals import refused_at
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after, milliseconds
from .deleting_threads import DELETED_AT_ONCE
from .domain import Domain
from .owned import MessagePlace, key_pages, messages_in, states_in


class _Owner(BaseModel):
    """As much of a thread's row as its erasure needs."""

    resource_id: str
    updated_at: datetime


class _Row(NamedTuple):
    """A row as it is stored."""

    updated_at: datetime
    has_expired: bool


class ThreadErasure(Domain):
    """Threads that go for good.

    Other than in `delete_thread`, the row is the last thing that goes: as long as anything is left, the index of
    threads says so, and an erasure that was killed finds its way back."""

    def erase_thread(self, thread_id: str, owner: str) -> Counter[str]:
        """How much was removed, by the name of the entity; nothing of a thread that is another resource's.

        A tombstone goes before all else, so that what begins to be saved from then on is refused."""
        removed, attempt = Counter[str](), 0
        while (row := self._row(thread_id, owner)) is not None:
            try:
                tombstone = self._bury_thread(thread_id, owner, row)
            except TransactionFailedError as error:
                refusal = error  # it was given to another resource, or has expired since it was read
            else:
                removed[Message.spec.name] += self._erase_messages(thread_id)
                removed[ThreadState.spec.name] += self._erase_states(thread_id)
                try:
                    removed[Thread.spec.name] += self._remove_row(tombstone, row)
                    return removed
                except TransactionFailedError as error:
                    refusal = error  # a save that had begun before went into the thread
            attempt += 1
            if attempt == CHANGES or not refused_at(refusal):
                raise refusal
            self.table.sleep(change_pause_seconds(attempt))
        return removed

    def _row(self, thread_id: str, owner: str) -> _Row | None:
        """The row, if it is of the resource."""
        rows = self.table.query(Thread.Key(id=thread_id)).select(_Owner)
        found, has_expired = rows.first(), False
        if found is None:
            found, has_expired = rows.with_expired().first(), True
        return _Row(found.updated_at, has_expired) if found and found.resource_id == owner else None

    def _bury_thread(self, thread_id: str, owner: str, row: _Row) -> Tombstone:
        old = self.table.get(Tombstone.Key(thread_id=thread_id))
        # Later than the one before, so that a copy that is being made under this id sees that it is no longer its own.
        time = after(self.clock(), old.deleted_at) if old else milliseconds(self.clock())
        tombstone = Tombstone(thread_id=thread_id, deleted_at=time)
        with self.table.transaction() as tx:
            if row.has_expired:
                tx.check_absent(Thread.Key(id=thread_id))
            else:
                tx.check(Thread.Key(id=thread_id), lambda stored: stored.resource_id == owner)
            tx.put(tombstone, expiry="clear")
        return tombstone

    def _remove_row(self, tombstone: Tombstone, row: _Row) -> int:
        """Remove the row as it was seen: every save into the thread changes it."""
        key = Thread.Key(id=tombstone.thread_id)
        done = tombstone.model_copy(update={"done_at": milliseconds(self.clock())})
        if row.has_expired:
            self.table.put(done)
            return self.table.delete_expired([key])
        with self.table.transaction() as tx:
            tx.delete(key, where=lambda stored: stored.updated_at == row.updated_at)
            tx.put(done)
        return 1

    def _erase_messages(self, thread_id: str) -> int:
        removed = attempt = 0
        messages = messages_in(self.table, thread_id).limit(DELETED_AT_ONCE)
        while found := messages.all():
            try:
                with self.table.transaction() as tx:
                    for place in found:
                        tx.delete(place.key, place.pointer)
                removed, attempt = removed + len(found), 0
                continue
            except TransactionFailedError as error:
                # A message was moved since it was listed, or the id of one that has expired is another's by now.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
            removed += self._erase_expired(found)
            self.table.sleep(change_pause_seconds(attempt))
        return removed

    def _erase_expired(self, places: list[MessagePlace]) -> int:
        """Remove those messages that have expired, and those of their pointers that have."""
        self.table.delete_expired([place.pointer for place in places])
        return self.table.delete_expired([place.key for place in places])

    def _erase_states(self, thread_id: str) -> int:
        """Remove all states: none is set any more where a tombstone is."""
        keys: list[PrimaryKey[ThreadState]] = [
            key for page in key_pages(states_in(self.table, thread_id)) for key in page
        ]
        self.table.delete_many(keys)
        return len(keys)
