# Generated from ../_async/saving_singly.py by scripts/generate_sync.py; edit that file.
"""Messages of a memory, saved by writes that stand alone: half the units of a transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from singletable.schemas import Message, Tombstone

from ..._sync.base import key_text
from ..._sync.batch import batch_get
from ..._sync.sender import Sender
from ...concurrency import gather_in_threads
from ...errors import AlreadyExistsError, ConditionFailedError, NotFoundError, OutcomeUnknownError
from ...expressions import Placeholders, compare
from ...items import key_item, pointer_key, target_key
from ...specs import WRITE
from ...wire import WireItem
from ...writes import Write, write_params
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after
from .placing import Placing, pointed
from .rows import touch
from .threads import thread_deleted


@dataclass(frozen=True)
class _Put:
    """A message whose pointer says where it will be, and the write that puts it there."""

    message: Message
    write: Write
    over: bool
    """Whether it demands that the message is there: then it brings none back that was moved or deleted meanwhile."""

    def is_pointed(self, pointer: WireItem | None) -> bool:
        """Whether a stored pointer says that the message is there."""
        return pointer is not None and target_key(pointer) == self.write.key


class SavingSingly(Placing):
    """Messages, each stored for itself: first the pointer to its place, then the message.

    A save that dies leaves places to be filled: saved again, the messages come into them.  A message for which a place
    is new cannot demand that its pointer still says so.  That is read afterwards, and where another caller moved the
    pointer or deleted the thread, the message is taken back."""

    def _save_singly(self, messages: Sequence[Message], stored: dict[str, Message]) -> None:
        """Store messages; `stored` gets those that are known to be stored, also where this raises."""
        empty: set[str] = set()
        attempt = 0
        while left := [message for message in messages if message.id not in stored]:
            if attempt == CHANGES:
                raise self._contended()
            if attempt:
                self.table.sleep(change_pause_seconds(attempt))
            times = self._touched(dict.fromkeys(message.thread_id for message in left))
            puts = self._claimed(left, times, empty, stored)
            gather_in_threads([partial(self._put, put, empty, stored) for put in puts])
            self._confirm([put for put in puts if put.message.id in stored and not put.over], stored)
            attempt += 1

    def _touched(self, threads: Iterable[str]) -> dict[str, datetime]:
        """A time for each thread, after all that is in it; its row, if it has one, is moved to that time."""
        times: dict[str, datetime] = {}
        left, attempt = list(threads), 0
        while left:
            ends = {thread: self._end(thread) for thread in left}
            try:
                for thread, end in ends.items():
                    tx, time = self.table.transaction(), after(self.clock(), *end.times)
                    if end.has_row:
                        touch(tx, thread, has_row=True, time=time)
                        tx.sender.write(tx.writes)
                    times[thread] = time
            except (ConditionFailedError, OutcomeUnknownError):
                # Another caller changed the row, or it went.
                attempt += 1
                if attempt == CHANGES:
                    raise
                self.table.sleep(change_pause_seconds(attempt))
            left = [thread for thread in left if thread not in times]
        return times

    def _claimed(
        self,
        messages: Sequence[Message],
        times: Mapping[str, datetime],
        empty: set[str],
        stored: dict[str, Message],
    ) -> list[_Put]:
        """What is to be put, once all pointers say where.  Those that had to leave another place are stored already.

        One after the other: where a save dies, no message without a place precedes one that has one, or it would come
        behind it when they are saved again."""
        olds: dict[str, Message] = {}
        puts: list[_Put] = []
        done = attempt = 0
        while done < len(messages):
            try:
                for message in self._stamped(messages, olds, times)[done:]:
                    put = self._claim(message, olds.get(message.id), empty)
                    done += 1
                    if put is None:
                        stored[message.id] = message
                    else:
                        puts.append(put)
            except (AlreadyExistsError, OutcomeUnknownError):
                # It is stored already, or has a place from a save that died.
                attempt += 1
                if attempt == CHANGES:
                    raise
                olds = self._known(messages)
                self.table.sleep(change_pause_seconds(attempt))
        return puts

    def _claim(self, message: Message, old: Message | None, empty: set[str]) -> _Put | None:
        """Let the pointer of a message say where it will be; raises AlreadyExistsError where it says otherwise.

        A message that leaves another place is moved at once, by a transaction: None.  By writes that stand alone it
        would be missing, or there twice, where they are interrupted."""
        tx = self.table.transaction()
        put, pointer, *leaving = tx.sender.writes.put(message, tx.sender.moment(), old=old)
        if leaving:
            tx.check_absent(Tombstone.Key(thread_id=message.thread_id))
            self._move([pointer, put, *leaving, *tx.writes])
            return None
        response = tx.sender.write([pointer.returning("ALL_OLD")])
        if not response.get("Attributes") or key_text(put.key) in empty:
            return _Put(message, put, over=False)
        over, _ = tx.sender.writes.put(message, tx.sender.moment(), where=lambda one: one.id == message.id)
        return _Put(message, over, over=True)

    def _move(self, writes: Sequence[Write]) -> None:
        try:
            self._sender.write(writes)
        except AlreadyExistsError:
            raise
        except ConditionFailedError as error:
            raise thread_deleted(self.table.name) from error

    def _known(self, messages: Sequence[Message]) -> dict[str, Message]:
        """Those of the messages that have a place, in it."""
        keys = {message.id: self._pointer_key(message) for message in messages}
        found = self._living(keys.values())
        pointers = ((message, found.get(key_text(keys[message.id]))) for message in messages)
        return {message.id: pointed(message, pointer) for message, pointer in pointers if pointer is not None}

    def _put(self, put: _Put, empty: set[str], stored: dict[str, Message]) -> None:
        """Store a message; where its place is empty against what was thought, note that instead."""
        try:
            self._sender.write([put.write])
        except NotFoundError:
            empty.add(key_text(put.write.key))
        except ConditionFailedError:
            self._unpoint(put.message)  # another message has the place that this one asks for
            raise
        else:
            stored[put.message.id] = put.message

    def _confirm(self, puts: Sequence[_Put], stored: dict[str, Message]) -> None:
        """Take back the messages that are not where their pointers say, so that they are saved again.

        One that is not as it was put any more was replaced, moved or deleted after it was stored.  Raises
        ThreadDeletedError where a thread was deleted meanwhile; nothing of it is left then."""
        if not puts:
            return
        pointers = {put.message.id: self._pointer_key(put.message) for put in puts}
        threads = {put.message.thread_id for put in puts}
        tombstones = {one: key_item(Tombstone.Key(thread_id=one), self.table.scope) for one in threads}
        found = self._living([*pointers.values(), *tombstones.values()])
        deleted = {thread for thread, key in tombstones.items() if key_text(key) in found}
        for put in puts:
            if put.message.thread_id in deleted:
                self._take_back(put, is_deleted=True)
                self._unpoint(put.message)
            elif not put.is_pointed(found.get(key_text(pointers[put.message.id]))) and self._take_back(put):
                del stored[put.message.id]
        if deleted:
            for message in [one for one in stored.values() if one.thread_id in deleted]:
                del stored[message.id]
            raise thread_deleted(self.table.name)

    def _take_back(self, put: _Put, *, is_deleted: bool = False) -> bool:
        """Leave nothing in the place of a message whose pointer or thread has gone; whether it was still as it was put.

        What others have put over it goes too, or it would be there twice.  The pointer is read after the message, so
        that what is deleted is never what the pointer says."""
        key = put.write.key
        item = put.write.params["Item"]
        attempt = 0
        while True:
            there = (self._living([key])).get(key_text(key))
            if there is None or there["id"] != item["id"]:
                return False
            pointer = self._pointer_key(put.message)
            if not is_deleted and put.is_pointed((self._living([pointer])).get(key_text(pointer))):
                return False
            params = write_params(
                self._sender.settings.table, compare(WRITE, "=", there[WRITE]), Placeholders(), Key=key
            )
            try:
                self._sender.write([Write("Delete", params, Message, key, "delete", Message.spec.name)])
            except ConditionFailedError:
                attempt += 1
                if attempt == CHANGES:
                    raise
            else:
                return bool(there[WRITE] == item[WRITE])

    def _unpoint(self, message: Message) -> None:
        """Delete the pointer of a message, if it says that the message is there."""
        sender, lookup = self._sender, Message.ById(id=message.id)
        _, pointer = sender.writes.delete(Message.Key.of(message), sender.moment(), lookups=[lookup])
        with suppress(ConditionFailedError):
            sender.write([pointer])

    @property
    def _sender(self) -> Sender:
        return self.table.transaction().sender

    def _pointer_key(self, message: Message) -> WireItem:
        return pointer_key(Message.ById(id=message.id), self.table.scope)

    def _living(self, keys: Iterable[WireItem]) -> dict[str, WireItem]:
        """The items with these keys that are there and have not expired."""
        expiry, now = self._sender.settings.expiry, self.clock()
        items = batch_get(self._sender, list(keys), consistent=True)
        return {key_text(item): item for item in items if not expiry.is_past(item, now)}

    def _contended(self) -> ConditionFailedError:
        return ConditionFailedError(
            "other callers keep moving or deleting the messages that are saved: save them again",
            operation="PutItem",
            table=self.table.name,
            entity=Message.spec.name,
        )
