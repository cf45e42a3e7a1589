"""P38: who was overtaken writes nothing.  P14: no ghost of a run, a state or a span.  P92: what steps leave."""

from __future__ import annotations

import pytest

from singletable import NotFoundError, VersionConflictError
from singletable.provision import create_table_params
from singletable.schemas import Span
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase
from tests.contract.every_verb import RUN
from tests.contract.support import FAKES, FakeBackend
from tests.contract.users import ADA, fill
from tests.pains.support import another

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])


@pytest.fixture(params=FAKES)
def fake(request):
    loop = request.getfixturevalue("loop") if request.param == "fake-async" else None
    return FakeBackend(loop, database=MemoryDatabase.for_table(TABLE))


def persist(store, snapshot, **options):
    return store.workflows.persist_workflow_snapshot(**RUN, snapshot=snapshot, **options)


# P38


def test_p38_a_worker_that_slept_through_a_takeover_cannot_save_what_it_holds(fake):
    """It claimed the run, paused, and wakes up when another has taken the run over."""
    store, theirs = fake.store(), another(fake).store()
    persist(store, {"status": "suspended", "context": {}})
    mine = store.workflows.claim_run(**RUN, owner="first").run
    fake.clock.advance(minutes=5)
    persist(theirs, {"status": "suspended", "context": {}}, if_version=mine.version)
    taken = theirs.workflows.claim_run(**RUN, owner="second")
    before = fake.items()
    for snapshot in ({"status": "success", "context": {}}, mine.snapshot):
        with pytest.raises(VersionConflictError) as caught:
            persist(store, snapshot, if_version=mine.version)
        assert (caught.value.current.owner, caught.value.current.version) == ("second", taken.run.version)
    assert fake.items() == before


def test_p38_one_claim_is_worth_one_save_until_it_is_read_again(fake):
    store = fake.store()
    persist(store, {"status": "suspended", "context": {}})
    version = store.workflows.claim_run(**RUN, owner="me").run.version
    after = persist(store, {"status": "running", "context": {"a": {"status": "success"}}}, if_version=version).version
    assert after != version
    with pytest.raises(VersionConflictError):
        persist(store, {"status": "running", "context": {}}, if_version=version)
    persist(store, {"status": "success", "context": {}}, if_version=after)


# P14

GONE = {
    "state of a run": (
        lambda s: s.workflows.update_workflow_state(**RUN, changes={"status": "success"}),
        lambda s: s.workflows.delete_workflow_run_by_id(**RUN),
    ),
    "result of a step": (
        lambda s: s.workflows.update_workflow_results(**RUN, step_id="a", result={"a": 1}, request_context={}),
        lambda s: s.workflows.delete_workflow_run_by_id(**RUN),
    ),
    "claim": (
        lambda s: s.workflows.claim_run(**RUN, owner="me"),
        lambda s: s.workflows.delete_workflow_run_by_id(**RUN),
    ),
    "persist over a version": (
        lambda s: persist(s, {}, if_version=s.workflows.get_workflow_run_by_id("x", workflow_name="w").version),
        lambda s: s.workflows.delete_workflow_run_by_id(**RUN),
    ),
    "update of a span": (
        lambda s: s.observability.update_span(trace_id="xt", span_id="root", updates=Span.Patch(name="b")),
        lambda s: s.observability.batch_delete_traces(["xt"]),
    ),
    "updates of spans": (
        lambda s: s.observability.batch_update_spans(
            [(Span.Key(trace_id="xt", span_id=one), Span.Patch(name="b")) for one in ("root", "child")]
        ),
        lambda s: s.observability.batch_delete_traces(["xt"]),
    ),
    "state of a thread": (
        lambda s: s.memory.set_thread_state(
            "x1", type="plan", value="b", if_version=s.memory.get_thread_state("x1", type="plan").version
        ),
        lambda s: s.memory.delete_thread_state("x1", type="plan"),
    ),
}
WRITES = {"PutItem", "UpdateItem", "TransactWriteItems"}


@pytest.mark.parametrize(("change", "delete"), GONE.values(), ids=GONE)
def test_p14_a_change_that_meets_a_deletion_leaves_no_ghost(fake, change, delete):
    store, rival = fake.store(), another(fake).store()
    fill(store, ADA, "x")
    persist(store, {"status": "suspended", "context": {}})
    left = []

    def between(request):
        if request.operation in WRITES and not left:
            delete(rival)
            left.extend(fake.items())

    fake.faults.on_request = between
    try:
        answer = change(store)
    except NotFoundError:
        answer = None
    assert not answer
    assert left
    assert fake.items() == left


# P92


def test_p92_a_run_of_200_steps_is_one_item_of_the_size_of_its_last_snapshot(fake):
    store = fake.store()
    persist(store, {"status": "running", "context": {}})
    for number in range(200):
        step = {"step_id": f"s{number:03}", "result": {"status": "success"}, "request_context": {}}
        store.workflows.update_workflow_results(**RUN, **step)
    (item,) = fake.items()
    fresh = FakeBackend(database=MemoryDatabase.for_table(TABLE))
    persist(fresh.store(), store.workflows.load_workflow_snapshot(**RUN))
    (other,) = fresh.items()
    assert len(str(item)) == len(str(other))
