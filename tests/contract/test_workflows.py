"""store.workflows keeps its contract on the fake, moto and dynalite, sync and async; claims where conditions answer."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest

from singletable import (
    AsyncDynamoDBStore,
    ConditionFailedError,
    DynamoDBStore,
    InvalidCursorError,
    InvalidKeyError,
    InvalidValueError,
    ItemTooLargeError,
    NotFoundError,
    RequestError,
    VersionConflictError,
)
from singletable.provision import create_table_params
from singletable.schemas import WorkflowRun, WorkflowSnapshot
from singletable.store._sync.workflows import Workflows
from singletable.store.entities import ENTITIES
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests.contract.support import ALL, FAKES, START, TRANSACTING, FakeBackend, make_backend

SECOND = timedelta(seconds=1)
NAMED = {"workflow_name": "flow", "run_id": "r"}
EXACT = {
    "status": "running",
    "context": {"a": {"output": [1, 1.0, None, True, "é😀", {"": [[]]}]}, "date": "2026-11-30T22:00:00.000Z"},
    "activePaths": [{"stepPath": ["a"], "status": "waiting"}],
    "timestamp": 2**53,
}


def indexed():
    """The table of the store, as it is provisioned: no index holds more than is asked of it."""
    return MemoryDatabase.for_table(create_table_params("fake", [entity.spec for entity in ENTITIES]))


def backend_of(request):
    if request.param not in FAKES:
        return make_backend(request, request.param)
    loop = request.getfixturevalue("loop") if request.param == "fake-async" else None
    return FakeBackend(loop, database=indexed())


@pytest.fixture(params=ALL)
def any_backend(request):
    return backend_of(request)


@pytest.fixture(params=TRANSACTING)
def backend(request):
    """Without dynalite, which does not say what is stored where a condition fails."""
    return backend_of(request)


@pytest.fixture(params=FAKES)
def fake(request):
    return backend_of(request)


@pytest.fixture
def workflows(any_backend):
    return any_backend.store().workflows


def snapshot(status="running", **fields):
    return {"status": status, "context": {}, **fields}


def persist(workflows, run_id="r", name="flow", content=None, **fields):
    content = snapshot() if content is None else content
    return workflows.persist_workflow_snapshot(workflow_name=name, run_id=run_id, snapshot=content, **fields)


def load(workflows, run_id="r", name="flow"):
    return workflows.load_workflow_snapshot(workflow_name=name, run_id=run_id)


def report(workflows, step_id, result, request_context=None, run_id="r"):
    return workflows.update_workflow_results(
        workflow_name="flow", run_id=run_id, step_id=step_id, result=result, request_context=request_context or {}
    )


def change(workflows, changes, **options):
    return workflows.update_workflow_state(**NAMED, changes=changes, **options)


def claim(workflows, owner="me", **options):
    return workflows.claim_run(**NAMED, owner=owner, **options)


def listed(workflows, **options):
    return [run.run_id for run in workflows.list_workflow_runs(**options).items]


def filled(workflows, backend, *run_ids, **fields):
    """One run a second, the first at START."""
    for run_id in run_ids:
        persist(workflows, run_id, **fields)
        backend.clock.advance(seconds=1)


# Persist, load, get, delete.


def test_w14_persist_and_load(workflows):
    persist(workflows, content=EXACT)
    found = load(workflows)
    assert found == EXACT
    assert json.dumps(found) == json.dumps(EXACT)


def test_w15_null_on_load(workflows):
    assert load(workflows) is None


def test_w16_update_existing(workflows):
    persist(workflows, content=snapshot(old=1))
    persist(workflows, content=snapshot("completed", context={"a": {"status": "success"}}))
    assert load(workflows) == {"status": "completed", "context": {"a": {"status": "success"}}}


def test_w17_complex_state(workflows):
    state = {
        "value": {"currentState": "running"},
        "context": {"stepResults": {"step-1": {"result": {"array": [1, 2, 3], "object": {"key": "value"}}}}},
        "activePaths": [{"stepPath": ["step-1"], "stepId": "step-1", "status": "success"}],
        "runId": "r",
        "timestamp": 1_796_089_440_213,
    }
    persist(workflows, content=state)
    assert load(workflows) == state


@pytest.mark.parametrize("content", [{}, {"status": None}, {"context": {}}, {"status": "", "context": {}}], ids=repr)
def test_a_snapshot_without_a_status_comes_back_as_it_was_given(workflows, content):
    run = persist(workflows, content=content)
    assert (load(workflows), run.status) == (content, content.get("status"))


def test_w18_persist_resource_id(workflows):
    content = snapshot()
    persist(workflows, content=content, resource_id="ada")
    run = workflows.get_workflow_run_by_id("r", workflow_name="flow")
    assert (run.resource_id, run.snapshot, run.workflow_name, run.run_id) == ("ada", content, "flow", "r")


def test_w07_get_by_id(workflows):
    saved = persist(workflows, content=snapshot("success"))
    assert workflows.get_workflow_run_by_id("r", workflow_name="flow") == saved
    assert (saved.status, saved.snapshot) == ("success", snapshot("success"))


def test_w07_get_by_id_alone_gives_the_newest_run_of_any_workflow(workflows, any_backend):
    persist(workflows, name="older")
    any_backend.clock.advance(seconds=1)
    newer = persist(workflows, name="newer")
    any_backend.clock.advance(seconds=1)
    persist(workflows, name="older")
    persist(workflows, "other")
    assert workflows.get_workflow_run_by_id("r") == newer
    assert workflows.get_workflow_run_by_id("r", workflow_name="older").workflow_name == "older"


def test_w09_null_for_unknown(workflows):
    persist(workflows)
    assert workflows.get_workflow_run_by_id("none") is None
    assert workflows.get_workflow_run_by_id("none", workflow_name="flow") is None
    assert workflows.get_workflow_run_by_id("r", workflow_name="none") is None


def test_w08_delete(workflows, any_backend):
    persist(workflows, resource_id="ada")
    persist(workflows, "stays")
    assert workflows.delete_workflow_run_by_id(**NAMED) is None
    workflows.delete_workflow_run_by_id(**NAMED)
    assert (load(workflows), workflows.get_workflow_run_by_id("r")) == (None, None)
    assert (listed(workflows, workflow_name="flow"), listed(workflows, resource_id="ada")) == (["stays"], [])
    assert len(any_backend.items()) == 1


def test_w12_valid_dates_on_get(workflows):
    persist(workflows)
    run = workflows.get_workflow_run_by_id("r", workflow_name="flow")
    assert (run.created_at, run.updated_at) == (START, START)


def test_a_run_that_is_persisted_again_keeps_created_at_and_resource(workflows, any_backend):
    persist(workflows, resource_id="ada")
    now = any_backend.clock.advance(minutes=1)
    run = persist(workflows)
    assert (run.created_at, run.updated_at, run.resource_id) == (START, now, "ada")
    assert workflows.get_workflow_run_by_id("r", workflow_name="flow") == run


def test_what_is_given_replaces_what_is_stored(workflows):
    persist(workflows, resource_id="ada")
    given = {"resource_id": "bob", "created_at": START - SECOND, "updated_at": START + SECOND}
    run = persist(workflows, **given)
    assert {name: getattr(run, name) for name in given} == given
    assert (listed(workflows, resource_id="ada"), listed(workflows, resource_id="bob")) == ([], ["r"])
    assert listed(workflows, workflow_name="flow", to_date=START - SECOND) == ["r"]


def test_times_are_kept_to_the_millisecond(workflows):
    run = persist(workflows, created_at=START.replace(microsecond=123_999), updated_at=START.replace(microsecond=999))
    assert (run.created_at, run.updated_at) == (START.replace(microsecond=123_000), START)


@pytest.mark.parametrize(
    "write",
    [persist, lambda workflows: report(workflows, "a", {}), lambda workflows: change(workflows, {"x": 1}), claim],
    ids=["persist", "results", "state", "claim"],
)
def test_updated_at_never_goes_back(backend, write):
    workflows = backend.store().workflows
    before = persist(workflows, content=snapshot("suspended")).updated_at
    backend.clock.advance(hours=-1)
    write(workflows)
    assert workflows.get_workflow_run_by_id("r", workflow_name="flow").updated_at >= before


def test_runs_that_differ_in_case_or_in_where_the_name_ends_are_different(workflows):
    for name, run_id in [("a", "b#c"), ("a#b", "c"), ("A", "b#c")]:
        persist(workflows, run_id, name, content=snapshot(run=f"{name} {run_id}"))
    assert load(workflows, "b#c", "a")["run"] == "a b#c"
    assert load(workflows, "c", "a#b")["run"] == "a#b c"
    assert load(workflows, "b#c", "A")["run"] == "A b#c"


def test_a_run_persisted_over_the_version_that_was_read_replaces_only_that(backend):
    workflows = backend.store().workflows
    mine = persist(workflows)
    theirs = persist(workflows, content=snapshot(theirs=1), if_version=mine.version)
    backend.sent.clear()
    with pytest.raises(VersionConflictError) as caught:
        persist(workflows, content=snapshot(mine=1), if_version=mine.version)
    assert (caught.value.current, backend.sent.operations) == (theirs, ["GetItem", "PutItem"])
    assert load(workflows) == snapshot(theirs=1)
    workflows.delete_workflow_run_by_id(**NAMED)
    with pytest.raises(NotFoundError):
        persist(workflows, if_version=theirs.version)


def test_the_keys_of_a_run(workflows, any_backend):
    """Times that are equal are told apart by a part of the key: DynamoDB promises no order for equal keys."""
    persist(workflows, resource_id="ada")
    (item,) = any_backend.items()
    time = "2026-11-30T22:00:00.000Z"
    assert {name: value["S"] for name, value in item.items() if name.endswith(("pk", "sk"))} == {
        "pk": "workflow_snapshot#flow#r",
        "sk": "workflow_snapshot#",
        "gsi4pk": "workflow_snapshot#flow",
        "gsi4sk": f"workflow_snapshot#{time}#r",
        "gsi5pk": "workflow_snapshot#ada",
        "gsi5sk": f"workflow_snapshot#{time}#r",
        "gsi6pk": "workflow_snapshot#r",
        "gsi6sk": f"workflow_snapshot#{time}#flow",
    }


# Lists.


def test_w01_list_empty(workflows):
    found = workflows.list_workflow_runs(workflow_name="flow", include_total=True)
    assert (found.items, found.total, found.has_more) == ([], 0, False)


@pytest.mark.parametrize("options", [{}, {"status": "running"}, {"thread_id": "t"}, {"from_date": START}], ids=repr)
def test_w02_list_all_is_refused_before_anything_is_sent(workflows, any_backend, options):
    with pytest.raises(RequestError, match="workflow_name= or resource_id="):
        workflows.list_workflow_runs(**options)
    assert any_backend.sent.operations == []


def test_w02_list_all_of_a_workflow_newest_first(workflows, any_backend):
    filled(workflows, any_backend, "a", "c", "b")
    found = workflows.list_workflow_runs(workflow_name="flow")
    assert [run.run_id for run in found.items] == ["b", "c", "a"]
    assert (found.total, found.has_more) == (None, False)


def test_w03_filter_by_name(workflows):
    persist(workflows, "a", "flow")
    persist(workflows, "b", "flow2")
    persist(workflows, "c", "Flow")
    assert listed(workflows, workflow_name="flow") == ["a"]


def test_w04_filter_by_status(workflows):
    for run_id, status in [("a", "running"), ("b", "success"), ("c", "running")]:
        persist(workflows, run_id, content=snapshot(status))
    found = workflows.list_workflow_runs(workflow_name="flow", status="running", include_total=True)
    assert ([run.run_id for run in found.items], found.total) == (["c", "a"], 2)
    assert listed(workflows, workflow_name="flow", status="failed") == []


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        ({}, ["c", "b", "a"]),
        ({"from_date": START + SECOND}, ["c", "b"]),
        ({"to_date": START + SECOND}, ["b", "a"]),
        ({"from_date": START + SECOND, "to_date": START + SECOND}, ["b"]),
        ({"from_date": START + 9 * SECOND}, []),
    ],
)
def test_w05_filter_by_date_range_both_ends_included(workflows, any_backend, dates, expected):
    filled(workflows, any_backend, "a", "b", "c", resource_id="ada")
    assert listed(workflows, workflow_name="flow", **dates) == expected
    assert listed(workflows, resource_id="ada", **dates) == expected


def test_w06_pagination(workflows, any_backend):
    filled(workflows, any_backend, "a", "b", "c")
    pages = [
        workflows.list_workflow_runs(workflow_name="flow", page=page, per_page=2, include_total=True)
        for page in range(3)
    ]
    assert [[run.run_id for run in page.items] for page in pages] == [["c", "b"], ["a"], []]
    assert [(page.total, page.has_more) for page in pages] == [(3, True), (3, False), (3, False)]


def test_w06_a_cursor_goes_on_whatever_is_written_meanwhile(workflows, any_backend):
    filled(workflows, any_backend, "a", "b", "c", resource_id="ada")
    options = {"workflow_name": "flow", "resource_id": "ada", "status": "running", "per_page": 2}
    first = workflows.list_workflow_runs(**options)
    persist(workflows, "d", resource_id="ada")
    workflows.delete_workflow_run_by_id(workflow_name="flow", run_id="b")
    assert listed(workflows, **options, cursor=first.cursor) == ["a"]
    with pytest.raises(InvalidCursorError):
        workflows.list_workflow_runs(**{**options, "status": "failed"}, cursor=first.cursor)


def test_w10_list_by_resource_id(workflows):
    for run_id, name, resource_id in [("a", "flow", "ada"), ("b", "flow", "bob"), ("c", "flow2", "ada")]:
        persist(workflows, run_id, name, resource_id=resource_id)
    persist(workflows, "d")
    assert listed(workflows, resource_id="ada", workflow_name="flow") == ["a"]
    found = workflows.list_workflow_runs(resource_id="ada").items
    assert [(run.run_id, run.resource_id) for run in found] == [("c", "ada"), ("a", "ada")]


def test_w11_none_for_resource(workflows):
    persist(workflows, resource_id="ada")
    assert listed(workflows, resource_id="none", workflow_name="flow") == []
    assert listed(workflows, resource_id="none") == []


def test_w13_valid_dates_on_list(workflows, any_backend):
    persist(workflows)
    now = any_backend.clock.advance(seconds=1)
    report(workflows, "a", {})
    (run,) = workflows.list_workflow_runs(workflow_name="flow").items
    assert (run.created_at, run.updated_at) == (START, now)


def test_runs_of_one_moment_have_an_order(workflows):
    for run_id in "bdac":
        persist(workflows, run_id)
    pages = [listed(workflows, workflow_name="flow", page=page, per_page=1) for page in range(4)]
    assert pages == [["d"], ["c"], ["b"], ["a"]]


def test_a_list_tells_all_but_the_snapshot(workflows):
    persist(workflows, content={**THREADED, "status": "suspended"}, resource_id="ada")
    expected = WorkflowRun(
        workflow_name="flow",
        run_id="r",
        resource_id="ada",
        thread_id="t",
        status="suspended",
        created_at=START,
        updated_at=START,
    )
    assert workflows.list_workflow_runs(workflow_name="flow").items == [expected]
    assert workflows.list_workflow_runs(resource_id="ada").items == [expected]


def test_the_snapshots_of_a_page_are_loaded_in_its_order(workflows, any_backend):
    filled(workflows, any_backend, "a", "b", "c")
    page = workflows.list_workflow_runs(workflow_name="flow")
    workflows.delete_workflow_run_by_id(workflow_name="flow", run_id="b")
    report(workflows, "step", {"output": 1}, run_id="c")
    found = workflows.load_workflow_runs(page.items)
    assert [(run.run_id, run.snapshot["context"]) for run in found] == [("c", {"step": {"output": 1}}), ("a", {})]
    assert workflows.load_workflow_runs([]) == []


THREADED = {"context": {"input": {"messageListState": {"memoryInfo": {"threadId": "t"}}}}}


def test_a_list_of_a_thread_follows_the_snapshot(workflows):
    suspended = {"status": "suspended", "suspendPayload": {"__streamState": {"messageList": {}}}}
    suspended["suspendPayload"]["__streamState"]["messageList"]["memoryInfo"] = {"threadId": "t2"}
    persist(workflows, "a", content=THREADED, resource_id="ada")
    persist(workflows, "b", resource_id="ada")
    assert listed(workflows, workflow_name="flow", thread_id="t") == ["a"]
    report(workflows, "step", suspended, run_id="a")
    assert listed(workflows, resource_id="ada", thread_id="t2") == ["a"]
    assert listed(workflows, resource_id="ada", thread_id="t") == []


def test_lists_read_neither_snapshots_nor_other_runs(fake):
    workflows = fake.store().workflows
    filled(workflows, fake, "a", "b", content=snapshot(large="x" * 50_000), resource_id="ada")
    filled(workflows, fake, *(f"n{number}" for number in range(20)), name="other", resource_id="bob")
    fake.sent.clear()
    for options in ({"workflow_name": "flow"}, {"resource_id": "ada", "status": "running"}):
        assert listed(workflows, **options) == ["b", "a"]
    assert (fake.sent.operations, fake.sent.scanned_counts) == (["Query"] * 2, [2, 2])
    assert all("snapshot" not in item for response in fake.sent.responses for item in response["Items"])


# Results of steps.


def test_w19_update_results(workflows, any_backend):
    persist(workflows, content=snapshot(context={"input": {"a": 1}}, requestContext={"old": 1, "both": 1}))
    now = any_backend.clock.advance(seconds=1)
    context = report(workflows, "s1", {"status": "success", "output": 1}, {"both": 2, "new": 2})
    assert context == {"input": {"a": 1}, "s1": {"status": "success", "output": 1}}
    run = workflows.get_workflow_run_by_id("r", workflow_name="flow")
    assert run.snapshot == snapshot(context=context, requestContext={"old": 1, "both": 2, "new": 2})
    assert (run.created_at, run.updated_at) == (START, now)


def test_w19_iterations_of_a_foreach_step_are_merged(workflows):
    persist(workflows)
    for output in ([1, None, None], [None, None, 3], [None, 2]):
        context = report(workflows, "each", {"status": "running", "output": output})
    assert context == {"each": {"status": "running", "output": [1, 2, 3]}} == load(workflows)["context"]


def test_w19_results_of_an_empty_snapshot_begin_one(workflows):
    persist(workflows, content={})
    assert report(workflows, "a", {"output": 1}) == {"a": {"output": 1}}
    found = load(workflows)
    assert (found["status"], found["runId"], found["context"]) == ("pending", "r", {"a": {"output": 1}})
    assert found["timestamp"] == START.timestamp() * 1000
    assert listed(workflows, workflow_name="flow", status="pending") == ["r"]


def test_w21_undefined_for_missing_run(workflows, any_backend):
    assert report(workflows, "a", {"output": 1}) == {}
    assert change(workflows, {"status": "success"}) is None
    assert change(workflows, {"status": "success"}, expected_status="running") is None
    assert any_backend.items() == []


@pytest.mark.parametrize("content", [{"status": "running"}, {"context": None}, {"context": []}], ids=repr)
def test_a_snapshot_without_a_context_takes_no_results(workflows, content):
    persist(workflows, content=content)
    with pytest.raises(NotFoundError, match="no context"):
        report(workflows, "a", {})
    with pytest.raises(NotFoundError, match="no context"):
        change(workflows, {"status": "success"})
    assert load(workflows) == content


# State.


def test_w20_update_state_sequentially(workflows):
    persist(workflows)
    assert change(workflows, {"status": "suspended", "waitingPaths": {"a": [0]}})["status"] == "suspended"
    changed = change(workflows, {"status": "success", "result": {"output": 1}})
    assert changed == snapshot("success", waitingPaths={"a": [0]}, result={"output": 1}) == load(workflows)
    assert listed(workflows, workflow_name="flow", status="success") == ["r"]


@pytest.mark.parametrize(
    ("expected", "applies"),
    [("running", True), (["suspended", "running"], True), ("suspended", False), ([], False), (None, True)],
    ids=repr,
)
def test_a_state_changes_only_from_what_is_expected(workflows, any_backend, expected, applies):
    persist(workflows)
    before = any_backend.items()
    changed = change(workflows, {"status": "success"}, expected_status=expected)
    assert changed == (snapshot("success") if applies else None)
    assert (any_backend.items() == before) is not applies
    assert "expectedStatus" not in load(workflows)


def test_a_status_may_be_taken_away(workflows):
    persist(workflows)
    assert change(workflows, {"status": None}) == snapshot(None) == load(workflows)
    assert listed(workflows, workflow_name="flow", status="running") == []


def test_an_expected_status_is_no_part_of_the_changes(workflows, any_backend):
    with pytest.raises(RequestError, match="expected_status="):
        change(workflows, {"status": "success", "expectedStatus": "running"})
    assert any_backend.sent.operations == []


# At the same time.


def test_the_two_update_methods_are_atomic(workflows):
    assert workflows.supports_concurrent_updates is True


def together(number):
    """What caller `number` of 40 does: half of them report results, half change the state."""
    if number % 2:
        return lambda workflows: report(workflows, f"s{number}", {"output": number}, {f"c{number}": number})
    return lambda workflows: change(workflows, {f"k{number}": number})


def assert_all_are_there(found):
    assert found["context"] == {f"s{number}": {"output": number} for number in range(1, 40, 2)}
    assert found["requestContext"] == {f"c{number}": number for number in range(1, 40, 2)}
    assert {name: value for name, value in found.items() if name[0] == "k"} == {f"k{n}": n for n in range(0, 40, 2)}


def test_w22_w23_forty_threads_lose_nothing():
    database = indexed()
    stores = [DynamoDBStore("fake", transport=MemoryTransport(database)) for _ in range(4)]
    persist(stores[0].workflows)
    with ThreadPoolExecutor(40) as pool:
        assert len(list(pool.map(lambda number: together(number)(stores[number % 4].workflows), range(40)))) == 40
    assert_all_are_there(load(stores[0].workflows))


def test_w22_w23_forty_tasks_lose_nothing():
    store = AsyncDynamoDBStore("fake", transport=AsyncMemoryTransport(indexed()))

    async def all_at_once():
        await persist(store.workflows)
        await asyncio.gather(*(together(number)(store.workflows) for number in range(40)))
        return await load(store.workflows)

    assert_all_are_there(asyncio.run(all_at_once()))


def test_w22_parallel_results_atomically(any_backend):
    """Over HTTP as well, from one store, as Mastra's suite does it."""
    workflows = any_backend.store().workflows
    persist(workflows)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda number: report(workflows, f"s{number}", {"output": number}), range(3)))
    assert load(workflows)["context"] == {f"s{number}": {"output": number} for number in range(3)}


