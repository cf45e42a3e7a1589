"""P100: a blank id is nobody's and never everybody's.  P104: whose items are is in their keys.  P105: errors and logs
hold nothing of what is stored.  P107: what is another tenant's is as what was never there."""

from __future__ import annotations

import logging
import traceback
from dataclasses import replace

import pytest

from singletable import (
    AccessDeniedError,
    CorruptItemError,
    NotFoundError,
    OutcomeUnknownError,
    Request,
    RequestError,
    SingleTableError,
    UnreachableError,
)
from singletable.schemas import Evaluation, Resource, Thread
from singletable.store.entities import ENTITIES
from singletable.store.message_forms import MessageUpdate
from singletable.store.span_filters import SpanFilters
from tests.contract.every_verb import CALLS, DOMAINS, NEEDED, RUN, SCANS, everything, result
from tests.contract.leading import partition_keys
from tests.contract.support import FakeBackend
from tests.contract.users import ADA, BOB, fill, mark, message, score, span

RESULT = {"step_id": "s", "result": {}, "request_context": {}}
BLANK = ["", " ", "\t\n "]
EVERY = {**CALLS, **{f"{name}, by a scan": call for name, call in SCANS.items()}}


@pytest.fixture
def filled(fake):
    store = fake.store()
    fill(store, ADA, "x")
    fake.sent.clear()
    return store


# P100

WHOSE = {
    "list threads": lambda s, one: s.memory.list_threads(one),
    "list messages": lambda s, one: s.memory.list_messages(one),
    "list messages of several": lambda s, one: s.memory.list_messages(["x1", one]),
    "list messages of a resource": lambda s, one: s.memory.list_messages_by_resource_id(one),
    "list messages within a resource": lambda s, one: s.memory.list_messages("x1", resource_id=one),
    "messages by id": lambda s, one: s.memory.list_messages_by_id(["xm0", one]),
    "messages by id within a resource": lambda s, one: s.memory.list_messages_by_id(["xm0"], resource_id=one),
    "delete messages": lambda s, one: s.memory.delete_messages(["xm0", one]),
    "delete messages within a resource": lambda s, one: s.memory.delete_messages(["xm0"], resource_id=one),
    "update messages": lambda s, one: s.memory.update_messages([MessageUpdate(id="xm0", content="b")], resource_id=one),
    "iterate": lambda s, one: list(s.memory.iter_messages(one)),
    "context": lambda s, one: s.memory.context(one),
    "stats": lambda s, one: s.memory.stats(one),
    "get a thread": lambda s, one: s.memory.get_thread_by_id(one),
    "update a thread": lambda s, one: s.memory.update_thread(one, title="b"),
    "delete a thread": lambda s, one: s.memory.delete_thread(one),
    "copy a thread": lambda s, one: s.memory.copy_thread(one, new_thread_id="copy"),
    "give a thread to": lambda s, one: s.memory.transfer_thread("x1", to_resource_id=one),
    "save a thread of": lambda s, one: s.memory.save_thread(Thread(id="new", resource_id=one)),
    "get a state": lambda s, one: s.memory.get_thread_state(one, type="plan"),
    "list states": lambda s, one: s.memory.list_thread_states(one),
    "delete a state": lambda s, one: s.memory.delete_thread_state(one, type="plan"),
    "get a resource": lambda s, one: s.memory.get_resource_by_id(one),
    "save a resource": lambda s, one: s.memory.save_resource(Resource(id=one)),
    "update a resource": lambda s, one: s.memory.update_resource(one, working_memory="b"),
    "update working memory": lambda s, one: s.memory.update_working_memory(one, "b", expected=None),
    "list runs of a workflow": lambda s, one: s.workflows.list_workflow_runs(workflow_name=one),
    "list runs of a resource": lambda s, one: s.workflows.list_workflow_runs(resource_id=one),
    "get a run": lambda s, one: s.workflows.get_workflow_run_by_id(one),
    "load a run": lambda s, one: s.workflows.load_workflow_snapshot(workflow_name=one, run_id="x"),
    "persist a run of": lambda s, one: s.workflows.persist_workflow_snapshot(**RUN, snapshot={}, resource_id=one),
    "claim a run for": lambda s, one: s.workflows.claim_run(**RUN, owner=one, from_="running", to="b"),
    "delete a run": lambda s, one: s.workflows.delete_workflow_run_by_id(workflow_name="w", run_id=one),
    "list scores of a resource": lambda s, one: s.scores.list_scores_by_resource_id(one),
    "list scores of a scorer": lambda s, one: s.scores.list_scores_by_scorer_id(one),
    "list scores of a run": lambda s, one: s.scores.list_scores_by_run_id(one),
    "list scores of an entity": lambda s, one: s.scores.list_scores_by_entity_id(entity_id=one, entity_type="agent"),
    "list scores of a span": lambda s, one: s.scores.list_scores_by_span(trace_id=one, span_id="root"),
    "save a score of": lambda s, one: s.scores.save_score(score(one, "new")),
    "get a score": lambda s, one: s.scores.get_score_by_id(one),
    "delete scores": lambda s, one: s.scores.delete_scores(["xs", one]),
    "list evaluations of a resource": lambda s, one: s.observability.list_evaluations(resource_id=one),
    "list evaluations of an agent": lambda s, one: s.observability.list_evaluations(agent_name=one),
    "delete evaluations": lambda s, one: s.observability.delete_evaluations(["xe", one]),
    "list traces of a resource": lambda s, one: s.observability.list_traces(filters=SpanFilters(resource_id=one)),
    "get a trace": lambda s, one: s.observability.get_trace(one),
    "delete traces": lambda s, one: s.observability.batch_delete_traces(["xt", one]),
    "erase a resource": lambda s, one: s.erase_resource(one),
    "erase a resource by a scan": lambda s, one: s.erase_resource(one, allow_scan=True),
    "export a resource": lambda s, one: everything(s.export_resource(one)),
    "export a thread": lambda s, one: everything(s.export_thread(one)),
    "be of a tenant": lambda s, one: s.scoped(one).memory.list_threads(ADA),
}


