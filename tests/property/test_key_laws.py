"""The laws of key text: reversible, injective, in the order of the values, and ranges that never leave their entity."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from enum import Enum, IntEnum
from uuid import UUID

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from singletable.errors import IncompleteKeyError, InvalidKeyError
from singletable.keys import PARTITION_BYTES, SORT_BYTES, KeyPart, KeyTemplate
from singletable.values import Range, between, gt, gte, lt, lte, starting


class Color(Enum):
    RED = "red#"
    BLUE = "%23"


class Level(IntEnum):
    LOW = -3
    HIGH = 10


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip) | st.sampled_from(
    ["#", "%", "%23", "a#", "a", "a!", "$", "&", "\\", "\0a", "😀", "\U0010ffff", "\ud7ff", "\ue000", "a%"]
)
INTEGERS = st.integers(-(10**38) + 1, 10**38 - 1) | st.sampled_from([-1, 0, 1, 9, 10, 10**21])
TIMES = st.datetimes(
    datetime(1, 1, 2),  # noqa: DTZ001 - Hypothesis takes naive bounds and adds the zone
    datetime(9999, 12, 30),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5)), timezone(timedelta(hours=-9))]),
).map(lambda time: time.replace(microsecond=time.microsecond // 1000 * 1000))
KINDS = {
    str: TEXTS,
    int: INTEGERS,
    bool: st.booleans(),
    datetime: TIMES,
    date: st.dates(),
    UUID: st.uuids(),
    Color: st.sampled_from(Color),
    Level: st.sampled_from(Level),
}
PARTS = st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=3).flatmap(
    lambda kinds: st.tuples(
        st.just(tuple(kinds)), st.tuples(*(KINDS[kind] for kind in kinds)), st.tuples(*(KINDS[kind] for kind in kinds))
    )
)


def template(*kinds: type, prefix: str = "thing") -> KeyTemplate:
    return KeyTemplate("sk", prefix, tuple(KeyPart(f"p{i}", kind) for i, kind in enumerate(kinds)), SORT_BYTES)


def values(parts: tuple[object, ...]) -> dict[str, object]:
    return {f"p{i}": part for i, part in enumerate(parts)}


@given(PARTS)
def test_a_key_gives_its_parts_back(case):
    kinds, parts, _ = case
    key = template(*kinds)
    assert tuple(key.parse(key.render(values(parts))).values()) == parts


@given(PARTS)
def test_two_keys_are_equal_only_where_their_parts_are(case):
    kinds, one, other = case
    key = template(*kinds)
    assert (key.render(values(one)) == key.render(values(other))) == (one == other)


@given(PARTS)
def test_keys_sort_as_their_parts_do(case):
    kinds, one, other = case
    assume(Color not in kinds and UUID not in kinds)
    key = template(*kinds)
    first, second = key.render(values(one)), key.render(values(other))
    assert (first < second) == (one < other)
    assert (first.encode() < second.encode()) == (one < other)


@given(TEXTS, TEXTS, TEXTS)
def test_moving_a_delimiter_between_parts_makes_another_key(a, b, c):
    one, other = (
        template(str, str).render({"p0": a + "#" + b, "p1": c}),
        template(str, str).render({"p0": a, "p1": b + "#" + c}),
    )
    assert one != other
    assert template(str).render({"p0": a + "#" + b}) != template(str, str).render({"p0": a, "p1": b})


def ranges(kind: type) -> st.SearchStrategy[Range[object]]:
    bounds = KINDS[kind]
    simple = st.builds(lambda make, value: make(value), st.sampled_from([gt, gte, lt, lte]), bounds)
    both = st.tuples(bounds, bounds).map(lambda pair: between(min(pair), max(pair)))
    return (simple | both | TEXTS.map(starting)) if kind is str else (simple | both)


def fits(value: object, condition: Range[object]) -> bool:
    low, high = condition.low, condition.high
    match condition.operator:
        case "gt":
            return value > low
        case "gte":
            return value >= low
        case "lt":
            return value < low
        case "lte":
            return value <= low
        case "between":
            return low <= value <= high
        case _:
            return value.startswith(low)


@pytest.mark.parametrize("kind", [str, int, datetime])
@settings(max_examples=150)
@given(data=st.data())
def test_a_range_selects_what_its_operator_says(kind, data):
    stored = data.draw(st.lists(st.tuples(KINDS[kind], TEXTS), min_size=1, max_size=8))
    condition = data.draw(ranges(kind) | st.sampled_from(stored).map(lambda item: lte(item[0])))
    key = template(kind, str)
    interval = key.interval({"p0": condition})
    found = [item for item in stored if key.render(values(item)) in interval]
    assert found == [item for item in stored if fits(item[0], condition)]


@pytest.mark.parametrize("kind", [str, int, datetime])
@settings(max_examples=150)
@given(data=st.data())
def test_a_range_on_the_last_part_stays_under_the_parts_before_it(kind, data):
    stored = data.draw(st.lists(st.tuples(TEXTS, KINDS[kind]), min_size=1, max_size=8))
    before = data.draw(st.sampled_from([item[0] for item in stored]))
    condition = data.draw(ranges(kind) | st.sampled_from(stored).map(lambda item: lt(item[1])))
    key = template(str, kind)
    interval = key.interval({"p0": before, "p1": condition})
    found = [item for item in stored if key.render(values(item)) in interval]
    assert found == [item for item in stored if item[0] == before and fits(item[1], condition)]


@given(ranges(str) | TEXTS, st.sampled_from(["thin", "thing_", "things", "thing2", "a", "z"]), TEXTS, TEXTS)
def test_a_range_never_reaches_another_entity(condition, prefix, one, other):
    foreign = template(str, str, prefix=prefix)
    assert foreign.render({"p0": one, "p1": other}) not in template(str, str).interval({"p0": condition})
    assert foreign.render({"p0": one, "p1": other}) not in template(str, str).interval({})


@given(TEXTS, TEXTS)
def test_a_given_part_ends_at_its_boundary(one, other):
    key = template(str, str)
    assert (key.render({"p0": other, "p1": "x"}) in key.interval({"p0": one})) == (one == other)


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (str, "", "blank"),
        (str, " \t", "blank"),
        (str, "\ud800", "surrogate"),
        (str, 1, "must be str"),
        (int, True, "must be int"),
        (int, "1", "must be int"),
        (int, 10**38, "38 digits"),
        (date, datetime(2026, 1, 1, tzinfo=UTC), "must be date"),
        (datetime, datetime(2026, 1, 1), "naive"),  # noqa: DTZ001
        (datetime, "2026-01-01", "must be datetime"),
    ],
)
def test_a_part_that_no_key_can_hold_is_refused_by_name(kind, value, problem):
    with pytest.raises(InvalidKeyError, match=f"p0.*{problem}"):
        template(kind).render({"p0": value})


@pytest.mark.parametrize(("limit", "text"), [(SORT_BYTES, "x" * 1019), (SORT_BYTES, "あ" * 340)])
def test_a_key_over_the_limit_is_refused_without_its_text(limit, text):
    with pytest.raises(InvalidKeyError, match=r"p0.*1,024") as caught:
        template(str).render({"p0": text})
    assert text not in str(caught.value)


def test_a_partition_key_may_be_longer():
    key = KeyTemplate("pk", "thing", (KeyPart("p0", str),), PARTITION_BYTES)
    assert len(key.render({"p0": "x" * 2042})) == PARTITION_BYTES
    with pytest.raises(InvalidKeyError, match="2,048"):
        key.render({"p0": "x" * 2043})


def test_missing_parts_and_gaps_are_named():
    key = template(str, str, str)
    with pytest.raises(IncompleteKeyError, match="needs p1, p2"):
        key.render({"p0": "a"})
    with pytest.raises(IncompleteKeyError, match="p2 is given, but not p1"):
        key.interval({"p0": "a", "p2": "c"})
    with pytest.raises(IncompleteKeyError, match="p0 is a range, so it must be the last"):
        key.interval({"p0": gt("a"), "p1": "b"})


def test_bounds_the_wrong_way_round_are_refused():
    with pytest.raises(InvalidKeyError, match="wrong way round"):
        template(int).interval({"p0": between(2, 1)})


def test_times_of_any_zone_sort_as_moments_and_finer_than_a_millisecond_is_cut_off():
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    key = template(datetime)
    assert key.render({"p0": noon.astimezone(timezone(timedelta(hours=5)))}) == "thing#2026-11-30T12:00:00.000Z"
    assert key.render({"p0": noon + timedelta(microseconds=1999)}) == "thing#2026-11-30T12:00:00.001Z"
