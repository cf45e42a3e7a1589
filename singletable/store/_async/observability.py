"""What agents did, and how well: traces of spans, and evaluations."""

from __future__ import annotations

from .deltas import AsyncDeltas
from .evaluations import AsyncEvaluations
from .listing import AsyncListing
from .spans import AsyncSpans
from .traces import AsyncTraces


class AsyncObservability(AsyncSpans, AsyncTraces, AsyncListing, AsyncDeltas, AsyncEvaluations):
    """Spans, traces and branches in the verbs of Mastra's observability domain, and evaluations."""
