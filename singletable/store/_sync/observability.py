# Generated from ../_async/observability.py by scripts/generate_sync.py; edit that file.
"""What agents did, and how well: traces of spans, and evaluations."""

from __future__ import annotations

from .deltas import Deltas
from .evaluations import Evaluations
from .listing import Listing
from .spans import Spans
from .traces import Traces


class Observability(Spans, Traces, Listing, Deltas, Evaluations):
    """Spans, traces and branches in the verbs of Mastra's observability domain, and evaluations."""
