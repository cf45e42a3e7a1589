"""Ranges, and the keys of indexes: where ElectroDB compares texts of keys, this compares values."""

from __future__ import annotations

import pytest

from singletable import (
    DeclarationError,
    Entity,
    IncompleteKeyError,
    Index,
    InvalidKeyError,
    Pk,
    PrimaryKey,
    between,
    gt,
    gte,
    lt,
    lte,
    starting,
)
from tests.pains.electrodb.entities import Store, StoreTwo


@pytest.fixture
def table(fake):
    return fake.table(Store, StoreTwo)


def stores(table, *names, unit=0):
    table.put_many([Store(city="x", mall=name, unit=unit) for name in names])


def malls(found):
    return [store.mall for store in found]


def test_g09_a_part_behind_a_gap_is_refused(table):
    with pytest.raises(IncompleteKeyError, match="unit is given, but not mall"):
        table.query(Store.In(city="x", unit=3))
    with pytest.raises(IncompleteKeyError, match="mall is a range, so it must be the last"):
        table.query(Store.In(city="x", mall=gt("a"), unit=3))


# Order and ranges


def test_g10_numbers_sort_as_numbers(table):
    for unit in (100, 9, 10, -1, 0, -10):
        stores(table, "m", unit=unit)
    assert [one.unit for one in table.query(Store.In(city="x"))] == [-10, -1, 0, 9, 10, 100]
    assert [one.unit for one in table.query(Store.In(city="x", mall="m", unit=between(9, 10)))] == [9, 10]
    with pytest.raises(InvalidKeyError, match="wrong way round"):
        table.query(Store.In(city="x", mall="m", unit=between(10, 9)))


@pytest.fixture
def towns(table):
    """Malls whose names continue each other, each with two units; entities of another kind on both sides."""
    for unit in (1, 22):
        stores(table, "a", "b", "b b", "bc", "c", unit=unit)
    table.put_many([StoreTwo(city="x", mall="b"), StoreTwo(city="x", mall="zz")])
    return table


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (gt("b"), ["b b", "bc", "c"]),
        (gte("b"), ["b", "b b", "bc", "c"]),
        (lt("b"), ["a"]),
        (lte("b"), ["a", "b"]),
    ],
    ids=repr,
)
def test_g11_a_range_is_over_the_values_of_a_part(towns, condition, expected):
    """In ElectroDB «greater than b» finds b, because its key goes on behind the part, and «up to b» misses it."""
    assert malls(towns.query(Store.In(city="x", mall=condition))) == [mall for mall in expected for _ in (1, 22)]


def test_g12_an_open_range_ends_with_its_entity(towns, fake):
    fake.sent.clear()
    assert malls(towns.query(Store.In(city="x", mall=gt("c")))) == []
    assert len(towns.query(Store.In(city="x", mall=gte("a"))).all()) == 10
    assert fake.sent.scanned_counts == [0, 10]


@pytest.mark.parametrize(
    ("low", "high", "expected"), [("a", "b", ["a", "b"]), ("b", "bc", ["b", "b b", "bc"]), ("b", "b", ["b"])]
)
def test_g48_between_has_the_whole_upper_bound(towns, low, high, expected):
    found = towns.query(Store.In(city="x", mall=between(low, high)))
    assert malls(found) == [mall for mall in expected for _ in (1, 22)]


def test_g13_a_prefix_is_a_prefix_whatever_its_letters(table):
    """Lower-cased, as ElectroDB stores it, a word may end in another letter than the same word within a longer one."""
    stores(table, "ΟΔΟΣΑ", "ΟΔΟΣ", "οδοσα", "İstanbul", "straße", "STRASSE")
    assert malls(table.query(Store.In(city="x", mall=starting("ΟΔΟΣ")))) == ["ΟΔΟΣ", "ΟΔΟΣΑ"]
    assert malls(table.query(Store.In(city="x", mall=starting("stra")))) == ["straße"]


def test_g32_a_prefix_is_not_padded(table):
    """ElectroDB pads the operand of `begins` as it pads values; here nothing but numbers and times has a width."""
    stores(table, "5", "50", "0050", "05")
    assert malls(table.query(Store.In(city="x", mall=starting("5")))) == ["5", "50"]
    assert malls(table.query(Store.In(city="x", mall=starting("0")))) == ["0050", "05"]


# Keys of indexes


def in_index(item):
    return {"gsi1pk", "gsi1sk"} & item.keys()


def test_g14_without_its_partition_part_an_item_has_no_key_of_an_index(table, fake):
    table.put(Store(city="x", mall="m", since=3))
    assert in_index(fake.items()[0]) == set()


def test_g15_without_its_sort_part_an_item_has_no_key_of_an_index(table, fake):
    table.put(Store(city="x", mall="m", owner="ada"))
    assert in_index(fake.items()[0]) == set()
    table.put(Store(city="x", mall="m", owner="ada", since=3))
    assert in_index(fake.items()[0]) == {"gsi1pk", "gsi1sk"}


def test_g43_an_index_without_parts_is_refused():
    """ElectroDB accepts it and never writes its keys."""
    with pytest.raises(DeclarationError, match=r"Plain\.All needs a Pk part"):

        class Plain(Entity, entity="plain"):
            id: str

            class Key(PrimaryKey["Plain"]):
                id: Pk[str]

            class All(Index["Plain"], on="gsi1"):
                pass


def test_g16_an_item_that_an_upsert_makes_or_changes_is_in_its_index(table):
    table.upsert(Store(city="x", mall="m", owner="ada", since=3))
    assert malls(table.query(Store.ByOwner(owner="ada"))) == ["m"]
    table.upsert(Store(city="x", mall="m", owner="bob"))
    assert malls(table.query(Store.ByOwner(owner="ada"))) == []
    assert malls(table.query(Store.ByOwner(owner="bob", since=3))) == ["m"]
