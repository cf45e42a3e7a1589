"""Spans, stored and changed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from singletable.schemas import Span

from ...concurrency import gather_in_tasks
from ...errors import AlreadyExistsError, ConditionFailedError, RequestError
from ...values import KEEP
from ..contention import CHANGES, change_pause_seconds
from ..span_forms import listing_of, placed, previewed
from .domain import AsyncDomain, require


class AsyncSpans(AsyncDomain):
    """Spans: created, or replaced, by trace and id, and changed field by field."""

    async def create_span(self, span: Span) -> Span:
        """Store a span, whole, over one with the same ids; it comes back as it is stored.

        One request, and one more for a root, or the anchor of a branch, that is stored already: it keeps its place
        among the arrivals.  A span costs its size in write units, and a root or an anchor that again for each of two
        indexes, any with a `resource_id` for one: keep large inputs out of roots.  With a `ttl` for `trace` it
        expires that long after it was stored, whatever changes it later."""
        require(span, Span)
        if listing_of(span) is None:
            return await self.table.put(placed(span, None))
        return await self._store_listed(span)

    async def batch_create_spans(self, spans: Iterable[Span]) -> None:
        """Store spans, each like `create_span`, not as one; of one that comes twice the later.

        25 a request, then the roots and the anchors of branches, each by a request of its own, eight at once: what
        shows a trace is stored after its steps.  If it fails, some may be stored: do it again with all."""
        given = list(spans)
        for span in given:
            require(span, Span)
        distinct = {(span.trace_id, span.span_id): span for span in given}.values()
        listed = [span for span in distinct if listing_of(span)]
        for span in listed:  # what cannot be stored is refused before anything is
            self.table.size_bytes(placed(span, self._arrival()))
        await self.table.put_many([placed(span, None) for span in distinct if not listing_of(span)])
        await gather_in_tasks([partial(self._store_listed, span) for span in listed])

    async def update_span(self, *, trace_id: str, span_id: str, updates: Span.Patch) -> Span:
        """The span after the change; raises NotFoundError if there is none.

        Each field that is given is replaced whole, the others stay, also those that others change at the same time.
        One request; two where `resource_id` changes."""
        return await self._update(Span.Key(trace_id=trace_id, span_id=span_id), updates)

    async def batch_update_spans(self, updates: Iterable[tuple[Span.Key, Span.Patch]]) -> list[Span]:
        """The spans after their changes, each like `update_span`, not as one; in the order of their first mention.

        One request for each span, eight at once.  If it fails, some may be changed: do it again with all."""
        changes: dict[Span.Key, Span.Patch] = {}
        for key, patch in updates:
            _require_patch(patch)
            given: dict[str, Any] = {
                name: value for name, value in patch.declared_values().items() if value is not KEEP
            }
            changes[key] = replace(changes.get(key, patch), **given)
        return await gather_in_tasks([partial(self._update, key, patch) for key, patch in changes.items()])

    async def _update(self, key: Span.Key, updates: Span.Patch) -> Span:
        _require_patch(updates)
        return await self.table.update(key, previewed(updates), refresh=True)

    async def _store_listed(self, span: Span) -> Span:
        attempt = 0
        while True:
            try:
                return await self.table.create(placed(span, self._arrival()))
            except AlreadyExistsError as error:
                attempt += 1
                if attempt == CHANGES:
                    raise
                found = error.current
            # Not every DynamoDB says what stands in the way.
            current = found if isinstance(found, Span) else await self.table.get(Span.Key.of(span))
            if current is not None:
                # Unless it was deleted, or stored with another arrival, since it was seen.
                with suppress(ConditionFailedError):
                    return await self._replace(span, current)
            await self.table.sleep(change_pause_seconds(attempt))

    async def _replace(self, span: Span, current: Span) -> Span:
        arrival = current.arrival
        return await self.table.put(placed(span, arrival or self._arrival()), where=lambda row: row.arrival == arrival)

    def _arrival(self) -> str:
        return self.orders.next(self.clock(), 1)[0]


def _require_patch(updates: object) -> None:
    if not isinstance(updates, Span.Patch):
        raise RequestError(f"updates are a Span.Patch, not a {type(updates).__name__}")
