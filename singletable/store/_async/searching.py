"""The spans that a list shows, found in the indexes in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from singletable.schemas import Span

from ..._async.query import AsyncQuery
from ..._async.table import AsyncTable
from ...concurrency import AT_ONCE, gather_in_tasks
from ...conditions import exists, is_in
from ...declare import Index
from ...values import between
from ..periods import Period, is_empty, range_of
from ..span_filters import ANY, SpanFilters
from ..span_forms import SHARDS, LightTrace
from .merging import FILTERED, AsyncMerge

R = TypeVar("R", Span, LightTrace)


class _Found(BaseModel):
    """Nothing but the key of a span."""


class AsyncSearch(Generic[R]):
    """The spans for which filters hold, in the order of queries that may find others as well."""

    def __init__(
        self,
        table: AsyncTable,
        queries: Sequence[AsyncQuery[Any, R]],
        filters: SpanFilters,
        key: Callable[[R], Any],
        *,
        descending: bool = False,
    ) -> None:
        self._table = table
        self._merge: AsyncMerge[R] = AsyncMerge(queries, key, descending=descending)
        self._filters = filters
        self._found: deque[R] = deque()

    async def take(self, count: int) -> list[R]:
        """The next `count` spans; fewer, where these are the last ones."""
        while len(self._found) < count:
            wanted = count - len(self._found)
            rows = await self._merge.take(wanted if self._filters.is_for_dynamodb else max(wanted, AT_ONCE))
            if not rows:
                break
            self._found += await self._judged(rows)
        return [self._found.popleft() for _ in range(min(count, len(self._found)))]

    async def skip(self, count: int) -> None:
        """Leave out the next `count` spans."""
        while count > 0 and (rows := await self.take(min(count, FILTERED))):
            count -= len(rows)

    async def _judged(self, rows: Sequence[R]) -> list[R]:
        """The spans for which the rest of the filters holds, which DynamoDB cannot check."""
        kept = [row for row in rows if self._filters.hold(row.scope, row.metadata)]
        if self._filters.has_child_error is ANY:
            return kept
        has_error = await gather_in_tasks([partial(self._has_error, row.trace_id) for row in kept])
        return [row for row, found in zip(kept, has_error, strict=True) if found == self._filters.has_child_error]

    async def _has_error(self, trace_id: str) -> bool:
        spans = self._table.query(Span.InTrace(trace_id=trace_id)).filter(lambda span: exists(span.error))
        return await spans.select(_Found).first() is not None


def by_start(
    table: AsyncTable, kinds: Sequence[str], filters: SpanFilters, period: Period, model: type[R]
) -> list[AsyncQuery[Span, R]]:
    """The queries that find the listed spans of some kinds, each by start; those of one trace in no order."""
    if is_empty(period):
        return []
    paths: Sequence[Index[Span]]
    started_at = range_of(period)
    if filters.trace_id is not ANY:
        known, paths = {"trace_id"}, [Span.InTrace(trace_id=filters.trace_id)]
    elif filters.resource_id is not ANY:
        known, paths = (
            {"resource_id", "started_at"},
            [Span.ByResource(resource_id=filters.resource_id, started_at=started_at)],
        )
    else:
        known = {"listing", "started_at"}
        paths = [Span.Listed(listing=kind, shard=shard, started_at=started_at) for kind in kinds for shard in SHARDS]
    return [_narrowed(table, path, kinds, filters, known, model) for path in paths]


def by_arrival(
    table: AsyncTable, kinds: Sequence[str], filters: SpanFilters, first: str, last: str
) -> list[AsyncQuery[Span, Span]]:
    """The queries that find the listed spans of some kinds that arrived from `first` to `last`, each as they did."""
    paths = [
        Span.Arrived(listing=kind, shard=shard, arrival=between(first, last)) for kind in kinds for shard in SHARDS
    ]
    return [_narrowed(table, path, kinds, filters, {"listing"}, Span) for path in paths]


def _narrowed(
    table: AsyncTable,
    path: Index[Span],
    kinds: Sequence[str],
    filters: SpanFilters,
    known: set[str],
    model: type[R],
) -> AsyncQuery[Span, R]:
    query = table.query(path)
    if "listing" not in known:
        query = query.filter(lambda span: is_in(span.listing, kinds))
    for test in filters.tests(known):
        query = query.filter(test)
    # The whole entity is no projection: what a later version added to it comes back as well.
    found: AsyncQuery[Span, Any] = query if model is Span else query.select(model)
    return found
