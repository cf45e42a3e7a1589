"""What an erasure would remove, counted by reading alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from singletable.schemas import Message, Resource, Span, Thread, ThreadState

from ..._async.results import AsyncResults
from ..._async.table import AsyncTable
from ...concurrency import gather_in_tasks
from .owned import (
    key_pages,
    listed_of,
    messages_in,
    owned_in,
    sessions_of,
    spans_of,
    states_in,
    strays_of,
    threads_of,
    trace_ids,
)


@dataclass(frozen=True)
class AsyncSurvey:
    """A dry run: it has nothing to write with."""

    table: AsyncTable
    owner: str
    allow_scan: bool
    counts: Counter[str]
    """By the name of the entity: it is what the survey fills in."""
    tell: Callable[[], None]

    async def run(self) -> None:
        """Count everything once."""
        threads = await self._threads()
        for results in (*listed_of(self.table, self.owner), *sessions_of(self.table, self.owner)):
            await self._count(results)
        await self._count(self.table.query(Resource.Key(id=self.owner)).with_expired())
        await self._spans()
        if self.allow_scan:
            async for place in strays_of(self.table, self.owner):
                self.counts[Message.spec.name] += place.thread_id not in threads
            self.tell()

    async def _threads(self) -> set[str]:
        found: set[str] = set()
        async for page in key_pages(threads_of(self.table, self.owner)):
            ids = [key.id for key in page if isinstance(key, Thread.Key)]
            found.update(ids)
            self.counts[Thread.spec.name] += len(ids)
            for contents in await gather_in_tasks([partial(self._contents, thread_id) for thread_id in ids]):
                self.counts.update(contents)
            self.tell()
        return found

    async def _contents(self, thread_id: str) -> dict[str, int]:
        messages = await messages_in(self.table, thread_id).count()
        states = await states_in(self.table, thread_id).count()
        return {Message.spec.name: messages, ThreadState.spec.name: states}

    async def _count(self, results: AsyncResults[Any, Any]) -> None:
        (model,) = results.plan.models
        self.counts[model.spec.name] += await results.count()
        self.tell()

    async def _spans(self) -> None:
        seen: set[str] = set()
        async for page in key_pages(spans_of(self.table, self.owner)):
            new = [trace_id for trace_id in trace_ids(page) if trace_id not in seen]
            seen.update(new)
            found = await gather_in_tasks([partial(owned_in, self.table, trace_id, self.owner) for trace_id in new])
            self.counts[Span.spec.name] += sum(map(len, found))
            self.tell()
