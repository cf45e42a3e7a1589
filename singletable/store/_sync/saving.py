# Generated from ../_async/saving.py by scripts/generate_sync.py; edit that file.
"""Messages of a memory, saved by the turn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal, TypeAlias

from singletable.schemas import Message

from ...errors import PartialSaveError, RequestError, SingleTableError, TransactionFailedError
from ...fences import Fence
from ...items import pointer_key
from ...refusals import refused_at
from ...requests import TRANSACTION_BYTES, TRANSACTION_MEMBERS
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after, milliseconds
from .domain import require
from .placing import pointed
from .rows import touch
from .saving_singly import SavingSingly

Durability: TypeAlias = Literal["transaction", "batch"]
MESSAGE_MEMBERS = 3
"""What a message may take in a transaction: itself, its pointer, and the place that it leaves."""
OVERHEAD_BYTES = 16 * 1024
"""What conditions and a change of place add to the size of a message in a transaction, at most: keys of 2 KB."""


class Saving(SavingSingly):
    """Messages, stored all or none, or each for itself."""

    def save_messages(
        self, messages: Iterable[Message], *, durability: Durability = "transaction", fence: Fence | None = None
    ) -> list[Message]:
        """Store messages by their ids, all or none; they come back as they are stored.

        A new message without `created_at` gets the time of the save, after everything in its thread.  One that is
        stored already is replaced in its place, or moved where its thread or `created_at` differ.  Messages of equal
        times keep the order in which they were saved.  A message that comes twice counts as the later one.

        Two requests for a turn in one thread, and two more where a message that comes without its `order` was stored
        before; two write units for each KB of a message, and two more for its pointer and for the thread.  More than
        33 messages, or 4 MB, are saved in parts, in order: PartialSaveError says how far that came.  Raises
        ThreadDeletedError for a deleted thread, and ItemTooLargeError before anything is sent.  With `fence`, a lease,
        only while that is held: LeaseLostError otherwise, and then nothing more is stored.

        With `durability="batch"` each message is stored for itself, for half the write units.  It takes two requests
        for each message, and three for its thread; two more where a message was stored before.  A message that moves
        is moved by a transaction, at its price.  Not promised is that all are stored or none: others see the turn
        while it is incomplete, and a save that fails or dies leaves a part of it.  Saved again it is completed, each
        message once and in its order; PartialSaveError says which messages are known to be stored, `updated_at` of
        the thread may be ahead of them.  Where a save dies in the very moment in which another caller deletes the
        thread, or saves the same new message to another place, what it put there may remain."""
        if durability not in ("transaction", "batch"):
            raise RequestError('durability must be "transaction" or "batch"')
        if fence and durability == "batch":
            raise RequestError('a fence is checked in a transaction, which durability="batch" does without')
        given = list(messages)
        for message in given:
            require(message, Message)
        distinct = list({message.id: message for message in given}.values())
        save = partial(self._save, fence=fence) if durability == "transaction" else self._save_singly
        stored: dict[str, Message] = {}
        for part in self._parts(distinct, fence) or ([[]] if fence else []):
            try:
                save(part, stored)
            except SingleTableError as error:
                if not stored:
                    raise
                raise PartialSaveError(
                    f"{len(stored)} of {len(distinct)} messages are stored; .saved has them, save the others again",
                    saved=[stored[message.id] for message in distinct if message.id in stored],
                    operation="TransactWriteItems" if durability == "transaction" else "PutItem",
                    table=self.table.name,
                ) from error
        return [stored[message.id] for message in distinct]

    def _parts(self, messages: Sequence[Message], fence: Fence | None) -> list[list[Message]]:
        """Messages in groups that one transaction holds; raises ItemTooLargeError for one that no item holds."""
        parts: list[list[Message]] = []
        most = TRANSACTION_MEMBERS - (fence is not None)
        bytes_left, members_left = 0, 0
        for message in messages:
            size = self.table.size_bytes(self._placed(message)) + OVERHEAD_BYTES
            # Each message may be the first of its thread, whose row is a member as well.
            members = MESSAGE_MEMBERS + (not parts or message.thread_id not in {m.thread_id for m in parts[-1]})
            if size > bytes_left or members > members_left:
                parts.append([])
                bytes_left, members_left, members = TRANSACTION_BYTES, most, MESSAGE_MEMBERS + 1
            parts[-1].append(message)
            bytes_left, members_left = bytes_left - size, members_left - members
        return parts

    def _placed(self, message: Message) -> Message:
        """A message with a place as long as the one that it will get."""
        (order,) = self.orders.next(self.clock(), 1)
        place = {"created_at": milliseconds(message.created_at), "order": message.order or order}
        return message.model_copy(update=place)

    def _save(self, messages: Sequence[Message], saved: dict[str, Message], *, fence: Fence | None) -> None:
        olds: dict[str, Message] = {}
        attempt = 0
        while True:
            ends = {thread: self._end(thread) for thread in dict.fromkeys(m.thread_id for m in messages)}
            times = {thread: after(self.clock(), *end.times) for thread, end in ends.items()}
            stored = self._stamped(messages, olds, times)
            try:
                with self.table.transaction(fence=fence) as tx:
                    for message in stored:
                        tx.put(message, old=olds.get(message.id))
                    for thread, end in ends.items():
                        touch(tx, thread, has_row=end.has_row, time=times[thread])
            except TransactionFailedError as error:
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
                self._learn(error, stored, olds)
            else:
                saved.update((message.id, message) for message in stored)
                return
            self.table.sleep(change_pause_seconds(attempt))

    def _learn(self, error: TransactionFailedError, stored: Sequence[Message], olds: dict[str, Message]) -> None:
        """From the pointers that stood in the way: where the messages are stored already."""
        by_pointer = {pointer_key(Message.ById(id=one.id), self.table.scope)["pk"]["S"]: one for one in stored}
        for position in refused_at(error):
            reason = error.reasons[position]
            message = by_pointer.get(reason.key["pk"]["S"]) if reason.key else None
            if message is None:
                continue  # the thread's row: its end is read again
            olds.pop(message.id, None)
            if reason.item is not None:
                olds[message.id] = pointed(message, reason.item)
