"""Fields: what they take, what is refused, and what is left as it was passed in."""

from __future__ import annotations

from typing import Annotated

import pytest
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, field_validator

from singletable import (
    KEEP,
    Change,
    Changes,
    DeclarationError,
    Entity,
    InvalidValueError,
    Pk,
    PrimaryKey,
    RequestError,
)
from tests.pains.electrodb.entities import KEY, Task, task


@pytest.fixture
def table(fake):
    return fake.table(Task)


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
