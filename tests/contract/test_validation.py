"""What is stored has passed the validators of its entity, by every way of writing it."""

from __future__ import annotations

from enum import Enum
from typing import Any, Literal

import pytest
from pydantic import Field, ValidationInfo, field_validator, model_validator

from singletable import (
    KEEP,
    AlreadyExistsError,
    Change,
    Changes,
    CorruptItemError,
    DeclarationError,
    Entity,
    InvalidValueError,
    Lookup,
    Pk,
    PrimaryKey,
    RequestError,
    TransactionFailedError,
    add,
)


class Account(Entity, entity="account"):
    id: str
    email: str = "ada@example.com"
    nickname: str | None = None
    limit: int = Field(default=5, ge=1)
    spent: int = 0
    floor: int = 0
    labels: list[str] = Field(default_factory=list)

    class Key(PrimaryKey["Account"]):
        id: Pk[str]

    class Patch(Changes["Account"]):
        email: Change[str] = KEEP
        nickname: Change[str | None] = KEEP
        limit: Change[int] = KEEP
        spent: Change[int] = KEEP
        floor: Change[int] = KEEP
        labels: Change[list[str]] = KEEP

    @field_validator("email")
    @classmethod
    def _lower(cls, value: str) -> str:
        if "@" not in value:
            raise ValueError("no address")
        return value.lower()

    @field_validator("nickname")
    @classmethod
    def _stripped(cls, value: Any) -> str:
        return value.strip()  # is not prepared for the default, which pydantic never shows it

    @field_validator("labels")
    @classmethod
    def _known(cls, labels: list[str]) -> list[str]:
        return [{"a": "A"}[label] for label in labels]

    @field_validator("floor")
    @classmethod
    def _below(cls, value: int, info: ValidationInfo) -> int:
        assert value <= info.data["limit"]
        return value

    @model_validator(mode="after")
    def _affordable(self) -> Account:
        if self.spent > self.limit:
            raise ValueError("spent more than the limit")
        return self


class Nickname(Entity, entity="nickname"):
    id: str
    text: str | None = None
    labels: list[str] = Field(default_factory=list)

    class Key(PrimaryKey["Nickname"]):
        id: Pk[str]

    @field_validator("text")
    @classmethod
    def _stripped(cls, value: Any) -> str:
        return value.strip()

    @field_validator("labels")
    @classmethod
    def _few(cls, value: list[str]) -> list[str]:
        if len(value) > 1:
            raise ValueError("too many")
        return value


class Handle(Entity, entity="handle"):
    id: str
    name: str
    level: Literal["low", "high"] = "low"
    uses: int = 0

    class Key(PrimaryKey["Handle"]):
        id: Pk[str]

    class ByName(Lookup["Handle"]):
        name: Pk[str]

    class Patch(Changes["Handle"]):
        uses: Change[int] = KEEP


class LaterAccount(Entity, entity="account"):
    """An account as another version of the program stores it."""

    id: str
    limit: str

    class Key(PrimaryKey["LaterAccount"]):
        id: Pk[str]


class LaterHandle(Entity, entity="handle"):
    """A handle as a later version of the program stores it."""

    id: str
    name: str
    level: Literal["low", "high", "extreme"]

    class Key(PrimaryKey["LaterHandle"]):
        id: Pk[str]

    class ByName(Lookup["LaterHandle"]):
        name: Pk[str]


KEY = Account.Key(id="a")


@pytest.fixture
def accounts(any_backend):
    table = any_backend.table(Account)
    table.create(Account(id="a", nickname="Ada"))
    return table


def test_a_patch_goes_through_the_validators_of_its_fields(accounts):
    assert accounts.update(KEY, Account.Patch(email="ADA@Example.com")).email == "ada@example.com"
    assert accounts.get(KEY).email == "ada@example.com"


def test_a_patch_that_a_validator_refuses_is_not_sent(accounts):
    with pytest.raises(InvalidValueError, match="account: email cannot be changed to that"):
        accounts.update(KEY, Account.Patch(email="nobody"))
    assert accounts.get(KEY).email == "ada@example.com"


def test_a_patch_keeps_the_bounds_of_its_fields(accounts):
    with pytest.raises(InvalidValueError, match="limit"):
        accounts.update(KEY, Account.Patch(limit=0))


