"""Keys at the limits: the longest, the finest times, stored texts that are none, ranges that are given wrongly."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Literal, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.annotations import part_kind
from singletable.errors import IncompleteKeyError, InvalidKeyError
from singletable.keys import SORT_BYTES, KeyPart, KeyTemplate
from singletable.values import between, gt, gte, lt, lte, starting

State = Literal["open", "done#", "%23"]
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def template(*kinds: type) -> KeyTemplate:
    return KeyTemplate("sk", "t", tuple(KeyPart(f"p{i}", kind) for i, kind in enumerate(kinds)), SORT_BYTES)


@given(st.sampled_from(get_args(State)))
def test_a_literal_comes_back(value):
    kind = part_kind(frozenset((State,)))
    assert isinstance(kind, type)
    key = template(kind)
    assert key.parse(key.render({"p0": value})) == {"p0": value}


@pytest.mark.parametrize("condition", [gte, lte, starting, lambda text: between(text, text)])
def test_a_range_takes_the_longest_text_that_a_key_takes(condition):
    key, longest = template(str), "x" * (SORT_BYTES - 2)
    assert key.render({"p0": longest}) in key.interval({"p0": condition(longest)})


@pytest.mark.parametrize("condition", [gt, lt])
def test_a_strict_range_takes_the_longest_text_and_leaves_it_out(condition):
    key, longest = template(str), "x" * (SORT_BYTES - 2)
    assert key.render({"p0": longest}) not in key.interval({"p0": condition(longest)})


@pytest.mark.parametrize("condition", [starting("a"), lt("b")])
def test_a_range_reaches_to_the_last_byte(condition):
    key, text = template(str), "a" + "\U0010ffff" * 255 + "b"
    stored = key.render({"p0": text})
    assert len(stored.encode()) == SORT_BYTES
    assert stored in key.interval({"p0": condition})


@settings(derandomize=True, max_examples=150)
@given(
    st.sampled_from([(gt, datetime.__gt__), (gte, datetime.__ge__), (lt, datetime.__lt__), (lte, datetime.__le__)]),
    st.integers(0, 3_000),
    st.integers(0, 3),
)
def test_a_bound_finer_than_a_millisecond_selects_what_its_operator_says(case, microseconds, milliseconds):
    condition, holds = case
    bound, stored = NOON + timedelta(microseconds=microseconds), NOON + timedelta(milliseconds=milliseconds)
    key = template(datetime)
    assert (key.render({"p0": stored}) in key.interval({"p0": condition(bound)})) == holds(stored, bound)


def test_a_time_outside_the_years_of_utc_is_refused_by_name():
    early = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=5)))
    with pytest.raises(InvalidKeyError, match="p0"):
        template(datetime).render({"p0": early})


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        ((), "t#junk"),
        ((int,), "t#abc"),
        ((int,), "t#"),
        ((datetime,), "t#abc"),
        ((str,), "t#a#b"),
        ((str,), "u#a"),
        ((str,), "t"),
    ],
)
def test_a_text_that_render_never_makes_is_not_parsed(kinds, text):
    with pytest.raises(InvalidKeyError):
        template(*kinds).parse(text)


@pytest.mark.parametrize(
    ("values", "error", "name"),
    [
        ({"p1": "SECRET"}, IncompleteKeyError, "p0"),
        ({"p0": "SECRET", "p2": "SECRET"}, IncompleteKeyError, "p1"),
        ({"p0": gte("SECRET"), "p1": "SECRET"}, IncompleteKeyError, "p0"),
        ({"p0": between("SECRET", "A")}, InvalidKeyError, "p0"),
        ({"p0": starting("")}, InvalidKeyError, "p0"),
        ({"p0": gte(b"SECRET")}, InvalidKeyError, "p0"),
        ({"p0": between("A", 1)}, InvalidKeyError, "p0"),
    ],
)
def test_a_wrong_range_is_refused_by_name_without_its_values(values, error, name):
    with pytest.raises(error, match=name) as caught:
        template(str, str, str).interval(values)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("end", ["x", "\x7f", "\ud7ff", "\uffff"])
def test_after_the_longest_text_comes_the_next_one(end):
    key = template(str)
    longest = "x" * (SORT_BYTES - 2 - len(end.encode())) + end
    interval = key.interval({"p0": gt(longest)})
    assert len(interval.low.encode()) <= SORT_BYTES
    assert key.render({"p0": longest}) not in interval
    assert key.render({"p0": "y"}) in interval


def test_between_two_times_closer_than_a_millisecond_lies_nothing():
    interval = template(datetime).interval(
        {"p0": between(NOON + timedelta(microseconds=100), NOON + timedelta(microseconds=200))}
    )
    assert interval.low <= interval.high
    for milliseconds in (0, 1):
        assert template(datetime).render({"p0": NOON + timedelta(milliseconds=milliseconds)}) not in interval
