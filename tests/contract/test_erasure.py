"""The erasure of a user: who writes meanwhile, what an index does not know yet, and what only a scan finds."""

from __future__ import annotations

import pytest

from singletable import (
    ConditionFailedError,
    Entity,
    Pk,
    PrimaryKey,
    RequestError,
    ThreadDeletedError,
    ThrottledError,
)
from singletable.schemas import Resource, Score, Span, Thread
from singletable.store import Receipt
from singletable.store.stamps import after
from singletable.testing import Crash
from tests.contract.support import FakeBackend
from tests.contract.users import ADA, BOB, COUNTS, NOTHING, all_expire, fill, kept, left_of, mark, message, score, span

SCORES = Score.ByResource.declared_on
READS = {"Query", "Scan", "GetItem", "BatchGetItem"}


@pytest.fixture
def other(fake):
    """The store of another process, always sync: it may be used inside a hook."""
    backend = FakeBackend(database=fake.database)
    backend.clock = fake.clock
    return backend.store()


def once(fake, wanted, write):
    """Let another process write just before the first request for which `wanted` holds."""
    left = [write]

    def hook(request):
        if left and wanted(request):
            left.pop()()

    fake.faults.on_request = hook
    return left


def members(request):
    """What a transaction does: verbs with the entity of what it is done to."""
    if request.operation != "TransactWriteItems":
        return []
    return [
        (verb, str(params.get("Item") or params["Key"]))
        for one in request.params["TransactItems"]
        for verb, params in one.items()
    ]


def removes_row(request, thread_id="x1"):
    return any(
        verb == "Delete" and f"conversation#{thread_id}" in text and "'thread#" in text
        for verb, text in members(request)
    )


def buries(request):
    return any(verb == "Put" and "'tombstone'" in text for verb, text in members(request))


# What is asked


@pytest.mark.parametrize("resource_id", ["", "  ", None, 7])
def test_nobody_is_erased_without_an_id(backend, resource_id):
    fill(backend.store(), ADA, "x")
    backend.sent.clear()
    with pytest.raises(RequestError):
        backend.store().erase_resource(resource_id)
    assert backend.sent.requests == []


@pytest.mark.parametrize("allow_scan", [False, True])
def test_a_dry_run_writes_nothing_and_counts_the_same(backend, allow_scan):
    store = backend.store()
    fill(store, ADA, "x")
    fill(store, BOB, "y")
    store.memory.save_messages([message(ADA, "in-bobs", "y1")])
    before = backend.items()
    backend.sent.clear()
    dry = store.erase_resource(ADA, dry_run=True, allow_scan=allow_scan)
    assert set(backend.sent.operations) <= READS
    assert ("Scan" in backend.sent.operations) == allow_scan
    assert backend.items() == before
    assert dry == Receipt({**COUNTS, "message": COUNTS["message"] + allow_scan}, dry_run=True)
    assert store.erase_resource(ADA, allow_scan=allow_scan).counts == dry.counts


def test_a_dry_run_counts_what_has_expired(backend):
    store = backend.store(ttl=all_expire(60))
    fill(store, ADA, "x")
    backend.clock.advance(seconds=60)
    assert store.erase_resource(ADA, dry_run=True).counts == COUNTS


@pytest.mark.parametrize("dry_run", [False, True])
def test_progress_grows_up_to_the_receipt(backend, dry_run):
    store, seen = backend.store(), []
    fill(store, ADA, "x")
    receipt = store.erase_resource(ADA, dry_run=dry_run, on_progress=seen.append)
    totals = [so_far.total for so_far in seen]
    assert totals == sorted(totals)
    assert 0 < totals[0] < totals[-1]
    assert seen[-1] == receipt
    assert {so_far.dry_run for so_far in seen} == {dry_run}


def test_who_has_nothing_is_erased_in_nine_requests(backend):
    receipt = backend.store().erase_resource(ADA)
    assert receipt.counts == NOTHING
    assert backend.items() == []
    assert sorted(backend.sent.operations) == ["DeleteItem", "DeleteItem", *["Query"] * 7]


def test_a_receipt_does_not_say_whose_it_is(backend):
    store = backend.store()
    fill(store, ADA, "x")
    text = repr(store.erase_resource(ADA))
    assert ADA not in text
    assert "x1" not in text