def test_a_validator_that_asks_for_other_fields_cannot_judge_a_patch(accounts):
    with pytest.raises(RequestError, match="get the entity, change it and put it"):
        accounts.update(KEY, Account.Patch(floor=2))


def test_a_fault_of_a_validator_is_its_own(accounts):
    with pytest.raises(KeyError, match="b"):
        accounts.update(KEY, Account.Patch(labels=["b"]))


def test_a_rule_over_several_fields_that_a_patch_breaks_is_told_with_the_update(accounts):
    with pytest.raises(CorruptItemError, match="the update was made, but") as caught:
        accounts.update(KEY, Account.Patch(spent=9))
    assert caught.value.item["spent"] == {"N": "9"}


def test_a_default_that_its_validator_is_not_prepared_for_is_stored_as_pydantic_takes_it(any_backend):
    table = any_backend.table(Nickname)
    assert table.create(Nickname(id="n")) == Nickname(id="n")
    assert table.put(Nickname(id="n", text=" Ada ")).text == "Ada"


def test_a_default_that_was_changed_in_place_is_validated(any_backend):
    changed = Nickname(id="n")
    changed.labels.extend(["a", "b"])
    with pytest.raises(InvalidValueError, match="labels"):
        any_backend.table(Nickname).put(changed)


def test_a_default_that_was_replaced_in_a_copy_is_validated(any_backend):
    with pytest.raises(InvalidValueError, match="labels"):
        any_backend.table(Nickname).put(Nickname(id="n").model_copy(update={"labels": ["a", "b"]}))


def test_a_patch_of_another_entity_is_refused(any_backend):
    table = any_backend.table(Account, Handle)
    for options in ({}, {"refresh": True}):
        with pytest.raises(RequestError, match=r"Handle\.Patch is no patch of a account"):
            table.update(KEY, Handle.Patch(uses=1), **options)


def test_keep_is_no_value(any_backend):
    table = any_backend.table(Account)
    with pytest.raises(InvalidValueError, match=r"account\.limit is KEEP"):
        table.update(KEY, Account.Patch(spent=1), where=lambda account: account.limit == KEEP)


# Items that an older or a younger version, or somebody else, stored in another shape.


@pytest.fixture
def handles(backend):
    backend.table(LaterHandle).create(LaterHandle(id="h", name="one", level="extreme"))
    return backend.table(Handle)


def test_an_update_of_an_item_that_does_not_fit_says_that_it_was_made(handles):
    with pytest.raises(CorruptItemError, match="the update was made, but a stored handle") as caught:
        handles.update(Handle.Key(id="h"), Handle.Patch(uses=add(1)))
    assert caught.value.item["uses"] == {"N": "1"}


def test_a_delete_of_an_item_that_does_not_fit_says_whether_it_was_made(any_backend):
    any_backend.table(LaterAccount).create(LaterAccount(id="a", limit="none"))
    with pytest.raises(CorruptItemError, match="it was deleted, but a stored account does not fit"):
        any_backend.table(Account).delete(KEY)
    assert any_backend.items() == []


def test_a_delete_that_cannot_find_the_lookups_of_an_item_deletes_nothing(handles, backend):
    before = backend.items()
    with pytest.raises(CorruptItemError, match=r"^a stored handle does not fit"):
        handles.delete(Handle.Key(id="h"))
    assert backend.items() == before


def test_an_item_that_does_not_fit_is_there_already(handles):
    with pytest.raises(AlreadyExistsError) as caught:
        handles.create(Handle(id="h", name="two"))
    assert caught.value.current is None
    assert caught.value.item["level"] == {"S": "extreme"}
    with pytest.raises(TransactionFailedError) as cancelled, handles.transaction() as tx:
        tx.create(Handle(id="h", name="two"))
    assert cancelled.value.reasons[0].current is None


class OnlyOne(Enum):
    ALL = "all"


def test_one_partition_for_all_items_is_refused_for_an_enum_of_one_member_too():
    with pytest.raises(DeclarationError, match="all its items would be in one partition"):

        class Everything(Entity, entity="everything"):
            everything: OnlyOne
            id: str

            class Key(PrimaryKey["Everything"]):
                everything: Pk[OnlyOne]
