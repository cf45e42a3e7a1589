"""Queries: collections, pages, and what a query promises of itself."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from singletable import Entity, Index, Pk, PrimaryKey, Sk, SkRange, ThrottledError, starting
from tests.pains.electrodb.entities import KEY, Store, StoreTwo, Task, task


class Garden(Entity, entity="garden", version=1):
    """A collection whose name begins like that of the stores."""

    city: str
    name: str

    class Key(PrimaryKey["Garden"], collection="place_2"):
        city: Pk[str]
        name: Sk[str]

    class In(Index["Garden"], collection="place_2"):
        city: Pk[str]
        name: SkRange[str] = None


class Park(Entity, entity="park", version=1):
    """What lies in the partitions of the stores beside them."""

    city: str
    mall: str
    size: int = 0

    class Key(PrimaryKey["Park"], collection="place"):
        city: Pk[str]
        mall: Sk[str]
        size: Sk[int]

    class In(Index["Park"], collection="place"):
        city: Pk[str]
        mall: SkRange[str] = None
        size: SkRange[int] = None


@pytest.fixture
def table(fake):
    return fake.table(Store, StoreTwo, Garden, Park, Task)


def names(found):
    return [(type(one).__name__, one.mall) for one in found]


# Collections


def test_g27_a_collection_ends_with_the_value_of_its_part(table, fake):
    """ElectroDB's clustered collections find Danebury where Dane is asked for."""
    for mall in ("Dane", "Danebury", "Dane#1", "Dane 1"):
        table.put_many([Store(city="x", mall=mall), Park(city="x", mall=mall)])
    table.put_many([Store(city="xy", mall="Dane"), Park(city="x#", mall="Dane")])
    found = table.query(Store.In(city="x", mall="Dane"), Park.In(city="x", mall="Dane"))
    assert names(found) == [("Park", "Dane"), ("Store", "Dane")]


def test_g28_the_name_of_a_collection_is_whole(table, fake):
    table.put_many([Store(city="x", mall="m"), Garden(city="x", name="m"), StoreTwo(city="x", mall="m")])
    fake.sent.clear()
    assert names(table.query(Store.In(city="x"), Park.In(city="x"))) == [("Store", "m")]
    assert table.query(Garden.In(city="x")).all() == [Garden(city="x", name="m")]
    assert fake.sent.scanned_counts == [1, 1]


def test_g29_the_sort_parts_of_a_collection_count(table):
    for mall in ("a", "b", "c"):
        table.put_many([Store(city="x", mall=mall), Park(city="x", mall=mall, size=3)])
    found = table.query(Store.In(city="x", mall="b", unit=0), Park.In(city="x", mall=starting("c")))
    assert names(found) == [("Park", "c"), ("Store", "b")]
    assert names(table.query(Store.In(city="x", mall="b", unit=1), Park.In(city="x", mall="a", size=4))) == []


# Pages


def test_g33_all_results_are_read_whatever_pages_they_come_in(table, fake):
    """ElectroDB reads one page of DynamoDB, unless it is told otherwise."""
    table.put_many([Task(id=f"{number:03}", state="x", rank=number, title="x" * 9_000) for number in range(300)])
    fake.sent.clear()
    query = table.query(Task.ByState(state="x"))
    assert [one.rank for one in query] == list(range(300))
    assert (query.count(), query.reverse().first().rank) == (300, 299)
    assert fake.sent.operations[:3] == ["Query"] * 3


@pytest.fixture
def ranked(table):
    """Thirty tasks in one state, of which every third has points."""
    table.put_many([Task(id=f"{n:02}", state="x", rank=n, points=n % 3 == 0, title="x" * 90_000) for n in range(30)])
    return table.query(Task.ByState(state="x"))


@pytest.mark.parametrize("most", [1, 7, 10, 11])
def test_g39_a_limit_is_a_number_of_results(ranked, most):
    """However many requests it takes, and whatever a filter leaves out; in ElectroDB `count` and `pages` disagree."""
    found = ranked.filter(lambda one: one.points == 1).limit(most).all()
    assert [one.rank for one in found] == list(range(0, 30, 3))[:most]


@pytest.mark.parametrize("size", [1, 4, 10, 30])
def test_g39_a_page_is_full_unless_it_is_the_last(ranked, size):
    query = ranked.filter(lambda one: one.points == 1)
    pages = [query.page(size)]
    while pages[-1].has_more:
        pages.append(query.page(size, pages[-1].cursor))
    assert [one.rank for page in pages for one in page.items] == list(range(0, 30, 3))
    assert [len(page.items) for page in pages[:-1]] == [size] * (len(pages) - 1)
    assert pages[-1].items
    assert pages[-1].cursor is None


