# Generated from ../_async/copying.py by scripts/generate_sync.py; edit that file.
"""Threads that are copied with their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import uuid4

from singletable.schemas import Message, Thread, Tombstone

from ..._sync.query import Query
from ...errors import RequestError, SingleTableError, TransactionFailedError
from ...keys import time_text
from ...refusals import refused_at
from ...requests import TRANSACTION_MEMBERS
from ...values import JsonObject, Range
from ..metadata import require_object
from ..stamps import after, milliseconds
from ..thread_copy import ThreadCopy
from .deleting_threads import ThreadDeletion
from .paging import require_count
from .parts import in_parts
from .threads import thread_deleted, thread_exists, thread_not_found

COPIED_AT_ONCE = (TRANSACTION_MEMBERS - 1) // 2
"""A message and its pointer are two members of a transaction, the tombstone that hides them is one."""


@dataclass(frozen=True)
class _Wanted:
    """What a copy is to be."""

    new_thread_id: str | None
    resource_id: str | None
    title: str | None
    metadata: JsonObject | None
    message_limit: int | None
    created_at: Range[datetime] | None
    message_ids: Iterable[str] | None


class Copying(ThreadDeletion):
    """New threads with the messages of others.

    While a copy is made a tombstone lies in its place, so that nothing of it is visible before its thread's row takes
    that place, at the end.  One that fails is removed again.  One that dies with its process stays invisible for good,
    and `delete_thread` with the new id removes what there is of it."""

    def clone_thread(
        self,
        source_thread_id: str,
        *,
        new_thread_id: str | None = None,
        resource_id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
        message_limit: int | None = None,
        created_at: Range[datetime] | None = None,
        message_ids: Iterable[str] | None = None,
    ) -> ThreadCopy:
        """A new thread with copies of a thread's messages: those with `message_ids`, of `created_at`, the last N.

        A copy has an id of its own, and the thread's new owner; all else, its place among the others included, is
        that of the message it was made from.  The thread gets the owner of its source, `Clone of` its title, and of
        metadata what is given, and under `clone` what it was made from: the source's own is not copied, nor are its
        states.  Messages that are saved into the source meanwhile may be missing.

        Raises NotFoundError where there is no source, AlreadyExistsError where the new id has a thread or messages,
        and ThreadDeletedError where it had.  Five requests, those that read the source, all of it where `message_ids`
        are given, and one for 49 messages; two write units for each KB of a message, and two for its pointer."""
        wanted = _Wanted(new_thread_id, resource_id, title, metadata, message_limit, created_at, message_ids)
        messages: list[Message] = []
        copy = self._copy(source_thread_id, wanted, messages.extend)
        return replace(copy, messages=messages)

    def copy_thread(
        self,
        source_thread_id: str,
        *,
        new_thread_id: str | None = None,
        resource_id: str | None = None,
        title: str | None = None,
        metadata: JsonObject | None = None,
        message_limit: int | None = None,
        created_at: Range[datetime] | None = None,
        message_ids: Iterable[str] | None = None,
    ) -> ThreadCopy:
        """The same as `clone_thread`, without the messages: a thread of any length is copied in little memory.

        With `message_limit` so many messages are in memory."""
        wanted = _Wanted(new_thread_id, resource_id, title, metadata, message_limit, created_at, message_ids)
        return self._copy(source_thread_id, wanted, _forget)

    def _copy(self, source_id: str, wanted: _Wanted, keep: Callable[[Sequence[Message]], object]) -> ThreadCopy:
        draft = self._draft_copy(source_id, wanted)
        chosen = _chosen(self.table.query(Message.InThread(thread_id=source_id, created_at=wanted.created_at)), wanted)
        source = self.table.get(Thread.Key(id=source_id))
        if source is None:
            raise thread_not_found(self.table.name)
        tombstone = self._reserve_id(draft.id)
        ids: dict[str, str] = {}
        try:
            for part in in_parts(self.table, chosen, COPIED_AT_ONCE):
                given = {"thread_id": draft.id, "resource_id": wanted.resource_id or source.resource_id}
                copies = [message.model_copy(update={"id": str(uuid4()), **given}) for message in part]
                self._store_copies(tombstone, copies)
                ids.update((message.id, copy.id) for message, copy in zip(part, copies, strict=True))
                keep(copies)
            thread = self._finished_copy(draft, source, wanted, ids)
            self._reveal_copy(source, thread, tombstone)
        except Exception:
            # What cannot be removed either stays invisible; the first failure is the one to tell of.
            with suppress(SingleTableError):
                self._discard_copy(tombstone)
            raise
        return ThreadCopy(thread, ids)

    def _draft_copy(self, source_id: str, wanted: _Wanted) -> Thread:
        """The new thread as far as it is known without its source; raises RequestError for what no thread has."""
        if wanted.message_limit is not None:
            require_count("message_limit", wanted.message_limit, least=1)
        if isinstance(wanted.message_ids, str):
            raise RequestError("message_ids are several ids: put the one into a list")
        thread_id = str(uuid4()) if wanted.new_thread_id is None else wanted.new_thread_id
        now = milliseconds(self.clock())
        given: JsonObject = {} if wanted.metadata is None else wanted.metadata
        clone = {"sourceThreadId": source_id, "clonedAt": time_text(now)}
        # Not validated here: the table refuses what is wrong in the words of the library.
        draft = Thread.model_construct(
            id=thread_id,
            resource_id=thread_id if wanted.resource_id is None else wanted.resource_id,
            title=wanted.title,
            metadata={**require_object("metadata", given), "clone": clone},
            created_at=now,
            updated_at=now,
        )
        self.table.size_bytes(draft)
        return draft

    def _finished_copy(self, draft: Thread, source: Thread, wanted: _Wanted, ids: Mapping[str, str]) -> Thread:
        """The new thread, with what it has of its source."""
        update: dict[str, Any] = {"resource_id": wanted.resource_id or source.resource_id}
        if wanted.title is None and source.title:
            update["title"] = f"Clone of {source.title}"
        if ids:
            clone = {**require_object("clone", draft.metadata["clone"]), "lastMessageId": list(ids)[-1]}
            update["metadata"] = {**draft.metadata, "clone": clone}
        return draft.model_copy(update=update)

    def _reserve_id(self, thread_id: str) -> Tombstone:
        """A tombstone where nothing is: what is written there from now on is invisible, and nobody else writes."""
        tombstone = Tombstone(thread_id=thread_id, deleted_at=milliseconds(self.clock()))
        refused: list[int] = []
        try:
            with self.table.transaction() as tx:
                tx.create(tombstone)
                tx.check_absent(Thread.Key(id=thread_id))
        except TransactionFailedError as error:
            refused = refused_at(error)
            if not refused:
                raise
        if refused:
            raise thread_deleted(self.table.name) if 0 in refused else thread_exists(self.table.name)
        is_taken = True
        try:
            is_taken = self.table.query(Message.InThread(thread_id=thread_id)).first() is not None
        finally:
            if is_taken:
                self._remove_tombstone(tombstone)
        if is_taken:
            raise thread_exists(self.table.name)
        return tombstone

    def _store_copies(self, tombstone: Tombstone, copies: Sequence[Message]) -> None:
        try:
            with self.table.transaction() as tx:
                # From the first message on it does not expire, or a half would come to light.
                tx.put(tombstone, where=lambda row: row.deleted_at == tombstone.deleted_at, expiry="clear")
                for copy in copies:
                    tx.create(copy)
        except TransactionFailedError as error:
            if 0 in refused_at(error):
                raise thread_deleted(self.table.name) from error
            raise

    def _reveal_copy(self, source: Thread, thread: Thread, tombstone: Tombstone) -> None:
        """The thread's row in place of the tombstone, as long as the source, whose messages were read, is there."""
        try:
            with self.table.transaction() as tx:
                tx.check(Thread.Key(id=source.id), lambda row: row.resource_id == source.resource_id)
                tx.delete(Tombstone.Key(thread_id=thread.id), where=lambda row: row.deleted_at == tombstone.deleted_at)
                tx.create(thread)
        except TransactionFailedError as error:
            refused = refused_at(error)
            if not refused:
                raise
            table = self.table.name
            raise (thread_not_found(table) if 0 in refused else thread_deleted(table)) from error

    def _discard_copy(self, tombstone: Tombstone) -> None:
        """Remove a copy that failed.  Where its last write may still arrive, that fails from here on."""
        taken = tombstone.model_copy(update={"deleted_at": after(self.clock(), tombstone.deleted_at)})
        with self.table.transaction() as tx:
            tx.put(taken, where=lambda row: row.deleted_at == tombstone.deleted_at, expiry="clear")
        self._delete_messages(tombstone.thread_id)
        self._remove_tombstone(taken)

    def _remove_tombstone(self, tombstone: Tombstone) -> None:
        key = Tombstone.Key(thread_id=tombstone.thread_id)
        self.table.delete(key, where=lambda row: row.deleted_at == tombstone.deleted_at)


def _chosen(query: Query[Message, Message], wanted: _Wanted) -> Iterator[Message]:
    """The messages to copy, oldest first."""
    ids = None if wanted.message_ids is None else frozenset(wanted.message_ids)
    if wanted.message_limit is None:
        for message in query:
            if ids is None or message.id in ids:
                yield message
        return
    last: list[Message] = []
    for message in query.reverse() if ids is not None else query.reverse().limit(wanted.message_limit):
        if ids is None or message.id in ids:
            last.append(message)
        if len(last) == wanted.message_limit:
            break
    for message in reversed(last):
        yield message


def _forget(messages: Sequence[Message]) -> None:
    """Keep nothing."""
