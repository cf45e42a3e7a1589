"""What becomes of a snapshot when a step reports its result: by example, and whatever is reported."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable import InvalidValueError, RequestError
from singletable.store.runs import (
    PENDING,
    as_json,
    context_of,
    empty_snapshot,
    merged_result,
    status_of,
    thread_of,
    with_result,
)

MARK = {PENDING: True}
ASLEEP = {"status": "suspended", "suspendPayload": {"question": "?"}}
ASLEEP_SINCE = {"status": "suspended", "suspendedAt": 1}
DONE = {"status": "success", "output": 1}


def foreach(*output, **fields):
    return {"status": "running", **fields, "output": list(output)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, {"status": "success"}),
        (None, foreach(1, None)),
        ({"status": "suspended", "x": 1}, {"status": "success"}),
        (foreach(1, 2), {"status": "failed"}),
        (foreach(1, 2), {"status": "success", "output": {"a": 1}}),
        ({"status": "running", "output": "text"}, foreach(1)),
        ({"status": "running"}, foreach(1)),
        ([1], foreach(1)),
        ("old", {}),
    ],
)
def test_a_result_replaces_the_old_one_unless_both_are_of_a_foreach_step(old, new):
    assert merged_result(old, new) == new


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        ([1, None, None], [None, 2, None], [1, 2, None]),
        ([1, 2], ["one"], ["one", 2]),
        ([1], [None, None, 3], [1, None, 3]),
        ([], [1, None], [1, None]),
        ([1, 2], [], [1, 2]),
        ([ASLEEP], [DONE], [DONE]),
        ([0, False, "", []], [None] * 4, [0, False, "", []]),
        ([1, 2, 3, 4], [0, False, "", []], [0, False, "", []]),
        ([1], [{PENDING: True, "more": 1}], [{PENDING: True, "more": 1}]),
        ([1], [{PENDING: 1}], [{PENDING: 1}]),
        ([1], [{PENDING: False}], [{PENDING: False}]),
    ],
)
def test_outputs_are_merged_slot_by_slot(old, new, merged):
    result = merged_result(foreach(*old, kept=1, both=1), foreach(*new, both=2, added=2))
    assert result == foreach(*merged, kept=1, both=2, added=2)


@pytest.mark.parametrize("slot", [None, MARK, ASLEEP, ASLEEP_SINCE], ids=repr)
def test_a_marker_empties_a_slot_that_waits(slot):
    assert merged_result(foreach(slot), foreach(MARK)) == foreach(None)


@pytest.mark.parametrize(
    "slot",
    [1, 0, "", [], {}, DONE, {"status": "suspended"}, {"status": "failed", "suspendedAt": 1}, {**MARK, "more": 1}],
    ids=repr,
)
def test_a_marker_leaves_a_slot_that_is_done(slot):
    assert merged_result(foreach(slot), foreach(MARK)) == foreach(slot)


def test_a_marker_beyond_the_old_output_is_an_empty_slot():
    assert merged_result(foreach(1), foreach(None, None, MARK)) == foreach(1, None, None)


def test_an_output_with_a_marker_changes_nothing_but_the_slots_that_are_marked():
    old = foreach(ASLEEP, 2, ASLEEP, 4, status="suspended", kept=1)
    new = foreach(MARK, "two", None, None, "five", status="running", added=1)
    assert merged_result(old, new) == foreach(None, 2, ASLEEP, 4, None, status="suspended", kept=1)


def test_a_result_is_put_into_the_context_and_the_request_context_is_merged():
    old = {"status": "running", "context": {"a": DONE}, "requestContext": {"x": 1, "y": 1}, "other": 1}
    assert with_result(old, "b", {"output": 2}, {"y": 2}) == {
        "status": "running",
        "context": {"a": DONE, "b": {"output": 2}},
        "requestContext": {"x": 1, "y": 2},
        "other": 1,
    }
    assert with_result({"context": {}}, "b", {}, {}) == {"context": {"b": {}}, "requestContext": {}}


def test_an_empty_snapshot_has_room_for_results():
    empty = empty_snapshot("r", 5)
    assert (context_of(empty), status_of(empty), empty["runId"], empty["timestamp"]) == ({}, "pending", "r", 5)
    assert [context_of(one) for one in ({}, {"context": None}, {"context": [1]})] == [None] * 3


def test_a_status_is_a_text_or_none():
    assert [status_of(one) for one in ({}, {"status": None}, {"status": "x"})] == [None, None, "x"]
    with pytest.raises(InvalidValueError, match="not a int"):
        status_of({"status": 5})


def test_json_is_copied_and_nothing_else_is_taken():
    given_ = {"a": [1, {"b": None}], "tuple": (1, 2)}
    copied = as_json("result", given_)
    assert copied == {"a": [1, {"b": None}], "tuple": [1, 2]}
    assert copied["a"] is not given_["a"]
    with pytest.raises(RequestError, match="result takes a JSON object, not a list"):
        as_json("result", [])
    with pytest.raises(InvalidValueError, match="result"):
        as_json("result", {"x": float("inf")})


# The conversation that a snapshot names.


def step(thread_id, status="suspended"):
    stream = {"messageList": {"memoryInfo": {"threadId": thread_id}}}
    return {"status": status, "suspendPayload": {"__streamState": stream}}


def entered(thread_id):
    return {"messageListState": {"memoryInfo": {"threadId": thread_id}}}


@pytest.mark.parametrize(
    ("context", "thread_id"),
    [
        ({"input": entered("in")}, "in"),
        ({"input": entered("in"), "a": step("a")}, "a"),
        ({"a": step("a", "success"), "b": step("b"), "c": step("c")}, "b"),
        ({"a": step("a", "success"), "input": entered("in")}, "in"),
        ({"a": {"status": "suspended", "suspendPayload": {}}, "b": step("b")}, "b"),
        ({"a": step(None), "input": entered("in")}, "in"),
        ({"a": step(5)}, None),
        ({"a": step("")}, None),
        ({"input": {"messageListState": None}}, None),
        ({"input": "text", "a": None, "b": [1]}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_the_thread_of_a_snapshot(context, thread_id):
    assert thread_of({"context": context}) == thread_id


# Whatever is reported.

values = st.one_of(st.integers(1, 3), st.just(DONE), st.just(ASLEEP), st.just(ASLEEP_SINCE))
stored_slots = st.lists(st.none() | values, max_size=5)
reported_slots = st.lists(st.none() | values | st.just(MARK), max_size=5)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def is_done(slot):
    return slot is not None and slot not in (ASLEEP, ASLEEP_SINCE)


@given(stored_slots, st.lists(reported_slots, max_size=4))
def test_no_slot_that_is_done_becomes_empty_and_no_marker_is_stored(old, reports):
    stored = foreach(*old)
    for output in reports:
        before, stored = stored["output"], merged_result(stored, foreach(*output))
        assert len(stored["output"]) == max(len(before), len(output))
        assert all(stored["output"][place] is not None for place, slot in enumerate(before) if is_done(slot))
        assert MARK not in stored["output"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers()), unique_by=lambda one: one[0]), st.randoms())
def test_iterations_may_report_in_any_order(done, random):
    outputs = [[value if place == at else None for place in range(5)] for at, value in done]
    random.shuffle(outputs)
    stored = foreach(*[None] * 5)
    for output in outputs:
        stored = merged_result(stored, foreach(*output))
    assert stored["output"] == [dict(done).get(place) for place in range(5)]


@given(stored_slots, reported_slots)
def test_a_report_that_comes_twice_counts_once(old, output):
    once = merged_result(foreach(*old), foreach(*output))
    assert merged_result(once, foreach(*output)) == once


@given(anything, st.dictionaries(st.text(max_size=3), anything, max_size=3))
def test_nothing_that_is_passed_in_is_changed(old, new):
    before = copy.deepcopy((old, new))
    merged_result(old, new)
    with_result({"context": {"a": old}}, "a", new, new)
    assert (old, new) == before


@given(st.dictionaries(st.sampled_from(["context", "status", "input"]), anything, max_size=3))
def test_the_thread_of_any_snapshot_is_a_text_or_none(snapshot):
    assert thread_of(snapshot) is None or isinstance(thread_of(snapshot), str)
