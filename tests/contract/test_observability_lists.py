"""Lists of traces and branches are pages in order, on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain

import pytest

from singletable import InvalidCursorError, RequestError, between, gt, gte, lt, lte
from singletable.cursors import cursor_text
from singletable.schemas import Span
from singletable.store.span_filters import SpanFilters
from singletable.store.span_forms import ANCHORS, LightTrace
from tests.contract.spans import ERROR, FULL, MILLISECOND, SECOND, child, ids, roots, span, traces
from tests.contract.support import ALL, FAKES, START, make_store_backend

LISTS = ["list_traces", "list_traces_light", "list_branches"]
TICK = MILLISECOND / 1000
END_OF_TIME = datetime.max.replace(tzinfo=UTC)
every_list = pytest.mark.parametrize("name", LISTS)
both_orders = pytest.mark.parametrize("order", ["asc", "desc"])


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
def many(observability):
    """25 traces, of two kinds, each with a step that no list of traces shows."""
    observability.batch_create_spans(roots(25)[::2])
    observability.batch_create_spans(roots(25, span_type="agent_run")[1::2])
    observability.batch_create_spans(child("c", trace_id=one.trace_id, span_type="tool_call") for one in roots(25))
    return observability


def names(*numbers):
    return [f"t{number:02}" for number in numbers]


def walked(read, **options):
    """The traces of all pages, one after the other, by their cursors."""
    pages, cursor = [], None
    while cursor or not pages:
        found = read(cursor=cursor, **options)
        pages.append(traces(found.items))
        cursor = found.cursor
        assert found.has_more == (cursor is not None)
    return pages


@every_list
def test_o33_no_traces_are_an_empty_page(observability, name):
    observability.create_span(child("c"))
    found = getattr(observability, name)(include_total=True)
    assert (found.items, found.has_more, found.cursor, found.total) == ([], False, None, 0)


def test_o34_the_first_page_is_the_newest_ten(many):
    found = many.list_traces(include_total=True)
    assert traces(found.items) == names(*range(24, 14, -1))
    assert (found.total, found.has_more) == (25, True)
    assert many.list_traces().total is None


@pytest.mark.parametrize(("per_page", "more"), [(1, True), (24, True), (25, False), (100, False)])
@pytest.mark.parametrize("name", ["list_traces", "list_traces_light"])
def test_o35_a_page_has_the_size_that_is_asked_for(many, name, per_page, more):
    found = getattr(many, name)(per_page=per_page)
    assert traces(found.items) == names(*range(24, -1, -1))[:per_page]
    assert found.has_more is more


@both_orders
def test_o36_pages_by_number(many, order):
    expected = names(*range(25)) if order == "asc" else names(*range(24, -1, -1))
    pages = [many.list_traces(page=page, order=order) for page in range(4)]
    assert [traces(page.items) for page in pages] == [expected[:10], expected[10:20], expected[20:], []]
    assert [page.has_more for page in pages] == [True, True, False, False]


@both_orders
@pytest.mark.parametrize("name", ["list_traces", "list_traces_light"])
@pytest.mark.parametrize("per_page", [1, 7, 25])
def test_pages_by_cursor_give_everything_once(many, name, order, per_page):
    expected = names(*range(25)) if order == "asc" else names(*range(24, -1, -1))
    pages = walked(getattr(many, name), per_page=per_page, order=order)
    assert [len(page) for page in pages[:-1]] == [per_page] * (len(pages) - 1)
    assert [*chain.from_iterable(pages)] == expected


@both_orders
@pytest.mark.parametrize("order_by", ["started_at", "ended_at"])
def test_equal_times_are_in_the_order_of_the_ids(observability, order, order_by):
    observability.batch_create_spans(span(trace_id=one.trace_id) for one in roots(12))
    expected = names(*range(12)) if order == "asc" else names(*range(11, -1, -1))
    assert [
        *chain.from_iterable(walked(observability.list_traces, per_page=5, order=order, order_by=order_by))
    ] == expected


def test_a_cursor_survives_writes(many):
    first = many.list_traces(per_page=10)
    many.create_span(span(trace_id="newer", started_at=START + 99 * SECOND))
    many.batch_delete_traces([first.items[-1].trace_id])
    assert traces(many.list_traces(per_page=10, cursor=first.cursor).items) == names(*range(14, 4, -1))


def test_a_cursor_serves_the_light_list_as_well(many):
    cursor = many.list_traces(per_page=20).cursor
    assert traces(many.list_traces_light(cursor=cursor).items) == names(4, 3, 2, 1, 0)


def test_a_cursor_belongs_to_its_list(fake):
    observability = fake.store().observability
    observability.batch_create_spans(roots(3, span_type="agent_run"))
    cursor = observability.list_traces(per_page=1).cursor
    for options in ({"order": "asc"}, {"order_by": "ended_at"}, {"filters": SpanFilters(user_id="u")}):
        with pytest.raises(InvalidCursorError):
            observability.list_traces(cursor=cursor, **options)
    with pytest.raises(InvalidCursorError):
        observability.list_branches(cursor=cursor)
    with pytest.raises(InvalidCursorError):
        fake.store().scoped("acme").observability.list_traces(cursor=cursor)


@pytest.mark.parametrize("cursor", ["", "x", "AAAA", "é"])
@every_list
def test_a_damaged_cursor_is_refused(fake, name, cursor):
    with pytest.raises(InvalidCursorError):
        getattr(fake.store().observability, name)(cursor=cursor)
    assert fake.sent.operations == []


@pytest.mark.parametrize(
    "place", [None, 1, [], ["x", None, "t", "s"], [START.isoformat(), 5, "t", "s"], ["", "", "", ""]]
)
def test_a_cursor_with_a_place_that_is_none_is_refused(fake, place):
    question = ("started_at", True, "", ("root", "root_anchor"), SpanFilters())
    with pytest.raises(InvalidCursorError, match="damaged"):
        fake.store().observability.list_traces(cursor=cursor_text(question, place))


@pytest.mark.parametrize(
    "options",
    [
        {"per_page": 0},
        {"per_page": 101},
        {"per_page": None},
        {"per_page": -1},
        {"per_page": True},
        {"page": -1},
        {"page": 1.5},
        {"page": 1, "cursor": "x"},
        {"order_by": "name"},
        {"order": "DESC"},
        {"filters": {"user_id": "u"}},
    ],
)
@every_list
def test_wrong_arguments_are_refused_before_anything_is_sent(fake, name, options):
    with pytest.raises(RequestError):
        getattr(fake.store().observability, name)(**options)
    assert fake.sent.operations == []


@every_list
@pytest.mark.parametrize("option", ["after", "limit", "mode", "pagination"])
def test_what_a_list_does_not_take_is_refused(name, option):
    from singletable.store._sync.observability import Observability

    with pytest.raises(TypeError, match=option):
        getattr(Observability, name)(None, **{option: 1})


# Status.


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"ended_at": START + SECOND}, "success"),
        ({"ended_at": START + SECOND, "error": ERROR}, "error"),
        ({"error": ERROR}, "error"),
        ({}, "running"),
    ],
)
def test_o48_the_status_of_a_span(observability, fields, status):
    observability.create_span(span(span_type="agent_run", **fields))
    found = [getattr(observability, name)().items[0] for name in LISTS] + observability.get_trace_light("t")
    assert [one.status for one in found] == [status] * 4


def test_the_status_follows_an_update(observability):
    observability.create_span(span())
    observability.update_span(trace_id="t", span_id="root", updates=Span.Patch(ended_at=START + SECOND))
    assert observability.list_traces().items[0].status == "success"


# Times.


@pytest.mark.parametrize(
    ("times", "found"),
    [
        (between(START + SECOND, START + 3 * SECOND), (3, 2, 1)),
        (gte(START + 3 * SECOND), (4, 3)),
        (gt(START + 3 * SECOND), (4,)),
        (lt(START + SECOND), (0,)),
        (lte(START + SECOND), (1, 0)),
        (gte(START + 3 * SECOND + TICK), (4,)),
        (gt(START + 3 * SECOND - TICK), (4, 3)),
        (lt(START + SECOND + TICK), (1, 0)),
        (lte(START + SECOND - TICK), (0,)),
        (between(START + TICK, START + 2 * TICK), ()),
        (gte(END_OF_TIME.replace(microsecond=0)), ()),
    ],
)
@pytest.mark.parametrize("filters", [{}, {"resource_id": "ada"}, {"trace_id": "t01"}])
def test_o49_o50_started_at_bounds_the_list(observability, times, found, filters):
    observability.batch_create_spans(roots(5, resource_id="ada"))
    page = observability.list_traces(filters=SpanFilters(started_at=times, **filters), include_total=True)
    expected = [name for name in names(*found) if name == filters.get("trace_id", name)]
    assert (traces(page.items), page.total) == (expected, len(expected))


@both_orders
@pytest.mark.parametrize("times", [between(START + SECOND, START + 8 * SECOND), gte(START), lte(START + 8 * SECOND)])
def test_a_cursor_stays_within_the_times(observability, order, times):
    observability.batch_create_spans(roots(10))
    filters = SpanFilters(started_at=times)
    whole = traces(observability.list_traces(filters=filters, order=order).items)
    assert [*chain.from_iterable(walked(observability.list_traces, per_page=3, filters=filters, order=order))] == whole


# Order.


def test_o61_o63_newest_first_unless_it_is_said(observability):
    observability.batch_create_spans(roots(3))
    assert traces(observability.list_traces().items) == names(2, 1, 0)
    assert traces(observability.list_traces(order_by="started_at", order="desc").items) == names(2, 1, 0)


def test_o62_oldest_first(observability):
    observability.batch_create_spans(roots(3))
    assert traces(observability.list_traces(order="asc").items) == names(0, 1, 2)


@pytest.mark.parametrize(("order", "found"), [("desc", (1, 3, 0, 2)), ("asc", (2, 0, 3, 1))])
@pytest.mark.parametrize("per_page", [1, 3, 10])
def test_o64_o65_what_runs_ended_later_than_everything(observability, order, found, per_page):
    zero, one, two, three = roots(4)
    zero.ended_at, two.ended_at = START + 20 * SECOND, START + 10 * SECOND
    one.started_at = START + 99 * SECOND
    observability.batch_create_spans([zero, one, two, three])
    pages = walked(observability.list_traces, order_by="ended_at", order=order, per_page=per_page)
    assert [*chain.from_iterable(pages)] == names(*found)
    numbered = [observability.list_traces(order_by="ended_at", order=order, per_page=1, page=n).items for n in range(5)]
    assert traces(chain.from_iterable(numbered)) == names(*found)


# Light lists and branches.


def test_a_light_trace_has_the_light_fields(observability):
    observability.create_span(span(**FULL))
    (light,), (whole,) = observability.list_traces_light().items, observability.list_traces().items
    assert {name: getattr(light, name) for name in LightTrace.model_fields} == {
        name: getattr(whole, name) for name in LightTrace.model_fields
    }
    assert (light.metadata, light.input_preview, light.status) == (FULL["metadata"], "hello", "error")


@pytest.mark.parametrize("span_type", sorted(ANCHORS))
def test_branches_begin_at_spans_of_some_types(observability, span_type):
    observability.batch_create_spans([span(span_type=span_type), child("c", span_type=span_type), child("d")])
    assert sorted(ids(observability.list_branches(include_total=True).items)) == ["c", "root"]
    assert ids(observability.list_traces().items) == ["root"]


def test_branches_are_listed_like_traces(many):
    whole = many.list_branches(per_page=100, include_total=True)
    starts = [one.started_at for one in whole.items]
    assert (len(whole.items), whole.total, starts) == (37, 37, sorted(starts, reverse=True))
    walk = walked(many.list_branches, per_page=8)
    assert [len(page) for page in walk] == [8, 8, 8, 8, 5]
    assert [*chain.from_iterable(walk)] == traces(whole.items)


def test_a_span_that_is_stored_anew_with_a_parent_leaves_the_list(observability):
    observability.create_span(span())
    observability.create_span(child("root", "above"))
    assert observability.list_traces().items == []
    observability.create_span(span())
    assert ids(observability.list_traces().items) == ["root"]
