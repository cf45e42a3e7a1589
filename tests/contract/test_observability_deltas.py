"""Polls show what has arrived, each span once, on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

from itertools import chain

import pytest

from singletable import InvalidCursorError, RequestError, Table, gte
from singletable.cursors import cursor_text
from singletable.schemas import Span
from singletable.store.span_filters import SpanFilters
from singletable.store.span_forms import placed
from singletable.testing import Crash, MemoryTransport
from tests.contract.spans import ERROR, SECOND, child, ids, roots, span, traces
from tests.contract.support import ALL, FAKES, START, make_store_backend

POLLS = ["list_traces_delta", "list_branches_delta"]
every_poll = pytest.mark.parametrize("name", POLLS)


@pytest.fixture(params=ALL)
def backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def observability(backend):
    return backend.store().observability


def head(observability, backend, name="list_traces_delta"):
    """The cursor of now, some time after which the next span is stored."""
    cursor = getattr(observability, name)().cursor
    backend.clock.advance(seconds=10)
    return cursor


@every_poll
def test_o37_o52_a_first_poll_shows_nothing_but_where_to_begin(observability, backend, name):
    observability.create_span(span(span_type="agent_run"))
    backend.clock.advance(seconds=10)
    first = getattr(observability, name)()
    assert (first.items, first.has_more) == ([], False)
    again = getattr(observability, name)(after=first.cursor)
    assert (again.items, again.has_more) == ([], False)


@every_poll
def test_o37_o52_a_poll_shows_what_was_stored_since_oldest_first(observability, backend, name):
    cursor = head(observability, backend, name)
    for one in ("c", "a", "b"):
        observability.create_span(span(trace_id=one, span_type="tool_call", started_at=START - SECOND))
    backend.clock.advance(seconds=10)
    found = getattr(observability, name)(after=cursor)
    assert (traces(found.items), found.has_more) == (["c", "a", "b"], False)
    assert getattr(observability, name)(after=found.cursor).items == []


@every_poll
def test_o37_o52_a_step_of_what_was_shown_and_what_a_filter_leaves_out_are_no_news(observability, backend, name):
    fields, filters = {"span_type": "agent_run", "environment": "production"}, SpanFilters(environment="production")
    observability.create_span(span(**fields))
    backend.clock.advance(seconds=10)
    cursor = getattr(observability, name)(filters=filters).cursor
    backend.clock.advance(seconds=10)
    observability.create_span(child("step", environment="production"))
    backend.clock.advance(seconds=10)
    assert getattr(observability, name)(filters=filters, after=cursor).items == []
    observability.create_span(span(trace_id="wanted", **fields))
    observability.create_span(span(trace_id="other", **{**fields, "environment": "staging"}))
    backend.clock.advance(seconds=10)
    found = getattr(observability, name)(filters=filters, after=cursor)
    assert (traces(found.items), found.has_more) == (["wanted"], False)


@pytest.mark.parametrize("limit", [1, 4, 100])
def test_o37_more_than_a_poll_holds_comes_with_the_next(observability, backend, limit):
    cursor = head(observability, backend)
    for one in roots(9):
        observability.create_span(one)
    backend.clock.advance(seconds=10)
    polls = []
    while not polls or polls[-1].has_more:
        polls.append(observability.list_traces_delta(after=cursor, limit=limit))
        cursor = polls[-1].cursor
    assert [len(poll.items) for poll in polls[:-1]] == [limit] * (len(polls) - 1)
    assert traces(chain.from_iterable(poll.items for poll in polls)) == [f"t{number:02}" for number in range(9)]


def test_what_is_stored_between_polls_is_shown_once(observability, backend):
    cursor, shown = head(observability, backend), []
    for one in roots(6):
        observability.create_span(one)
        backend.clock.advance(seconds=3)
        poll = observability.list_traces_delta(after=cursor)
        shown, cursor = shown + traces(poll.items), poll.cursor
    assert shown == ["t00", "t01", "t02", "t03", "t04"]
    backend.clock.advance(seconds=10)
    assert traces(observability.list_traces_delta(after=cursor).items) == ["t05"]


def test_a_span_that_is_stored_again_keeps_its_place(observability, backend):
    cursor = head(observability, backend)
    observability.batch_create_spans([span(trace_id="a")])
    observability.create_span(span(trace_id="b"))
    backend.clock.advance(seconds=10)
    first = observability.list_traces_delta(after=cursor, limit=1)
    observability.create_span(span(trace_id="a", name="new"))
    observability.batch_create_spans([span(trace_id="b", name="new")])
    observability.update_span(trace_id="a", span_id="root", updates=Span.Patch(error=ERROR))
    backend.clock.advance(seconds=10)
    assert traces(observability.list_traces_delta(after=first.cursor).items) == ["b"]
    again = observability.list_traces_delta(after=cursor)
    assert [(one.trace_id, one.name, one.status) for one in again.items] == [
        ("a", "new", "error"),
        ("b", "new", "running"),
    ]


def test_a_span_that_is_deleted_and_stored_anew_arrives_anew(observability, backend):
    observability.create_span(span())
    cursor = head(observability, backend)
    observability.batch_delete_traces(["t"])
    observability.create_span(span())
    backend.clock.advance(seconds=10)
    assert traces(observability.list_traces_delta(after=cursor).items) == ["t"]


def test_a_span_is_held_back_until_others_can_no_longer_arrive_before_it(observability, backend):
    cursor = head(observability, backend)
    observability.create_span(span())
    backend.clock.advance(seconds=4)
    waiting = observability.list_traces_delta(after=cursor)
    backend.clock.advance(seconds=2)
    assert (waiting.items, traces(observability.list_traces_delta(after=waiting.cursor).items)) == ([], ["t"])


def test_a_span_of_a_machine_whose_clock_is_behind_is_not_missed(backend):
    ahead, behind = backend.store().observability, backend.store(clock=lambda: backend.clock.now - 3 * SECOND)
    cursor = head(ahead, backend)
    backend.clock.advance(seconds=10)
    ahead.create_span(span(trace_id="ahead"))
    poll = ahead.list_traces_delta(after=cursor)
    behind.observability.create_span(span(trace_id="behind"))
    backend.clock.advance(seconds=10)
    assert traces(ahead.list_traces_delta(after=poll.cursor).items) == ["behind", "ahead"]


def test_a_clock_that_goes_back_shows_nothing_twice(observability, backend):
    cursor = head(observability, backend)
    observability.create_span(span())
    backend.clock.advance(seconds=10)
    poll = observability.list_traces_delta(after=cursor)
    backend.clock.advance(seconds=-10)
    back = observability.list_traces_delta(after=poll.cursor)
    assert (len(poll.items), back.items, back.cursor) == (1, [], poll.cursor)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_save_that_was_cut_off_and_repeated_is_shown_once(fake, number):
    observability = fake.store().observability
    cursor = head(observability, fake)
    batch = [*roots(3), child("c", trace_id="t00")]
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        observability.batch_create_spans(batch)
    fake.faults.clear()
    fake.clock.advance(seconds=1)
    observability.batch_create_spans(batch)
    fake.clock.advance(seconds=10)
    assert sorted(traces(observability.list_traces_delta(after=cursor).items)) == ["t00", "t01", "t02"]


@pytest.mark.parametrize("meddle", ["delete", "store anew"])
def test_a_span_that_others_change_while_it_is_replaced_is_stored_over_what_they_left(fake, meddle):
    """After the first refusal, and before the span is put over what was seen."""
    observability = fake.store().observability
    observability.create_span(span(name="old"))
    table = Table("fake", MemoryTransport(fake.database), entities=[Span], clock=fake.clock)
    left = []

    def overtake(request):
        if request.operation == "PutItem" and ":" in str(request.params.get("ConditionExpression")) and not left:
            if len([one for one in fake.sent.operations if one == "PutItem"]) < 3:
                return
            table.delete(Span.Key(trace_id="t", span_id="root"))
            left.append(None)
            if meddle == "store anew":
                left.append(table.create(placed(span(name="other"), "00000000000000001")).arrival)

    fake.faults.on_request = overtake
    stored = observability.create_span(span(name="new"))
    fake.faults.on_request = None
    assert left
    assert observability.get_span(trace_id="t", span_id="root") == stored
    assert stored.name == "new"
    assert meddle == "delete" or stored.arrival == left[1]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"user_id": "u"}, ["t01", "t03"]),
        ({"started_at": gte(START + 2 * SECOND)}, ["t02", "t03"]),
        ({"trace_id": "t01"}, ["t01"]),
        ({"resource_id": "ada"}, ["t01", "t03"]),
        ({"metadata": {"a": 1}}, ["t01", "t03"]),
        ({"status": "running", "user_id": "u"}, ["t01", "t03"]),
        ({"has_child_error": True}, ["t00"]),
    ],
)
def test_a_poll_has_filters(observability, backend, filters, found):
    cursor = head(observability, backend)
    fields = {"user_id": "u", "resource_id": "ada", "metadata": {"a": 1}}
    for number, one in enumerate(roots(4)):
        observability.create_span(one.model_copy(update=fields) if number % 2 else one)
    observability.create_span(child("c", trace_id="t00", error=ERROR))
    backend.clock.advance(seconds=10)
    poll = observability.list_traces_delta(after=cursor, filters=SpanFilters(**filters))
    assert (traces(poll.items), poll.has_more) == (found, False)
    assert observability.list_traces_delta(after=poll.cursor).items == []


def test_o52_branches_arrive_with_their_types(observability, backend):
    cursor = head(observability, backend, "list_branches_delta")
    observability.batch_create_spans([span(), child("plain")])
    for one in ("tool", "agent"):
        observability.create_span(child(one, span_type={"tool": "tool_call", "agent": "agent_run"}[one]))
    backend.clock.advance(seconds=10)
    assert ids(observability.list_branches_delta(after=cursor).items) == ["tool", "agent"]


@pytest.mark.parametrize("after", ["", "x", "AAAA", "é"])
@every_poll
def test_o37_a_damaged_cursor_is_refused(fake, name, after):
    with pytest.raises(InvalidCursorError):
        getattr(fake.store().observability, name)(after=after)
    assert fake.sent.operations == []


@pytest.mark.parametrize("place", [None, "", 1, []])
def test_o37_a_cursor_with_a_place_that_is_none_is_refused(fake, place):
    after = cursor_text(("", ("root", "root_anchor"), "arrivals"), place)
    with pytest.raises(InvalidCursorError, match="damaged"):
        fake.store().observability.list_traces_delta(after=after)


def test_o37_a_cursor_of_anything_else_is_refused(fake):
    observability = fake.store().observability
    observability.batch_create_spans(roots(2))
    others = [
        observability.list_traces(per_page=1).cursor,
        observability.list_branches_delta().cursor,
        fake.store().scoped("acme").observability.list_traces_delta().cursor,
    ]
    for after in others:
        with pytest.raises(InvalidCursorError):
            observability.list_traces_delta(after=after)


@pytest.mark.parametrize("options", [{"limit": 0}, {"limit": 101}, {"limit": True}, {"limit": None}, {"filters": {}}])
@every_poll
def test_o37_wrong_arguments_are_refused_before_anything_is_sent(fake, name, options):
    with pytest.raises(RequestError):
        getattr(fake.store().observability, name)(**options)
    assert fake.sent.operations == []


@every_poll
@pytest.mark.parametrize("option", ["page", "order_by", "cursor"])
def test_o37_pages_and_orders_are_no_arguments_of_a_poll(name, option):
    from singletable.store._sync.observability import Observability

    with pytest.raises(TypeError, match=option):
        getattr(Observability, name)(None, **{option: 1})
