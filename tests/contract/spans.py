"""Spans for the suites of store.observability."""

from __future__ import annotations

from datetime import timedelta

from singletable.schemas import Span
from tests.contract.support import START

SECOND = timedelta(seconds=1)
MILLISECOND = timedelta(milliseconds=1)
ERROR = {"message": "it broke", "id": "E1", "details": {"code": 7}}
FULL = {
    "entity_type": "agent",
    "entity_id": "a1",
    "entity_name": "Agent",
    "entity_version_id": "av",
    "parent_entity_type": "workflow",
    "parent_entity_id": "w1",
    "parent_entity_name": "Flow",
    "parent_entity_version_id": "wv",
    "root_entity_type": "app",
    "root_entity_id": "r1",
    "root_entity_name": "App",
    "root_entity_version_id": "rv",
    "user_id": "u1",
    "organization_id": "o1",
    "resource_id": "ada",
    "run_id": "run1",
    "session_id": "s1",
    "thread_id": "th1",
    "request_id": "q1",
    "experiment_id": "x1",
    "environment": "production",
    "service_name": "api",
    "source": "cloud",
    "tags": ["beta", "eu"],
    "scope": {"core": "1.2.3", "deep": {"a": [1, 1.0, None]}},
    "metadata": {"": 1.0, "flag": True, "deep": {"list": [{"x": None}]}},
    "attributes": {"model": "m", "usage": {"tokens": 12, "cost": 0.5}, "empty": {}},
    "links": [{"traceId": "t9", "spanId": "s9"}],
    "input": {"messages": [{"role": "user", "content": "hello"}]},
    "output": {"text": "hi", "parts": []},
    "error": ERROR,
    "request_context": {"tier": "gold"},
    "is_event": True,
    "ended_at": START + SECOND,
}
"""Every field that a caller may give and that is not needed."""


def span(span_id="root", trace_id="t", **fields):
    """A root span, unless a parent is given, of a type at which no branch begins."""
    fields = {"name": span_id, "span_type": "generic", "started_at": START, **fields}
    return Span(trace_id=trace_id, span_id=span_id, **fields)


def child(span_id, parent="root", **fields):
    """A span below another one."""
    return span(span_id, parent_span_id=parent, **fields)


def roots(count, **fields):
    """Roots of as many traces, t00 to the newest, a second apart."""
    return [span(trace_id=f"t{n:02}", started_at=START + n * SECOND, **fields) for n in range(count)]


def ids(found):
    """The ids of spans."""
    return [one.span_id for one in found]


def traces(found):
    """The traces of spans."""
    return [one.trace_id for one in found]