class Titled(BaseModel):
    """Nothing of the key of a task."""

    points: int


@pytest.mark.parametrize("size", [1, 7, 29])
def test_g61_a_cursor_is_right_when_no_part_of_the_key_is_selected(ranked, size):
    query = ranked.select(Titled)
    page = query.page(size)
    found = page.items
    while page.has_more:
        page = query.page(size, page.cursor)
        found += page.items
    assert [one.points for one in found] == [n % 3 == 0 for n in range(30)]


def test_g47_an_index_of_several_attributes_is_read_by_any_prefix_of_its_parts(table, fake):
    """In place of a scan of a «composite» index, whose request ElectroDB gets wrong."""
    table.put_many([task(f"{state}{rank}", team="ops", state=state, rank=rank) for state in "ab" for rank in (1, 10)])
    for parts, expected in (({}, ["a1", "a10", "b1", "b10"]), ({"state": "b"}, ["b1", "b10"])):
        assert [one.id for one in table.query(Task.ByTeam(team="ops", **parts))] == expected
    assert [one.id for one in table.query(Task.ByTeam(team="ops", state="b", rank=10))] == ["b10"]
    assert set(fake.sent.operations) == {"BatchWriteItem", "Query"}


# What a query says, and what it keeps


def test_g49_what_will_be_sent_is_known_before_it_is_sent(fake, table):
    """In place of the event `query`, which ElectroDB's listeners get after the answer."""
    query = table.query(Task.ByState(state="x", rank=3)).filter(lambda one: one.points > 1).limit(7)
    request = query.request()
    assert fake.sent.requests == []
    query.all()
    assert fake.sent.requests == [request]


def test_g50_an_exception_of_the_callers_own_code_is_not_swallowed(fake, table):
    """In place of ElectroDB's listeners: code that the library calls is the condition and the transport."""
    table.create(task())
    sent = len(fake.sent.requests)
    with pytest.raises(ZeroDivisionError):
        table.update(KEY, Task.Patch(points=1), where=lambda one: one.points == 1 // 0)
    with pytest.raises(ZeroDivisionError):
        table.query(Task.ByState(state="x")).filter(lambda one: one.points == 1 // 0)
    assert len(fake.sent.requests) == sent
    fake.faults.on_request = lambda _: ThrottledError("refused")
    for call in (lambda: table.get(KEY), lambda: table.query(Task.ByState(state="x")).all()):
        with pytest.raises(ThrottledError):
            call()


def test_g58_a_query_is_a_value_and_its_branches_share_nothing(fake):
    table = fake.table(Task)
    table.put_many([task(f"{rank}", state="x", rank=rank, points=rank % 2) for rank in range(6)])
    query = table.query(Task.ByState(state="x"))
    odd = query.filter(lambda one: one.points == 1)
    even = query.filter(lambda one: one.points == 0)
    query.limit(1), query.reverse(), query.select(Titled), odd.filter(lambda one: one.rank > 3)
    assert [one.rank for one in odd] == [1, 3, 5]
    assert [one.rank for one in even] == [0, 2, 4]
    assert [one.rank for one in query] == [0, 1, 2, 3, 4, 5]


def test_g60_what_a_table_is_told_counts_on_its_indexes_too(fake):
    """ElectroDB forgets an option of the entity on secondary indexes; here the options are expiry and scope."""
    table = fake.table(Task, ttl={"task": {"default_ttl_seconds": 60}})
    table.put_many([task("old", state="x"), task("other", state="y")])
    table.scoped("acme").put_many([task("theirs", state="x")])
    fake.clock.advance(seconds=30)
    table.put_many([task("new", state="x", rank=1)])
    by_state = Task.ByState(state="x")
    assert [one.id for one in table.query(by_state)] == ["old", "new"]
    assert [one.id for one in table.scoped("acme").query(by_state)] == ["theirs"]
    table.scoped("acme").update(Task.Key(id="theirs"), Task.Patch(state="y"), refresh=True)
    assert [one.id for one in table.query(Task.ByState(state="y"))] == ["other"]
    assert [one.id for one in table.scoped("acme").query(Task.ByState(state="y"))] == ["theirs"]
    fake.clock.advance(seconds=30)
    assert [one.id for one in table.query(by_state)] == ["new"]
    assert (table.query(by_state).count(), table.scoped("acme").query(Task.ByState(state="y")).count()) == (1, 0)
    assert len(fake.items()) == 4
