"""Spans are stored and changed as store.observability promises, on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from singletable import (
    InvalidKeyError,
    InvalidValueError,
    ItemTooLargeError,
    NotFoundError,
    RequestError,
    remove,
)
from singletable.schemas import Span, Thread
from singletable.store.span_forms import preview
from tests.contract.spans import ERROR, FULL, SECOND, child, ids, span
from tests.contract.support import ALL, FAKES, START, make_store_backend


@pytest.fixture(params=ALL)
def backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def observability(backend):
    return backend.store().observability


def get(observability, span_id="root", trace_id="t"):
    return observability.get_span(trace_id=trace_id, span_id=span_id)


def update(observability, updates, span_id="root", trace_id="t"):
    return observability.update_span(trace_id=trace_id, span_id=span_id, updates=updates)


# Creating.


@pytest.mark.parametrize("given", [span(), child("c"), span(span_type="agent_run"), child("c", span_type="tool_call")])
def test_o01_a_span_that_was_created_is_found(observability, given):
    created = observability.create_span(given)
    assert get(observability, given.span_id) == created
    assert (created.trace_id, created.span_id, created.name) == ("t", given.span_id, given.name)


def test_o02_a_new_span_has_the_time_of_the_store(observability, backend):
    backend.clock.advance(hours=1)
    created = observability.create_span(span())
    assert (created.created_at, created.updated_at) == (backend.clock.now, backend.clock.now)
    assert created.started_at == START


def test_o02_times_are_kept_to_the_millisecond_and_in_utc(observability):
    given = START.replace(microsecond=123_999).astimezone(timezone(timedelta(hours=2)))
    observability.create_span(span(started_at=given, ended_at=given))
    found = get(observability)
    assert (found.started_at, found.ended_at) == (START.replace(microsecond=123_000),) * 2


@pytest.mark.parametrize("parent", [None, "above"])
def test_o03_o21_a_span_keeps_all_properties(observability, parent):
    observability.create_span(span(parent_span_id=parent, **FULL))
    found = get(observability)
    assert {name: getattr(found, name) for name in FULL} == FULL
    assert repr(found.metadata) == repr(FULL["metadata"])
    assert (found.parent_span_id, found.name, found.span_type, found.started_at) == (parent, "root", "generic", START)


def test_o04_a_child_knows_its_parent(observability):
    observability.create_span(span())
    observability.create_span(child("c"))
    assert get(observability, "c").parent_span_id == "root"
    assert get(observability, "root").parent_span_id is None


@pytest.mark.parametrize("value", ["text", "", 7, 1.5, True, False, 0, None, [], {}, [1, "a", None], {"a": {"": []}}])
def test_o05_input_and_output_may_be_anything(observability, value):
    observability.create_span(span(input=value, output=value))
    found = get(observability)
    assert (repr(found.input), repr(found.output)) == (repr(value), repr(value))


def test_o06_a_batch_stores_several_spans(observability):
    observability.batch_create_spans([span(), *(child(f"c{n}") for n in range(30))])
    assert len(observability.get_trace("t")) == 31


def test_o07_a_batch_stores_spans_of_several_traces(observability):
    observability.batch_create_spans([span(trace_id="a"), span(trace_id="b"), child("c", trace_id="b")])
    assert ids(observability.get_trace("a")) == ["root"]
    assert sorted(ids(observability.get_trace("b"))) == ["c", "root"]


def test_o08_an_empty_batch_is_fine(observability, backend):
    observability.batch_create_spans([])
    assert backend.sent.operations == []


@pytest.mark.parametrize("given", [span(), child("root"), child("root", span_type="tool_call")])
def test_a_span_that_is_created_again_is_replaced_whole(observability, backend, given):
    observability.create_span(given.model_copy(update={"output": 1, "resource_id": "ada"}))
    backend.clock.advance(hours=1)
    observability.create_span(given.model_copy(update={"name": "new"}))
    found = get(observability)
    assert (found.name, found.output, found.resource_id) == ("new", None, None)
    assert (found.created_at, found.updated_at) == (backend.clock.now, backend.clock.now)


def test_of_a_span_that_comes_twice_in_a_batch_the_later_is_stored(observability):
    observability.batch_create_spans([span(name="a"), child("c", name="a"), span(name="b"), child("c", name="b")])
    assert [one.name for one in observability.get_trace("t")] == ["b", "b"]


def test_a_span_that_is_given_is_not_changed(observability):
    given = span(input="x")
    before = given.model_copy()
    observability.create_span(given)
    assert given == before


def test_what_the_store_fills_in_is_not_taken_from_the_caller(observability):
    given = span(listing="root_anchor", shard="9", arrival="0", input_preview="x")
    created = observability.create_span(given)
    assert created.listing == "root"
    assert created.shard in "0123"
    assert created.arrival > "0"
    assert created.input_preview is None


@pytest.mark.parametrize("missing", ["trace_id", "span_id", "name", "span_type", "started_at"])
def test_a_span_without_what_it_needs_is_none(missing):
    fields = {"trace_id": "t", "span_id": "s", "name": "n", "span_type": "generic", "started_at": START}
    with pytest.raises(ValidationError, match=missing):
        Span(**{name: value for name, value in fields.items() if name != missing})


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (span(""), InvalidKeyError),
        (span(trace_id=" "), InvalidKeyError),
        (span(resource_id=""), InvalidKeyError),
        (child(""), InvalidKeyError),
        (span(started_at=datetime(2026, 1, 1)), InvalidKeyError),  # noqa: DTZ001 - that is the point
        (child("n", started_at=datetime(2026, 1, 1)), InvalidValueError),  # noqa: DTZ001
        (span(output=object()), InvalidValueError),
        (span(input={"a": {1, 2}}), InvalidValueError),
        (span(output="x" * 410_000), ItemTooLargeError),
        (Thread(id="t", resource_id="ada"), RequestError),
    ],
)
def test_what_cannot_be_stored_is_refused_before_anything_is(fake, given, error):
    observability = fake.store().observability
    with pytest.raises(error):
        observability.create_span(given)
    with pytest.raises(error):
        observability.batch_create_spans([child("c"), span("other"), given])
    assert (fake.sent.operations, fake.items()) == ([], [])


# Changing.


def test_o26_an_update_changes_fields(observability, backend):
    observability.create_span(span())
    backend.clock.advance(seconds=5)
    changes = {"ended_at": START + SECOND, "output": {"a": [1]}, "error": ERROR, "metadata": {"b": 1}, "tags": ["x"]}
    updated = update(observability, Span.Patch(**changes))
    found = get(observability)
    assert found == updated
    assert {name: getattr(found, name) for name in changes} == changes
    assert (found.created_at, found.updated_at) == (START, backend.clock.now)


def test_o27_an_update_changes_the_name(observability):
    observability.create_span(span())
    update(observability, Span.Patch(name="new"))
    assert get(observability).name == "new"


def test_o28_an_update_keeps_the_rest(observability):
    observability.create_span(span(**FULL))
    before = get(observability)
    update(observability, Span.Patch(name="new"))
    assert get(observability) == before.model_copy(update={"name": "new"})


def test_an_update_replaces_a_field_whole_and_none_clears_it(observability):
    observability.create_span(span(metadata={"a": 1}, attributes={"b": 2}, input="x"))
    update(observability, Span.Patch(metadata={"c": 3}, attributes=None, input=remove()))
    found = get(observability)
    assert (found.metadata, found.attributes, found.input, found.input_preview) == ({"c": 3}, None, None, None)


@pytest.mark.parametrize("resource_id", ["bob", None])
def test_an_update_of_the_resource_moves_the_span(observability, resource_id):
    observability.create_span(child("root", resource_id="ada"))
    update(observability, Span.Patch(resource_id=resource_id))
    assert get(observability).resource_id == resource_id


@pytest.mark.parametrize("ids", [{"span_id": "other"}, {"trace_id": "other"}, {"trace_id": "T"}])
def test_an_update_of_a_span_that_is_not_there_raises(observability, backend, ids):
    observability.create_span(span())
    with pytest.raises(NotFoundError):
        update(observability, Span.Patch(name="new"), **ids)
    assert len(backend.items()) == 1


def test_o29_a_batch_updates_several_spans(observability):
    observability.batch_create_spans([span(), child("a"), child("b")])
    patches = [(Span.Key(trace_id="t", span_id=one), Span.Patch(name=f"new-{one}")) for one in ("b", "a")]
    assert ids(observability.batch_update_spans(patches)) == ["b", "a"]
    assert {one.name for one in observability.get_trace("t")} == {"root", "new-a", "new-b"}


def test_o30_a_batch_updates_spans_of_several_traces(observability):
    observability.batch_create_spans([span(trace_id="a"), span(trace_id="b")])
    patches = [(Span.Key(trace_id=one, span_id="root"), Span.Patch(output=one)) for one in ("a", "b")]
    observability.batch_update_spans(patches)
    assert [get(observability, trace_id=one).output for one in ("a", "b")] == ["a", "b"]


def test_of_several_updates_of_one_span_in_a_batch_the_later_wins_field_by_field(observability):
    observability.create_span(span(input="x"))
    key = Span.Key(trace_id="t", span_id="root")
    patches = [(key, Span.Patch(name="a", output=1)), (key, Span.Patch(name="b", input="y"))]
    (updated,) = observability.batch_update_spans(patches)
    assert (updated.name, updated.output, updated.input, updated.input_preview) == ("b", 1, "y", "y")
    assert get(observability) == updated


def test_a_batch_of_updates_raises_for_a_span_that_is_not_there(observability):
    observability.create_span(span())
    patches = [(Span.Key(trace_id="t", span_id=one), Span.Patch(name="new")) for one in ("root", "other")]
    with pytest.raises(NotFoundError):
        observability.batch_update_spans(patches)
    assert observability.batch_update_spans([]) == []


def test_updates_are_a_patch(fake):
    observability = fake.store().observability
    with pytest.raises(RequestError, match=r"Span\.Patch"):
        update(observability, {"name": "new"})
    with pytest.raises(RequestError, match=r"Span\.Patch"):
        observability.batch_update_spans([(Span.Key(trace_id="t", span_id="root"), {"name": "new"})])
    assert fake.sent.operations == []


def test_updates_of_several_callers_all_win(observability):
    observability.create_span(span())
    update(observability, Span.Patch(output=1))
    update(observability, Span.Patch(error=ERROR))
    found = get(observability)
    assert (found.output, found.error) == (1, ERROR)


# Reading single spans.


def test_o18_no_span_is_none(observability):
    assert get(observability) is None


def test_o19_no_span_of_a_trace_that_is_there_is_none(observability):
    observability.create_span(span())
    assert get(observability, "other") is None
    assert get(observability, "ROOT") is None


def test_o20_the_span_that_is_asked_for(observability):
    observability.batch_create_spans([span(), child("a"), child("b")])
    assert get(observability, "a").span_id == "a"


def test_get_spans_gives_them_in_the_order_of_the_ids(observability):
    observability.batch_create_spans([span(), child("a"), child("b"), child("c", trace_id="other")])
    assert ids(observability.get_spans("t", ["b", "none", "root", "c"])) == ["b", "root"]
    assert observability.get_spans("none", ["a"]) == []
    assert observability.get_spans("t", []) == []
    with pytest.raises(RequestError, match="several ids"):
        observability.get_spans("t", "a")


# Previews.


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 100 + "…"),
        ({"city": "Oslo"}, '{"city":"Oslo"}'),
        ([1, 2], "[1,2]"),
        (0, "0"),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "a"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}], "a | b"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}]}, "a"),
        ({"messages": [{"role": "user", "content": {"format": 2, "parts": [{"text": "a"}, {"text": "b"}]}}]}, "a | b"),
        ([{"role": "assistant", "content": "b"}], '[{"role":"assistant","content":"b"}]'),
    ],
)
def test_an_input_has_a_preview(observability, given, expected):
    assert preview(given) == expected
    observability.create_span(span())
    update(observability, Span.Patch(input=given))
    (light,) = observability.list_traces_light().items
    assert light.input_preview == expected