def test_a_tenant_is_erased_within_its_scope(backend):
    acme, outer = backend.store().scoped("acme"), backend.store()
    fill(outer, ADA, "x")
    before = backend.items()
    fill(acme, ADA, "x")
    assert acme.erase_resource(ADA, allow_scan=True).counts == COUNTS
    assert kept(backend) == before


def test_a_long_thread_is_erased_in_parts(fake):
    store = fake.store()
    store.memory.save_thread(Thread(id="x1", resource_id=ADA))
    store.memory.save_messages(message(ADA, f"m{number}", "x1") for number in range(120))
    fake.sent.clear()
    assert store.erase_resource(ADA).counts == {**NOTHING, "thread": 1, "message": 120}
    sizes = [len(request.params["TransactItems"]) for request in fake.sent.requests if members(request)]
    assert sizes == [2, 100, 100, 40, 2]
    assert kept(fake) == []


# Others, and what an index does not know yet


def test_a_save_into_an_erased_thread_is_refused(backend):
    store = backend.store()
    fill(store, ADA, "x")
    store.erase_resource(ADA)
    for write in (
        lambda: store.memory.save_messages([message(ADA, "late", "x1")]),
        lambda: store.memory.save_thread(Thread(id="x1", resource_id=ADA)),
        lambda: store.memory.set_thread_state("x2", type="plan", value=mark(ADA)),
    ):
        with pytest.raises(ThreadDeletedError):
            write()
    assert left_of(backend, ADA) == []


def test_a_thread_that_is_half_erased_takes_no_saves_for_good(fake):
    store = fake.store()
    fill(store, ADA, "x")
    fake.faults.crash_before(1, operation="BatchWriteItem")
    with pytest.raises(Crash):
        store.erase_resource(ADA)
    fake.clock.advance(days=30)
    with pytest.raises(ThreadDeletedError):
        store.memory.save_messages([message(ADA, "late", "x1")])


def test_what_the_index_gives_to_the_old_owner_is_left_to_the_new_one(fake):
    """The indexes are behind: in them all is Ada's still."""
    store = fake.store()
    fill(store, ADA, "x")
    fake.faults.stale_reads(9)
    store.memory.transfer_thread("x1", to_resource_id=BOB)
    store.scores.save_score(score(BOB, "xs"))
    store.workflows.persist_workflow_snapshot(workflow_name="w", run_id="x", snapshot={"a": 1}, resource_id=BOB)
    patch = Span.Patch(resource_id=BOB, input="", output="")
    store.observability.batch_update_spans(
        [(Span.Key(trace_id="xt", span_id=name), patch) for name in ("root", "child")]
    )
    theirs = left_of(fake, BOB)
    assert len(theirs) == 7
    receipt = store.erase_resource(ADA)
    assert left_of(fake, BOB) == theirs
    still = {"thread": 1, "message": 1, "resource": 1, "evaluation": 1, "session": 1, "event": 2}
    assert receipt.counts == {**NOTHING, **still}


def test_a_thread_that_changes_hands_on_the_way_is_left(fake, other):
    fill(fake.store(), ADA, "x")
    once(fake, buries, lambda: other.memory.transfer_thread("x1", to_resource_id=BOB))
    fake.store().erase_resource(ADA)
    assert fake.store().memory.get_thread_by_id("x1").resource_id == BOB
    assert len(fake.store().memory.list_messages("x1", per_page=None).items) == 2


def test_a_thread_that_is_being_erased_is_nobodys_to_give(fake, other):
    fill(fake.store(), ADA, "x")
    refused = []

    def give():
        with pytest.raises(ThreadDeletedError) as error:
            other.memory.transfer_thread("x1", to_resource_id=BOB)
        refused.append(error)

    once(fake, removes_row, give)
    assert fake.store().erase_resource(ADA).counts == COUNTS
    assert len(refused) == 1
    assert kept(fake) == []


def test_an_item_that_changes_hands_on_the_way_is_left(fake, other):
    fill(fake.store(), ADA, "x")
    once(fake, lambda request: request.operation == "DeleteItem", lambda: other.scores.save_score(score(BOB, "xs")))
    receipt = fake.store().erase_resource(ADA)
    assert fake.store().scores.get_score_by_id("xs").resource_id == BOB
    assert receipt.counts == {**COUNTS, "score": 0}


# Late writes


