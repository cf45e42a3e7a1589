"""A model inside an entity comes back as it was, or is refused when it is saved: nothing of it is lost in silence."""

from __future__ import annotations

from decimal import Decimal

import pytest
from pydantic import BaseModel, Field, RootModel

from singletable import Entity, InvalidValueError, Pk, PrimaryKey
from singletable.items import from_item, to_item


class Money(BaseModel):
    amount: Decimal


class Renamed(BaseModel):
    x: int = Field(validation_alias="y")


class Open(BaseModel, extra="allow"):
    a: int = 1


class Tags(BaseModel):
    tags: set[str] = Field(default_factory=set)


class Numbers(RootModel[list[int]]):
    pass


class Holder(Entity, entity="holder", version=1):
    id: str
    money: Money | None = None
    moneys: list[Money] = Field(default_factory=list)
    renamed: Renamed | None = None
    open: Open | None = None
    tags: Tags | None = None
    numbers: Numbers | None = None

    class Key(PrimaryKey["Holder"]):
        id: Pk[str]


LONG = Money(amount=Decimal("12345678901234567890.123456789"))


@pytest.mark.parametrize("fields", [{"money": LONG}, {"moneys": [LONG]}], ids=["model", "list of models"])
def test_a_decimal_inside_a_model_keeps_its_digits(fields):
    holder = Holder(id="a", **fields)
    assert from_item(Holder, to_item(holder), "ttl") == holder


@pytest.mark.parametrize(
    "fields",
    [
        {"renamed": Renamed(y=1)},
        {"open": Open(a=2, b=3)},
        {"tags": Tags()},
        {"numbers": Numbers([1])},
    ],
    ids=["validation alias", "extra fields", "empty set", "root model"],
)
def test_a_model_comes_back_or_is_refused(fields):
    holder = Holder(id="a", **fields)
    try:
        item = to_item(holder)
    except InvalidValueError:
        return
    assert from_item(Holder, item, "ttl") == holder
