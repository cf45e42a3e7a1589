"""P36, P37: no step of a run reverts, and one worker resumes it.  P16, P94, P95, P96: what runs cost, and where."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from singletable import DynamoDBStore, NotFoundError, Request, RequestError, VersionConflictError
from singletable.provision import create_table_params
from singletable.schemas import WorkflowSnapshot
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.support import START, FakeBackend

NAMED = {"workflow_name": "flow", "run_id": "r"}
DONE = {"status": "success", "output": 1}
WAITING = {"status": "suspended", "suspendPayload": {}, "suspendedAt": 1}
TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])


@pytest.fixture(params=["fake-sync", "fake-async"])
def fake(request):
    loop = request.getfixturevalue("loop") if request.param == "fake-async" else None
    return FakeBackend(loop, database=MemoryDatabase.for_table(TABLE))


@pytest.fixture
def workflows(fake):
    return fake.store().workflows


def process(fake):
    """The workflows of another process."""
    return DynamoDBStore("fake", transport=MemoryTransport(fake.database), clock=fake.clock).workflows


def persist(workflows, content, **options):
    return workflows.persist_workflow_snapshot(**{**NAMED, **options}, snapshot=content)


def suspended(**context):
    return {"status": "suspended", "context": context}


def report(workflows, step_id, result):
    return workflows.update_workflow_results(**NAMED, step_id=step_id, result=result, request_context={})


def load(workflows):
    return workflows.load_workflow_snapshot(**NAMED)


# P36


def test_p36_a_branch_that_saves_what_it_loaded_is_told_of_the_other(workflows, fake):
    """Each loads the snapshot in which both are suspended, ends its step, and saves all of it."""
    persist(workflows, suspended(one=WAITING, two=WAITING))
    first, second = (one.get_workflow_run_by_id("r", workflow_name="flow") for one in (workflows, process(fake)))
    persist(workflows, suspended(**{**first.snapshot["context"], "one": DONE}), if_version=first.version)
    with pytest.raises(VersionConflictError) as caught:
        persist(workflows, suspended(**{**second.snapshot["context"], "two": DONE}), if_version=second.version)
    current = caught.value.current
    assert current.snapshot["context"] == {"one": DONE, "two": WAITING}
    persist(workflows, suspended(**{**current.snapshot["context"], "two": DONE}), if_version=current.version)
    assert load(workflows)["context"] == {"one": DONE, "two": DONE}


def test_p36_branches_that_report_their_steps_are_both_kept(workflows, fake):
    persist(workflows, suspended(one=WAITING, two=WAITING))
    other = iter([lambda: report(process(fake), "two", DONE)])

    def between(request):
        if request.operation == "PutItem":
            for act in other:
                act()

    fake.faults.on_request = between
    assert report(workflows, "one", DONE) == {"one": DONE, "two": DONE} == load(workflows)["context"]


def test_p36_an_iteration_does_not_revert_another_that_it_does_not_know_of(workflows, fake):
    persist(workflows, suspended(each={"status": "suspended", "output": [WAITING, WAITING]}))
    report(workflows, "each", {"status": "running", "output": [{"__mastra_pending__": True}, None]})
    report(process(fake), "each", {"status": "running", "output": ["first", None]})
    context = report(workflows, "each", {"status": "running", "output": [None, "second"]})
    assert context["each"]["output"] == ["first", "second"]
    report(workflows, "each", {"status": "suspended", "output": [{"__mastra_pending__": True}] * 2})
    assert load(workflows)["context"]["each"] == {"status": "running", "output": ["first", "second"]}


# P37


def claim(workflows, owner, **options):
    return workflows.claim_run(**NAMED, owner=owner, **options)


def test_p37_of_two_processes_one_resumes_the_run(workflows, fake):
    persist(workflows, suspended())
    won, lost = claim(workflows, "one"), claim(process(fake), "two")
    assert (won.won, lost.won) == (True, False)
    assert (lost.run.owner, lost.run.status) == ("one", "running")


def test_p37_a_process_that_is_overtaken_on_its_way_loses_and_writes_nothing(workflows, fake):
    persist(workflows, suspended())
    written = []

    def between(request):
        if request.operation == "UpdateItem":
            fake.faults.on_request = None
            assert claim(process(fake), "two").won
            written.extend(fake.items())

    fake.faults.on_request = between
    lost = claim(workflows, "one")
    assert (lost.won, lost.run.owner, fake.items()) == (False, "two", written)


def test_p37_of_forty_at_once_one_wins():
    database = MemoryDatabase.for_table(TABLE)
    stores = [DynamoDBStore("fake", transport=MemoryTransport(database)).workflows for _ in range(40)]
    persist(stores[0], suspended())
    with ThreadPoolExecutor(40) as pool:
        claims = list(pool.map(lambda number: claim(stores[number], str(number)), range(40)))
    (winner,) = (number for number, one in enumerate(claims) if one.won)
    assert {one.run.owner for one in claims} == {str(winner)}


def test_p37_a_run_that_is_over_is_not_resumed(workflows):
    persist(workflows, {"status": "success", "context": {}})
    lost = claim(workflows, "me")
    assert (lost.won, lost.run.status, lost.run.owner) == (False, "success", None)
    workflows.delete_workflow_run_by_id(**NAMED)
    with pytest.raises(NotFoundError):
        claim(workflows, "me")


def test_p37_a_state_change_may_be_the_claim(workflows, fake):
    """As Mastra's engine does it: of two that expect the run to be suspended, one is told that it is not."""
    persist(workflows, suspended())
    options = {**NAMED, "changes": {"status": "running"}, "expected_status": "suspended"}
    assert workflows.update_workflow_state(**options)["status"] == "running"
    assert process(fake).update_workflow_state(**options) is None


