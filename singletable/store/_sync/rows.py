# Generated from ../_async/rows.py by scripts/generate_sync.py; edit that file.
"""The rows and the tombstones of the threads that messages are in."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from singletable.schemas import Message, Thread, Tombstone

from ..._sync.transaction import Transaction
from .domain import Domain


@dataclass(frozen=True)
class Known:
    """What is known of some threads at one moment."""

    threads: Mapping[str, Thread]
    """Those that have a row."""
    deleted: frozenset[str]


class Rows(Domain):
    """Threads as what they are to their messages: there, deleted, or without a row."""

    def _rows(self, thread_ids: Collection[str]) -> Known:
        keys = [key for one in thread_ids for key in (Thread.Key(id=one), Tombstone.Key(thread_id=one))]
        found = self.table.get_many(keys)
        threads = {item.id: item for item in found if isinstance(item, Thread)}
        return Known(threads, frozenset(item.thread_id for item in found if isinstance(item, Tombstone)))

    def _deleted(self, thread_ids: Collection[str]) -> frozenset[str]:
        """Those of some threads that were deleted; one request for each 100."""
        tombstones = self.table.get_many([Tombstone.Key(thread_id=one) for one in thread_ids])
        return frozenset(tombstone.thread_id for tombstone in tombstones)

    def _by_ids(self, message_ids: Iterable[str], resource_id: str | None) -> dict[str, Message]:
        """The messages with these ids, of the resource if one is given; also those of deleted threads."""
        found = self.table.get_many([Message.ById(id=message_id) for message_id in dict.fromkeys(message_ids)])
        return {message.id: message for message in found if resource_id in (None, message.resource_id)}

    def _visible(self, messages: Collection[Message]) -> list[Message]:
        """The messages, without those of deleted threads."""
        deleted = self._deleted({message.thread_id for message in messages})
        return [message for message in messages if message.thread_id not in deleted]


def touch(tx: Transaction, thread_id: str, *, has_row: bool, time: datetime) -> None:
    """Move the thread's row forward, if it has one; never bring one back that was deleted since."""
    if has_row:
        patch = Thread.Patch(updated_at=time)
        tx.update(Thread.Key(id=thread_id), patch, where=lambda row: row.updated_at < time, expiry="refresh")
    else:
        tx.check_absent(Tombstone.Key(thread_id=thread_id))
