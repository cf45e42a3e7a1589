"""Many workers at once, on a DynamoDB that throttles, conflicts and loses answers: nothing is lost or done twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import pytest

from singletable import OutcomeUnknownError, ThrottledError, VersionConflictError
from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase
from tests.contract.support import FAKES, FakeBackend
from tests.pains.support import ids, listed, message, thread

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])
RUN = {"workflow_name": "flow", "run_id": "r"}
FORTY = list(range(40))
PATIENCE = 300
"""How often a worker begins anew before the test gives up."""


@pytest.fixture(params=FAKES)
def processes(request) -> Callable[[int], list[FakeBackend]]:
    """So many processes with one table."""
    loop = request.getfixturevalue("loop") if request.param == "fake-async" else None
    database = MemoryDatabase.for_table(TABLE)
    return lambda count: [FakeBackend(loop, database=database) for _ in range(count)]


def disturb(backend: FakeBackend, seed: int, *, write: Any = None, lose: bool = True) -> None:
    """One request in ten meets a fault; where `write` is named, only such a write does."""
    random, faults = Random(seed), backend.faults
    kinds = [faults.throttle, faults.conflict, *([faults.lose_answer] if lose else [])]

    def plan(_request: Any) -> None:
        if random.random() < 0.1:
            random.choice(kinds)(operation=write)

    faults.on_request = plan


def insist(call: Callable[[], Any], *kinds: type[Exception]) -> Any:
    """What a call gives, made again where it is throttled, as a driver does it, or meets another of these errors."""
    for _ in range(PATIENCE):
        try:
            return call()
        except (ThrottledError, *kinds):
            pass
    raise AssertionError("it never came through")


def at_once(works: list[Callable[[], Any]]) -> list[Any]:
    """What these give, each in a thread of its own."""
    with ThreadPoolExecutor(len(works)) as pool:
        return [future.result() for future in [pool.submit(work) for work in works]]


# 8 workers append 100 messages each to one thread.


def test_p05_800_appends_of_8_workers_are_stored_once_and_in_order(processes):
    workers = processes(8)
    memories = [one.store().memory for one in workers]
    memories[0].save_thread(thread())
    for seed, backend in enumerate(workers):
        disturb(backend, seed)

    def append(worker):
        memory, seen = memories[worker], []
        for number in range(100):
            insist(lambda number=number: memory.save_messages([message(f"{worker}-{number:03}")]))
            if number % 50 == 25:
                seen.append(insist(lambda: listed(memory)))
        return seen

    seen = at_once([lambda worker=worker: append(worker) for worker in range(8)])
    for backend in workers:
        backend.faults.clear()
    names = listed(memories[0])
    assert sorted(names) == sorted(f"{worker}-{number:03}" for worker in range(8) for number in range(100))
    assert names == listed(memories[1]) == ids(memories[0].iter_messages("t"))
    for worker in range(8):
        assert [name for name in names if name.startswith(f"{worker}-")] == [f"{worker}-{n:03}" for n in range(100)]
    # Whatever was read on the way is how the thread begins: nothing came in between what somebody had seen.
    assert all(names[: len(part)] == part for parts in seen for part in parts)
    assert len(workers[0].items()) == 2 * 800 + 1


# Several make the first use of what nobody has created.


@pytest.mark.parametrize("is_disturbed", [False, True], ids=["calm", "disturbed"])
def test_p1a_20_first_users_of_a_thread_and_its_resource_lose_nothing(processes, is_disturbed):
    workers = processes(20)
    for seed, backend in enumerate(workers if is_disturbed else []):
        disturb(backend, seed)

    def begin(number):
        memory = workers[number].store().memory
        insist(lambda: memory.save_thread(thread()))
        insist(lambda: memory.save_messages([message(f"m{number:02}")]))
        insist(lambda: memory.update_resource("ada", metadata={str(number): number}), OutcomeUnknownError)

    at_once([lambda number=number: begin(number) for number in range(20)])
    workers[0].faults.clear()
    memory = workers[0].store().memory
    assert sorted(listed(memory)) == [f"m{number:02}" for number in range(20)]
    assert memory.get_resource_by_id("ada").metadata == {str(number): number for number in range(20)}
    assert Counter(item["_entity"]["S"] for item in workers[0].items()) == {
        "thread": 1,
        "message": 20,
        "message_by_id": 20,
        "resource": 1,
    }


# 40 callers take one of 40 each.


def test_p19_40_pops_of_a_list_in_metadata_are_40_values(processes):
    workers = processes(40)
    memories = [one.store().memory for one in workers]
    memories[0].save_thread(thread(metadata={"queue": FORTY, "other": "stays"}))
    for seed, backend in enumerate(workers):
        disturb(backend, seed, write="UpdateItem", lose=False)

    def pop(memory):
        taken = []

        def take(metadata):
            taken[:] = metadata["queue"][-1:]
            return {**metadata, "queue": metadata["queue"][:-1]}

        insist(lambda: memory.update_thread_metadata("t", resource_id="ada", update=take))
        return taken

    taken = at_once([lambda memory=memory: pop(memory) for memory in memories])
    workers[0].faults.clear()
    assert sorted(value for values in taken for value in values) == FORTY
    assert memories[0].get_thread_by_id("t").metadata == {"queue": [], "other": "stays"}


def test_p19_a_pop_whose_answer_is_lost_hands_out_nothing_twice(processes):
    """One that cannot be settled is told as unknown: its value may be gone, and no other caller gets it as well."""
    workers = processes(20)
    memories = [one.store().memory for one in workers]
    memories[0].save_thread(thread(metadata={"queue": FORTY}))
    for seed, backend in enumerate(workers):
        disturb(backend, seed, write="UpdateItem")

    def pop(memory):
        taken = []

        def take(metadata):
            taken[:] = metadata["queue"][-1:]
            return {"queue": metadata["queue"][:-1]}

        try:
            insist(lambda: memory.update_thread_metadata("t", resource_id="ada", update=take))
        except OutcomeUnknownError:
            return [], 1
        return taken, 0

    outcomes = at_once([lambda memory=memory: pop(memory) for memory in memories])
    workers[0].faults.clear()
    taken = [value for values, _ in outcomes for value in values]
    left = memories[0].get_thread_by_id("t").metadata["queue"]
    unknown = sum(count for _, count in outcomes)
    assert len(taken) == 20 - unknown
    assert len({*taken, *left}) == len(taken) + len(left)
    assert 0 <= len(FORTY) - len(taken) - len(left) <= unknown


def test_p19_40_pops_of_a_list_in_the_state_of_a_run_are_40_values(processes):
    workers = processes(40)
    runs = [one.store().workflows for one in workers]
    runs[0].persist_workflow_snapshot(**RUN, snapshot={"status": "running", "queue": FORTY})
    for seed, backend in enumerate(workers):
        disturb(backend, seed, write="PutItem", lose=False)

    def pop(workflows):
        run = workflows.get_workflow_run_by_id("r", workflow_name="flow")
        *rest, value = run.snapshot["queue"]
        workflows.persist_workflow_snapshot(**RUN, snapshot={**run.snapshot, "queue": rest}, if_version=run.version)
        return value

    taken = at_once([lambda one=one: insist(lambda: pop(one), VersionConflictError) for one in runs])
    workers[0].faults.clear()
    assert sorted(taken) == FORTY
    assert runs[0].load_workflow_snapshot(**RUN) == {"status": "running", "queue": []}


# Runs of workflows.


def test_p36_results_of_20_workers_on_a_bad_day_are_all_kept(processes):
    workers = processes(20)
    runs = [one.store().workflows for one in workers]
    runs[0].persist_workflow_snapshot(**RUN, snapshot={"status": "running", "context": {}})
    for seed, backend in enumerate(workers):
        disturb(backend, seed, write="PutItem")

    def report(number):
        for step in ("a", "b"):
            told = {"step_id": f"{step}{number}", "result": {"status": "success", "output": number}}
            given = {**RUN, **told, "request_context": {step: 1}}
            context = insist(lambda given=given: runs[number].update_workflow_results(**given), OutcomeUnknownError)
            assert context[told["step_id"]] == told["result"]

    at_once([lambda number=number: report(number) for number in range(20)])
    workers[0].faults.clear()
    snapshot = runs[0].load_workflow_snapshot(**RUN)
    assert snapshot["context"] == {
        f"{step}{number}": {"status": "success", "output": number} for number in range(20) for step in "ab"
    }
    assert snapshot["requestContext"] == {"a": 1, "b": 1}


def test_p37_of_20_claims_on_a_bad_day_one_wins_and_the_others_learn_whose_the_run_is(processes):
    workers = processes(20)
    runs = [one.store().workflows for one in workers]
    runs[0].persist_workflow_snapshot(**RUN, snapshot={"status": "suspended", "context": {}})
    for seed, backend in enumerate(workers):
        disturb(backend, seed, write="UpdateItem")

    def claim(number):
        return insist(lambda: runs[number].claim_run(**RUN, owner=f"worker-{number}"))

    claims = at_once([lambda number=number: claim(number) for number in range(20)])
    (winner,) = (number for number, one in enumerate(claims) if one.won)
    assert {one.run.owner for one in claims} == {f"worker-{winner}"}
    workers[0].faults.clear()
    stored = runs[0].get_workflow_run_by_id("r", workflow_name="flow")
    assert (stored.owner, stored.status) == (f"worker-{winner}", "running")
