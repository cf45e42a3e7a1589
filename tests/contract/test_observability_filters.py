"""Filters of lists show what they say and nothing else, on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import DynamoDBStore, Range, RequestError, between, gt, gte, lt
from singletable.schemas import Span
from singletable.store.span_filters import ANY, SpanFilters, same_json
from singletable.store.span_forms import ANCHORS
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.spans import ERROR, FULL, SECOND, child, roots, span, traces
from tests.contract.support import ALL, FAKES, START, Clock, make_store_backend

LISTS = ["list_traces", "list_traces_light", "list_branches"]
TEXTS = [name for name, value in FULL.items() if isinstance(value, str)]


@pytest.fixture(params=ALL)
def backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def observability(backend):
    return backend.store().observability


def found(observability, name="list_traces", **filters):
    page = getattr(observability, name)(filters=SpanFilters(**filters), include_total=True)
    assert page.total == len(page.items)
    return sorted(traces(page.items))


def test_o38_filter_by_type(observability):
    for number, span_type in enumerate(["agent_run", "generic", "agent_run"]):
        observability.create_span(span(trace_id=str(number), span_type=span_type))
    assert found(observability, span_type="agent_run") == ["0", "2"]
    assert found(observability, "list_branches", span_type="generic") == []


@pytest.mark.parametrize("name", TEXTS)
def test_o39_to_o43_and_o53_to_o60_filter_by_a_text(observability, name):
    fields = {"span_type": "agent_run", name: "mine"}
    observability.batch_create_spans(
        [
            span(trace_id="mine", **fields),
            span(trace_id="other", **{**fields, name: "other"}),
            span(trace_id="case", **{**fields, name: "MINE"}),
            span(trace_id="none", span_type="agent_run"),
        ]
    )
    assert [found(observability, one, **{name: "mine"}) for one in LISTS] == [["mine"]] * 3


def test_filter_by_trace(observability):
    observability.batch_create_spans([*roots(3), child("c", trace_id="t01", span_type="tool_call")])
    assert found(observability, trace_id="t01") == ["t01"]
    assert found(observability, "list_traces_light", trace_id="t01") == ["t01"]
    assert found(observability, "list_branches", trace_id="t01") == ["t01"]
    assert found(observability, trace_id="none") == []


@pytest.mark.parametrize("name", LISTS)
def test_o44_filters_that_nothing_matches_give_an_empty_page(observability, name):
    observability.batch_create_spans(roots(3, span_type="agent_run", entity_id="agent"))
    page = getattr(observability, name)(filters=SpanFilters(entity_id="none"), include_total=True)
    assert (page.items, page.has_more, page.cursor, page.total) == ([], False, None, 0)


def test_no_filter_shows_everything(observability):
    observability.batch_create_spans(roots(3))
    for filters in (None, SpanFilters()):
        assert len(observability.list_traces(filters=filters).items) == 3


@pytest.mark.parametrize("status", ["success", "error", "running"])
def test_o45_o46_o47_filter_by_status(observability, status):
    observability.batch_create_spans(
        [
            span(trace_id="running"),
            span(trace_id="success", ended_at=START + SECOND),
            span(trace_id="error", error=ERROR, ended_at=START + SECOND),
        ]
    )
    assert [found(observability, name, status=status) for name in LISTS[:2]] == [[status]] * 2


def test_a_filter_by_the_end_leaves_out_what_runs(observability):
    zero, one, two, running = roots(4)
    for number, ended in enumerate([zero, one, two]):
        ended.ended_at = START + (10 + number) * SECOND
    observability.batch_create_spans([zero, one, two, running])
    assert found(observability, ended_at=between(START + 11 * SECOND, START + 12 * SECOND)) == ["t01", "t02"]
    assert found(observability, ended_at=lt(START + 12 * SECOND)) == ["t00", "t01"]
    assert found(observability, ended_at=gte(START)) == ["t00", "t01", "t02"]


def test_o51_all_filters_hold_at_once(observability):
    fields = {"environment": "production", "user_id": "u1", "ended_at": START + SECOND}
    observability.batch_create_spans(
        [
            span(trace_id="both", **fields),
            span(trace_id="env", **{**fields, "environment": "test"}),
            span(trace_id="user", **{**fields, "user_id": "u2"}),
            span(trace_id="early", **{**fields, "started_at": START - SECOND}),
            span(trace_id="running", **{**fields, "ended_at": None}),
        ]
    )
    filters = {"environment": "production", "user_id": "u1", "status": "success", "started_at": gte(START)}
    assert found(observability, **filters) == ["both"]


@pytest.mark.parametrize(
    ("tags", "names"), [(["a"], ["ab", "abc"]), (["b", "a"], ["ab", "abc"]), (["c", "a"], ["abc"]), (["d"], [])]
)
def test_a_filter_by_tags_wants_all_of_them(observability, tags, names):
    for given_tags in ("ab", "abc", "bc"):
        observability.create_span(span(trace_id=given_tags, tags=[*given_tags]))
    observability.create_span(span(trace_id="aa", tags=["aa"]))
    observability.create_span(span(trace_id="none"))
    assert found(observability, tags=tags) == names


@pytest.mark.parametrize("name", ["metadata", "scope"])
@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"a": 1}, ["float", "more", "one"]),
        ({"a": 1.0}, ["float", "more", "one"]),
        ({"a": True}, ["true"]),
        ({"a": None}, ["null"]),
        ({"a": {"b": [1, {"c": "x"}]}}, ["deep"]),
        ({"a": {"b": [1]}}, []),
        ({"a": 1, "z": 2}, ["more"]),
        ({}, ["deep", "float", "more", "none", "null", "one", "true"]),
    ],
)
def test_a_filter_by_json_wants_equal_values_under_its_keys(observability, name, wanted, names):
    stored = {
        "one": {"a": 1},
        "float": {"a": 1.0},
        "true": {"a": True},
        "null": {"a": None},
        "deep": {"a": {"b": [1, {"c": "x"}]}},
        "more": {"a": 1, "z": 2},
        "none": None,
    }
    observability.batch_create_spans(
        span(trace_id=key, span_type="agent_run", **{name: value}) for key, value in stored.items()
    )
    assert [found(observability, one, **{name: wanted}) for one in LISTS] == [names] * 3


def test_json_is_equal_as_javascript_has_it():
    assert same_json({"a": [1, {"b": None}]}, {"a": (1.0, {"b": None})})
    for one, other in [
        (1, True),
        (0, False),
        ([1], [1, 2]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ("1", 1),
        ([], {}),
        (None, 0),
    ]:
        assert not same_json(one, other)


@pytest.mark.parametrize(("wanted", "names"), [(True, ["child", "root"]), (False, ["fine"])])
def test_a_filter_by_errors_of_children_counts_the_root_too(observability, wanted, names):
    observability.batch_create_spans(
        [
            *(span(trace_id=name, error=ERROR if name == "root" else None) for name in ("child", "root", "fine")),
            *(
                child("c", trace_id=name, error=ERROR if name == "child" else None)
                for name in ("child", "root", "fine")
            ),
        ]
    )
    assert [found(observability, name, has_child_error=wanted) for name in LISTS[:2]] == [names] * 2


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "running"},
        {"environment": "production"},
        {"resource_id": "ada"},
        {"metadata": {"even": True}},
        {"has_child_error": False},
    ],
)
def test_pages_of_filtered_lists_are_full(observability, filters):
    odd = {"ended_at": START + SECOND, "metadata": {"even": False}, "error": ERROR}
    even = {"environment": "production", "resource_id": "ada", "metadata": {"even": True}}
    observability.batch_create_spans(
        one.model_copy(update=odd if number % 2 else even) for number, one in enumerate(roots(20))
    )
    first = observability.list_traces(filters=SpanFilters(**filters), per_page=6, include_total=True)
    second = observability.list_traces(filters=SpanFilters(**filters), per_page=6, cursor=first.cursor)
    assert traces(first.items + second.items) == [f"t{number:02}" for number in range(18, -1, -2)]
    assert (len(first.items), len(second.items), first.total, second.has_more) == (6, 4, 10, False)
    by_number = observability.list_traces(filters=SpanFilters(**filters), per_page=6, page=1)
    assert traces(by_number.items) == traces(second.items)


@pytest.mark.parametrize("value", [None, "", "  ", 1, ["u"]])
@pytest.mark.parametrize("name", ["trace_id", *TEXTS])
def test_p100_an_owner_that_was_forgotten_is_not_everybody(name, value):
    with pytest.raises(RequestError, match=name):
        SpanFilters(**{name: value})


@pytest.mark.parametrize(
    "filters",
    [
        {"status": "SUCCESS"},
        {"status": None},
        {"status": []},
        {"tags": "a"},
        {"tags": [""]},
        {"tags": None},
        {"metadata": None},
        {"scope": []},
        {"has_child_error": None},
        {"has_child_error": 1},
        {"started_at": START},
        {"started_at": None},
        {"ended_at": gte("2026")},
        {"started_at": gte(START.replace(tzinfo=None))},
        {"ended_at": between(START + SECOND, START)},
        {"ended_at": between(START, (START + SECOND).replace(tzinfo=None))},
        {"ended_at": Range("starting", START)},
        {"started_at": gt(datetime.max.replace(tzinfo=UTC))},
        {"started_at": lt(datetime.min.replace(tzinfo=UTC))},
    ],
)
def test_filters_that_nothing_can_fit_are_refused(filters):
    with pytest.raises(RequestError):
        SpanFilters(**filters)


def test_an_error_of_a_filter_does_not_show_its_value():
    with pytest.raises(RequestError) as caught:
        SpanFilters(metadata=["secret-value"])
    assert "secret-value" not in str(caught.value)


def test_an_unknown_filter_is_refused():
    with pytest.raises(TypeError, match="owner"):
        SpanFilters(owner="ada")


@pytest.mark.parametrize("name", ["list_branches", "list_branches_delta"])
def test_branches_are_not_asked_about_the_rest_of_their_trace(fake, name):
    with pytest.raises(RequestError, match="has_child_error"):
        getattr(fake.store().observability, name)(filters=SpanFilters(has_child_error=True))
    assert fake.sent.operations == []


# Any filters over any spans find what a look at each span finds.

SPANS = st.lists(
    st.builds(
        dict,
        trace_id=st.sampled_from("abcdef"),
        span_id=st.sampled_from("xyz"),
        parent_span_id=st.sampled_from([None, None, "x"]),
        name=st.just("n"),
        span_type=st.sampled_from(["generic", "agent_run", "tool_call"]),
        started_at=st.integers(0, 4).map(lambda n: START + n * SECOND),
        ended_at=st.sampled_from([None, START + 2 * SECOND, START + 5 * SECOND]),
        error=st.sampled_from([None, ERROR]),
        resource_id=st.sampled_from([None, "ada", "bob"]),
        user_id=st.sampled_from([None, "u"]),
        metadata=st.sampled_from([None, {"a": 1}, {"a": 2}]),
    ),
    max_size=24,
    unique_by=lambda fields: (fields["trace_id"], fields["span_id"]),
)
WANTED = st.fixed_dictionaries(
    {},
    optional={
        "resource_id": st.just("ada"),
        "user_id": st.just("u"),
        "trace_id": st.sampled_from("abz"),
        "status": st.sampled_from(["success", "error", "running"]),
        "metadata": st.just({"a": 1}),
        "started_at": st.just(between(START + SECOND, START + 3 * SECOND)),
        "has_child_error": st.booleans(),
    },
)


def expected(spans, wanted, *, branches):
    """What a list shows, found by looking at each span."""
    failed = {one.trace_id for one in spans if one.error}
    shown = [one for one in spans if (one.span_type in ANCHORS if branches else one.parent_span_id is None)]
    return [
        one
        for one in shown
        if all(getattr(one, name) == wanted.get(name, getattr(one, name)) for name in ("resource_id", "user_id"))
        and wanted.get("trace_id", one.trace_id) == one.trace_id
        and wanted.get("status", one.status) == one.status
        and ("metadata" not in wanted or one.metadata == {"a": 1})
        and ("started_at" not in wanted or START + SECOND <= one.started_at <= START + 3 * SECOND)
        and ("has_child_error" not in wanted or (one.trace_id in failed) == wanted["has_child_error"])
    ]


@settings(max_examples=60)
@given(SPANS, WANTED, st.booleans(), st.sampled_from(["asc", "desc"]), st.integers(1, 5))
def test_lists_show_what_a_look_at_each_span_shows(fields, wanted, branches, order, per_page):
    store = DynamoDBStore("t", transport=MemoryTransport(MemoryDatabase()), clock=Clock())
    spans = [Span(**one) for one in fields]
    store.observability.batch_create_spans(spans)
    wanted = {name: value for name, value in wanted.items() if not (branches and name == "has_child_error")}
    read = store.observability.list_branches if branches else store.observability.list_traces
    keys, cursor, filters = [], None, SpanFilters(**wanted)
    while cursor or not keys:
        page = read(filters=filters, order=order, per_page=per_page, cursor=cursor, include_total=True)
        keys.append([(one.started_at, one.trace_id, one.span_id) for one in page.items])
        cursor = page.cursor
    shown = [(one.started_at, one.trace_id, one.span_id) for one in expected(spans, wanted, branches=branches)]
    assert [*chain.from_iterable(keys)] == sorted(shown, reverse=order == "desc")
    assert (page.total, filters.user_id is ANY) == (len(shown), "user_id" not in wanted)
