"""Lists of traces and of branches, by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from singletable.schemas import Span

from ..._async.query import AsyncQuery
from ...concurrency import gather_in_tasks
from ...errors import RequestError
from ...page import Page
from ..periods import earlier, later
from ..span_filters import ANY, SpanFilters, given, given_for_branches
from ..span_forms import BRANCHES, TRACES, LightTrace
from ..span_order import Direction, OrderBy, SpanOrder, order_of
from .domain import AsyncDomain
from .paging import require_count
from .searching import AsyncSearch, by_start

R = TypeVar("R", Span, LightTrace)
Q = TypeVar("Q", Span, LightTrace)
MOST = 100
"""Spans on one page."""
AT_A_TIME = 200
"""Spans that are read before the best of them are kept."""


@dataclass(frozen=True)
class _Asked(Generic[R]):
    """A list, the form of its rows, and the page that is asked for."""

    kinds: Sequence[str]
    model: type[R]
    filters: SpanFilters
    order: SpanOrder
    page: int
    per_page: int
    cursor: str | None
    include_total: bool

    def __post_init__(self) -> None:
        require_count("page", self.page, least=0)
        require_count("per_page", self.per_page, least=1)
        if self.per_page > MOST:
            raise RequestError(f"per_page must be {MOST} or less")
        if self.page and self.cursor is not None:
            raise RequestError("give page or cursor, not both")


class AsyncListing(AsyncDomain):
    """Root spans, and anchors of branches, by page."""

    async def list_traces(
        self,
        *,
        filters: SpanFilters | None = None,
        page: int = 0,
        per_page: int = 10,
        cursor: str | None = None,
        order_by: OrderBy = "started_at",
        order: Direction = "desc",
        include_total: bool = False,
    ) -> Page[Span]:
        """The root spans for which `filters` hold, newest first; pages of 1 to 100, full while more follow.

        Read from an index, which may lag behind a write by moments: about ten small queries for a page, one or two
        where `filters` name a resource or a trace.  Other filters (see SpanFilters) read on, past what does not match,
        until the page is full: bound that by `started_at`.  A page by number reads, and pays for, all pages before it;
        a cursor does not.  By `ended_at` all matches are read for each page, and what still runs is later than
        everything.  `include_total` counts all matches, which reads them."""
        wanted = given(filters)
        by = self._order(TRACES, wanted, order_by, order)
        return await self._page(_Asked(TRACES, Span, wanted, by, page, per_page, cursor, include_total))

    async def list_traces_light(
        self,
        *,
        filters: SpanFilters | None = None,
        page: int = 0,
        per_page: int = 10,
        cursor: str | None = None,
        order_by: OrderBy = "started_at",
        order: Direction = "desc",
        include_total: bool = False,
    ) -> Page[LightTrace]:
        """The same without what makes spans large: that is read, and billed, but not sent."""
        wanted = given(filters)
        by = self._order(TRACES, wanted, order_by, order)
        return await self._page(_Asked(TRACES, LightTrace, wanted, by, page, per_page, cursor, include_total))

    async def list_branches(
        self,
        *,
        filters: SpanFilters | None = None,
        page: int = 0,
        per_page: int = 10,
        cursor: str | None = None,
        order_by: OrderBy = "started_at",
        order: Direction = "desc",
        include_total: bool = False,
    ) -> Page[Span]:
        """The spans at which branches begin, runs and calls of tools, roots among them; otherwise like `list_traces`.

        `filters` are about the span itself, so that `has_child_error` is refused."""
        wanted = given_for_branches(filters)
        by = self._order(BRANCHES, wanted, order_by, order)
        return await self._page(_Asked(BRANCHES, Span, wanted, by, page, per_page, cursor, include_total))

    def _order(self, kinds: Sequence[str], filters: SpanFilters, order_by: OrderBy, order: Direction) -> SpanOrder:
        return order_of(order_by, order, (self.table.scope, kinds, filters))

    async def _page(self, asked: _Asked[R]) -> Page[R]:
        has_order = asked.order.by == "started_at" and asked.filters.trace_id is ANY
        rows = await (self._next(asked) if has_order else self._best(asked))
        items = rows[: asked.per_page]
        cursor = asked.order.cursor(items[-1]) if len(rows) > len(items) else None
        return Page(items, cursor, await self._total(asked) if asked.include_total else None)

    async def _next(self, asked: _Asked[R]) -> list[R]:
        """The rows of a page and one more, from indexes that have them in order."""
        order, after = asked.order, asked.order.place(asked.cursor)
        first, last = asked.filters.started()
        if after is not None and order.descending:
            last = earlier(last, after.started_at)
        elif after is not None:
            first = later(first, after.started_at)
        queries = by_start(self.table, asked.kinds, asked.filters, (first, last), asked.model)
        if order.descending:
            queries = [query.reverse() for query in queries]
        search = AsyncSearch(self.table, queries, asked.filters, order.key, descending=order.descending)
        await search.skip(asked.page * asked.per_page)
        rows: list[R] = []
        # Of those that began in the same millisecond as the end of the page before, some are on that page.
        while (wanted := asked.per_page + 1 - len(rows)) and (found := await search.take(wanted)):
            rows += [row for row in found if order.is_after(row, after)]
        return rows

    async def _best(self, asked: _Asked[R]) -> list[R]:
        """The same by reading everything, and keeping no more than the page needs."""
        order, after = asked.order, asked.order.place(asked.cursor)
        search = AsyncSearch(self.table, self._everything(asked, asked.model), asked.filters, order.key)
        skipped, rows = asked.page * asked.per_page, list[R]()
        while found := await search.take(AT_A_TIME):
            rows += [row for row in found if order.is_after(row, after)]
            rows = sorted(rows, key=order.key, reverse=order.descending)[: skipped + asked.per_page + 1]
        return rows[skipped:]

    async def _total(self, asked: _Asked[R]) -> int:
        queries = self._everything(asked, LightTrace)
        if asked.filters.is_for_dynamodb:
            return sum(await gather_in_tasks([partial(query.count) for query in queries]))
        search, total = AsyncSearch(self.table, queries, asked.filters, asked.order.key), 0
        while found := await search.take(AT_A_TIME):
            total += len(found)
        return total

    def _everything(self, asked: _Asked[R], model: type[Q]) -> list[AsyncQuery[Span, Q]]:
        return by_start(self.table, asked.kinds, asked.filters, asked.filters.started(), model)
