"""A call of each public method of a store, for the suites that must try all of them, on what `users.fill` stores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from singletable import NotFoundError
from singletable.cursors import cursor_text
from singletable.schemas import Evaluation, Message, Resource, Span, Thread
from singletable.store.message_forms import Include, MessageUpdate
from singletable.store.span_filters import SpanFilters
from singletable.store.span_forms import BRANCHES, TRACES
from tests.contract.support import Blocking
from tests.contract.users import ADA, BOB, message, score, span

Calls = Mapping[str, Callable[[Any], Any]]

MEMORY: Calls = {
    "clone_thread": lambda m: m.clone_thread("x1", new_thread_id="clone"),
    "context": lambda m: [m.context("x1"), m.context("x1", last=1, align="turn")],
    "copy_thread": lambda m: m.copy_thread("x1", new_thread_id="copy"),
    "delete_messages": lambda m: m.delete_messages(["xm0"]),
    "delete_thread": lambda m: m.delete_thread("x1"),
    "delete_thread_state": lambda m: m.delete_thread_state("x1", type="plan"),
    "diagnose": lambda m: m.diagnose("x1"),
    "get_resource_by_id": lambda m: m.get_resource_by_id(ADA),
    "get_thread_by_id": lambda m: m.get_thread_by_id("x1"),
    "get_thread_state": lambda m: m.get_thread_state("x1", type="plan"),
    "iter_messages": lambda m: list(m.iter_messages("x1")),
    "list_messages": lambda m: [
        m.list_messages("x1", include_total=True),
        m.list_messages("x1", last=1, align="turn"),
        m.list_messages(["x1", "x2"], per_page=1, include=[Include("xm2", previous=1)]),
    ],
    "list_messages_by_id": lambda m: m.list_messages_by_id(["xm0", "xm1"]),
    "list_messages_by_resource_id": lambda m: m.list_messages_by_resource_id(ADA),
    "list_thread_states": lambda m: m.list_thread_states("x1", include_total=True),
    "list_threads": lambda m: [m.list_threads(ADA, order_by=by) for by in ("created_at", "updated_at")],
    "save_messages": lambda m: m.save_messages([Message(id="xm0", thread_id="x1", role="user", content="b")]),
    "save_resource": lambda m: m.save_resource(Resource(id=ADA, working_memory="b")),
    "save_thread": lambda m: m.save_thread(Thread(id="x1", resource_id=ADA, title="b")),
    "set_thread_state": lambda m: m.set_thread_state("x1", type="plan", value="b"),
    "stats": lambda m: m.stats("x1"),
    "transfer_thread": lambda m: m.transfer_thread("x1", to_resource_id=BOB),
    "update_messages": lambda m: m.update_messages([MessageUpdate(id="xm0", content="b")]),
    "update_resource": lambda m: m.update_resource(ADA, metadata={"b": 1}),
    "update_thread": lambda m: m.update_thread("x1", title="b"),
    "update_thread_metadata": lambda m: m.update_thread_metadata("x1", resource_id=ADA, update=lambda _: {"b": 1}),
    "update_working_memory": lambda m: m.update_working_memory(f"{ADA}-2", "b", expected=None),
}
RUN = {"workflow_name": "w", "run_id": "x"}
WORKFLOWS: Calls = {
    "claim_run": lambda w: w.claim_run(**RUN, owner="worker", from_="running", to="taken"),
    "delete_workflow_run_by_id": lambda w: w.delete_workflow_run_by_id(**RUN),
    "get_workflow_run_by_id": lambda w: w.get_workflow_run_by_id("x"),
    "list_workflow_runs": lambda w: [
        w.list_workflow_runs(workflow_name="w", include_total=True),
        w.list_workflow_runs(resource_id=ADA),
    ],
    "load_workflow_runs": lambda w: w.load_workflow_runs(w.list_workflow_runs(workflow_name="w").items),
    "load_workflow_snapshot": lambda w: w.load_workflow_snapshot(**RUN),
    "persist_workflow_snapshot": lambda w: w.persist_workflow_snapshot(
        **RUN, snapshot={"status": "running", "context": {}}
    ),
    "update_workflow_results": lambda w: w.update_workflow_results(
        **RUN, step_id="s", result={"status": "success"}, request_context={}
    ),
    "update_workflow_state": lambda w: w.update_workflow_state(**RUN, changes={"status": "success"}),
}
SCORES: Calls = {
    "delete_scores": lambda s: s.delete_scores(["xs"]),
    "get_score_by_id": lambda s: s.get_score_by_id("xs"),
    "list_scores_by_entity_id": lambda s: s.list_scores_by_entity_id(entity_id="e", entity_type="agent"),
    "list_scores_by_resource_id": lambda s: s.list_scores_by_resource_id(ADA, include_total=True),
    "list_scores_by_run_id": lambda s: s.list_scores_by_run_id("r"),
    "list_scores_by_scorer_id": lambda s: s.list_scores_by_scorer_id("s", source="LIVE"),
    "list_scores_by_span": lambda s: s.list_scores_by_span(trace_id="t", span_id="root"),
    "save_score": lambda s: s.save_score(score(ADA, "xs", output="b")),
}
PATCH = Span.Patch(name="b")
KEY = Span.Key(trace_id="xt", span_id="root")
OBSERVABILITY: Calls = {
    "batch_create_spans": lambda o: o.batch_create_spans([span(ADA, "xt", "root"), span(ADA, "xt", "child", "root")]),
    "batch_delete_traces": lambda o: o.batch_delete_traces(["xt"]),
    "batch_update_spans": lambda o: o.batch_update_spans([(KEY, PATCH)]),
    "create_span": lambda o: o.create_span(span(ADA, "xt", "root", span_type="agent_run")),
    "delete_evaluations": lambda o: o.delete_evaluations(["xe"]),
    "get_branch": lambda o: o.get_branch(trace_id="xt", span_id="root"),
    "get_evaluation_by_id": lambda o: o.get_evaluation_by_id("xe"),
    "get_root_span": lambda o: o.get_root_span("xt"),
    "get_span": lambda o: o.get_span(trace_id="xt", span_id="root"),
    "get_spans": lambda o: o.get_spans("xt", ["root", "child"]),
    "get_trace": lambda o: o.get_trace("xt"),
    "get_trace_light": lambda o: o.get_trace_light("xt"),
    "list_branches": lambda o: o.list_branches(include_total=True).items,
    "list_branches_delta": lambda o: polled(o, o.list_branches_delta, BRANCHES),
    "list_evaluations": lambda o: [
        o.list_evaluations(agent_name="a", include_total=True),
        o.list_evaluations(resource_id=ADA),
    ],
    "list_traces": lambda o: (
        [o.list_traces(order_by=by).items for by in ("started_at", "ended_at")]
        + [o.list_traces(filters=SpanFilters(**{name: value})).items for name, value in FILTERS.items()]
    ),
    "list_traces_delta": lambda o: polled(o, o.list_traces_delta, TRACES),
    "list_traces_light": lambda o: o.list_traces_light(include_total=True),
    "save_evaluation": lambda o: o.save_evaluation(
        Evaluation(id="xe", agent_name="a", metric_name="m", input="b", output="b", result={"score": 1})
    ),
    "update_span": lambda o: o.update_span(trace_id="xt", span_id="root", updates=PATCH),
}
FILTERS = {"trace_id": "xt", "resource_id": ADA, "user_id": "u1", "has_child_error": True}
STORE: Calls = {
    "erase_resource": lambda s: [s.erase_resource(ADA, dry_run=True), s.erase_resource(ADA)],
    "export_resource": lambda s: everything(s.export_resource(ADA)),
    "export_thread": lambda s: everything(s.export_thread("x1")),
    "import_entities": lambda s: s.import_entities(
        [Thread(id="x1", resource_id=ADA), message(ADA, "xm0", "x1", content="b"), score(ADA, "xs", output="b")],
        replace=True,
    ),
}
SCANS: Calls = {
    "erase_resource": lambda s: s.erase_resource(ADA, allow_scan=True),
    "export_all": lambda s: everything(s.export_all(allow_scan=True)),
    "purge_expired": lambda s: s.purge_expired(allow_scan=True),
}
"""The calls of a store that read the whole table."""
BLOBS: Calls = {
    "delete": lambda b: [b.write("x/k", b"b"), b.delete("x/k")][1:],
    "gc": lambda b: b.gc(),
    "head": lambda b: b.head("x/k"),
    "list": lambda b: b.list("x"),
    "namespace": lambda b: b.namespace("x").list(),
    "read": lambda b: b.read("x/k"),
    "read_many": lambda b: b.read_many(["x/k"]),
    "read_range": lambda b: b.read_range("x/k", 0, 1),
    "read_stream": lambda b: [b.write("x/k", b"b"), *b.read_stream("x/k")][1:],
    "write": lambda b: [b.write("x/k", bytes(500_000)), b.write("x/k", b"b"), b.read("x/k")][2:],
}


def held(leases: Any) -> list[str]:
    """What is known of a lease that is held: the fields that its errors show as well."""
    with leases.acquire("x", 60) as lease:
        leases.renew(lease)
        return [lease.name]


LEASES: Calls = {"acquire": held, "renew": held}


def taken(sessions: Any, **options: Any) -> Any:
    """What comes of one more turn, in a handler."""

    def take(session: Any, _: str) -> Any:
        return session.state

    async def take_later(session: Any, _: str) -> Any:
        return session.state

    handle = sessions.turn_handler(take_later if isinstance(sessions, Blocking) else take)
    return handle("b", actor_id=ADA, session_id="xn", turn_id="b", **options)


def committed(sessions: Any, **options: Any) -> Any:
    """What becomes of one more turn."""
    session = sessions.load(ADA, "xn")
    session.state = {"b": 1}
    return sessions.commit(session, turn_id="b", **options)


SESSIONS: Calls = {
    "append": lambda s: s.append(ADA, "xn", ["b"]),
    "commit": committed,
    "context": lambda s: s.context(ADA, "xn"),
    "delete": lambda s: s.delete(ADA, "xn"),
    "list_events": lambda s: s.list_events(ADA, "xn", per_page=1),
    "load": lambda s: s.load(ADA, "xn"),
    "turn_handler": taken,
}
DOMAINS: Mapping[str, Calls] = {
    "memory": MEMORY,
    "workflows": WORKFLOWS,
    "scores": SCORES,
    "observability": OBSERVABILITY,
    "blobs": BLOBS,
    "leases": LEASES,
    "sessions": SESSIONS,
}
CALLS: Calls = {
    **{
        f"{domain}.{name}": lambda store, domain=domain, call=call: call(getattr(store, domain))
        for domain, calls in DOMAINS.items()
        for name, call in calls.items()
    },
    **STORE,
}
"""All calls that scan nothing, each of a whole store."""
NEEDED = {
    "memory.clone_thread",
    "memory.copy_thread",
    "memory.transfer_thread",
    "memory.update_thread",
    "memory.update_thread_metadata",
    "memory.update_messages",
    "workflows.update_workflow_state",
    "workflows.claim_run",
    "observability.batch_update_spans",
    "observability.update_span",
    "export_thread",
}
"""What raises NotFoundError where nothing is stored."""


def polled(observability: Any, poll: Callable[..., Any], kinds: Any) -> Any:
    """All that has ever arrived, by a cursor of before."""
    return poll(after=cursor_text((observability.table.scope, kinds, "arrivals"), "0"), limit=100).items


def everything(pages: Any) -> list[Any]:
    """The entities of an export."""
    return [entity for page in pages for entity in page.items]


def result(store: Any, name: str) -> object:
    """What a call gives, or the error where it finds nothing to work on."""
    try:
        return CALLS[name](store)
    except NotFoundError as error:
        if name not in NEEDED:
            raise
        return error
