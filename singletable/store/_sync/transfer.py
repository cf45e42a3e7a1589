# Generated from ../_async/transfer.py by scripts/generate_sync.py; edit that file.
"""Threads that are given to another resource."""

from __future__ import annotations

from collections.abc import Sequence

from singletable.schemas import Message, Thread, Tombstone

from ...conditions import missing
from ...errors import ConditionFailedError, TransactionFailedError
from ...refusals import refused_at
from ...requests import TRANSACTION_MEMBERS
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after
from .domain import Domain
from .parts import in_parts
from .threads import thread_deleted, thread_not_found

GIVEN_AT_ONCE = TRANSACTION_MEMBERS - 1
"""The thread's row is a member as well."""


class Transfer(Domain):
    """The one way in which a thread changes hands."""

    def transfer_thread(self, thread_id: str, *, to_resource_id: str) -> Thread:
        """The thread as one of another resource, with `resource_id` of all its messages; `created_at` stays.

        The row moves first, so that the thread is at once in the lists of its new owner, and no longer in those of
        the old one but for the lag of an index; then the messages, in order.  If this is interrupted, call it again:
        it moves those that are left, and a thread that is wholly there already stays as it is.  Raises NotFoundError
        if there is no thread, ThreadDeletedError if it is being removed, and ConditionFailedError if it is deleted, or
        transferred once more, on the way.

        Two requests, those that read the thread, and one for each 99 messages, two write units for each KB of them."""
        # Refuses a blank owner before anything is sent.
        self.table.query(Thread.ByResource(resource_id=to_resource_id))
        thread = self._give_row(thread_id, to_resource_id)
        messages = self.table.query(Message.InThread(thread_id=thread_id))
        others = messages.filter(lambda one: missing(one.resource_id) | (one.resource_id != to_resource_id))
        for part in in_parts(self.table, others, GIVEN_AT_ONCE):
            self._give_messages(thread, part)
        return thread

    def _give_row(self, thread_id: str, owner: str) -> Thread:
        attempt = 0
        while True:
            thread = self.table.get(Thread.Key(id=thread_id))
            if thread is None:
                raise thread_not_found(self.table.name)
            if thread.resource_id == owner:
                return thread
            try:
                return self._put_row(thread, owner)
            except TransactionFailedError as error:
                attempt, refused = attempt + 1, refused_at(error)
                if 1 in refused:
                    raise thread_deleted(self.table.name) from error
                if attempt == CHANGES or not refused:
                    raise
            self.table.sleep(change_pause_seconds(attempt))

    def _put_row(self, seen: Thread, owner: str) -> Thread:
        time = after(self.clock(), seen.updated_at)
        given = seen.model_copy(update={"resource_id": owner, "updated_at": time})
        with self.table.transaction() as tx:
            tx.put(given, where=lambda row: row.updated_at == seen.updated_at)
            # An erasure leaves the row to the last: a thread that is being removed is nobody's to give.
            tx.check_absent(Tombstone.Key(thread_id=seen.id))
        return given

    def _give_messages(self, thread: Thread, messages: Sequence[Message]) -> None:
        """Set the owner of messages while the thread is his; those that are gone meanwhile are left out."""
        left = list(messages)
        while left:
            try:
                with self.table.transaction() as tx:
                    tx.check(Thread.Key(id=thread.id), lambda row: row.resource_id == thread.resource_id)
                    for message in left:
                        tx.update(Message.Key.of(message), Message.Patch(resource_id=thread.resource_id))
                return
            except TransactionFailedError as error:
                refused = refused_at(error)
                if not refused:
                    raise
            if 0 in refused:
                raise ConditionFailedError(
                    "the thread was deleted, or transferred once more, before all its messages were; that call counts",
                    operation="TransactWriteItems",
                    table=self.table.name,
                    entity="thread",
                )
            left = [message for position, message in enumerate(left, start=1) if position not in refused]