# P16


def test_p16_a_run_that_is_persisted_three_times_keeps_its_place(workflows, fake):
    for run_id in ("old", "new"):
        persist(workflows, suspended(), run_id=run_id, resource_id="ada")
        fake.clock.advance(seconds=1)
    for _ in range(2):
        run = persist(workflows, suspended(), run_id="old")
        fake.clock.advance(seconds=1)
    assert (run.created_at, run.updated_at) == (START, START + timedelta(seconds=3))
    for options in ({"workflow_name": "flow"}, {"resource_id": "ada"}):
        assert [one.run_id for one in workflows.list_workflow_runs(**options).items] == ["new", "old"]


# P94


def test_p94_the_indexes_of_runs_hold_no_snapshot():
    projections = {index["IndexName"]: index["Projection"] for index in TABLE["GlobalSecondaryIndexes"]}
    paths = (WorkflowSnapshot.ByName, WorkflowSnapshot.ByResource, WorkflowSnapshot.ByRun)
    by_name, by_resource, by_run = (projections[path.declared_on] for path in paths)
    stored = {field.stored for field in WorkflowSnapshot.spec.fields.values()}
    assert not stored & set(by_run["NonKeyAttributes"])
    assert "snapshot" not in by_name["NonKeyAttributes"] + by_resource["NonKeyAttributes"]


@pytest.mark.parametrize(
    "write",
    [
        lambda workflows: report(workflows, "step", DONE),
        lambda workflows: claim(workflows, "me"),
        lambda workflows: persist(workflows, suspended(step=DONE)),
    ],
    ids=["results", "claim", "persist"],
)
def test_p94_a_write_to_a_run_of_50_kb_costs_a_unit_in_each_list_and_none_in_the_index_by_id(workflows, fake, write):
    persist(workflows, {**suspended(), "large": "x" * 50_000}, resource_id="ada")
    (before,) = fake.items()
    fake.clock.advance(seconds=1)
    write(workflows)
    (after,) = fake.items()
    fake.database.execute(Request("PutItem", {"TableName": "fake", "Item": before}))
    put = Request("PutItem", {"TableName": "fake", "Item": after, "ReturnConsumedCapacity": "INDEXES"})
    consumed = fake.database.execute(put)["ConsumedCapacity"]
    units = {index: one["CapacityUnits"] for index, one in consumed.get("GlobalSecondaryIndexes", {}).items()}
    assert {index: count for index, count in units.items() if count} == {"gsi4": 1, "gsi5": 1}


# P95


def test_p95_no_two_runs_of_different_workflows_and_resources_share_a_partition(workflows, fake):
    for number in range(20):
        persist(workflows, suspended(), workflow_name=f"f{number}", run_id=f"r{number}", resource_id=f"o{number}")
    items = fake.items()
    for half in ("pk", "gsi4pk", "gsi5pk", "gsi6pk"):
        assert len({item[half]["S"] for item in items}) == 20


# P96


def test_p96_a_list_of_all_runs_is_refused_and_names_what_it_lacks(workflows, fake):
    with pytest.raises(RequestError, match="workflow_name= or resource_id="):
        workflows.list_workflow_runs(status="running")
    assert fake.sent.operations == []


def test_p96_no_call_scans(workflows, fake):
    persist(workflows, suspended(), resource_id="ada")
    workflows.get_workflow_run_by_id("r")
    for options in ({"workflow_name": "flow"}, {"resource_id": "ada"}):
        workflows.list_workflow_runs(**options, thread_id="t", status="running", include_total=True)
    assert "Scan" not in fake.sent.operations
    assert "Query" in fake.sent.operations