def test_w22_parallel_iterations_of_one_step_are_all_kept():
    store = DynamoDBStore("fake", transport=MemoryTransport(indexed()))
    persist(store.workflows)

    def iterate(number):
        output = [None] * 12
        output[number] = f"done-{number}"
        report(store.workflows, "each", {"status": "running", "output": output})

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(iterate, range(12)))
    assert load(store.workflows)["context"]["each"]["output"] == [f"done-{number}" for number in range(12)]


def test_w23_parallel_state_atomically(any_backend):
    workflows = any_backend.store().workflows
    persist(workflows)
    changes = [{"status": "success", "waitingPaths": {"a": [0]}}, {"status": "success", "result": {"output": 1}}]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda one: change(workflows, one), changes))
    assert load(workflows) == snapshot("success", waitingPaths={"a": [0]}, result={"output": 1})


def interrupted(fake, others):
    """The workflows of a store of which every PutItem is preceded by one of `others`, done by another process."""
    other = DynamoDBStore("fake", transport=MemoryTransport(fake.database), clock=fake.clock).workflows

    def between(request):
        if request.operation == "PutItem":
            for act in others:
                act(other)
                return

    fake.faults.on_request = between
    return fake.store().workflows


def test_a_change_that_is_overtaken_is_made_again_on_what_is_there(fake):
    persist(fake.store().workflows)
    workflows = interrupted(fake, iter([lambda w, n=n: report(w, f"o{n}", {"output": n}) for n in range(3)]))
    fake.sent.clear()
    context = report(workflows, "mine", {"output": "mine"})
    assert context == {"mine": {"output": "mine"}} | {f"o{number}": {"output": number} for number in range(3)}
    assert fake.sent.operations == ["GetItem", "PutItem"] * 4


