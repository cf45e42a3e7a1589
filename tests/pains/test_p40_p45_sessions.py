"""P40, P42: who is overtaken is told by whom.  P44, P45: a turn that is sent, or delivered, again."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from singletable import (
    AsyncDynamoDBStore,
    DynamoDBStore,
    OutcomeUnknownError,
    TurnReusedError,
    UnreachableError,
    VersionConflictError,
)
from singletable.retry import ATTEMPTS
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from singletable.testing.faults import Crash
from tests.contract.support import FakeBackend
from tests.pains.support import another

PROCESS = Path(__file__).parent / "session_process.py"
NAMES = {"actor_id": "ada", "session_id": "s1"}


@pytest.fixture
def fake():
    return FakeBackend()


@pytest.fixture
def sessions(fake):
    return fake.store().sessions


def counting(sessions, calls=None):
    """A handler that counts in the state what it was asked for, in the order of the turns."""

    @sessions.turn_handler
    def handle(session, request):
        if calls is not None:
            calls.append(request)
        seen = [*session.state.get("seen", []), request]
        session.state = {"seen": seen}
        return len(seen)

    return handle


def seen(sessions):
    return sessions.load(**NAMES).state.get("seen", [])


# P40, P42


def test_p40_of_two_that_load_one_version_the_second_is_told(fake, sessions):
    theirs = another(fake).store().sessions
    mine, other = sessions.load(**NAMES), theirs.load(**NAMES)
    won = theirs.commit(other, turn_id="theirs").session
    with pytest.raises(VersionConflictError) as caught:
        sessions.commit(mine, turn_id="mine")
    assert caught.value.current == won
    assert sessions.load(**NAMES) == won


def test_p40_a_merge_is_called_again_until_nobody_was_faster(fake, sessions):
    theirs = another(fake).store().sessions
    stale = sessions.load(**NAMES)
    counting(theirs)("theirs 0", **NAMES, turn_id="theirs 0")
    merged = []

    def merge(stored, mine):
        if len(merged) < 2:
            merged.append(stored)
            counting(theirs)(f"theirs {len(merged)}", **NAMES, turn_id=f"theirs {len(merged)}")
        return {"seen": [*stored["seen"], *mine["seen"]]}

    stale.state = {"seen": ["mine"]}
    done = sessions.commit(stale, turn_id="mine", merge=merge)
    assert done.session.state == {"seen": ["theirs 0", "theirs 1", "theirs 2", "mine"]}
    assert (done.session.version, sessions.load(**NAMES)) == (4, done.session)


def test_p42_events_of_a_side_task_make_no_handle_stale(fake, sessions):
    session, side_task = sessions.load(**NAMES), another(fake).store().sessions
    for number in range(3):
        side_task.append("ada", "s1", [number])
        session = sessions.commit(session, turn_id=f"t{number}").session
    assert [event.data for event in sessions.context("ada", "s1").events] == [0, 1, 2]


def test_p42_a_handler_that_is_overtaken_takes_the_turn_again_on_what_is_stored(fake, sessions):
    theirs, calls = counting(another(fake).store().sessions), []
    handle = counting(sessions, calls)

    def overtake(request):
        if request.operation != "GetItem" and len(calls) < 3:
            theirs("theirs", **NAMES, turn_id=f"theirs {len(calls)}")

    fake.faults.on_request = overtake
    assert handle("mine", **NAMES, turn_id="mine") == 3
    assert fake.sent.operations == ["GetItem", "PutItem", "UpdateItem", "UpdateItem"]
    assert seen(sessions) == ["theirs", "theirs", "mine"]


def test_p42_a_handler_that_is_always_overtaken_gives_up(fake):
    theirs, calls = counting(another(fake).store().sessions), []
    handle = counting(fake.store().sessions, calls)

    def overtake(request):
        if request.operation != "GetItem":
            theirs("theirs", **NAMES, turn_id=f"theirs {len(calls)}")

    fake.faults.on_request = overtake
    with pytest.raises(VersionConflictError):
        handle("mine", **NAMES, turn_id="mine")
    assert len(calls) == ATTEMPTS


def test_p4c_a_session_that_is_deleted_while_a_turn_is_taken_begins_anew(fake, sessions):
    counting(sessions)("old", **NAMES, turn_id="old")
    handle = counting(sessions)

    def delete(request):
        if request.operation == "UpdateItem":
            fake.faults.on_request = None
            another(fake).store().sessions.delete(**NAMES)

    fake.faults.on_request = delete
    assert handle("new", **NAMES, turn_id="new") == 1
    assert seen(sessions) == ["new"]


# P44, P45


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p44_a_commit_that_landed_is_committed_whatever_became_of_its_answer(fake, sessions, fault):
    for number, operation in enumerate(("PutItem", "UpdateItem")):
        getattr(fake.faults, fault)(operation=operation)
        session = sessions.load(**NAMES)
        done = sessions.commit(session, turn_id=str(number))
        assert (done.is_replayed, done.session) == (False, sessions.load(**NAMES))
    assert sessions.load(**NAMES).version == 2


def test_p45_an_append_that_is_sent_again_adds_once(fake, sessions):
    fake.faults.lose_answer(operation="PutItem")
    fake.faults.lose_answer(operation="TransactWriteItems")
    added = sessions.append("ada", "s1", ["one"]) + sessions.append("ada", "s1", ["two", "three"])
    assert sessions.list_events("ada", "s1").items == added


def test_p45_a_turn_whose_outcome_was_unknown_is_delivered_again_and_counts_once(fake, sessions):
    handle = counting(sessions)
    fake.faults.lose_answer(operation="PutItem")
    requests = iter(range(10))
    fake.faults.on_request = lambda _: UnreachableError("no") if next(requests) == 2 else None
    with pytest.raises(OutcomeUnknownError):
        handle("x", **NAMES, turn_id="t1")
    assert [handle("x", **NAMES, turn_id="t1") for _ in range(3)] == [1, 1, 1]
    assert seen(sessions) == ["x"]


@pytest.mark.parametrize("number", range(1, 5))
def test_p45_a_turn_that_dies_before_any_request_is_delivered_again_and_counts_once(fake, sessions, number):
    store = fake.store()

    def deliver():
        with store.leases.acquire("s1", 30, wait=60) as lease:
            return counting(sessions)("x", **NAMES, turn_id="t1", fence=lease)

    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        deliver()
    fake.faults.clear()
    fake.clock.advance(minutes=1)
    assert deliver() == 1
    assert (seen(sessions), sessions.load(**NAMES).version) == (["x"], 1)


def test_p45_a_known_turn_calls_nobody_and_another_request_under_its_id_is_refused(sessions):
    calls = []
    handle = counting(sessions, calls)
    assert [handle("x", **NAMES, turn_id="t1") for _ in range(2)] == [1, 1]
    with pytest.raises(TurnReusedError):
        handle("y", **NAMES, turn_id="t1")
    assert calls == ["x"]


def test_p45_what_fails_in_a_handler_commits_nothing(fake, sessions):
    @sessions.turn_handler
    def handle(session, request):
        session.state = {"seen": [request]}
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        handle("x", **NAMES, turn_id="t1")
    assert fake.items() == []


def test_p45_an_async_handler_takes_a_turn_once():
    async def run():
        sessions = AsyncDynamoDBStore("t", transport=AsyncMemoryTransport()).sessions

        @sessions.turn_handler
        async def handle(session, request):
            await asyncio.sleep(0)
            session.state = {"seen": [*session.state.get("seen", []), request]}
            return len(session.state["seen"])

        same = await asyncio.gather(*(handle("x", **NAMES, turn_id="t1") for _ in range(10)))
        assert same == [1] * 10
        assert (await sessions.load(**NAMES)).version == 1

    asyncio.run(run())


# All at once


def test_p45_the_same_turn_from_50_threads_is_applied_once_and_all_get_its_result():
    database, results = MemoryDatabase(), iter(range(50))

    def deliver(_):
        sessions = DynamoDBStore("t", transport=MemoryTransport(database)).sessions
        handle = sessions.turn_handler(lambda session, request: [request, next(results)])
        return handle("x", **NAMES, turn_id="t1")

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(deliver, range(50)))
    session = DynamoDBStore("t", transport=MemoryTransport(database)).sessions.load(**NAMES)
    assert answers == [session.turns[0].result] * 50
    assert session.version == 1


def test_p42_different_turns_of_8_threads_are_all_there_in_versions_without_a_gap():
    database = MemoryDatabase()

    def work(worker):
        sessions = DynamoDBStore("t", transport=MemoryTransport(database)).sessions
        return [insisted(counting(sessions), f"{worker}-{number}") for number in range(12)]

    with ThreadPoolExecutor(8) as pool:
        answers = [one for found in pool.map(work, range(8)) for one in found]
    sessions = DynamoDBStore("t", transport=MemoryTransport(database)).sessions
    assert sorted(answers) == list(range(1, 97))
    assert sorted(seen(sessions)) == sorted(f"{worker}-{number}" for worker in range(8) for number in range(12))
    assert sessions.load(**NAMES).version == 96


def insisted(handle, turn_id):
    while True:
        try:
            return handle(turn_id, **NAMES, turn_id=turn_id)
        except VersionConflictError:
            continue  # a queue delivers it again


def test_p45_processes_that_share_a_table_lose_and_double_nothing(moto):
    backend = moto.backend(is_async=False)
    arguments = [sys.executable, str(PROCESS), backend.url, backend.table_name]
    processes = [
        subprocess.Popen([*arguments, str(number)], stdout=subprocess.PIPE, text=True, cwd=PROCESS.parents[2])
        for number in range(3)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 3
    told = [json.loads(output) for output in outputs]
    session = backend.store().sessions.load(**NAMES)
    assert session.version == 1 + 3 * 6
    assert sorted(session.state["seen"]) == sorted(["shared", *(f"{a}-{b}" for a in range(3) for b in range(6))])
    assert len({one["shared"] for one in told}) == 1
    assert sorted(n for one in told for n in one["own"]) == sorted({*range(1, 20)} - {told[0]["shared"]})