def test_what_is_written_meanwhile_is_erased_too(fake, other):
    fill(fake.store(), ADA, "x")
    late = once(fake, lambda request: request.params.get("IndexName") == SCORES, lambda: fill(other, ADA, "z"))
    receipt = fake.store().erase_resource(ADA)
    assert late == []
    assert left_of(fake, ADA) == []
    # The later resource has replaced the one that was there.
    assert receipt.counts == {**{name: 2 * number for name, number in COUNTS.items()}, "resource": 1}


def test_a_save_that_had_begun_before_is_erased_too(fake, other):
    """It knows of no tombstone, and arrives after the thread was emptied."""
    fill(fake.store(), ADA, "x")

    def save():
        row = other.memory.get_thread_by_id("x1")
        with other.table.transaction() as tx:
            tx.put(message(ADA, "late", "x1", order="late"))
            patch = Thread.Patch(updated_at=after(fake.clock(), row.updated_at))
            tx.update(Thread.Key(id="x1"), patch, where=lambda row: row.updated_at < patch.updated_at)

    late = once(fake, removes_row, save)
    receipt = fake.store().erase_resource(ADA)
    assert late == []
    assert kept(fake) == []
    assert receipt.counts == {**COUNTS, "message": 4}


def test_a_message_that_moves_meanwhile_is_erased_where_it_goes(fake, other):
    fill(fake.store(), ADA, "x")

    def move():
        other.memory.save_thread(Thread(id="x3", resource_id=ADA))
        other.memory.save_messages([message(ADA, "xm1", "x3")])

    late = once(fake, lambda request: len(members(request)) == 4, move)
    receipt = fake.store().erase_resource(ADA)
    assert late == []
    assert kept(fake) == []
    assert receipt.counts == {**COUNTS, "thread": 3}


def test_who_never_stops_writing_is_told_of(fake, other):
    number = iter(range(1000))

    def write(request):
        if request.operation == "Query" and request.params.get("IndexName") == SCORES:
            other.scores.save_score(score(ADA, f"s{next(number)}"))

    fake.faults.on_request = write
    with pytest.raises(ConditionFailedError, match="stop what writes for it") as caught:
        fake.store().erase_resource(ADA)
    assert ADA not in str(caught.value)
    fake.faults.clear()
    fake.store().erase_resource(ADA)
    assert left_of(fake, ADA) == []


# Failures


def test_lost_answers_do_not_matter(fake):
    fill(fake.store(), ADA, "x")
    fake.faults.lose_answer(3, operation="DeleteItem")
    fake.faults.lose_answer(3, operation="TransactWriteItems")
    assert fake.store().erase_resource(ADA).counts == COUNTS
    assert kept(fake) == []


def test_a_failure_is_raised_and_a_second_call_goes_on(fake):
    fill(fake.store(), ADA, "x")
    seen: list[Receipt] = []
    fake.faults.throttle(None, operation="DeleteItem")
    with pytest.raises(ThrottledError):
        fake.store().erase_resource(ADA, on_progress=seen.append)
    fake.faults.clear()
    first, second = seen[-1].counts, fake.store().erase_resource(ADA).counts
    assert {name: first[name] + second[name] for name in COUNTS} == COUNTS
    assert kept(fake) == []


def test_what_does_not_fit_its_entity_is_erased(backend):
    class Loose(Entity, entity="resource", version=1):
        id: str
        metadata: int

        class Key(PrimaryKey["Loose"]):
            id: Pk[str]

    backend.table(Loose).put(Loose(id=ADA, metadata=7))
    assert backend.store().erase_resource(ADA).counts == {**NOTHING, "resource": 1}
    assert backend.items() == []


# Traces


def test_a_trace_of_the_resource_goes_with_the_spans_of_nobody(backend):
    observability = backend.store().observability
    observability.create_span(span(ADA, "t", "root"))
    observability.create_span(span(None, "t", "model", "root"))
    observability.create_span(span(BOB, "t", "tool", "root"))
    assert backend.store().erase_resource(ADA).counts == {**NOTHING, "trace": 2}
    assert [one.span_id for one in observability.get_trace("t")] == ["tool"]


