# Generated from ../_async/messages.py by scripts/generate_sync.py; edit that file.
"""Messages of a memory, read from either end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Literal

from singletable.schemas import Message, Thread, Tombstone

from ...errors import RequestError
from ...page import Page
from ...values import Range
from ..context import Context
from .domain import Domain
from .paging import descending, paged, require_count


class Messages(Domain):
    """Messages of a thread, by page, by id, or as the context of the next turn."""

    def context(self, thread_id: str, *, last: int = 20) -> Context:
        """The thread and its newest `last` messages, oldest first: one strongly consistent request."""
        require_count("last", last, least=1)
        # The thread's row, or its tombstone, lies behind its messages: one more item than messages are asked for.
        found = self.table.query(*self._conversation(thread_id)).reverse().limit(last + 1).all()
        if any(isinstance(item, Tombstone) for item in found):
            return Context()
        thread = next((item for item in found if isinstance(item, Thread)), None)
        messages = [item for item in found if isinstance(item, Message)]
        return Context(thread, messages[:last][::-1])

    def list_messages(
        self,
        thread_id: str,
        *,
        last: int | None = None,
        created_at: Range[datetime] | None = None,
        page: int = 0,
        per_page: int | None = 40,
        cursor: str | None = None,
        order: Literal["asc", "desc"] = "asc",
        include_total: bool = False,
    ) -> Page[Message]:
        """Messages of a thread in the order of `created_at`, then of saving; strongly consistent.

        `last=N` gives the newest N, read from the end; its cursor gives the N before them.  Otherwise pages: by
        number, by cursor, or all at once with `per_page=None`.  Two requests for a page, and those of the pages that
        are skipped by number."""
        if last is not None:
            require_count("last", last, least=1)
            if page:
                raise RequestError("last gives the newest messages; it goes without page")
        query = self.table.query(Message.InThread(thread_id=thread_id, created_at=created_at))
        if self._is_deleted(thread_id):
            return Page([], None, 0 if include_total else None)
        if descending(order) or last is not None:
            query = query.reverse()
        size = last or per_page
        found = paged(query, page=page, per_page=size, cursor=cursor, include_total=include_total)
        return replace(found, items=found.items[::-1]) if last is not None and order == "asc" else found

    def iter_messages(
        self, thread_id: str, *, created_at: Range[datetime] | None = None, order: Literal["asc", "desc"] = "asc"
    ) -> Iterator[Message]:
        """All messages of a thread, with one page of them in memory."""
        query = self.table.query(Message.InThread(thread_id=thread_id, created_at=created_at))
        if descending(order):
            query = query.reverse()
        if not self._is_deleted(thread_id):
            for message in query:
                yield message

    def list_messages_by_id(self, message_ids: Iterable[str]) -> list[Message]:
        """The messages with these ids that exist, in any threads, oldest first; three requests for up to 100 ids."""
        if isinstance(message_ids, str):
            raise RequestError("this takes several ids: put the one into a list")
        found = self.table.get_many([Message.ById(id=message_id) for message_id in message_ids])
        messages = {message.id: message for message in found}.values()
        threads = dict.fromkeys(message.thread_id for message in messages)
        tombstones = self.table.get_many(Tombstone.Key(thread_id=thread_id) for thread_id in threads)
        deleted = {tombstone.thread_id for tombstone in tombstones}
        visible = [message for message in messages if message.thread_id not in deleted]
        return sorted(visible, key=lambda message: (message.created_at, message.order))