def test_an_expectation_is_checked_again_after_a_conflict(fake):
    persist(fake.store().workflows)
    workflows = interrupted(fake, iter([lambda w: change(w, {"status": "canceled"})]))
    assert change(workflows, {"status": "success"}, expected_status="running") is None
    assert load(workflows)["status"] == "canceled"


def test_a_run_that_is_deleted_meanwhile_is_not_brought_back(fake):
    persist(fake.store().workflows)
    workflows = interrupted(fake, iter([lambda w: w.delete_workflow_run_by_id(**NAMED)]))
    assert report(workflows, "a", {}) == {}
    assert fake.items() == []


def test_a_persist_that_is_overtaken_replaces_what_the_other_wrote(fake):
    workflows = interrupted(fake, iter([lambda w: persist(w, content=snapshot(theirs=1), resource_id="ada")]))
    fake.clock.advance(seconds=1)
    run = persist(workflows, content=snapshot(mine=1))
    assert (run.snapshot, run.resource_id) == (snapshot(mine=1), "ada")
    assert load(workflows) == snapshot(mine=1)


def test_a_change_that_is_overtaken_for_ever_is_an_error():
    backend = FakeBackend(database=indexed())
    workflows = Workflows(backend.table(*ENTITIES))  # which waits for nothing
    persist(workflows)
    backend.sent.clear()
    backend.faults.on_request = lambda request: (
        ConditionFailedError("overtaken") if request.operation == "PutItem" else None
    )
    with pytest.raises(ConditionFailedError):
        report(workflows, "a", {})
    assert backend.sent.operations == ["GetItem", "PutItem"] * 100


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
@pytest.mark.parametrize(
    "write",
    [lambda w: persist(w, content=snapshot("x")), lambda w: report(w, "a", {}), lambda w: change(w, {"status": "x"})],
    ids=["persist", "results", "state"],
)
def test_a_write_whose_answer_was_lost_is_made_once(fake, fault, write):
    workflows = fake.store().workflows
    persist(workflows)
    fake.sent.clear()
    getattr(fake.faults, fault)(operation="PutItem")
    assert write(workflows) is not None
    assert fake.sent.operations.count("PutItem") == 1


