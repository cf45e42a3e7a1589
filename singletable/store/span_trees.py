"""The tree that the spans of a trace make.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from singletable.schemas import Span

from .span_order import Timed


def by_start(span: Timed) -> tuple[object, ...]:
    """What spans of a trace are sorted by."""
    return span.started_at, span.span_id


def branch_of(spans: Iterable[Span], span_id: str, depth: int | None) -> list[Span] | None:
    """A span and what lies below it, down to `depth` levels, by start; None where the span is not there."""
    children: dict[str | None, list[Span]] = defaultdict(list)
    anchor = None
    for span in spans:
        children[span.parent_span_id].append(span)
        anchor = span if span.span_id == span_id else anchor
    if anchor is None:
        return None
    seen, level, below = {span_id}, [anchor], list[Span]()
    while level and depth != 0:
        # A span that is its own ancestor is no reason to go round for ever.
        level = [child for parent in level for child in children[parent.span_id] if child.span_id not in seen]
        seen.update(child.span_id for child in level)
        below += level
        depth = None if depth is None else depth - 1
    return [anchor, *sorted(below, key=by_start)]
