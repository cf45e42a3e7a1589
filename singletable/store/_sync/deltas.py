# Generated from ../_async/deltas.py by scripts/generate_sync.py; edit that file.
"""What has arrived since the last poll."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from singletable.schemas import Span

from ...cursors import cursor_place, cursor_text, damaged
from ...errors import RequestError
from ..span_filters import SpanFilters, given, given_for_branches
from ..span_forms import BRANCHES, TRACES, Delta
from .domain import Domain
from .paging import require_count
from .searching import Search, by_arrival

MOST = 100
"""Spans that one poll gives."""
SETTLED = timedelta(seconds=5)
"""How long a span may be on its way into the index, or the clock of its writer behind, without being missed."""


class Deltas(Domain):
    """Root spans, and anchors of branches, as they arrive."""

    def list_traces_delta(
        self, *, filters: SpanFilters | None = None, after: str | None = None, limit: int = 10
    ) -> Delta[Span]:
        """The root spans that were first stored after the cursor `after`, oldest first, each once, as they are now.

        Without `after` no spans, but the cursor to begin with.  A span is shown five seconds after it was stored, so
        that none is missed that took so long to arrive, or that was stored by a machine whose clock is so far behind.
        One that is stored again keeps its place.  Eight small queries; with `filters`, what does not match is read as
        well.  Raises InvalidCursorError for a cursor of anything else."""
        return self._poll(TRACES, given(filters), after, limit)

    def list_branches_delta(
        self, *, filters: SpanFilters | None = None, after: str | None = None, limit: int = 10
    ) -> Delta[Span]:
        """The same for the spans at which branches begin."""
        return self._poll(BRANCHES, given_for_branches(filters), after, limit)

    def _poll(self, kinds: Sequence[str], filters: SpanFilters, after: str | None, limit: int) -> Delta[Span]:
        require_count("limit", limit, least=1)
        if limit > MOST:
            raise RequestError(f"limit must be {MOST} or less")
        question, end = (self.table.scope, kinds, "arrivals"), _arrival_at(self.clock() - SETTLED)
        if after is None:
            return Delta([], cursor_text(question, end))
        start = cursor_place(question, after)
        if not isinstance(start, str) or not start:
            raise damaged()
        if start >= end:
            return Delta([], after)
        queries = by_arrival(self.table, kinds, filters, start, end)
        # A range has its beginning in it, which the poll before has shown.
        rows = Search(self.table, queries, filters, _arrival_of).take(limit + 2)
        rows = [row for row in rows if _arrival_of(row) > start]
        items, has_more = rows[:limit], len(rows) > limit
        return Delta(items, cursor_text(question, _arrival_of(items[-1]) if has_more else end), has_more)


def _arrival_of(span: Span) -> str:
    return span.arrival or ""


def _arrival_at(time: datetime) -> str:
    """What sorts before the arrivals of a time, and after all before them."""
    return f"{int(time.timestamp() * 1_000_000):017}"