# Claims.


def test_a_suspended_run_is_claimed(backend):
    workflows = backend.store().workflows
    persist(workflows, content=snapshot("suspended", other=1))
    now = backend.clock.advance(seconds=1)
    backend.sent.clear()
    won = claim(workflows, "me")
    assert backend.sent.operations == ["UpdateItem"]
    assert (won.won, won.run.status, won.run.owner, won.run.updated_at) == (True, "running", "me", now)
    assert won.run.snapshot == snapshot("running", other=1) == load(workflows)
    assert workflows.get_workflow_run_by_id("r") == won.run
    (run,) = workflows.list_workflow_runs(workflow_name="flow", status="running").items
    assert run.owner == "me"


def test_the_loser_sees_the_owner_and_writes_nothing(backend):
    workflows = backend.store().workflows
    persist(workflows, content=snapshot("suspended"))
    winner = claim(workflows, "me")
    before = backend.items()
    lost = claim(workflows, "them")
    assert (lost.won, lost.run) == (False, winner.run)
    assert backend.items() == before


def test_a_claim_may_be_between_other_statuses(backend):
    workflows = backend.store().workflows
    persist(workflows, content=snapshot("waiting"))
    assert claim(workflows).won is False
    assert claim(workflows, from_="waiting", to="paused").run.snapshot == snapshot("paused")


