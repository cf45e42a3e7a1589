"""Traces and branches are read and deleted as store.observability promises, on the fake, moto and dynalite."""

from __future__ import annotations

import pytest

from singletable import RequestError, ThrottledError
from singletable.schemas import Span
from singletable.store.span_forms import LightSpan
from singletable.testing import Crash
from tests.contract.spans import ERROR, FULL, SECOND, child, ids, roots, span, traces
from tests.contract.support import ALL, FAKES, START, make_store_backend

LIGHT = {
    "trace_id", "span_id", "parent_span_id", "name", "span_type", "is_event", "started_at", "ended_at", "error",
    "entity_type", "entity_id", "entity_name", "created_at", "updated_at",
}  # fmt: skip
HEAVY = {"input", "output", "attributes", "metadata", "links", "requestContext", "scope", "tags"}


@pytest.fixture(params=ALL)
def backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def observability(backend):
    return backend.store().observability


@pytest.fixture
def tree(observability):
    """root -> (late, early -> (leaf -> deepest)), by their names against the order of their starts."""
    observability.batch_create_spans(
        [
            child("deepest", "leaf", started_at=START + 1 * SECOND),
            child("late", started_at=START + 4 * SECOND),
            child("early", started_at=START + 2 * SECOND),
            span(),
            child("leaf", "early", started_at=START + 3 * SECOND),
        ]
    )
    return observability


@pytest.mark.parametrize("read", ["get_trace", "get_trace_light", "get_root_span"])
def test_o09_o11_o22_a_trace_that_is_not_there_is_none(observability, read):
    observability.create_span(span(trace_id="T"))
    assert getattr(observability, read)("t") is None


@pytest.mark.parametrize("read", ["get_trace", "get_trace_light"])
def test_o10_o12_o15_all_spans_by_their_start(tree, read):
    assert ids(getattr(tree, read)("t")) == ["root", "deepest", "early", "leaf", "late"]


@pytest.mark.parametrize("read", ["get_trace", "get_trace_light"])
def test_spans_of_equal_starts_are_in_the_order_of_their_ids(observability, read):
    observability.batch_create_spans([child("b"), span("c"), child("a")])
    assert ids(getattr(observability, read)("t")) == ["a", "b", "c"]


def test_o13_a_light_span_has_the_light_fields(observability):
    observability.create_span(span(**FULL))
    (light,) = observability.get_trace_light("t")
    (whole,) = observability.get_trace("t")
    assert LightSpan.model_fields.keys() == LIGHT
    assert {name: getattr(light, name) for name in LIGHT} == {name: getattr(whole, name) for name in LIGHT}


def test_o14_a_light_read_sends_nothing_heavy(observability, backend):
    observability.create_span(span(**FULL))
    backend.sent.clear()
    observability.get_trace_light("t")
    observability.list_traces_light()
    sent = {name for response in backend.sent.responses for item in response["Items"] for name in item}
    assert "startedAt" in sent
    assert not sent & (HEAVY - {"metadata", "scope"})


def test_o16_a_light_child_knows_its_parent(tree):
    parents = {light.span_id: light.parent_span_id for light in tree.get_trace_light("t")}
    assert parents == {"root": None, "late": "root", "early": "root", "leaf": "early", "deepest": "leaf"}


def test_o17_a_light_span_keeps_its_error(observability):
    observability.create_span(span(error=ERROR))
    (light,) = observability.get_trace_light("t")
    assert (light.error, light.status) == (ERROR, "error")


def test_o23_o25_the_root_span_alone(tree):
    assert tree.get_root_span("t").span_id == "root"


def test_o24_the_root_span_has_all_properties(observability):
    observability.batch_create_spans([child("a"), span(**FULL)])
    found = observability.get_root_span("t")
    assert {name: getattr(found, name) for name in FULL} == FULL


def test_a_trace_without_a_root_has_no_root_span(observability):
    observability.create_span(child("a"))
    assert observability.get_root_span("t") is None


def test_of_several_roots_the_earliest(observability):
    observability.batch_create_spans([span("a", started_at=START + SECOND), span("b")])
    assert observability.get_root_span("t").span_id == "b"


def test_a_trace_is_longer_than_a_page_of_dynamodb(observability):
    spans = [child(f"s{n:02}", output="x" * 100_000, started_at=START + n * SECOND) for n in range(15)]
    observability.batch_create_spans(spans)
    assert ids(observability.get_trace("t")) == ids(spans)
    assert ids(observability.get_trace_light("t")) == ids(spans)


# Branches.


@pytest.mark.parametrize(
    ("span_id", "depth", "found"),
    [
        ("root", None, ["root", "deepest", "early", "leaf", "late"]),
        ("root", 0, ["root"]),
        ("root", 1, ["root", "early", "late"]),
        ("root", 2, ["root", "early", "leaf", "late"]),
        ("early", None, ["early", "deepest", "leaf"]),
        ("early", 1, ["early", "leaf"]),
        ("late", None, ["late"]),
    ],
)
def test_a_branch_is_a_span_and_what_lies_below(tree, span_id, depth, found):
    assert ids(tree.get_branch(trace_id="t", span_id=span_id, depth=depth)) == found


