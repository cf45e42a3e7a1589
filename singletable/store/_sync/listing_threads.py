# Generated from ../_async/listing_threads.py by scripts/generate_sync.py; edit that file.
"""Threads of a resource, listed."""

from __future__ import annotations

from typing import Literal

from singletable.schemas import Thread

from ...errors import RequestError
from ...page import Page
from ...values import JsonObject
from ..metadata import check_filter, has_metadata
from .domain import Domain
from .paging import descending, paged


class ThreadListing(Domain):
    """Lists of threads, always of one resource: there is none of all threads, which would read the whole table."""

    def list_threads(
        self,
        resource_id: str,
        *,
        metadata: JsonObject | None = None,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        order_by: Literal["created_at", "updated_at"] = "created_at",
        order: Literal["asc", "desc"] = "desc",
        include_total: bool = False,
    ) -> Page[Thread]:
        """The threads of a resource, newest first, that have each key of `metadata` with a deeply equal value.

        `{}` is no filter; 1 equals 1.0, and neither equals True.  DynamoDB filters, and pages are full while more
        follow, but it reads, and bills, the threads of the resource that are left out as well, 100 or more a request:
        what is filtered on often and found seldom wants an entity with an index of its own.

        Read from an index, which may lag behind a write by moments.  `per_page=None` gives all; `cursor` goes on
        after the page that returned it, whatever is written meanwhile.  Raises RequestError for a blank resource."""
        if order_by not in ("created_at", "updated_at"):
            raise RequestError('order_by must be "created_at" or "updated_at"')
        by_creation, by_activity = (
            Thread.ByResource(resource_id=resource_id),
            Thread.ByActivity(resource_id=resource_id),
        )
        query = self.table.query(by_creation if order_by == "created_at" else by_activity)
        if metadata is not None and check_filter(metadata):
            query = query.filter(lambda thread: has_metadata(thread.metadata, metadata))
        if descending(order):
            query = query.reverse()
        return paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)
