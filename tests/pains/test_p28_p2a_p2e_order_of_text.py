"""P28: what one process makes in a loop keeps its order.  P2a: times sort as times.  P2e: numbers sort as numbers."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from singletable import Entity, Index, InvalidKeyError, InvalidValueError, Pk, PrimaryKey, Sk, SkRange, between, gt, lte
from tests.contract.support import START
from tests.pains.support import ids, listed, message, turn


class Reading(Entity, entity="reading", version=1):
    """A time in the key, and one outside of it."""

    meter: str
    at: datetime
    noted_at: datetime | None = None

    class Key(PrimaryKey["Reading"]):
        meter: Pk[str]
        at: Sk[datetime]

    class Of(Index["Reading"]):
        meter: Pk[str]
        at: SkRange[datetime] = None


class Row(Entity, entity="row", version=1):
    sheet: str
    number: int
    day: date = date(2026, 1, 1)

    class Key(PrimaryKey["Row"]):
        sheet: Pk[str]
        number: Sk[int]

    class In(Index["Row"]):
        sheet: Pk[str]
        number: SkRange[int] = None

    class ByDay(Index["Row"], on="gsi1"):
        sheet: Pk[str]
        day: SkRange[date] = None


# P28


def test_p28_a_thousand_snapshots_of_a_tight_loop_keep_their_order(fake):
    """The clock stands still, as it does for a loop within one of its ticks."""
    memory = fake.store().memory
    names = [f"s{hash_of(number)}" for number in range(1_000)]
    saved = [one for start in range(0, 1_000, 20) for one in memory.save_messages(turn(*names[start : start + 20]))]
    assert listed(memory) == names
    assert listed(memory, order="desc") == names[::-1]
    orders = [one.order for one in saved]
    assert orders == sorted(set(orders))
    assert len({len(order) for order in orders}) == 1


def hash_of(number):
    """Ids in no order."""
    return number * 7_919 % 1_000


def test_p28_snapshots_of_one_time_keep_their_order_within_a_process(fake):
    memory = fake.store().memory
    for number in range(100):
        memory.save_messages([message(f"s{hash_of(number)}", created_at=START)])
    assert listed(memory) == [f"s{hash_of(number)}" for number in range(100)]


# P2a

TIMES = [
    START,
    START + timedelta(milliseconds=500),
    START + timedelta(seconds=1),
    START + timedelta(seconds=1, milliseconds=1),
    datetime(2027, 1, 1, tzinfo=UTC),
]


def test_p2a_a_time_without_a_fraction_sorts_before_one_with(backend):
    table = backend.table(Reading)
    table.put_many(Reading(meter="m", at=at, noted_at=at) for at in reversed(TIMES))
    assert [one.at for one in table.query(Reading.Of(meter="m"))] == TIMES
    assert [one.at for one in table.query(Reading.Of(meter="m", at=gt(START)))] == TIMES[1:]
    assert [one.at for one in table.query(Reading.Of(meter="m", at=lte(TIMES[1])))] == TIMES[:2]
    filtered = table.query(Reading.Of(meter="m")).filter(lambda one: one.noted_at <= TIMES[1])
    assert [one.at for one in filtered] == TIMES[:2]


def test_p2a_a_stored_time_has_one_form(fake):
    """UTC and milliseconds, in keys and fields alike."""
    table = fake.table(Reading)
    karachi, bogota = timezone(timedelta(hours=5)), timezone(timedelta(hours=-5))
    table.put(Reading(meter="m", at=START.astimezone(karachi), noted_at=START.astimezone(bogota)))
    (item,) = fake.items()
    assert item["sk"]["S"] == "reading#2026-11-30T22:00:00.000Z"
    assert item["at"] == item["notedAt"] == {"S": "2026-11-30T22:00:00.000Z"}
    assert table.get(Reading.Key(meter="m", at=START)).noted_at == START


def test_p2a_times_of_several_zones_sort_as_times(fake):
    table = fake.table(Reading)
    zones = [timezone(timedelta(hours=hours)) for hours in (14, 0, -11, 5)]
    times = [(START + timedelta(minutes=number)).astimezone(zone) for number, zone in enumerate(zones)]
    table.put_many(Reading(meter="m", at=at) for at in reversed(times))
    assert [one.at for one in table.query(Reading.Of(meter="m"))] == times
    assert table.query(Reading.Of(meter="m", at=between(times[1], times[2]))).count() == 2


def test_p2a_a_time_without_a_zone_is_refused(fake):
    table, naive = fake.table(Reading), START.replace(tzinfo=None)
    with pytest.raises(InvalidKeyError, match="at is a naive datetime"):
        table.create(Reading(meter="m", at=naive))
    with pytest.raises(InvalidKeyError, match="at is a naive datetime"):
        table.query(Reading.Of(meter="m", at=gt(naive)))
    with pytest.raises(InvalidValueError, match=r"reading\.noted_at is a naive datetime"):
        table.create(Reading(meter="m", at=START, noted_at=naive))
    with pytest.raises(InvalidValueError, match="naive"):
        fake.store().memory.save_messages([message("m", created_at=naive)])
    assert [name for name in fake.sent.operations if name != "Query"] == []


def test_p2a_messages_with_and_without_a_fraction_keep_the_order_of_their_times(memory):
    memory.save_messages(message(f"m{number}", created_at=TIMES[number]) for number in (3, 1, 4, 0, 2))
    assert listed(memory) == ["m0", "m1", "m2", "m3", "m4"]
    assert ids(memory.list_messages("t", created_at=gt(START)).items) == ["m1", "m2", "m3", "m4"]


# P2e

NUMBERS = [-(10**21), -100, -11, -10, -9, -2, -1, 0, 1, 2, 9, 10, 11, 99, 100, 10**21, 10**38 - 1]


def test_p2e_numbers_sort_as_numbers(backend):
    table = backend.table(Row)
    table.put_many(Row(sheet="s", number=number) for number in sorted(NUMBERS, key=str))
    assert [one.number for one in table.query(Row.In(sheet="s"))] == NUMBERS
    assert [one.number for one in table.query(Row.In(sheet="s")).reverse()] == NUMBERS[::-1]
    for low in (-10, -1, 0, 9, 10**21):
        assert [one.number for one in table.query(Row.In(sheet="s", number=gt(low)))] == [n for n in NUMBERS if n > low]


def test_p2e_a_number_that_would_not_sort_is_refused(fake):
    with pytest.raises(InvalidKeyError, match="more than 38 digits"):
        fake.table(Row).create(Row(sheet="s", number=10**38))
    assert fake.sent.requests == []


def test_p2e_dates_sort_as_dates(fake):
    table = fake.table(Row)
    days = [date(99, 12, 31), date(987, 1, 1), date(2026, 9, 30), date(2026, 10, 1), date(9999, 1, 1)]
    table.put_many(Row(sheet="s", number=number, day=day) for number, day in reversed(list(enumerate(days))))
    assert [one.day for one in table.query(Row.ByDay(sheet="s"))] == days
    assert [one.day for one in table.query(Row.ByDay(sheet="s", day=lte(days[2])))] == days[:3]
