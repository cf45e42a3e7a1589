# Generated from ../_async/surveying.py by scripts/generate_sync.py; edit that file.
"""What an erasure would remove, counted by reading alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from singletable.schemas import Message, Resource, Span, Thread, ThreadState

from ..._sync.results import Results
from ..._sync.table import Table
from ...concurrency import gather_in_threads
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
class Survey:
    """A dry run: it has nothing to write with."""

    table: Table
    owner: str
    allow_scan: bool
    counts: Counter[str]
    """By the name of the entity: it is what the survey fills in."""
    tell: Callable[[], None]

    def run(self) -> None:
        """Count everything once."""
        threads = self._threads()
        for results in (*listed_of(self.table, self.owner), *sessions_of(self.table, self.owner)):
            self._count(results)
        self._count(self.table.query(Resource.Key(id=self.owner)).with_expired())
        self._spans()
        if self.allow_scan:
            for place in strays_of(self.table, self.owner):
                self.counts[Message.spec.name] += place.thread_id not in threads
            self.tell()

    def _threads(self) -> set[str]:
        found: set[str] = set()
        for page in key_pages(threads_of(self.table, self.owner)):
            ids = [key.id for key in page if isinstance(key, Thread.Key)]
            found.update(ids)
            self.counts[Thread.spec.name] += len(ids)
            for contents in gather_in_threads([partial(self._contents, thread_id) for thread_id in ids]):
                self.counts.update(contents)
            self.tell()
        return found

    def _contents(self, thread_id: str) -> dict[str, int]:
        messages = messages_in(self.table, thread_id).count()
        states = states_in(self.table, thread_id).count()
        return {Message.spec.name: messages, ThreadState.spec.name: states}

    def _count(self, results: Results[Any, Any]) -> None:
        (model,) = results.plan.models
        self.counts[model.spec.name] += results.count()
        self.tell()

    def _spans(self) -> None:
        seen: set[str] = set()
        for page in key_pages(spans_of(self.table, self.owner)):
            new = [trace_id for trace_id in trace_ids(page) if trace_id not in seen]
            seen.update(new)
            found = gather_in_threads([partial(owned_in, self.table, trace_id, self.owner) for trace_id in new])
            self.counts[Span.spec.name] += sum(map(len, found))
            self.tell()
