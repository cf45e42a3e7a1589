"""P2c: every range of every operator, on every part, is what a filter over the decoded values gives."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import (
    Entity,
    IncompleteKeyError,
    Index,
    Pk,
    PrimaryKey,
    Range,
    Sk,
    SkRange,
    Table,
    between,
    gt,
    gte,
    lt,
    lte,
    starting,
)
from singletable.testing import MemoryTransport

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Texts(Entity, entity="texts", version=1):
    group: str
    first: str
    second: str

    class Key(PrimaryKey["Texts"], collection="grouped"):
        group: Pk[str]
        first: Sk[str]
        second: Sk[str]

    class InGroup(Index["Texts"], collection="grouped"):
        group: Pk[str]
        first: SkRange[str] = None
        second: SkRange[str] = None

    class ByGroup(Index["Texts"], on="gsi1", collection="grouped"):
        group: Pk[str]
        first: SkRange[str] = None
        second: SkRange[str] = None


class Numbers(Entity, entity="numbers", version=1):
    group: str
    first: int
    second: int

    class Key(PrimaryKey["Numbers"], collection="grouped"):
        group: Pk[str]
        first: Sk[int]
        second: Sk[int]

    class InGroup(Index["Numbers"], collection="grouped"):
        group: Pk[str]
        first: SkRange[int] = None
        second: SkRange[int] = None

    class ByGroup(Index["Numbers"], on="gsi1", collection="grouped"):
        group: Pk[str]
        first: SkRange[int] = None
        second: SkRange[int] = None


class Times(Entity, entity="times", version=1):
    group: str
    first: datetime
    second: datetime

    class Key(PrimaryKey["Times"], collection="grouped"):
        group: Pk[str]
        first: Sk[datetime]
        second: Sk[datetime]

    class InGroup(Index["Times"], collection="grouped"):
        group: Pk[str]
        first: SkRange[datetime] = None
        second: SkRange[datetime] = None

    class ByGroup(Index["Times"], on="gsi1", collection="grouped"):
        group: Pk[str]
        first: SkRange[datetime] = None
        second: SkRange[datetime] = None


class Neighbour(Entity, entity="neighbour", version=1):
    """Before the numbers in their partition, but after nothing else."""

    group: str
    first: str

    class Key(PrimaryKey["Neighbour"], collection="grouped"):
        group: Pk[str]
        first: Sk[str]

    class ByGroup(Index["Neighbour"], on="gsi1", collection="grouped"):
        group: Pk[str]
        first: SkRange[str] = None


class Later(Entity, entity="texts_2", version=1):
    """Its name begins as another one does."""

    group: str
    first: str

    class Key(PrimaryKey["Later"], collection="grouped"):
        group: Pk[str]
        first: Sk[str]

    class ByGroup(Index["Later"], on="gsi1", collection="grouped"):
        group: Pk[str]
        first: SkRange[str] = None


texts = st.sampled_from(
    ["p", "p1", "p1a", "p10", "p2", "P1", "p1 ", "p1#", "p1$", "p1%", "p1&", "é", "￿", "\U0001f600"]
)
numbers = st.one_of(st.integers(-3, 3), st.sampled_from([-(10**38) + 1, -10, -11, 9, 10, 11, 10**38 - 1]))
times = st.builds(
    lambda milliseconds, hours: (NOON + timedelta(milliseconds=milliseconds)).astimezone(
        timezone(timedelta(hours=hours))
    ),
    st.integers(-1_001, 1_001) | st.sampled_from([-(10**13), 10**13]),
    st.sampled_from([0, -9, 5]),
)
VALUES: dict[type[Entity], st.SearchStrategy[Any]] = {Texts: texts, Numbers: numbers, Times: times}
OPERATORS = {gt: operator.gt, gte: operator.ge, lt: operator.lt, lte: operator.le}
entities = pytest.mark.parametrize("model", VALUES, ids=lambda model: model.spec.name)
paths = pytest.mark.parametrize("path", ["InGroup", "ByGroup"], ids=["table", "index"])
laws = settings(derandomize=True, max_examples=60)


def bounds(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values to compare with: an exact one, one of the operators, or two for `between`."""
    ordered = st.lists(values, min_size=2, max_size=2).map(sorted)
    ranges = st.builds(lambda op, value: op(value), st.sampled_from(list(OPERATORS)), values)
    return values | ranges | ordered.map(lambda pair: between(*pair))


def holds(bound: Any, value: Any) -> bool:
    if not isinstance(bound, Range):
        return value == bound
    match bound.operator:
        case "between":
            return bound.low <= value <= bound.high
        case "starting":
            return value.startswith(bound.low)
        case name:
            return next(test for make, test in OPERATORS.items() if make.__name__ == name)(value, bound.low)