def test_a_run_that_is_suspended_again_can_be_claimed_again_and_keeps_what_it_learned(backend):
    workflows = backend.store().workflows
    persist(workflows, content=snapshot("suspended"))
    claim(workflows, "me")
    report(workflows, "a", {"output": 1})
    assert load(workflows) == snapshot("running", context={"a": {"output": 1}}, requestContext={})
    persist(workflows, content=snapshot("suspended"))
    again = claim(workflows, "them")
    assert (again.won, again.run.owner) == (True, "them")


def test_a_claim_of_no_run_creates_none(backend):
    with pytest.raises(NotFoundError):
        claim(backend.store().workflows)
    assert backend.items() == []


@pytest.mark.parametrize(
    "options", [{"owner": " "}, {"owner": None}, {"to": ""}, {"from_": 5}, {"from_": "running"}], ids=repr
)
def test_a_claim_that_says_nothing_is_refused(fake, options):
    with pytest.raises(RequestError):
        claim(fake.store().workflows, **options)
    assert fake.sent.operations == []


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_a_claim_whose_answer_was_lost_counts_for_the_winner(fake, fault):
    workflows = fake.store().workflows
    persist(workflows, content=snapshot("suspended"))
    getattr(fake.faults, fault)(operation="UpdateItem")
    won = claim(workflows, "me")
    assert (won.won, won.run.owner, won.run.status) == (True, "me", "running")
    assert claim(workflows, "them").run == won.run