@pytest.mark.parametrize("root", [BOB, None])
def test_of_a_trace_of_another_only_the_spans_of_the_resource_go(backend, root):
    observability = backend.store().observability
    observability.create_span(span(root, "t", "root"))
    observability.create_span(span(None, "t", "model", "root"))
    observability.create_span(span(ADA, "t", "tool", "root"))
    assert backend.store().erase_resource(ADA).counts == {**NOTHING, "trace": 1}
    assert [one.span_id for one in observability.get_trace("t")] == ["model", "root"]


# What only a scan finds


@pytest.fixture
def scattered(backend):
    """Messages of Ada in a thread that nobody saved, in Bob's, and in one of hers."""
    store = backend.store(ttl={"message": {"enabled": True, "default_ttl_seconds": 60}})
    fill(store, BOB, "y")
    fill(store, ADA, "x")
    return store


@pytest.mark.parametrize("seconds", [0, 60], ids=["alive", "expired"])
def test_a_scan_finds_messages_in_other_threads(scattered, backend, seconds):
    scattered.memory.save_messages(message(ADA, f"in-{thread}", thread) for thread in ("y1", "rowless"))
    scattered.memory.save_messages([message(None, "nobodys", "rowless")])
    theirs = left_of(backend, BOB)
    backend.clock.advance(seconds=seconds)
    scattered.erase_resource(ADA)
    assert {item["id"]["S"] for item in left_of(backend, ADA)} == {"in-y1", "in-rowless"}
    receipt = scattered.erase_resource(ADA, allow_scan=True)
    assert receipt.counts == {**NOTHING, "message": 2}
    assert left_of(backend, ADA) == []
    assert left_of(backend, BOB) == theirs
    assert "in-y1" not in str(backend.items())
    assert "nobodys" in str(backend.items())


def test_a_message_that_changes_hands_during_the_scan_is_left(fake, other):
    store = fake.store()
    store.memory.save_messages([message(ADA, "m", "rowless")])
    late = once(
        fake,
        lambda request: bool(members(request)),
        lambda: other.memory.save_messages([message(BOB, "m", "rowless")]),
    )
    assert store.erase_resource(ADA, allow_scan=True).counts == NOTHING
    assert late == []
    assert [one.resource_id for one in store.memory.list_messages("rowless").items] == [BOB]


# What has expired, and what took its place


def test_an_id_that_another_uses_again_stays_the_others(backend):
    """The messages of Ada have expired and are stored; two of their ids are Bob's by now."""
    store = backend.store(ttl={"message": {"enabled": True, "default_ttl_seconds": 60}})
    fill(store, ADA, "x")
    backend.clock.advance(seconds=60)
    store.memory.save_messages(message(BOB, f"xm{number}", "y1") for number in range(2))
    theirs = left_of(backend, BOB)
    assert store.erase_resource(ADA).counts == COUNTS
    assert left_of(backend, BOB) == theirs
    found = store.memory.list_messages_by_id(["xm0", "xm1"])
    assert [one.resource_id for one in found] == [BOB, BOB]
    assert left_of(backend, ADA) == []


def test_a_thread_that_expired_is_erased_with_messages_that_have_not(backend):
    store = backend.store()
    fill(store, ADA, "x")
    expiring = backend.store(ttl={"thread": {"enabled": True, "default_ttl_seconds": 60}}).memory
    for row in store.memory.list_threads(ADA).items:
        expiring.save_thread(row)
    backend.clock.advance(seconds=60)
    assert store.memory.list_threads(ADA).items == []
    assert store.erase_resource(ADA).counts == COUNTS
    assert kept(backend) == []


def test_an_id_of_an_expired_thread_that_another_uses_again_stays_the_others(fake):
    """The index is behind: it has the expired row of Ada."""
    store = fake.store(ttl={"thread": {"enabled": True, "default_ttl_seconds": 60}})
    store.memory.save_thread(Thread(id="x1", resource_id=ADA))
    fake.clock.advance(seconds=60)
    fake.faults.stale_reads(1)
    store.memory.save_thread(Thread(id="x1", resource_id=BOB))
    before = fake.items()
    assert store.erase_resource(ADA).counts == NOTHING
    assert fake.items() == before


def test_a_resource_that_expired_is_counted(backend):
    store = backend.store(ttl={"resource": {"enabled": True, "default_ttl_seconds": 60}})
    store.memory.save_resource(Resource(id=ADA, working_memory=mark(ADA)))
    backend.clock.advance(seconds=60)
    assert store.erase_resource(ADA).counts == {**NOTHING, "resource": 1}
    assert backend.items() == []
