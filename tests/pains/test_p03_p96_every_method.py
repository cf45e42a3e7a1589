"""Every method of a store: P03 no failed request is passed over; P11 it sees its own writes; P12, P96 what it asks."""

from __future__ import annotations

from itertools import count

import pytest

from singletable import AccessDeniedError, RequestError, SingleTableError
from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase
from tests.contract.every_verb import CALLS, RUN, SCANS
from tests.contract.support import FakeBackend
from tests.contract.users import ADA, fill, mark

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])
EVERY = {**CALLS, **{f"{name}, by a scan": call for name, call in SCANS.items()}}
each_method = pytest.mark.parametrize("call", EVERY.values(), ids=EVERY)


def filled():
    """A store, as it is provisioned, with a user in it."""
    fake = FakeBackend(database=MemoryDatabase.for_table(TABLE))
    store = fake.store()
    fill(store, ADA, "x")
    # Traces are listed as far as they have certainly arrived.
    fake.clock.advance(seconds=10)
    fake.sent.clear()
    return fake, store


def errors_of(error):
    """An error with those that it comes from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def refuse(number):
    """A hook that refuses the request of this number."""
    numbers = count(1)
    return lambda request: (
        AccessDeniedError("refused", operation=request.operation) if next(numbers) == number else None
    )


@each_method
def test_p03_each_request_of_each_method_may_fail_and_the_method_does(call):
    fake, store = filled()
    call(store)
    assert fake.sent.requests
    for number in range(1, len(fake.sent.requests) + 1):
        fake, store = filled()
        fake.faults.on_request = refuse(number)
        with pytest.raises(SingleTableError) as caught:
            call(store)
        assert any(isinstance(one, AccessDeniedError) for one in errors_of(caught.value))


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_p96_no_method_scans_that_was_not_told_to(call):
    fake, store = filled()
    call(store)
    assert fake.sent.operations
    assert "Scan" not in fake.sent.operations


@pytest.mark.parametrize(
    "call",
    [
        lambda store: list(store.export_all()),
        lambda store: list(store.export_all(allow_scan=False)),
        lambda store: store.purge_expired(),
        lambda store: store.purge_expired(allow_scan=False),
    ],
)
def test_p96_what_scans_is_refused_until_it_is_told_to(call):
    fake, store = filled()
    with pytest.raises(RequestError, match="allow_scan=True"):
        call(store)
    assert fake.sent.requests == []


@each_method
def test_p12_each_read_of_the_table_is_strong_and_none_of_an_index_asks_to_be(call):
    fake, store = filled()
    call(store)
    for operation, params in fake.sent.requests:
        if operation in ("GetItem", "Query", "Scan"):
            assert params.get("ConsistentRead", False) is ("IndexName" not in params)
        if operation == "BatchGetItem":
            assert all(part["ConsistentRead"] is True for part in params["RequestItems"].values())


OWN = {
    "thread": lambda s: s.memory.get_thread_by_id("x1").title,
    "context": lambda s: s.memory.context("x1").messages[0].content,
    "messages": lambda s: s.memory.list_messages(["x1", "x2"]).items[-1].content,
    "message by id": lambda s: s.memory.list_messages_by_id(["xm2"])[0].content,
    "state": lambda s: s.memory.get_thread_state("x1", type="plan").value,
    "states": lambda s: s.memory.list_thread_states("x1").items[0].value,
    "resource": lambda s: s.memory.get_resource_by_id(ADA).working_memory,
    "run": lambda s: s.workflows.load_workflow_snapshot(**RUN),
    "score": lambda s: s.scores.get_score_by_id("xs").output,
    "evaluation": lambda s: s.observability.get_evaluation_by_id("xe").output,
    "span": lambda s: s.observability.get_span(trace_id="xt", span_id="root").input,
    "trace": lambda s: s.observability.get_trace("xt"),
    "root": lambda s: s.observability.get_root_span("xt").input,
}


@pytest.mark.parametrize("read", OWN.values(), ids=OWN)
def test_p11_what_was_just_written_is_read_in_every_domain(fake, read):
    store = fake.store()
    fake.faults.stale_reads(50)
    fill(store, ADA, "x")
    assert mark(ADA) in str(read(store))


@pytest.mark.parametrize(
    ("change", "read"),
    [
        (
            lambda s: s.workflows.update_workflow_state(**RUN, changes={"note": "new"}),
            lambda s: s.workflows.load_workflow_snapshot(**RUN)["note"],
        ),
        (
            lambda s: s.workflows.update_workflow_results(**RUN, step_id="a", result={"b": "new"}, request_context={}),
            lambda s: s.workflows.load_workflow_snapshot(**RUN)["context"]["a"]["b"],
        ),
        (
            lambda s: s.workflows.claim_run(**RUN, owner="new", from_="running", to="taken"),
            lambda s: s.workflows.get_workflow_run_by_id("x", workflow_name="w").owner,
        ),
        (
            lambda s: s.memory.set_thread_state("x1", type="plan", value="new"),
            lambda s: s.memory.get_thread_state("x1", type="plan").value,
        ),
        (
            lambda s: s.memory.update_working_memory(ADA, "new", expected=mark(ADA)),
            lambda s: s.memory.get_resource_by_id(ADA).working_memory,
        ),
    ],
    ids=["state of a run", "results of a run", "claim", "state of a thread", "working memory"],
)
def test_p11_what_was_just_changed_is_read(fake, change, read):
    store = fake.store()
    fill(store, ADA, "x")
    store.workflows.persist_workflow_snapshot(**RUN, snapshot={"status": "running", "context": {}})
    fake.faults.stale_reads(50)
    change(store)
    assert read(store) == "new"
