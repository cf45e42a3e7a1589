# Generated from ../_async/erasing.py by scripts/generate_sync.py; edit that file.
"""Everything that is stored of one resource, removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from singletable.schemas import (
    Evaluation,
    Event,
    Message,
    Resource,
    Score,
    Session,
    Span,
    Thread,
    ThreadState,
    WorkflowSnapshot,
)

from ..._sync.results import Results
from ..._sync.table import Table
from ...concurrency import AT_ONCE, gather_in_threads
from ...conditions import missing
from ...declare import PrimaryKey
from ...entity import Entity
from ...errors import ConditionFailedError, CorruptItemError, TransactionFailedError
from ...refusals import refused_at
from ...retry import pause_seconds
from ..receipt import Receipt
from .erasing_threads import ThreadErasure
from .owned import (
    MessagePlace,
    SpanOwner,
    key_pages,
    listed_of,
    owned_in,
    sessions_of,
    spans_of,
    strays_of,
    threads_of,
    trace_ids,
)
from .surveying import Survey

SWEEPS = 5
"""How often everything is gone through, for what was written meanwhile."""
ERASED: tuple[type[Entity], ...] = (
    Thread,
    Message,
    ThreadState,
    Resource,
    WorkflowSnapshot,
    Score,
    Evaluation,
    Span,
    Session,
    Event,
)
"""What a receipt tells of."""


class Erasing:
    """The erasure of a user."""

    table: Table

    def erase_resource(
        self,
        resource_id: str,
        *,
        dry_run: bool = False,
        allow_scan: bool = False,
        on_progress: Callable[[Receipt], None] | None = None,
    ) -> Receipt:
        """Remove all that is stored of a resource, expired or not, and count it; `dry_run` counts and writes nothing.

        Its threads with their messages and states, the resource with its working memory, its sessions as an actor with
        their events, and the runs, scores, evaluations and spans that name it; of a trace all of whose roots name it,
        also the spans that name nobody.
        What is written for it meanwhile is removed as well: everything is gone through again until nothing is found.
        ConditionFailedError says that after five times something still was.  If it is interrupted, call it again: it
        goes on with what is left.  A second call finds nothing.  `on_progress` gets the counts so far.

        Not found is what names no resource: runs, scores, evaluations and spans without one, and states of threads
        that nobody saved.  Messages of the resource in threads that nobody saved, that are another's, or whose deletion
        was interrupted are found with `allow_scan=True` only, which reads, and bills, the whole table, once for every
        time that everything is gone through.  The rest is found by indexes, which may lag behind a write by moments:
        stop what writes for the resource first, or call this once more.  Of each thread a tombstone stays, with its id
        and nothing else, and expires after a day: it refuses late saves.

        About ten requests for a thread, and two for 50 of its messages; one for each run, score, evaluation, session,
        event and span, and one for each trace; two write units for each KB of a message, one for each KB of the
        rest."""
        counts = Counter[str]({model.spec.name: 0 for model in ERASED})

        def tell() -> None:
            if on_progress is not None:
                on_progress(Receipt(dict(counts), dry_run))

        if dry_run:
            Survey(self.table, resource_id, allow_scan, counts, tell).run()
        else:
            Erasure(self.table, owner=resource_id, allow_scan=allow_scan, counts=counts, tell=tell).run()
        return Receipt(dict(counts), dry_run)


@dataclass(frozen=True, kw_only=True)
class Erasure(ThreadErasure):
    """One erasure, and how far it has come."""

    owner: str
    allow_scan: bool
    counts: Counter[str]
    """By the name of the entity: it is what the erasure fills in."""
    tell: Callable[[], None]

    def run(self) -> None:
        """Remove everything, and what is written meanwhile."""
        for sweep in range(SWEEPS):
            before = self.counts.total()
            self._sweep()
            if self.counts.total() == before:
                return
            self.table.sleep(pause_seconds(sweep))
        raise ConditionFailedError(
            f"something of the resource was still found after {SWEEPS} times: stop what writes for it, and call this "
            "again",
            operation="Query",
            table=self.table.name,
            entity=Resource.spec.name,
        )

    def _sweep(self) -> None:
        for page in key_pages(threads_of(self.table, self.owner)):
            ids = [key.id for key in page if isinstance(key, Thread.Key)]
            for begin in range(0, len(ids), AT_ONCE):
                some = [partial(self.erase_thread, thread_id, self.owner) for thread_id in ids[begin : begin + AT_ONCE]]
                for removed in gather_in_threads(some):
                    self.counts.update(removed)
                self.tell()
        for results in listed_of(self.table, self.owner):
            self._remove_found(results, self._is_owned)
        for results in sessions_of(self.table, self.owner):
            self._remove_found(results, self._is_the_actors)
        self._remove_all([Resource.Key(id=self.owner)], self._is_the_owner)
        for page in key_pages(spans_of(self.table, self.owner)):
            self._remove_spans(trace_ids(page))
        if self.allow_scan:
            self._remove_strays()

    def _remove_found(self, results: Results[Any, Any], is_theirs: Callable[[Any], bool]) -> None:
        for page in key_pages(results):
            self._remove_all(page, is_theirs)

    def _remove_all(self, keys: Sequence[PrimaryKey[Any]], is_theirs: Callable[[Any], bool]) -> None:
        """Remove those of some items that still are the resource's."""
        done = gather_in_threads([partial(self._remove, key, is_theirs) for key in keys])
        self.counts.update(key.declared_for.spec.name for key, is_done in zip(keys, done, strict=True) if is_done)
        self.tell()

    def _remove_spans(self, traces: Sequence[str]) -> None:
        for removed in gather_in_threads([partial(self._remove_trace, trace_id) for trace_id in traces]):
            self.counts[Span.spec.name] += removed
        self.tell()

    def _remove_trace(self, trace_id: str) -> int:
        """Remove the resource's spans of a trace; its roots last, because they say whose the others are."""
        spans = owned_in(self.table, trace_id, self.owner)
        removed = 0
        for roots in (False, True):
            part = [span for span in spans if span.is_root == roots]
            removed += sum(gather_in_threads([partial(self._remove_span, span) for span in part]))
        return removed

    def _remove_span(self, span: SpanOwner) -> bool:
        def is_theirs(stored: Span) -> bool:
            return missing(stored.resource_id) if span.resource_id is None else stored.resource_id == self.owner

        return self._remove(span.key, is_theirs)

    def _remove_strays(self) -> None:
        """Remove the messages that no thread of the resource has."""
        places = [place for place in strays_of(self.table, self.owner)]
        for begin in range(0, len(places), AT_ONCE):
            some = places[begin : begin + AT_ONCE]
            done = gather_in_threads([partial(self._remove_stray, place) for place in some])
            self.counts[Message.spec.name] += sum(done)
            self.tell()

    def _remove_stray(self, place: MessagePlace) -> bool:
        try:
            with self.table.transaction() as tx:
                tx.delete(place.key, place.pointer, where=self._is_owned)
        except TransactionFailedError as error:
            if not refused_at(error):
                raise
            return self._erase_expired([place]) == 1
        return True

    def _remove(self, key: PrimaryKey[Any], is_theirs: Callable[[Any], bool]) -> bool:
        """Whether an item was there, was the resource's, and is removed."""
        try:
            self.table.delete(key, where=is_theirs)
        except CorruptItemError:
            return True  # it was deleted, and does not fit its entity
        except ConditionFailedError:
            return self.table.delete_expired([key]) == 1
        return True

    def _is_owned(self, stored: Any) -> bool:
        is_owned: bool = stored.resource_id == self.owner
        return is_owned

    def _is_the_actors(self, stored: Any) -> bool:
        is_the_actors: bool = stored.actor_id == self.owner
        return is_the_actors

    def _is_the_owner(self, stored: Any) -> bool:
        is_owner: bool = stored.id == self.owner
        return is_owner
