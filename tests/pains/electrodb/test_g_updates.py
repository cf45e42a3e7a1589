"""Updates, upserts and their conditions: what ElectroDB does in silence is done right here, or refused."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import (
    ConditionFailedError,
    InvalidValueError,
    NotFoundError,
    RequestError,
    add,
    append,
    remove,
    remove_at,
    set_at,
    subtract,
)
from tests.contract.support import START
from tests.pains.electrodb.entities import KEY, Task, task


@pytest.fixture
def table(fake):
    return fake.table(Task)


def in_state(table, state):
    return [(one.id, one.rank) for one in table.query(Task.ByState(state=state))]


def index_keys(fake, index):
    (item,) = fake.items()
    return [item[f"{index}{half}"]["S"] for half in ("pk", "sk") if f"{index}{half}" in item]


# What an update makes


def test_g17_an_update_never_makes_an_item(table, fake):
    with pytest.raises(NotFoundError):
        table.update(KEY, Task.Patch(title="x"))
    with pytest.raises(NotFoundError):
        table.update(KEY, Task.Patch(state="x"), refresh=True)
    assert fake.items() == []


def test_g18_a_part_of_an_index_is_set_once(table, fake):
    """ElectroDB sets it twice where the attribute is the key itself, which DynamoDB refuses."""
    table.create(task(team="ops"))
    assert table.update(KEY, Task.Patch(state="done", rank=3), refresh=True).state == "done"
    request = fake.sent.requests[-1].params
    names, sets = request["ExpressionAttributeNames"], request["UpdateExpression"].removeprefix("SET ").split(", ")
    changed = [names[one.split(" = ")[0]] for one in sets]
    keys = ["gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk"]
    assert sorted(changed) == ["_write", *keys, "rank", "state", "updatedAt"]


def test_g19_a_part_of_an_index_is_stored_as_it_was_given(table):
    table.create(task(state="In Review", team="Ops & QA"))
    assert (table.get(KEY).state, table.get(KEY).team) == ("In Review", "Ops & QA")
    assert in_state(table, "in review") == []


def test_g20_an_upsert_writes_the_key_of_an_index_as_a_put_does(table, fake):
    table.put(task(state="open"))
    put = index_keys(fake, "gsi1")
    table.upsert(task(state="done"))
    table.upsert(task(state="open"))
    assert index_keys(fake, "gsi1") == put
    assert table.get(KEY).state == "open"


# Conditions


def test_g21_nothing_in_a_condition_means_what_it_says(table):
    """ElectroDB makes an attribute called `undefined` of it."""
    table.create(task())
    table.update(KEY, Task.Patch(points=1), where=lambda one: one.team == None)  # noqa: E711
    with pytest.raises(ConditionFailedError):
        table.update(KEY, Task.Patch(points=2), where=lambda one: one.state == None)  # noqa: E711
    with pytest.raises(RequestError, match=r"task\.points: nothing is less or greater than None"):
        table.update(KEY, Task.Patch(points=2), where=lambda one: one.points < None)
    with pytest.raises(InvalidValueError, match=r"task\.points is a object"):
        table.update(KEY, Task.Patch(points=2), where=lambda one: one.points == object())


@pytest.mark.parametrize(
    "either",
    [
        lambda one: (one.state == "open") | (one.team == None),  # noqa: E711
        lambda one: ~(one.state == "done") | (one.points == 0),
    ],
    ids=["or", "not-or"],
)
def test_g22_g23_an_or_does_not_get_round_what_an_update_demands(table, fake, either):
    for write in (
        lambda: table.update(KEY, Task.Patch(title="x"), where=either),
        lambda: table.put(task(), where=either),
        lambda: table.delete(KEY, where=either),
    ):
        with pytest.raises(NotFoundError):
            write()
    assert fake.items() == []


def test_g22_conditions_that_add_up_keep_their_ors_apart(table):
    table.put_many([task("a", state="x", rank=1), task("b", state="x", rank=2), task("c", state="x", rank=3)])
    query = table.query(Task.ByState(state="x")).filter(lambda one: (one.rank == 1) | (one.rank == 2))
    assert [one.id for one in query.filter(lambda one: (one.rank == 2) | (one.rank == 3))] == ["b"]


# Operations


@pytest.mark.parametrize("change", [add(1), subtract(1), remove()], ids=["add", "subtract", "remove"])
def test_g24_arithmetic_on_a_part_of_an_index_is_refused(table, fake, change):
    """ElectroDB writes the operand into the key."""
    table.create(task(rank=5))
    before = fake.items()
    for options in ({}, {"refresh": True}):
        with pytest.raises(RequestError, match=r"task\.rank is part of gsi"):
            table.update(KEY, Task.Patch(rank=change), **options)
    assert fake.items() == before


def test_g25_a_path_into_a_list_is_checked(table, fake):
    table.create(task(steps=["a"], extra={"lines": ["a", "b"]}))
    before = fake.items()
    refused = [set_at(0, value=3), append([3]), append("x")]
    for change in refused:
        with pytest.raises(RequestError, match=r"steps"):
            table.update(KEY, Task.Patch(steps=change))
    for change in (set_at("lines", -1, value="x"), set_at(value="x"), set_at("", value="x")):
        with pytest.raises(RequestError, match=r"a path has keys of at least one character"):
            table.update(KEY, Task.Patch(extra=change))
    with pytest.raises(InvalidValueError, match=r"task\.extra is a object"):
        table.update(KEY, Task.Patch(extra=set_at("lines", 0, value=object())))
    assert fake.items() == before
    assert table.update(KEY, Task.Patch(extra=set_at("lines", 0, value="x"))).extra == {"lines": ["x", "b"]}
    assert table.update(KEY, Task.Patch(extra=remove_at("lines", 0))).extra == {"lines": ["b"]}


# What an upsert and a removal leave


def test_g36_the_time_of_change_follows_an_upsert(table, fake):
    """In place of `watch`: an `UpdatedAt`, which an upsert does not freeze."""
    table.create(task())
    later = fake.clock.advance(seconds=5)
    assert table.upsert(task(title="x")).updated_at == later


def test_g37_an_upsert_does_not_replace_what_is_stored_by_defaults(table):
    first = table.create(task(title="kept", state="done", rank=7, tags={"t"}, steps=["s"], points=3))
    second = table.upsert(task(points=4))
    assert second.model_copy(update={"points": 3}) == first


def test_g38_the_time_of_change_follows_a_removal(table, fake):
    """In place of `watch`, which does not see one."""
    table.create(task(title="x", tags={"t"}))
    later = fake.clock.advance(seconds=5)
    changed = table.update(KEY, Task.Patch(title=remove(), tags=remove()))
    assert (changed.title, changed.tags, changed.updated_at) == ("", set(), later)


def test_g36_g38_the_time_of_creation_is_that_of_the_clock(table):
    """What stands for `watch` is not the caller's to forget, nor to give."""
    assert table.create(task(updated_at=START - timedelta(days=9))).updated_at == START