@pytest.mark.parametrize("blank", BLANK, ids=repr)
@pytest.mark.parametrize("call", WHOSE.values(), ids=WHOSE)
def test_p100_a_blank_id_is_refused_before_anything_is_sent(fake, filled, call, blank):
    with pytest.raises(RequestError):
        call(filled, blank)
    assert fake.sent.requests == []


REQUIRED = {
    "list_threads": lambda s: s.memory.list_threads,
    "list_messages": lambda s: s.memory.list_messages,
    "list_messages_by_resource_id": lambda s: s.memory.list_messages_by_resource_id,
    "update_thread_metadata": lambda s: s.memory.update_thread_metadata,
    "list_scores_by_resource_id": lambda s: s.scores.list_scores_by_resource_id,
    "erase_resource": lambda s: s.erase_resource,
    "export_resource": lambda s: s.export_resource,
}


@pytest.mark.parametrize("method", REQUIRED.values(), ids=REQUIRED)
def test_p100_an_owner_cannot_be_left_out(filled, method):
    with pytest.raises(TypeError, match="missing"):
        method(filled)()


@pytest.mark.parametrize(
    "call",
    [lambda s: s.workflows.list_workflow_runs(), lambda s: s.observability.list_evaluations()],
    ids=["runs", "evaluations"],
)
def test_p100_a_list_of_one_of_several_owners_needs_one(fake, filled, call):
    with pytest.raises(RequestError, match="give "):
        call(filled)
    assert fake.sent.requests == []


