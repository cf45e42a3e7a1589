# Generated from ../_async/saving.py by scripts/generate_sync.py; edit that file.
"""Messages of a memory, saved by the turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from singletable.schemas import Message, Thread, Tombstone

from ..._sync.transaction import Transaction
from ...errors import (
    ConditionFailedError,
    PartialSaveError,
    RequestError,
    SingleTableError,
    TransactionFailedError,
)
from ...items import key_fields, pointer_key, target_key
from ...refusals import refused_at
from ...requests import TRANSACTION_BYTES, TRANSACTION_MEMBERS
from ...retry import ATTEMPTS, pause_seconds
from ..stamps import after, milliseconds
from .domain import Domain, require
from .rows import touch
from .separate import send_each
from .threads import thread_deleted

Durability: TypeAlias = Literal["transaction", "batch"]
"""Whether messages are stored all or none, or each alone, at half the price."""
MESSAGE_MEMBERS = 3
"""What a message may take in a transaction: itself, its pointer, and the place that it leaves."""
OVERHEAD_BYTES = 16 * 1024
"""What conditions and a change of place add to the size of a message in a transaction, at most: keys of 2 KB."""


@dataclass(frozen=True)
class _End:
    """The end of a thread at one moment."""

    has_row: bool
    times: list[datetime]
    """When the thread was last changed, and the time of its newest message, as far as there are such."""


class Saving(Domain):
    """Messages, stored all or none."""

    def save_messages(self, messages: Iterable[Message], *, durability: Durability = "transaction") -> list[Message]:
        """Store messages by their ids, all or none; they come back as they are stored.

        A new message without `created_at` gets the time of the save, after everything in its thread.  One that is
        stored already is replaced in its place, or moved where its thread or `created_at` differ.  Messages of equal
        times keep the order in which they were saved.  A message that comes twice counts as the later one.

        Two requests for a turn in one thread, and two more where a message that comes without its `order` was stored
        before; two write units for each KB of a message, and two more for its pointer and for the thread.  More than
        33 messages, or 4 MB, are saved in parts, in order: PartialSaveError says how far that came.  Raises
        ThreadDeletedError for a deleted thread, and ItemTooLargeError before anything is sent.

        With `durability="batch"` new messages are not all or none: each is written alone, at half the write units, by
        three requests for the call and two for each message, eight at once.  If that is interrupted, some are stored;
        saving all again completes it, and leaves none twice.  One thing is lost: messages of a save that dies while
        their thread is being deleted may come to light when its tombstone expires, a day later."""
        if durability not in get_args(Durability):
            raise RequestError('durability is "transaction" or "batch"')
        given = list(messages)
        for message in given:
            require(message, Message)
        distinct = list({message.id: message for message in given}.values())
        saved: list[Message] = []
        for part in self._parts(distinct):
            try:
                saved += self._save(part, durability)
            except SingleTableError as error:
                if not saved:
                    raise
                raise PartialSaveError(
                    f"{len(saved)} of {len(distinct)} messages are stored; .saved has them, save the others again",
                    saved=saved,
                    operation="TransactWriteItems",
                    table=self.table.name,
                ) from error
        return saved

    def _parts(self, messages: Sequence[Message]) -> list[list[Message]]:
        """Messages in groups that one transaction holds; raises ItemTooLargeError for one that no item holds."""
        parts: list[list[Message]] = []
        bytes_left, members_left = 0, 0
        for message in messages:
            size = self.table.size_bytes(self._placed(message)) + OVERHEAD_BYTES
            # Each message may be the first of its thread, whose row is a member as well.
            members = MESSAGE_MEMBERS + (not parts or message.thread_id not in {m.thread_id for m in parts[-1]})
            if size > bytes_left or members > members_left:
                parts.append([])
                bytes_left, members_left, members = TRANSACTION_BYTES, TRANSACTION_MEMBERS, MESSAGE_MEMBERS + 1
            parts[-1].append(message)
            bytes_left, members_left = bytes_left - size, members_left - members
        return parts

    def _placed(self, message: Message) -> Message:
        """A message with a place as long as the one that it will get."""
        (order,) = self.orders.next(self.clock(), 1)
        place = {"created_at": milliseconds(message.created_at), "order": message.order or order}
        return message.model_copy(update=place)

    def _save(self, messages: Sequence[Message], durability: Durability) -> list[Message]:
        olds: dict[str, Message] = {}
        attempt = 0
        while True:
            ends = {thread: self._end(thread) for thread in dict.fromkeys(m.thread_id for m in messages)}
            times = {thread: after(self.clock(), *end.times) for thread, end in ends.items()}
            stored = self._stamped(messages, olds, times)
            tx = self.table.transaction()
            for message in stored:
                tx.put(message, old=olds.get(message.id))
            for thread, end in ends.items():
                touch(tx, thread, has_row=end.has_row, time=times[thread])
            # What was stored before, and may have a place to leave, moves all or none.
            one_by_one = durability == "batch" and attempt == 0
            refusal = self._refusal(tx, one_by_one=one_by_one)
            if refusal is None:
                if one_by_one:
                    self._require_living(stored)
                return stored
            attempt += 1
            if attempt == ATTEMPTS:
                raise refusal
            self._learn(refusal, stored, olds)
            self.table.sleep(pause_seconds(attempt))

    def _refusal(self, tx: Transaction, *, one_by_one: bool) -> ConditionFailedError | TransactionFailedError | None:
        """Send what a save writes; None, or the error that says which condition did not hold."""
        try:
            if one_by_one:
                send_each(tx)
            else:
                tx.sender.transact(tx.writes)
        except ConditionFailedError as error:
            return error
        except TransactionFailedError as error:
            if not refused_at(error):
                raise
            return error
        return None

    def _end(self, thread_id: str) -> _End:
        found = self.table.query(*self._conversation(thread_id)).reverse().limit(2).all()
        if any(isinstance(item, Tombstone) for item in found):
            raise thread_deleted(self.table.name)
        changed = [item.updated_at for item in found if isinstance(item, Thread)]
        return _End(bool(changed), changed + [item.created_at for item in found if isinstance(item, Message)])

    def _stamped(
        self, messages: Sequence[Message], olds: Mapping[str, Message], times: Mapping[str, datetime]
    ) -> list[Message]:
        """Messages with their places: the one they have, the one they ask for, or the next one of their thread."""
        latest = dict(times)
        stored: list[Message] = []
        for message, order in zip(messages, self.orders.next(self.clock(), len(messages)), strict=True):
            old = olds.get(message.id)
            if "created_at" in message.model_fields_set:
                created_at = milliseconds(message.created_at)
            else:
                created_at = old.created_at if old else latest[message.thread_id]
            latest[message.thread_id] = max(latest[message.thread_id], created_at)
            # In another thread its order may be taken, by the copy of a message that was copied with its thread.
            kept = old.order if old and old.thread_id == message.thread_id else ""
            place = {"created_at": created_at, "order": kept or (order if old else message.order or order)}
            stored.append(message.model_copy(update=place))
        return stored

    def _require_living(self, stored: Sequence[Message]) -> None:
        """Remove what was just written into threads that were deleted meanwhile; raises ThreadDeletedError for it."""
        ids = {message.thread_id for message in stored}
        found = self.table.get_many([Tombstone.Key(thread_id=thread_id) for thread_id in ids])
        deleted = {tombstone.thread_id for tombstone in found}
        if not deleted:
            return
        with self.table.transaction() as tx:
            for message in stored:
                if message.thread_id in deleted:
                    tx.delete(Message.Key.of(message), Message.ById(id=message.id))
        raise thread_deleted(self.table.name)

    def _learn(
        self,
        refusal: ConditionFailedError | TransactionFailedError,
        stored: Sequence[Message],
        olds: dict[str, Message],
    ) -> None:
        """From the pointers that stood in the way: where the messages are stored already."""
        if isinstance(refusal, ConditionFailedError):
            refused = [(refusal.key, refusal.item)]
        else:
            reasons = [refusal.reasons[position] for position in refused_at(refusal)]
            refused = [(reason.key, reason.item) for reason in reasons]
        by_pointer = {pointer_key(Message.ById(id=one.id), self.table.scope)["pk"]["S"]: one for one in stored}
        for key, item in refused:
            message = by_pointer.get(key["pk"]["S"]) if key else None
            if message is None:
                continue  # the thread's row: its end is read again
            olds.pop(message.id, None)
            if item is not None:
                olds[message.id] = message.model_copy(update=key_fields(Message, target_key(item)))