# Expiry, scopes, bad input.


def test_runs_expire(any_backend):
    workflows = any_backend.store(ttl={"workflow_snapshot": {"default_ttl_seconds": 60}}).workflows
    persist(workflows, "old", resource_id="ada")
    any_backend.clock.advance(seconds=30)
    persist(workflows, "new", resource_id="ada")
    any_backend.clock.advance(seconds=30)
    assert (load(workflows, "old"), workflows.get_workflow_run_by_id("old")) == (None, None)
    for options in ({"workflow_name": "flow"}, {"resource_id": "ada"}):
        found = workflows.list_workflow_runs(**options, include_total=True)
        assert ([run.run_id for run in found.items], found.total) == (["new"], 1)
    assert report(workflows, "a", {}, run_id="old") == {}


def test_an_expired_run_is_created_anew(any_backend):
    workflows = any_backend.store(ttl={"workflow_snapshot": {"default_ttl_seconds": 60}}).workflows
    persist(workflows, resource_id="ada")
    now = any_backend.clock.advance(seconds=60)
    run = persist(workflows)
    assert (run.created_at, run.resource_id) == (now, None)


def test_an_expired_run_cannot_be_claimed(backend):
    workflows = backend.store(ttl={"workflow_snapshot": {"default_ttl_seconds": 60}}).workflows
    persist(workflows, content=snapshot("suspended"))
    backend.clock.advance(seconds=60)
    with pytest.raises(NotFoundError):
        claim(workflows)


