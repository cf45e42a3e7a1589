# Generated from ../_async/listing_messages.py by scripts/generate_sync.py; edit that file.
"""Lists of messages, of one thread or of several."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pydantic import BaseModel

from singletable.schemas import Message, Thread

from ..._sync.query import Query
from ...errors import RequestError, ThreadDeletedError
from ...page import Page
from ...values import JsonObject
from ..dates import Times, period_of_times
from ..message_forms import Include, several
from ..metadata import check_filter
from ..periods import is_empty
from .aligning import Align, Aligning, check_align
from .filtering import require_text
from .including import Including, checked_includes
from .paging import Paged, check_paging, descending, paged, require_count
from .selecting import Selection, Union
from .walking import stored_pages

Direction: TypeAlias = Literal["asc", "desc"]


class _ThreadId(BaseModel):
    """As much of a thread as its messages are found by."""

    id: str


@dataclass(frozen=True)
class _Paging:
    """Which part of a list is asked for."""

    page: int
    per_page: int | None
    cursor: str | None
    include_total: bool
    align: Align | None = None

    @property
    def goes_on(self) -> bool:
        """Whether a page was read before."""
        return self.page > 0 or self.cursor is not None

    def of(self, reading: Paged[Message]) -> Page[Message]:
        """The part of these results."""
        return paged(
            reading,
            page=self.page,
            per_page=self.per_page,
            cursor=self.cursor,
            include_total=self.include_total,
        )

    @property
    def nothing(self) -> Page[Message]:
        """The page of a list without messages."""
        return Page([], None, 0 if self.include_total else None)


class MessageListing(Including, Aligning):
    """Messages of threads, or of a resource, by page."""

    def list_messages(
        self,
        thread_id: str | Sequence[str],
        *,
        resource_id: str | None = None,
        include: Iterable[Include] = (),
        last: int | None = None,
        align: Align | None = None,
        created_at: Times | None = None,
        metadata: JsonObject | None = None,
        page: int = 0,
        per_page: int | None = 40,
        cursor: str | None = None,
        order: Direction = "asc",
        include_total: bool = False,
    ) -> Page[Message]:
        """Messages of a thread, or of several as one list, by `created_at`, then by saving; strongly consistent.

        `last=N` gives the newest N, read from the end; its cursor gives the N before them.  With `align="turn"` they
        never begin between a tool's call and its result, which may make them more: a call is looked for among the 200
        messages before them, within `created_at`.  Otherwise pages: by number, by cursor, or all at once with
        `per_page=None`.  Two requests for a page of one thread, and those of the pages that are skipped by number;
        for several threads one query each, and one for up to 100 tombstones.

        `resource_id` leaves out what is not of that resource, as if it were not there.  `metadata` asks for equal
        values of the same type; both are filters, under which pages stay full, but the other messages are read, and
        billed, as well.  `include` puts messages into the page, with neighbours in their own threads and whatever the
        filters say, that are of the resource; ids that are not there do not matter.  They count for no total and no
        cursor, but `has_more` is False where all that follows came with them.

        A deleted thread is as one without messages.  One that was deleted after an earlier page raises
        ThreadDeletedError, so that what was read of it does not pass for all."""
        threads = _thread_ids(thread_id)
        _check_last(last, align, threads, page, metadata)
        check_paging(page, per_page, cursor)
        included = checked_includes(include)
        backward = descending(order) or last is not None
        selection = self._selection(created_at, metadata, resource_id, backward)
        paging = _Paging(page, last or per_page, cursor, include_total, align)
        if len(threads) == 1:
            reading, found = self._of_thread(threads[0], selection, paging)
        else:
            reading, found = self._of_threads(threads, selection, paging)
        if included:
            return self._with_included(found, reading, included, resource_id=resource_id, descending=order == "desc")
        return replace(found, items=found.items[::-1]) if last is not None and order == "asc" else found

    def list_messages_by_resource_id(
        self,
        resource_id: str,
        *,
        include: Iterable[Include] = (),
        created_at: Times | None = None,
        metadata: JsonObject | None = None,
        page: int = 0,
        per_page: int | None = 40,
        cursor: str | None = None,
        order: Direction = "asc",
        include_total: bool = False,
    ) -> Page[Message]:
        """Messages of all threads of a resource as one list, as `list_messages` gives those of several threads.

        The threads are found by an index, which may lag behind their saves by moments; their messages are read
        strongly consistent.  Messages that name another resource are left out, and so are threads without a row, and
        what the resource wrote into the threads of others.  A page costs one query for each thread, and one for the
        threads: for few threads, or with a short period.  A thread that is deleted between two pages is no longer
        among those of the resource, and not missed."""
        rows = self.table.query(Thread.ByResource(resource_id=resource_id)).select(_ThreadId)
        check_paging(page, per_page, cursor)
        included = checked_includes(include)
        selection = replace(self._selection(created_at, metadata, resource_id, descending(order)), is_owner=True)
        paging = _Paging(page, per_page, cursor, include_total)
        threads = [row.id for row in rows.all()]
        reading, found = self._of_resource(threads, selection, paging)
        return self._with_included(found, reading, included, resource_id=resource_id, descending=order == "desc")

    def _of_thread(self, thread_id: str, selection: Selection, paging: _Paging) -> tuple[Paged[Message], Page[Message]]:
        """A page of one thread, and what it is a page of."""
        nothing = Union(selection, [], ("threads", thread_id)), paging.nothing
        if is_empty(selection.period):
            return nothing
        reading = selection.of(thread_id)
        found = self._part(reading, paging)
        # Not before: of a thread that is being deleted while it is read, some messages would be missing.
        if not self._is_deleted(thread_id):
            return reading, found
        if paging.goes_on:
            raise self._deleted_meanwhile()
        return nothing

    def _of_threads(
        self, threads: Sequence[str], selection: Selection, paging: _Paging
    ) -> tuple[Paged[Message], Page[Message]]:
        """A page of several threads, and what it is a page of: those that were not deleted when it was begun."""
        union = Union(selection, threads, ("threads", *sorted(threads)))
        mark = union.mark(paging.cursor)
        deleted = mark.left_out if mark else frozenset[str]()
        while True:
            living = [thread for thread in threads if thread not in deleted]
            union = replace(union, threads=living, left_out=deleted)
            is_none = not living or is_empty(selection.period)
            found = paging.nothing if is_none else paging.of(union)
            gone = self._deleted(living)
            if not gone:
                return union, found
            if paging.goes_on:
                raise self._deleted_meanwhile()
            deleted |= gone

    def _part(self, reading: Query[Message, Message], paging: _Paging) -> Page[Message]:
        """The part of a thread that is asked for."""
        if paging.per_page is not None and paging.align is None:
            return paging.of(reading)
        total = reading.count() if paging.include_total else None
        if paging.per_page is not None:
            return replace(self._last_turns(reading, paging.per_page, paging.cursor), total=total)
        return Page([self.table.load(Message, one) for page in stored_pages(reading) for one in page], None, total)

    def _of_resource(
        self, threads: Sequence[str], selection: Selection, paging: _Paging
    ) -> tuple[Paged[Message], Page[Message]]:
        """A page of a resource's threads, and what it is a page of."""
        while True:
            union = Union(selection, threads, ("resource",))
            if is_empty(selection.period):
                return union, paging.nothing
            found = paging.of(union)
            # The index may still have threads that were deleted.
            deleted = self._deleted({message.thread_id for message in found.items})
            if not deleted:
                return union, found
            threads = [thread for thread in threads if thread not in deleted]

    def _selection(
        self, created_at: Times | None, metadata: JsonObject | None, resource_id: str | None, backward: bool
    ) -> Selection:
        if resource_id is not None:
            require_text("resource_id", resource_id)
        if metadata is not None:
            _check_metadata(metadata)
        period = period_of_times("created_at", created_at)
        return Selection(self.table, period, metadata, resource_id, descending=backward)

    def _deleted_meanwhile(self) -> ThreadDeletedError:
        return ThreadDeletedError(
            "a thread was deleted while its messages were read: what was read is not all of it, and there is no more",
            operation="Query",
            table=self.table.name,
            entity="message",
        )


def _thread_ids(thread_id: str | Sequence[str]) -> list[str]:
    """The threads that are asked for, each once; raises RequestError where there is none."""
    if isinstance(thread_id, str):
        return [thread_id]
    threads = several(thread_id, str, "thread_id: ids of threads")
    if not threads:
        raise RequestError("thread_id must be the id of a thread, or a list of one or more of them")
    return list(dict.fromkeys(threads))


def _check_last(
    last: int | None, align: Align | None, threads: Sequence[str], page: int, metadata: JsonObject | None
) -> None:
    """Raise RequestError for what does not go with the newest messages."""
    if last is not None:
        require_count("last", last, least=1)
        if page:
            raise RequestError("last gives the newest messages; it goes without page")
    check_align(align)
    if align is not None and (last is None or len(threads) > 1 or metadata):
        raise RequestError("align is for the newest messages of one thread: give last, one thread_id, and no metadata")


def _check_metadata(metadata: JsonObject) -> None:
    check_filter(metadata)
    if not all(value is None or isinstance(value, str | bool | int | float) for value in metadata.values()):
        raise RequestError("the values of a metadata filter on messages are texts, finite numbers, bools or None")
