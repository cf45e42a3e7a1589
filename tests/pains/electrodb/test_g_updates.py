"""Updates, upserts and their conditions: what ElectroDB does in silence is done right here, or refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

import pytest
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from singletable import (
    KEEP,
    Change,
    Changes,
    ConditionFailedError,
    DeclarationError,
    Entity,
    InvalidValueError,
    NotFoundError,
    Pk,
    PrimaryKey,
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


# What a field takes


def test_g34_an_option_without_an_effect_is_refused():
    """ElectroDB accepts `cast` on an attribute, and ignores it."""
    with pytest.raises(DeclarationError, match="Cast: there is no class keyword cast"):

        class Cast(Entity, entity="cast", cast="string"):
            id: str

            class Key(PrimaryKey["Cast"]):
                id: Pk[str]


class Price(Entity, entity="price", version=1):
    """A field that is brought into shape before its type is checked."""

    id: str
    cents: Annotated[int, BeforeValidator(lambda value: round(float(value) * 100) if isinstance(value, str) else value)]
    note: str | None = None

    class Key(PrimaryKey["Price"]):
        id: Pk[str]

    class Patch(Changes["Price"]):
        cents: Change[int] = KEEP


def test_g35_a_value_is_brought_into_shape_before_its_type_is_checked(fake):
    table = fake.table(Price)
    assert table.create(Price(id="a", cents="1.50")).cents == 150
    assert table.update(Price.Key(id="a"), Price.Patch(cents="2.25")).cents == 225


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


def test_g44_what_is_passed_in_is_left_as_it_is(table):
    one, patch = task(tags={"t"}, extra={"x": [1]}), Task.Patch(extra={"y": [2]})
    before = one.model_copy(deep=True)
    table.create(one)
    table.put(one)
    table.upsert(one)
    table.put_many([one])
    stored = table.update(KEY, patch)
    stored.extra["y"].append(3)
    assert (one, one.updated_at, patch) == (before, before.updated_at, Task.Patch(extra={"y": [2]}))
    assert table.get(KEY).extra == {"y": [2]}


def test_g44_what_a_class_is_declared_with_is_copied():
    steps = {1: dict}

    class Stepped(Entity, entity="stepped", version=2, upcasters=steps):
        id: str

        class Key(PrimaryKey["Stepped"]):
            id: Pk[str]

    steps.clear()
    assert list(Stepped.spec.upcasters) == [1]


def test_g45_an_empty_set_is_stored(table, fake):
    table.create(task())
    assert "tags" not in fake.items()[0]
    table.update(KEY, Task.Patch(tags={"t"}))
    assert table.update(KEY, Task.Patch(tags=set())).tags == table.get(KEY).tags == set()
    assert table.put(task(tags=set())).tags == set()


def test_g46_an_unknown_field_is_refused_wherever_it_is_named(table):
    """The checkers refuse it as well: «unknown field», «patch misspelt» in tests/typing/refused.py.txt."""

    class Wrong(BaseModel):
        colour: str

    with pytest.raises(ValidationError, match="colour"):
        Task(id="a", colour="red")
    with pytest.raises(TypeError, match="colour"):
        Task.Patch(colour="red")
    with pytest.raises(TypeError, match="colour"):
        Task.ByState(state="x", colour="red")
    with pytest.raises(RequestError, match="task has no field colour"):
        table.query(Task.ByState(state="x")).filter(lambda one: one.colour == "red")
    with pytest.raises(RequestError, match="colour"):
        table.query(Task.ByState(state="x")).select(Wrong)


class Member(Entity, entity="member", version=1):
    """A field whose check cannot stand an absence."""

    id: str
    nick: str | None = None
    age: int | None = Field(default=None, gt=0)

    class Key(PrimaryKey["Member"]):
        id: Pk[str]

    class Patch(Changes["Member"]):
        age: Change[int | None] = KEEP

    @field_validator("nick")
    @classmethod
    def strip(cls, nick):
        return nick.strip()


class Stored(Entity, entity="member", version=1):
    """The same items without the check."""

    id: str
    nick: str | None = None

    class Key(PrimaryKey["Stored"]):
        id: Pk[str]


def test_g59_a_check_is_not_asked_about_what_is_absent(fake):
    assert Member(id="a").nick is None
    fake.table(Stored).create(Stored(id="a"))
    table = fake.table(Member)
    assert table.get(Member.Key(id="a")).nick is None
    assert table.update(Member.Key(id="a"), Member.Patch(age=3)).nick is None
    assert table.update(Member.Key(id="a"), Member.Patch(age=None)).age is None
    with pytest.raises(InvalidValueError, match="age cannot be changed to that: greater_than"):
        table.update(Member.Key(id="a"), Member.Patch(age=-1))


def test_g36_g38_the_time_of_creation_is_that_of_the_clock(table):
    """What stands for `watch` is not the caller's to forget, nor to give."""
    assert table.create(task(updated_at=START - timedelta(days=9))).updated_at == START
