"""The clock for tests."""

from datetime import UTC, datetime, timedelta

import pytest

from singletable import Table
from singletable.schemas import Resource
from singletable.testing import Clock, MemoryTransport


def test_stands_still_until_it_is_moved():
    clock = Clock()
    start = clock()
    assert clock() == start
    assert start.tzinfo is UTC
    later = clock.advance(days=1, hours=2, minutes=3, seconds=4, milliseconds=5)
    assert later == clock() == start + timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5)
    assert clock.advance(seconds=-4.5) == later - timedelta(seconds=4.5)


def test_starts_where_it_is_told():
    now = datetime(2027, 5, 1, tzinfo=UTC)
    assert Clock(now)() == now


def test_needs_a_time_zone():
    with pytest.raises(ValueError, match="no time zone"):
        Clock(datetime(2027, 5, 1))  # noqa: DTZ001 - that is what is refused


def test_expires_items_of_a_table():
    clock = Clock()
    ttl = {"resource": {"default_ttl_seconds": 3600}}
    table = Table("t", MemoryTransport(), entities=[Resource], clock=clock, ttl=ttl)
    table.put(Resource(id="ada"))
    clock.advance(minutes=59)
    assert table.get(Resource.Key(id="ada"))
    clock.advance(minutes=1, seconds=1)
    assert table.get(Resource.Key(id="ada")) is None
