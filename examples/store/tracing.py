"""What an agent did: spans, written in batches, read as traces, as branches, or as they arrive."""

from datetime import timedelta

from singletable import DynamoDBStore, gte, utc_now
from singletable.schemas import Span
from singletable.store import SpanFilters
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport(), ttl={"trace": {"default_ttl_seconds": 14 * 24 * 3600}})
traces = store.observability
begin = traces.list_traces_delta().cursor  # from here on

now = utc_now()
traces.batch_create_spans(
    [
        Span(trace_id="w1", span_id="run", name="guide", span_type="agent_run", started_at=now, resource_id="ada"),
        Span(
            trace_id="w1",
            span_id="call",
            parent_span_id="run",
            name="weather",
            span_type="tool_call",
            started_at=now + timedelta(milliseconds=20),
            input={"city": "Oslo"},
        ),
    ]
)
traces.update_span(trace_id="w1", span_id="run", updates=Span.Patch(ended_at=now + timedelta(seconds=2), output="mild"))

print(traces.get_trace_light("w1"))  # without inputs and outputs
print(traces.get_branch(trace_id="w1", span_id="call"))

yesterday = SpanFilters(resource_id="ada", started_at=gte(now - timedelta(days=1)), status="success")
print(traces.list_traces(filters=yesterday, per_page=20).items)
print(traces.list_branches_delta().cursor)  # for pollers: what arrived since a cursor, each span once
print(traces.list_traces_delta(after=begin).items)  # a span is shown five seconds after it was stored
