"""P38: a holder that slept through a takeover writes nothing more, in any method that takes a fence."""

from __future__ import annotations

import inspect

import pytest

from singletable import (
    AlreadyExistsError,
    LeaseLostError,
    NotFoundError,
    PartialSaveError,
    RequestError,
    Table,
    TransactionFailedError,
    VersionConflictError,
)
from singletable.provision import create_table_params
from singletable.schemas import Lease, Resource, Thread
from singletable.store import HeldLease
from singletable.store.entities import ENTITIES
from singletable.store.message_forms import MessageUpdate
from singletable.testing import MemoryDatabase
from tests.contract.every_verb import DOMAINS, RUN, committed, taken
from tests.contract.support import FakeBackend, sent_by
from tests.contract.users import ADA, fill, message
from tests.pains.leases import Worker
from tests.pains.support import another

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])
RESULT = {"step_id": "s", "result": {"status": "success"}, "request_context": {}}


def in_transaction(table, fence):
    with table.transaction(fence=fence) as tx:
        tx.update(Resource.Key(id=ADA), Resource.Patch(working_memory="b"))


METHODS = {
    "table.create": lambda s, f: s.table.create(Resource(id="new"), fence=f),
    "table.put": lambda s, f: s.table.put(Resource(id=ADA, working_memory="b"), fence=f),
    "table.transaction": lambda s, f: in_transaction(s.table, f),
    "memory.save_messages": lambda s, f: s.memory.save_messages(
        [message(ADA, "xm0", "x1"), message(ADA, "new", "x2")], fence=f
    ),
    "memory.save_thread": lambda s, f: s.memory.save_thread(Thread(id="x1", resource_id=ADA, title="b"), fence=f),
    "memory.update_messages": lambda s, f: s.memory.update_messages([MessageUpdate(id="xm0", content="b")], fence=f),
    "sessions.append": lambda s, f: s.sessions.append(ADA, "xn", ["b"], fence=f),
    "sessions.commit": lambda s, f: committed(s.sessions, fence=f),
    "workflows.persist_workflow_snapshot": lambda s, f: s.workflows.persist_workflow_snapshot(
        **RUN, snapshot={"status": "success", "context": {}}, fence=f
    ),
    "workflows.update_workflow_results": lambda s, f: s.workflows.update_workflow_results(**RUN, **RESULT, fence=f),
    "workflows.update_workflow_state": lambda s, f: s.workflows.update_workflow_state(
        **RUN, changes={"status": "success"}, fence=f
    ),
}
WAYS = {
    **METHODS,
    "a turn": lambda s, f: taken(s.sessions, fence=f),
}
EMPTY = {
    "sessions.append": lambda s, f: s.sessions.append(ADA, "xn", [], fence=f),
    "sessions.commit a turn again": lambda s, f: s.sessions.commit(s.sessions.load(ADA, "xn"), turn_id="xr", fence=f),
    "table.transaction": lambda s, f: s.table.transaction(fence=f).__enter__().__exit__(None, None, None),
    "memory.save_messages": lambda s, f: s.memory.save_messages([], fence=f),
    "memory.update_messages": lambda s, f: s.memory.update_messages([], fence=f),
    "memory.update_messages that are gone": lambda s, f: s.memory.update_messages(
        [MessageUpdate(id="no", content="b")], fence=f
    ),
    "workflows.update_workflow_results": lambda s, f: s.workflows.update_workflow_results(
        workflow_name="w", run_id="no", **RESULT, fence=f
    ),
    "workflows.update_workflow_state": lambda s, f: s.workflows.update_workflow_state(
        **RUN, changes={"a": 1}, expected_status="suspended", fence=f
    ),
}
"""Calls that turn out to have nothing to write."""


def takes_fence(kind):
    return {name for name, one in inspect.getmembers(kind, callable) if not name.startswith("_") and takes(one)}


def takes(method):
    try:
        return "fence" in inspect.signature(method).parameters
    except ValueError:
        return False


def filled():
    """A backend with a user, its store, a lease on it, and who is to take that over."""
    fake = FakeBackend(database=MemoryDatabase.for_table(TABLE))
    store = fake.store()
    fill(store, ADA, "x")
    lease = Worker(fake).hold("s", 30)
    fake.sent.clear()
    return fake, store, lease, Worker(another(fake))


def test_p38_every_method_that_takes_a_fence_is_tried():
    _, store, *_ = filled()
    found = {f"{domain}.{name}" for domain in DOMAINS for name in takes_fence(getattr(store, domain))}
    assert found | {f"table.{name}" for name in takes_fence(Table)} == METHODS.keys()