@pytest.mark.parametrize(
    "use", [persist, lambda w: report(w, "a", {}), lambda w: change(w, {}), claim], ids=["persist", "a", "b", "claim"]
)
def test_a_run_that_is_used_lives_on(backend, use):
    workflows = backend.store(ttl={"workflow_snapshot": {"default_ttl_seconds": 60}}).workflows
    persist(workflows, content=snapshot("suspended"))
    backend.clock.advance(seconds=59)
    use(workflows)
    backend.clock.advance(seconds=59)
    assert load(workflows) is not None


def test_a_scope_reaches_no_run_of_another(any_backend):
    store = any_backend.store()
    ada, bob = store.scoped("ada").workflows, store.scoped("bob").workflows
    persist(ada, content=snapshot(mine=1), resource_id="x")
    assert (load(bob), bob.get_workflow_run_by_id("r"), load(store.workflows)) == (None, None, None)
    assert (listed(bob, workflow_name="flow"), listed(bob, resource_id="x")) == ([], [])
    bob.delete_workflow_run_by_id(**NAMED)
    assert report(bob, "a", {}) == {}
    assert load(ada) == snapshot(mine=1)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda w: persist(w, ""), InvalidKeyError),
        (lambda w: persist(w, name=" "), InvalidKeyError),
        (lambda w: persist(w, resource_id=""), InvalidKeyError),
        (lambda w: persist(w, content=[]), RequestError),
        (lambda w: persist(w, content="{}"), RequestError),
        (lambda w: persist(w, content=snapshot(5)), InvalidValueError),
        (lambda w: persist(w, content=snapshot(x=object())), InvalidValueError),
        (lambda w: persist(w, content=snapshot(x=float("nan"))), InvalidValueError),
        (lambda w: persist(w, content=snapshot(x="x" * 420_000)), ItemTooLargeError),
        (lambda w: persist(w, created_at=datetime(2026, 11, 30)), InvalidValueError),  # noqa: DTZ001
        (lambda w: load(w, ""), InvalidKeyError),
        (lambda w: w.get_workflow_run_by_id(""), InvalidKeyError),
        (lambda w: w.delete_workflow_run_by_id(workflow_name="", run_id="r"), InvalidKeyError),
        (lambda w: report(w, "a", []), RequestError),
        (lambda w: report(w, "a", {"x": object()}), InvalidValueError),
        (lambda w: report(w, "a", {}, [1]), RequestError),
        (lambda w: change(w, None), RequestError),
        (lambda w: change(w, {"status": 5}), InvalidValueError),
        (lambda w: listed(w, workflow_name=""), RequestError),
        (lambda w: listed(w, workflow_name="flow", page=-1, per_page=1), RequestError),
        (lambda w: listed(w, workflow_name="flow", per_page=-1), RequestError),
        (lambda w: listed(w, workflow_name="flow", page=1), RequestError),
        (lambda w: listed(w, workflow_name="flow", from_date=START + SECOND, to_date=START), RequestError),
    ],
)
def test_bad_input_is_refused_before_anything_is_sent(fake, call, error):
    with pytest.raises(error) as caught:
        call(fake.store().workflows)
    assert fake.sent.operations == []
    assert "x" * 20 not in str(caught.value)


def test_a_result_for_which_there_is_no_room_changes_nothing(fake):
    workflows = fake.store().workflows
    persist(workflows, content=snapshot(x="x" * 300_000))
    before = fake.items()
    with pytest.raises(ItemTooLargeError):
        report(workflows, "a", {"output": "y" * 200_000})
    assert fake.items() == before


def test_what_is_passed_in_or_given_back_is_nobody_elses(workflows):
    content, result = snapshot(), {"output": [1]}
    run = persist(workflows, content=content)
    context = report(workflows, "a", result)
    content["context"]["x"] = run.snapshot["context"]["y"] = result["z"] = context["a"]["output"] = "changed"
    assert load(workflows)["context"] == {"a": {"output": [1]}}


def test_the_mapper_reads_what_the_store_writes(any_backend):
    store = any_backend.store()
    persist(store.workflows, content=snapshot("suspended"))
    run = store.table.get(WorkflowSnapshot.Key(**NAMED))
    store.table.update(WorkflowSnapshot.Key(**NAMED), WorkflowSnapshot.Patch(status="running"), if_version=run.version)
    assert store.table.get(WorkflowSnapshot.Key(**NAMED)).snapshot == snapshot("running")