@pytest.mark.parametrize("blank", BLANK, ids=repr)
def test_p100_nobody_has_no_thread_and_changes_none(fake, filled, blank):
    """Where an owner is a second condition, the blank one has nothing."""
    before = fake.items()
    assert filled.memory.get_thread_by_id("x1", resource_id=blank) is None
    for call in (
        lambda: filled.memory.update_thread("x1", resource_id=blank, title="b"),
        lambda: filled.memory.update_thread_metadata("x1", resource_id=blank, update=lambda _: {}),
        lambda: filled.memory.delete_thread("x1", resource_id=blank),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert fake.items() == before


# P104


@pytest.mark.parametrize("method", CALLS)
def test_p104_every_key_that_a_tenant_stores_leads_with_it(fake, method):
    store = fake.store().scoped("b")
    fill(store, ADA, "x")
    fake.clock.advance(seconds=10)
    CALLS[method](store)
    keys = list(partition_keys(fake.items()))
    assert keys
    assert [key for key in keys if not key.startswith("@b#")] == []


# P105

MARKS = (mark(ADA), mark(BOB), ADA, BOB)


def told(error):
    """All that is told of an error: its text, where it happened, and the errors it comes from."""
    return "".join(traceback.format_exception(error))


def is_discreet(text):
    return not any(one in text for one in MARKS)


def refuse(kind):
    """A plan under which every request is refused by an error of this kind."""
    return lambda faults: setattr(faults, "on_request", lambda request: kind("refused", operation=request.operation))


FAULTS = {
    "denied": refuse(AccessDeniedError),
    "unreachable": refuse(UnreachableError),
    "unknown": refuse(OutcomeUnknownError),
    "throttled": lambda faults: faults.throttle(None),
    "transactions in conflict": lambda faults: faults.conflict(None),
    "updates in conflict": lambda faults: faults.conflict(None, operation="UpdateItem"),
    "puts in conflict": lambda faults: faults.conflict(None, operation="PutItem"),
    "batches undone": lambda faults: faults.leave_unprocessed(9, times=None),
}
ALWAYS = {"denied", "unreachable", "unknown", "throttled"}
"""What no request is answered under."""


@pytest.fixture
def hasty():
    """The fake and a store that does not wait before it tries again, filled."""
    fake = FakeBackend()
    fill(fake.store(), ADA, "x")
    fake.clock.advance(seconds=10)
    store, table = fake.store(), fake.table(*ENTITIES)
    store.table = table
    for name in DOMAINS:
        setattr(store, name, replace(getattr(store, name), table=table))
    return fake, store


def failure(call, store):
    """The error of a call, or None."""
    try:
        call(store)
    except SingleTableError as error:
        return error
    return None


@pytest.mark.parametrize("plan", FAULTS, ids=FAULTS)
@pytest.mark.parametrize("method", EVERY)
def test_p105_an_error_of_storage_holds_nothing_of_what_is_stored(hasty, caplog, method, plan):
    fake, store = hasty
    caplog.set_level(logging.DEBUG)
    FAULTS[plan](fake.faults)
    error = failure(EVERY[method], store)
    assert error is not None or plan not in ALWAYS
    assert is_discreet(told(error) + caplog.text)


@pytest.mark.parametrize("method", EVERY)
def test_p105_what_cannot_be_read_is_told_without_what_it_is(hasty, caplog, method):
    fake, store = hasty
    caplog.set_level(logging.DEBUG)
    for item in fake.items():
        spoilt = {name: {"S": mark(ADA)} for name in ("createdAt", "startedAt", "metadata") if name in item}
        put = {"TableName": fake.table_name, "Item": {**item, **spoilt}}
        fake.database.execute(Request("PutItem", put))
    error = failure(EVERY[method], store)
    if method in ("memory.get_thread_by_id", "workflows.load_workflow_snapshot", "observability.get_trace"):
        assert isinstance(error, CorruptItemError)
    assert is_discreet(told(error) + caplog.text)


SECRET = mark(ADA)
HUGE = SECRET * 20_000
REFUSED = {
    "message": lambda s: s.memory.save_messages([message(ADA, "m", "t", content=HUGE)]),
    "thread": lambda s: s.memory.save_thread(Thread(id="t", resource_id=ADA, title=HUGE)),
    "metadata": lambda s: s.memory.update_thread("x1", metadata={"a": [SECRET, object()]}),
    "metadata that is too large": lambda s: s.memory.update_thread("x1", metadata={"a": HUGE}),
    "metadata of a filter": lambda s: s.memory.list_messages("x1", metadata={"a": [SECRET]}),
    "resource": lambda s: s.memory.save_resource(Resource(id=ADA, working_memory=HUGE)),
    "state": lambda s: s.memory.set_thread_state("x1", type="plan", value={"a": [SECRET, object()]}),
    "state that is too large": lambda s: s.memory.set_thread_state("x1", type="plan", value=HUGE),
    "run": lambda s: s.workflows.persist_workflow_snapshot(**RUN, snapshot={"a": [SECRET, object()]}),
    "run that is too large": lambda s: s.workflows.persist_workflow_snapshot(**RUN, snapshot={"note": HUGE}),
    "result": lambda s: s.workflows.update_workflow_results(**{**RUN, **RESULT, "result": {"a": [SECRET, object()]}}),
    "score": lambda s: s.scores.save_score(score(ADA, "s", output=HUGE)),
    "score of no number": lambda s: s.scores.save_score(score(ADA, "s").model_copy(update={"score": SECRET})),
    "evaluation": lambda s: s.observability.save_evaluation(
        Evaluation(id="e", agent_name="a", metric_name="m", input=HUGE, output=SECRET, result={"score": 1})
    ),
    "span": lambda s: s.observability.create_span(span(ADA, "t", "root", input=HUGE)),
    "a thread of another": lambda s: s.memory.save_thread(Thread(id="x1", resource_id=BOB)),
    "working memory of another": lambda s: s.memory.update_working_memory(ADA, SECRET, expected=f"not {SECRET}"),
    "an old version": lambda s: s.workflows.persist_workflow_snapshot(**RUN, snapshot={"a": SECRET}, if_version="old"),
    "an old state": lambda s: s.memory.set_thread_state("x1", type="plan", value=SECRET, if_version="old"),
    "an owner who has none": lambda s: s.memory.update_thread("x1", resource_id=BOB, title=SECRET),
    "a cursor of another list": lambda s: s.memory.list_threads(ADA, cursor=SECRET),
    "an import": lambda s: s.import_entities([Thread(id="x1", resource_id=BOB, title=SECRET)]),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_p105_a_refusal_does_not_repeat_what_it_refuses(hasty, caplog, call):
    _, store = hasty
    caplog.set_level(logging.DEBUG)
    error = failure(call, store)
    assert error is not None
    assert is_discreet(told(error) + caplog.text)


# P107


@pytest.mark.parametrize("method", sorted(NEEDED))
def test_p107_what_another_tenant_has_is_as_what_was_never_there(method):
    answers = []
    for is_stored in (True, False):
        fake = FakeBackend()
        if is_stored:
            fill(fake.store().scoped("a"), ADA, "x")
        answer = result(fake.store().scoped("b"), method)
        answers.append((type(answer), str(answer), str(getattr(answer, "__dict__", None))))
    assert answers[0] == answers[1]