@pytest.mark.parametrize("where", [{"trace_id": "t", "span_id": "none"}, {"trace_id": "none", "span_id": "root"}])
def test_no_branch_is_none(tree, where):
    assert tree.get_branch(**where) is None


def test_a_branch_of_spans_that_are_their_own_ancestors_ends(observability):
    observability.batch_create_spans([child("a", "b"), child("b", "a"), child("self", "self")])
    assert ids(observability.get_branch(trace_id="t", span_id="a")) == ["a", "b"]
    assert ids(observability.get_branch(trace_id="t", span_id="self")) == ["self"]


@pytest.mark.parametrize("depth", [-1, 1.5, True, "1"])
def test_a_depth_is_a_whole_number(fake, depth):
    with pytest.raises(RequestError, match="depth"):
        fake.store().observability.get_branch(trace_id="t", span_id="s", depth=depth)
    assert fake.sent.operations == []


# Deleting.


def test_o31_a_trace_is_deleted_with_all_spans(observability, backend):
    observability.batch_create_spans([span(**FULL), *(child(f"c{n}", **FULL) for n in range(60))])
    observability.batch_create_spans([span(trace_id="other"), span(trace_id="third")])
    observability.batch_delete_traces(["t", "third"])
    assert observability.get_trace("t") is observability.get_trace("third") is None
    assert traces(observability.list_traces().items) == ["other"]
    assert len(backend.items()) == 1


def test_o32_a_trace_that_is_not_there_may_be_deleted(observability):
    observability.create_span(span())
    observability.batch_delete_traces(["none", "none"])
    observability.batch_delete_traces([])
    assert ids(observability.get_trace("t")) == ["root"]


def test_deleting_again_is_fine(observability):
    observability.batch_create_spans(roots(12))
    for _ in range(2):
        observability.batch_delete_traces(one.trace_id for one in roots(11))
    assert traces(observability.list_traces().items) == ["t11"]


@pytest.mark.parametrize(
    ("owner", "left"),
    [
        ({}, []),
        ({"organization_id": "o1"}, ["bob", "nobody", "rootless"]),
        ({"resource_id": "ada"}, ["bob", "nobody", "rootless"]),
        ({"resource_id": "bob"}, ["ada", "nobody", "rootless"]),
        ({"organization_id": "o1", "resource_id": "bob"}, ["ada", "bob", "nobody", "rootless"]),
        ({"resource_id": "ADA"}, ["ada", "bob", "nobody", "rootless"]),
    ],
)
def test_only_traces_whose_root_is_of_the_owner_are_deleted(observability, owner, left):
    observability.batch_create_spans(
        [
            span(trace_id="ada", organization_id="o1", resource_id="ada"),
            child("c", trace_id="ada"),
            span(trace_id="bob", organization_id="o2", resource_id="bob"),
            child("c", trace_id="bob", organization_id="o1", resource_id="ada"),
            span(trace_id="nobody"),
            child("c", trace_id="rootless", organization_id="o1", resource_id="ada"),
        ]
    )
    names = ["ada", "bob", "nobody", "rootless"]
    observability.batch_delete_traces(names, **owner)
    assert [name for name in names if observability.get_trace(name)] == left


@pytest.mark.parametrize(
    "arguments",
    [
        {"trace_ids": "t"},
        {"trace_ids": [f"t{n}" for n in range(1001)]},
        {"trace_ids": ["t"], "resource_id": ""},
        {"trace_ids": ["t"], "resource_id": " "},
        {"trace_ids": ["t"], "organization_id": ""},
        {"trace_ids": ["t"], "organization_id": 1},
        {"trace_ids": ["t", ""]},
    ],
)
def test_a_deletion_that_says_too_little_or_too_much_is_refused(fake, arguments):
    observability = fake.store().observability
    observability.create_span(span())
    fake.sent.clear()
    with pytest.raises(RequestError):
        observability.batch_delete_traces(**arguments)
    assert fake.sent.operations == []


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_deletion_that_was_cut_off_can_be_repeated(fake, number):
    observability = fake.store().observability
    observability.batch_create_spans([span(resource_id="ada"), *(child(f"c{n}") for n in range(60))])
    fake.faults.crash_before(number, operation="BatchWriteItem")
    with pytest.raises(Crash):
        observability.batch_delete_traces(["t"], resource_id="ada")
    fake.faults.clear()
    observability.batch_delete_traces(["t"], resource_id="ada")
    assert fake.items() == []


def test_what_stays_unprocessed_is_an_error(fake):
    observability = fake.store().observability
    observability.create_span(span())
    fake.faults.throttle(None)
    with pytest.raises(ThrottledError):
        observability.batch_delete_traces(["t"])
    assert len(fake.items()) == 1


def test_span_keys_are_the_identity_of_spans():
    assert Span.Key.of(span()) == Span.Key(trace_id="t", span_id="root")
