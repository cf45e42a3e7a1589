"""P21: pages are the list, forward and back, whatever is written between them."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import Entity, Index, Pk, PrimaryKey, Sk, SkRange, Table
from singletable.testing import MemoryTransport

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Row(Entity, entity="row", version=1):
    sheet: str
    number: int
    colour: str = "red"

    class Key(PrimaryKey["Row"]):
        sheet: Pk[str]
        number: Sk[int]

    class In(Index["Row"]):
        sheet: Pk[str]
        number: SkRange[int] = None

    class ByColour(Index["Row"], on="gsi1", projection="keys_only"):
        """Rows of one colour share a sort key, and are read from the table by their keys."""

        sheet: Pk[str]
        colour: SkRange[str] = None


laws = settings(derandomize=True, max_examples=120)
rows = st.sets(st.integers(0, 40), max_size=20)
writes = st.lists(rows, max_size=12)
sizes = st.integers(1, 6)
builds = st.sampled_from(
    [
        lambda table: table.query(Row.In(sheet="s")),
        lambda table: table.query(Row.In(sheet="s")).reverse(),
        lambda table: table.query(Row.In(sheet="s")).filter(lambda row: row.colour == "red"),
        lambda table: table.query(Row.ByColour(sheet="s")),
        lambda table: table.query(Row.ByColour(sheet="s")).reverse(),
    ]
)


def colour(number):
    return ("red", "blue", "red", "green")[number % 4]


def write(table, numbers):
    for number in numbers:
        table.put(Row(sheet="s", number=number, colour=colour(number)))


def table_of(numbers):
    table = Table("t", MemoryTransport(), entities=[Row], clock=lambda: NOON)
    write(table, numbers)
    return table


def numbers_of(items):
    return [row.number for row in items]


def forward(query, size, between=lambda: None):
    pages = [query.page(size)]
    while pages[-1].has_more:
        between()
        pages.append(query.page(size, pages[-1].cursor))
    return pages


def back(query, size, page, between=lambda: None):
    pages = [page]
    while pages[0].previous:
        between()
        pages.insert(0, query.page(size, pages[0].previous))
    return pages


def joined(pages):
    return [number for page in pages for number in numbers_of(page.items)]


@laws
@given(rows, sizes, builds)
def test_pages_joined_are_the_list_in_both_directions(numbers, size, build):
    query = build(table_of(numbers))
    pages = forward(query, size)
    assert joined(pages) == numbers_of(query.all())
    assert all(len(page.items) == size for page in pages[:-1])
    assert [page.items for page in back(query, size, pages[-1])] == [page.items for page in pages]


@laws
@given(rows, sizes, builds)
def test_more_follows_exactly_where_the_next_page_has_items(numbers, size, build):
    query = build(table_of(numbers))
    pages = forward(query, size)
    assert all(page.items for page in pages[1:])
    assert [page.previous is None for page in pages] == [page is pages[0] for page in pages]


@laws
@given(rows, sizes, builds, writes)
def test_what_was_there_is_found_once_in_order_whatever_is_written_between_pages(numbers, size, build, batches):
    table = table_of(numbers)
    query = build(table)
    before, pending = numbers_of(query.all()), list(batches)
    found = joined(forward(query, size, lambda: write(table, pending.pop() if pending else ())))
    after = numbers_of(query.all())
    assert [number for number in found if number in before] == before
    assert found == [number for number in after if number in found]
    assert len(set(found)) == len(found)


@laws
@given(rows, sizes, builds, writes)
def test_going_back_finds_all_that_is_there_then(numbers, size, build, batches):
    table = table_of(numbers)
    query = build(table)
    last, pending = forward(query, size)[-1], list(batches)
    found = joined(back(query, size, last, lambda: write(table, pending.pop() if pending else ())))
    after, before = numbers_of(query.all()), numbers
    assert [number for number in found if number in before] == [number for number in after if number in before]
    assert found == [number for number in after if number in found]
    assert len(set(found)) == len(found)


@laws
@given(rows, sizes, builds, st.integers(1, 7))
def test_pages_within_a_budget_are_the_list(numbers, size, build, most):
    query = build(table_of(numbers))
    bounded = query.within(max_items=most)
    pages = forward(bounded, size)
    assert joined(pages) == numbers_of(query.all())
    assert joined(back(bounded, size, pages[-1])) == numbers_of(query.all())