def stored(model: type[Entity], pairs: list[tuple[Any, Any]]) -> Table:
    """These items, with those of the neighbours around them, and those of another partition."""
    table = Table("t", MemoryTransport(), entities=[*VALUES, Neighbour, Later], clock=lambda: NOON)
    others = [
        Neighbour(group="g", first="p1"),
        Later(group="g", first="p1"),
        model(group="g2", first=pairs[0][0], second=pairs[0][1]),
    ]
    unique = {model.Key.of(item): item for item in (model(group="g", first=a, second=b) for a, b in pairs)}
    table.put_many([*unique.values(), *others])
    return table


def found(query: Any) -> list[tuple[Any, Any]]:
    return [(item.first, item.second) for item in query]


def distinct(pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    return sorted(set(pairs))


@entities
@paths
@laws
@given(st.data())
def test_a_range_of_the_first_part_is_a_filter(model, path, data):
    pairs = data.draw(st.lists(st.tuples(VALUES[model], VALUES[model]), min_size=1, max_size=12))
    bound, reverse = data.draw(bounds(VALUES[model])), data.draw(st.booleans())
    query = stored(model, pairs).query(getattr(model, path)(group="g", first=bound))
    expected = [pair for pair in distinct(pairs) if holds(bound, pair[0])]
    assert found(query.reverse() if reverse else query) == (expected[::-1] if reverse else expected)
    assert query.count() == len(expected)


@entities
@paths
@laws
@given(st.data())
def test_a_range_of_the_second_part_is_a_filter(model, path, data):
    pairs = data.draw(st.lists(st.tuples(VALUES[model], VALUES[model]), min_size=1, max_size=12))
    first, bound, reverse = data.draw(VALUES[model]), data.draw(bounds(VALUES[model])), data.draw(st.booleans())
    pairs += [(first, second) for _, second in pairs]
    query = stored(model, pairs).query(getattr(model, path)(group="g", first=first, second=bound))
    expected = [pair for pair in distinct(pairs) if pair[0] == first and holds(bound, pair[1])]
    assert found(query.reverse() if reverse else query) == (expected[::-1] if reverse else expected)
    assert query.count() == len(expected)


@paths
@laws
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=12), texts, st.booleans())
def test_a_prefix_of_either_part_is_a_filter(path, pairs, prefix, of_first):
    first = pairs[0][0]
    pairs += [(first, second) for _, second in pairs]
    parts = {"first": starting(prefix)} if of_first else {"first": first, "second": starting(prefix)}
    expected = [
        pair
        for pair in distinct(pairs)
        if (pair[0].startswith(prefix) if of_first else pair[0] == first and pair[1].startswith(prefix))
    ]
    assert found(stored(Texts, pairs).query(getattr(Texts, path)(group="g", **parts))) == expected


@entities
@paths
@laws
@given(st.data())
def test_no_range_is_the_whole_entity_and_nothing_else(model, path, data):
    pairs = data.draw(st.lists(st.tuples(VALUES[model], VALUES[model]), min_size=1, max_size=12))
    assert found(stored(model, pairs).query(getattr(model, path)(group="g"))) == distinct(pairs)


@pytest.mark.parametrize("key", ["p1", "p1a", "p2"])
@pytest.mark.parametrize("make", OPERATORS, ids=lambda make: make.__name__)
def test_p2c_no_key_between_two_others_is_lost(make, key):
    keys = ["p1", "p1a", "p2"]
    table = stored(Texts, [(one, "x") for one in keys])
    expected = [one for one in keys if OPERATORS[make](one, key)]
    assert [first for first, _ in found(table.query(Texts.InGroup(group="g", first=make(key))))] == expected


@entities
@paths
def test_a_gap_between_the_parts_is_an_error(model, path):
    value = {Texts: "p1", Numbers: 1, Times: NOON}[model]
    table = Table("t", MemoryTransport(), entities=[model])
    for second in (value, gt(value), between(value, value)):
        with pytest.raises(IncompleteKeyError, match="second is given, but not first"):
            table.query(getattr(model, path)(group="g", second=second))


@entities
@paths
def test_a_range_before_another_part_is_an_error(model, path):
    value = {Texts: "p1", Numbers: 1, Times: NOON}[model]
    table = Table("t", MemoryTransport(), entities=[model])
    with pytest.raises(IncompleteKeyError, match="first is a range, so it must be the last"):
        table.query(getattr(model, path)(group="g", first=gte(value), second=value))
