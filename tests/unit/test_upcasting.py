"""Items of earlier versions: read, changed, put and indexed by a later one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, Field

from singletable import (
    KEEP,
    Change,
    Changes,
    ConditionFailedError,
    CorruptItemError,
    DeclarationError,
    Entity,
    Index,
    OutdatedItemError,
    Pk,
    PrimaryKey,
    Request,
    SkRange,
    Table,
    TransactionFailedError,
)
from singletable.streams import parse
from singletable.testing import MemoryTransport


class First(Entity, entity="person", version=1):
    id: str
    full_name: str
    balance: Decimal = Decimal(0)
    tags: list[str] = Field(default_factory=list)

    class Key(PrimaryKey["First"]):
        id: Pk[str]


def names_in_two(stored: dict[str, Any]) -> dict[str, Any]:
    given, _, family = stored.pop("fullName").partition(" ")
    return {**stored, "givenName": given, "familyName": family}


def tagged(stored: dict[str, Any]) -> dict[str, Any]:
    stored["tags"].append("cast")
    return {**stored, "city": "Oslo"}


class Third(Entity, entity="person", version=3, upcasters={1: names_in_two, 2: tagged}, ttl_seconds=60):
    id: str
    given_name: str
    family_name: str = ""
    city: str
    balance: Decimal = Decimal(0)
    tags: list[str] = Field(default_factory=list)

    class Key(PrimaryKey["Third"]):
        id: Pk[str]

    class ByCity(Index["Third"], on="gsi1"):
        city: Pk[str]
        family_name: SkRange[str] = None

    class Patch(Changes["Third"]):
        given_name: Change[str] = KEEP
        city: Change[str] = KEEP


BALANCE = Decimal("12345678901234567890.123456789")
KEY = Third.Key(id="a")


@pytest.fixture
def transport() -> MemoryTransport:
    transport = MemoryTransport()
    old = First(id="a", full_name="Ada Lovelace", balance=BALANCE, tags=["x"])
    Table("t", transport, entities=[First]).put(old)
    return transport


@pytest.fixture
def table(transport) -> Table:
    return Table("t", transport, entities=[Third])


def stored(transport) -> dict[str, Any]:
    (item,) = transport.database.items("t")
    return dict(item)


def test_it_is_read_as_the_later_version(table):
    found = table.get(KEY)
    assert (found.given_name, found.family_name, found.city, found.tags) == ("Ada", "Lovelace", "Oslo", ["x", "cast"])
    assert found.balance == BALANCE
    assert table.get_many([KEY]) == [found]
    assert table.query(KEY).all() == [found]


def test_reading_changes_nothing(table, transport):
    before = stored(transport)
    table.get(KEY)
    assert stored(transport) == before


def test_a_projection_of_it_is_cast_up_as_well(table):
    class Named(BaseModel):
        given_name: str
        city: str

    assert table.query(KEY).select(Named).all() == [Named(given_name="Ada", city="Oslo")]


def test_an_update_casts_it_up_first(table, transport):
    before = stored(transport)
    changed = table.update(KEY, Third.Patch(given_name="Augusta"))
    assert (changed.given_name, changed.family_name, changed.tags) == ("Augusta", "Lovelace", ["x", "cast"])
    after = stored(transport)
    assert (after["_version"], after["balance"]) == ({"N": "3"}, before["balance"])
    assert "fullName" not in after
    assert table.query(Third.ByCity(city="Oslo")).count() == 1
    assert "ttl" not in after  # an update keeps the expiry, also where it must cast up


def test_an_update_that_is_refused_does_not_hide_behind_the_cast(table):
    with pytest.raises(ConditionFailedError):
        table.update(KEY, Third.Patch(given_name="x"), where=lambda person: person.city == "Bergen")
    assert table.get(KEY).given_name == "Ada"


def test_a_change_between_reading_and_casting_up_is_not_lost(table, transport):
    other = Table("t", MemoryTransport(transport.database), entities=[First])
    changes = iter([First(id="a", full_name="Grace Hopper", tags=["y"])])

    def between(request: Request) -> None:
        change = next(changes, None) if request.operation == "PutItem" else None
        if change:
            other.put(change)

    transport.faults.on_request = between
    assert table.update(KEY, Third.Patch(city="Bergen")).family_name == "Hopper"


def test_a_transaction_says_that_it_is_behind(table, transport):
    with pytest.raises(TransactionFailedError) as caught, table.transaction() as tx:
        tx.update(KEY, Third.Patch(given_name="x"))
    assert caught.value.reasons[0].current == table.get(KEY)
    table.put(table.get(KEY))
    with table.transaction() as tx:
        tx.update(KEY, Third.Patch(given_name="x"))
    assert table.get(KEY).given_name == "x"


def test_what_lacks_more_than_a_version_is_still_reported(transport):
    class Later(Entity, entity="person", version=3, upcasters={2: lambda stored: stored}):
        id: str
        full_name: str
        city: str = ""

        class Key(PrimaryKey["Later"]):
            id: Pk[str]

        class ByCity(Index["Later"], on="gsi1"):
            city: Pk[str]
            full_name: SkRange[str] = None

        class Patch(Changes["Later"]):
            city: Change[str] = KEEP

    # Version 1 has no upcaster: it reads by its defaults, and lacks the other half of the index key.
    with pytest.raises(OutdatedItemError):
        Table("t", transport, entities=[Later]).update(Later.Key(id="a"), Later.Patch(city="x"))


def test_an_upcaster_that_fails_is_a_corrupt_item(transport):
    class Broken(Entity, entity="person", version=2, upcasters={1: lambda stored: {"id": stored["nothing"]}}):
        id: str

        class Key(PrimaryKey["Broken"]):
            id: Pk[str]

    with pytest.raises(CorruptItemError, match="cannot be cast up: KeyError") as caught:
        Table("t", transport, entities=[Broken]).get(Broken.Key(id="a"))
    assert caught.value.item == stored(transport)


@pytest.mark.parametrize(
    ("version", "steps"), [(3, {1}), (3, {1, 3}), (3, {0, 1, 2}), (2, {1, 2})], ids=["gap", "late", "zero", "beyond"]
)
def test_steps_lead_to_the_version_without_a_gap(version, steps):
    with pytest.raises(DeclarationError, match="step by step"):

        class Wrong(Entity, entity="wrong", version=version, upcasters=dict.fromkeys(steps, dict)):
            id: str

            class Key(PrimaryKey["Wrong"]):
                id: Pk[str]


def test_an_event_of_a_stream_is_cast_up(transport):
    item = stored(transport)
    change = {"Keys": {"pk": item["pk"], "sk": item["sk"]}, "NewImage": item, "SequenceNumber": "1"}
    assert parse({"eventName": "INSERT", "dynamodb": change}, Third).new.city == "Oslo"


def test_an_item_of_a_later_version_is_left_alone(transport):
    third = Table("t", transport, entities=[Third])
    third.put(third.get(KEY))
    first = Table("t", transport, entities=[Second])
    first.put(first.get(Second.Key(id="a")))
    assert stored(transport)["_version"] == {"N": "3"}
    assert third.get(KEY).city == "Oslo"


class Second(Entity, entity="person", version=2):
    id: str
    given_name: str

    class Key(PrimaryKey["Second"]):
        id: Pk[str]
