"""What traces cost, how they expire, and who reaches them: counted on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

import pytest

from singletable import (
    ConfigurationError,
    DynamoDBStore,
    NotFoundError,
    PartialBatchError,
    Table,
    ThrottledError,
    between,
)
from singletable.cursors import cursor_text
from singletable.items import to_item
from singletable.schemas import Span
from singletable.store._sync.observability import Observability
from singletable.store.span_filters import SpanFilters
from singletable.store.span_forms import BRANCHES, SHARDS, TRACES, placed, shard_of
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.spans import FULL, SECOND, child, ids, roots, span, traces
from tests.contract.support import ALL, FAKES, START, make_store_backend, sent_by

KEY = Span.Key(trace_id="t", span_id="root")
PATCH = Span.Patch(name="new")
READS = {
    "get_span": lambda o: o.get_span(trace_id="t", span_id="root"),
    "get_spans": lambda o: o.get_spans("t", ["root"]),
    "get_root_span": lambda o: o.get_root_span("t"),
    "get_trace": lambda o: o.get_trace("t"),
    "get_trace_light": lambda o: o.get_trace_light("t"),
    "get_branch": lambda o: o.get_branch(trace_id="t", span_id="root"),
    "list_traces": lambda o: (
        [o.list_traces(order_by=by).items for by in ("started_at", "ended_at")]
        + [o.list_traces(filters=SpanFilters(**{name: value})).items for name, value in OWNERS.items()]
    ),
    "list_traces_light": lambda o: o.list_traces_light(include_total=True),
    "list_branches": lambda o: o.list_branches(include_total=True).items,
    "list_traces_delta": lambda o: polled(o, o.list_traces_delta, TRACES),
    "list_branches_delta": lambda o: polled(o, o.list_branches_delta, BRANCHES),
}
OWNERS = {"trace_id": "t", "resource_id": "ada", "user_id": "u1", "has_child_error": True}
WRITES = {
    "create_span": lambda o: o.create_span(span(span_type="agent_run")),
    "batch_create_spans": lambda o: o.batch_create_spans([span(), child("c")]),
    "update_span": lambda o: o.update_span(trace_id="t", span_id="root", updates=PATCH),
    "batch_update_spans": lambda o: o.batch_update_spans([(KEY, PATCH)]),
    "batch_delete_traces": lambda o: o.batch_delete_traces(["t"]),
}
MISSING = {"update_span", "batch_update_spans"}
"""What raises NotFoundError where the span is not there, as it is not for this caller."""


@pytest.fixture(params=ALL)
def backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


def polled(observability, poll, kinds):
    """All that has ever arrived, by a cursor of before."""
    return poll(after=cursor_text((observability.table.scope, kinds, "arrivals"), "0"), limit=100).items


def test_every_public_method_is_in_these_tables():
    shown = {name for name in vars_of(Observability) if not name.startswith("_")}
    evaluations = {name for name in shown if "evaluation" in name}
    assert shown - evaluations - {"clock", "table", "orders"} == READS.keys() | WRITES.keys()


def vars_of(kind):
    return {name for base in kind.__mro__ if base is not object for name in vars(base)}


# Requests.


@pytest.mark.parametrize(
    ("given", "requests"),
    [(child("c"), ["PutItem"]), (span(), ["PutItem"]), (child("c", span_type="tool_call"), ["PutItem"])],
)
def test_a_new_span_is_one_request(backend, given, requests):
    observability = backend.store().observability
    assert sent_by(backend, lambda: observability.create_span(given)) == requests


def test_a_listed_span_that_is_stored_already_is_two_requests(fake):
    observability = fake.store().observability
    observability.create_span(span())
    assert sent_by(fake, lambda: observability.create_span(span())) == ["PutItem", "PutItem"]


def test_p93_a_batch_is_a_request_for_25_steps_and_one_for_each_root(backend):
    observability = backend.store().observability
    spans = [child(f"c{number}") for number in range(50)] + roots(3)
    operations = sent_by(backend, lambda: observability.batch_create_spans(spans))
    assert operations == ["BatchWriteItem"] * 2 + ["PutItem"] * 3


@pytest.mark.parametrize("given", [span(**FULL), child("root", **FULL)])
def test_p93_an_update_sends_what_has_changed_in_one_request(backend, given):
    observability = backend.store().observability
    observability.create_span(given)
    changes = Span.Patch(ended_at=START + SECOND, output="y")
    call = lambda: observability.update_span(trace_id="t", span_id="root", updates=changes)  # noqa: E731
    assert sent_by(backend, call) == ["UpdateItem"]
    assert "gsi" not in str(backend.sent.requests[0].params)
    assert FULL["environment"] not in str(backend.sent.requests[0].params)


def test_an_update_of_the_resource_reads_what_its_index_needs(backend):
    observability = backend.store().observability
    observability.create_span(span(resource_id="ada"))
    patch = Span.Patch(resource_id="bob")
    call = lambda: observability.update_span(trace_id="t", span_id="root", updates=patch)  # noqa: E731
    assert sent_by(backend, call) == ["GetItem", "UpdateItem"]
    shown = [traces(observability.list_traces(filters=SpanFilters(resource_id=one)).items) for one in ("ada", "bob")]
    assert shown == [[], ["t"]]


def test_p94_a_step_that_no_list_shows_is_in_no_index(backend):
    backend.store().observability.batch_create_spans([child("c"), child("d", resource_id="ada"), span()])
    keys = {item["sk"]["S"]: sorted(name for name in item if name.startswith("gsi")) for item in backend.items()}
    assert keys == {
        "trace#c": [],
        "trace#d": ["gsi3pk", "gsi3sk"],
        "trace#root": ["gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk"],
    }


def test_p95_lists_are_spread_over_all_shards():
    counts = {shard: 0 for shard in SHARDS}
    for number in range(4000):
        counts[shard_of(f"trace-{number}")] += 1
    assert min(counts.values()) > 800


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (span(), "root"),
        (span(span_type="agent_run"), "root_anchor"),
        (child("root", span_type="tool_call"), "anchor"),
    ],
)
def test_the_keys_of_a_listed_span(given, kind):
    item = to_item(placed(given.model_copy(update={"resource_id": "ada"}), "7"))
    keys = {name: value["S"] for name, value in item.items() if name.endswith(("pk", "sk"))}
    place = "trace#2026-11-30T22:00:00.000Z#t#root"
    assert shard_of("t") == "0"
    assert keys == {
        "pk": "trace#t",
        "sk": "trace#root",
        "gsi1pk": f"trace#{kind}#0",
        "gsi1sk": place,
        "gsi2pk": f"trace#{kind}#0",
        "gsi2sk": "trace#7",
        "gsi3pk": "trace#ada",
        "gsi3sk": place,
    }


@pytest.mark.parametrize("method", READS)
def test_p96_no_read_is_a_scan(fake, method):
    store = fake.store()
    store.observability.batch_create_spans([span(**FULL), child("c")])
    fake.clock.advance(seconds=10)
    operations = sent_by(fake, lambda: READS[method](store.observability))
    assert {"Scan"} & {*operations} == set()
    assert operations


def test_p97_a_page_reads_little_more_than_it_shows(fake):
    observability = fake.store().observability
    observability.batch_create_spans(span(trace_id=f"t{n:03}", started_at=START + n * SECOND) for n in range(400))
    fake.sent.clear()
    found = observability.list_traces()
    assert traces(found.items) == [f"t{n:03}" for n in range(399, 389, -1)]
    assert sum(fake.sent.scanned_counts) <= 30
    assert len(fake.sent.requests) <= 16
    fake.sent.clear()
    observability.list_traces(cursor=found.cursor)
    assert sum(fake.sent.scanned_counts) <= 40


def test_p97_the_traces_of_a_resource_are_read_alone(fake):
    observability = fake.store().observability
    observability.batch_create_spans(
        span(trace_id=f"t{n:03}", resource_id="ada" if n % 20 == 0 else "bob") for n in range(200)
    )
    fake.sent.clear()
    assert len(observability.list_traces(filters=SpanFilters(resource_id="ada")).items) == 10
    assert (fake.sent.operations, fake.sent.scanned_counts) == (["Query"], [10])


def test_p97_the_trace_of_an_id_is_read_alone(fake):
    observability = fake.store().observability
    observability.batch_create_spans(roots(50))
    fake.sent.clear()
    observability.list_traces(filters=SpanFilters(trace_id="t03"))
    assert (fake.sent.operations, fake.sent.scanned_counts) == (["Query"], [1])


def test_p97_a_list_within_times_reads_nothing_outside(fake):
    observability = fake.store().observability
    observability.batch_create_spans(roots(50))
    fake.sent.clear()
    filters = SpanFilters(started_at=between(START + 10 * SECOND, START + 12 * SECOND), user_id="nobody")
    assert observability.list_traces(filters=filters).items == []
    assert sum(fake.sent.scanned_counts) == 3


# Failures.


@pytest.mark.parametrize("method", [*READS, *WRITES])
def test_what_fails_raises(fake, method):
    store = fake.store()
    store.observability.batch_create_spans([span(**FULL, span_type="agent_run"), child("c")])
    fake.clock.advance(seconds=10)
    fake.faults.throttle(None)
    with pytest.raises((ThrottledError, PartialBatchError)):
        (READS | WRITES)[method](store.observability)


# Expiry.


def test_spans_expire_with_the_setting_for_trace(backend):
    store = backend.store(ttl={"trace": {"enabled": True, "default_ttl_seconds": 3600}})
    observability = store.observability
    observability.batch_create_spans([span(**FULL, span_type="agent_run"), child("c", span_type="tool_call")])
    backend.clock.advance(minutes=30)
    observability.create_span(span(trace_id="young", span_type="agent_run", resource_id="ada", started_at=START))
    observability.update_span(trace_id="t", span_id="root", updates=PATCH)
    backend.clock.advance(minutes=31)
    assert observability.get_trace("t") is None
    assert observability.get_span(trace_id="t", span_id="root") is None
    for name in ("list_traces", "list_traces_light", "list_branches"):
        for options in ({}, {"order_by": "ended_at"}, {"filters": SpanFilters(resource_id="ada")}):
            page = getattr(observability, name)(include_total=True, **options)
            assert (traces(page.items), page.total) == (["young"], 1)
    with pytest.raises(NotFoundError):
        observability.update_span(trace_id="t", span_id="root", updates=PATCH)


def test_a_span_that_has_expired_may_be_stored_anew(backend):
    observability = backend.store(ttl={"trace": {"default_ttl_seconds": 60}}).observability
    first = observability.create_span(span())
    backend.clock.advance(minutes=2)
    again = observability.create_span(span(name="new"))
    assert again.arrival > first.arrival
    assert ids(observability.list_traces().items) == ["root"]


def test_spans_do_not_expire_unless_it_is_said(backend):
    observability = backend.store(ttl={"trace": {"enabled": False}}).observability
    observability.create_span(span())
    backend.clock.advance(days=10_000)
    assert observability.get_span(trace_id="t", span_id="root") is not None


def test_expiry_needs_its_seconds():
    with pytest.raises(ConfigurationError, match="default_ttl_seconds"):
        DynamoDBStore("t", transport=MemoryTransport(MemoryDatabase()), ttl={"trace": {"enabled": True}})


# Tenants.


@pytest.mark.parametrize("method", [*READS, *WRITES])
def test_p103_no_method_reaches_another_tenant(backend, method):
    store = backend.store()
    outside = [store.scoped("b"), store]
    mine = store.scoped("a").observability
    mine.batch_create_spans([span(**{**FULL, "output": "stored-by-a"}, span_type="agent_run"), child("c")])
    backend.clock.advance(seconds=10)
    before = [item for item in backend.items() if item["pk"]["S"].startswith("@a#")]
    for one in outside:
        if method in MISSING:
            with pytest.raises(NotFoundError):
                WRITES[method](one.observability)
        else:
            assert "stored-by-a" not in repr((READS | WRITES)[method](one.observability))
    assert [item for item in backend.items() if item["pk"]["S"].startswith("@a#")] == before


@pytest.mark.parametrize("method", [*READS, *WRITES])
def test_p103_every_partition_of_a_tenant_begins_with_it(fake, method):
    observability = fake.store().scoped("b").observability
    observability.create_span(span(**FULL))
    fake.clock.advance(seconds=10)
    fake.sent.clear()
    (READS | WRITES)[method](observability)
    sent = str([request.params for request in fake.sent.requests])
    assert sent.count("'@b#trace#") == sent.count("trace#") - sent.count("'trace#")
    assert "@b#trace#" in sent


def test_the_resource_of_a_user_leads_to_all_spans(fake):
    fake.store().observability.batch_create_spans([span(resource_id="ada"), child("c", resource_id="ada"), child("d")])
    table = Table("fake", MemoryTransport(fake.database), entities=[Span], clock=fake.clock)
    assert sorted(ids(table.query(Span.ByResource(resource_id="ada")))) == ["c", "root"]
