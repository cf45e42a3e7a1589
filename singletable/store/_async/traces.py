"""One trace: read, and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from pydantic import BaseModel

from singletable.schemas import Span

from ..._async.query import AsyncQuery
from ...concurrency import gather_in_tasks
from ...conditions import missing
from ...errors import RequestError
from ..span_forms import LightSpan
from ..span_trees import branch_of, by_start
from .domain import AsyncDomain
from .paging import require_count

MOST_DELETED = 1000
"""Traces that one call deletes."""


class _Owned(BaseModel):
    """As much of a span as its deletion needs."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    organization_id: str | None = None
    resource_id: str | None = None


class AsyncTraces(AsyncDomain):
    """Single spans, whole traces and branches of them, strongly consistent; deletion of traces."""

    async def get_span(self, *, trace_id: str, span_id: str) -> Span | None:
        """The span, or None.  One read."""
        return await self.table.get(Span.Key(trace_id=trace_id, span_id=span_id))

    async def get_spans(self, trace_id: str, span_ids: Iterable[str]) -> list[Span]:
        """The spans with these ids that the trace has, in the order of the ids; one request for 100 of them."""
        wanted = _ids(span_ids)
        return await self.table.get_many([Span.Key(trace_id=trace_id, span_id=span_id) for span_id in wanted])

    async def get_root_span(self, trace_id: str) -> Span | None:
        """The span without a parent, the earliest of several; None where there is none.  The whole trace is read."""
        query = self.table.query(Span.InTrace(trace_id=trace_id))
        roots = await query.filter(lambda span: missing(span.parent_span_id)).all()
        return min(roots, key=by_start, default=None)

    async def get_trace(self, trace_id: str) -> list[Span] | None:
        """The spans of a trace by their start; None where there are none."""
        spans = await self.table.query(Span.InTrace(trace_id=trace_id)).all()
        return sorted(spans, key=by_start) or None

    async def get_trace_light(self, trace_id: str) -> list[LightSpan] | None:
        """The same without what makes spans large: that is read, and billed, but not sent."""
        spans = await self.table.query(Span.InTrace(trace_id=trace_id)).select(LightSpan).all()
        return sorted(spans, key=by_start) or None

    async def get_branch(self, *, trace_id: str, span_id: str, depth: int | None = None) -> list[Span] | None:
        """A span, then all that lies below it, or down to `depth` levels, by start; None where the span is not there.

        The whole trace is read."""
        require_count("depth", 0 if depth is None else depth, least=0)
        return branch_of(await self.table.query(Span.InTrace(trace_id=trace_id)).all(), span_id, depth)

    async def batch_delete_traces(
        self, trace_ids: Iterable[str], *, organization_id: str | None = None, resource_id: str | None = None
    ) -> None:
        """Delete up to 1,000 traces with all their spans; traces that are not there are fine.

        With `organization_id` or `resource_id` only those whose roots are of these: a trace that has no root is then
        left alone.  A request for each trace, and one for each 25 of its spans, eight traces at once.  The root goes
        last, so that a call that failed can be repeated; a span that is stored meanwhile may stay."""
        wanted = [*dict.fromkeys(_ids(trace_ids))]
        if len(wanted) > MOST_DELETED:
            raise RequestError(f"this deletes up to {MOST_DELETED} traces at once")
        owner = _owner(organization_id=organization_id, resource_id=resource_id)
        queries = [self.table.query(Span.InTrace(trace_id=trace_id)).select(_Owned) for trace_id in wanted]
        await gather_in_tasks([partial(self._delete, query, owner) for query in queries])

    async def _delete(self, query: AsyncQuery[Span, _Owned], owner: Mapping[str, str]) -> None:
        spans = await query.all()
        roots = [span for span in spans if span.parent_span_id is None]
        if owner and not (roots and all(getattr(root, name) == owner[name] for root in roots for name in owner)):
            return
        await self.table.delete_many(_keys(span for span in spans if span.parent_span_id is not None))
        await self.table.delete_many(_keys(roots))


def _owner(**given: object) -> dict[str, str]:
    """Whose traces to delete; raises RequestError for what nobody is called, so that it is not taken for all."""
    owner: dict[str, str] = {}
    for name, value in given.items():
        if isinstance(value, str) and value.strip():
            owner[name] = value
        elif value is not None:
            raise RequestError(
                f"{name} must be a text that is not blank; leave it out to delete whoever owns the traces"
            )
    return owner


def _keys(spans: Iterable[_Owned]) -> list[Span.Key]:
    return [Span.Key(trace_id=span.trace_id, span_id=span.span_id) for span in spans]


def _ids(given: Iterable[str]) -> list[str]:
    """The ids of a call that takes several; raises RequestError for a text, which is one."""
    if isinstance(given, str):
        raise RequestError("this takes several ids: put the one into a list")
    return list(given)