@pytest.mark.parametrize("call", WAYS.values(), ids=WAYS)
def test_p38_whoever_pauses_before_whichever_request_writes_nothing_after_a_takeover(call):
    fake, store, lease, _ = filled()
    before = fake.items()
    count = len(sent_by(fake, lambda: call(store, lease)))
    assert fake.items() != before
    for number in range(1, count + 1):
        fake, store, lease, rival = filled()
        taken = []

        def pause(_, fake=fake, rival=rival, taken=taken, number=number):
            if len(fake.sent.requests) == number and not taken:
                fake.clock.advance(minutes=1)
                rival.hold("s", 30)
                taken.extend(fake.items())

        fake.faults.on_request = pause
        with pytest.raises(LeaseLostError) as caught:
            call(store, lease)
        assert caught.value.current.token > lease.token
        assert fake.items() == taken


@pytest.mark.parametrize("call", EMPTY.values(), ids=EMPTY)
def test_p38_who_lost_the_lease_is_told_though_it_has_nothing_to_write(call):
    fake, store, lease, rival = filled()
    call(store, lease)
    fake.clock.advance(minutes=1)
    rival.hold("s", 30)
    before = fake.items()
    with pytest.raises(LeaseLostError):
        call(store, lease)
    assert fake.items() == before


@pytest.mark.parametrize("method", WAYS)
def test_p38_a_fence_adds_no_request_and_an_end_alone_loses_nothing(method):
    fake, store, lease, _ = filled()
    fake.clock.advance(minutes=1)
    under = sent_by(fake, lambda: WAYS[method](store, lease))
    fake, store, *_ = filled()
    assert len(under) == len(sent_by(fake, lambda: WAYS[method](store, None)))


@pytest.mark.parametrize("method", WAYS)
def test_p38_a_forged_or_foreign_lease_writes_nothing(method):
    fake, store, lease, _ = filled()
    before, call = fake.items(), WAYS[method]
    given = {"name": "s", "ttl_seconds": 30, "key": Lease.Key(name="s"), "table": "fake", "scope": ""}
    forged = HeldLease(**given, token=lease.token, holds={"holder": "x", "token": lease.token})
    with pytest.raises(LeaseLostError):
        call(store, forged)
    for foreign in (HeldLease(**{**vars(forged), "table": "t"}), store.scoped("a"), "s"):
        with pytest.raises(RequestError, match="lease"):
            call(store, foreign)
    assert fake.items() == before


def test_p38_a_lease_that_was_given_back_protects_nothing_any_more():
    fake, store, *_ = filled()
    with Worker(fake).leases.acquire("other", 30) as lease:
        store.table.create(Resource(id="one"), fence=lease)
    with pytest.raises(LeaseLostError):
        store.table.create(Resource(id="two"), fence=lease)
    assert store.table.get(Resource.Key(id="two")) is None


def test_p38_of_a_long_save_what_was_stored_before_the_takeover_is_told():
    fake, store, lease, rival = filled()
    taken = []

    def pause(request):
        if fake.sent.operations.count("TransactWriteItems") == 2 and not taken:
            fake.clock.advance(minutes=1)
            rival.hold("s", 30)
            taken.extend(fake.items())

    fake.faults.on_request = pause
    with pytest.raises(PartialSaveError) as caught:
        store.memory.save_messages([message(ADA, f"n{number:02}", "x1") for number in range(40)], fence=lease)
    assert isinstance(caught.value.__cause__, LeaseLostError)
    assert len(caught.value.saved) == 32
    assert fake.items() == taken


def test_p38_as_many_changes_as_a_transaction_holds_leave_room_for_the_fence():
    _, store, lease, _ = filled()
    store.memory.save_messages([message(ADA, f"n{number:02}", "x1") for number in range(50)], fence=lease)
    changed = store.memory.update_messages(
        [MessageUpdate(id=f"n{number:02}", content="b") for number in range(50)], fence=lease
    )
    assert len(changed) == 50


def test_p38_batches_take_no_fence():
    fake, store, lease, _ = filled()
    with pytest.raises(RequestError, match="transaction"):
        store.memory.save_messages([message(ADA, "new", "x1")], durability="batch", fence=lease)
    assert fake.sent.requests == []


def test_p38_a_refusal_of_another_member_is_told_as_without_a_fence():
    _, store, lease, _ = filled()
    with pytest.raises(AlreadyExistsError):
        store.table.create(Resource(id=ADA), fence=lease)
    with pytest.raises(NotFoundError):
        store.table.put(Resource(id="no"), where=lambda one: one.id == "no", fence=lease)
    with pytest.raises(VersionConflictError):
        store.workflows.persist_workflow_snapshot(**RUN, snapshot={}, if_version="no", fence=lease)
    with pytest.raises(TransactionFailedError) as caught, store.table.transaction(fence=lease) as tx:
        tx.create(Resource(id=ADA))
    assert [reason.entity for reason in caught.value.reasons] == ["resource"]


def test_p47_a_heartbeat_that_meets_a_write_is_waited_for():
    fake, _, lease, _ = filled()
    fake.faults.conflict(3, operation="TransactWriteItems")
    in_transaction(fake.table(*ENTITIES), lease)
    assert fake.sent.operations == ["TransactWriteItems"] * 4
