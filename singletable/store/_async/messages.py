"""Messages of a memory: the context of the next turn, one after the other, or by id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from singletable.schemas import Message, Thread, Tombstone

from ...page import Page
from ..context import Context
from ..dates import Times
from ..message_forms import several
from ..periods import is_empty
from ..turns import window_of
from .aligning import SPARE, Align, check_align
from .filtering import require_text
from .listing_messages import AsyncMessageListing, Direction
from .paging import descending, require_count
from .selecting import cursor_at, place_of
from .walking import stored_pages


class AsyncMessages(AsyncMessageListing):
    """Messages of a thread, by page, by id, or as the context of the next turn."""

    async def context(self, thread_id: str, *, last: int = 20, align: Align | None = None) -> Context:
        """The thread and its newest `last` messages, oldest first: one strongly consistent request.

        With `align="turn"` it never begins between a tool's call and its result: it has as many messages more as it
        takes to have the call.  Mostly that is one request all the same, which reads eight messages more."""
        require_count("last", last, least=1)
        check_align(align)
        # The thread's row, or its tombstone, lies behind its messages: one more item than messages are asked for.
        most = last + 1 + (SPARE if align else 0)
        found = await self.table.query(*self._conversation(thread_id)).reverse().limit(most).all()
        if any(isinstance(item, Tombstone) for item in found):
            return Context()
        thread = next((item for item in found if isinstance(item, Thread)), None)
        newest = [item for item in found if isinstance(item, Message)]
        if align is None:
            return Context(thread, newest[:last][::-1])
        query = self.table.query(Message.InThread(thread_id=thread_id)).reverse()
        more = cursor_at(query, newest[-1]) if len(found) == most else None
        window = await self._extended(query, Page(newest, more), last)
        if more is not None and window_of(newest, last).is_open and await self._is_deleted(thread_id):
            return Context()  # it was read by several requests, between which the thread went
        return Context(thread, window.items[::-1])

    async def iter_messages(
        self, thread_id: str, *, created_at: Times | None = None, order: Direction = "asc"
    ) -> AsyncIterator[Message]:
        """All messages of a thread, with one page of them in memory.

        Raises ThreadDeletedError where the thread is deleted while several pages are read."""
        selection = self._selection(created_at, None, None, descending(order))
        if is_empty(selection.period):
            return
        pages = 0
        async for items in stored_pages(selection.of(thread_id)):
            pages += 1
            # Not before: of a thread that is being deleted while it is read, some messages would be missing.
            if pages == 1 and await self._is_deleted(thread_id):
                return
            for item in items:
                yield self.table.load(Message, item)
        if pages > 1 and await self._is_deleted(thread_id):
            raise self._deleted_meanwhile()

    async def list_messages_by_id(self, message_ids: Iterable[str], *, resource_id: str | None = None) -> list[Message]:
        """The messages with these ids that exist, in any threads, oldest first; three requests for up to 100 ids.

        With `resource_id`, those of other resources are as if they did not exist."""
        wanted = several(message_ids, str, "ids")
        if resource_id is not None:
            require_text("resource_id", resource_id)
        found = await self._visible([*(await self._by_ids(wanted, resource_id)).values()])
        return sorted(found, key=place_of)
