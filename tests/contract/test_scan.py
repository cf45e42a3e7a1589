"""Scans: the whole table, in segments, only where it is said that it is meant."""

from __future__ import annotations

import threading

import pytest
from pydantic import BaseModel

from singletable import (
    BudgetExceededError,
    CorruptItemError,
    InvalidCursorError,
    Request,
    RequestError,
    Table,
)
from singletable.items import to_item
from singletable.testing import MemoryTransport
from tests.contract.entities import ENTITIES, Account, Box, LaterNote, Note

pytestmark = pytest.mark.every_engine

SEGMENTS = [1, 4]
segmented = pytest.mark.parametrize("segments", SEGMENTS, ids=["whole", "segments"])


class Number(BaseModel):
    number: int


def fill(table, count=40):
    """Notes in many partitions, and other things between them."""
    table.put_many([Note(box_id=f"b{number}", number=number, count=number % 4) for number in range(count)])
    table.put_many([Box(id=f"b{number}") for number in range(count // 4)])
    return table


def scan(table, *models, segments=1):
    return table.scan(*(models or (Note,)), allow_scan=True, segments=segments)


def numbers(found):
    return sorted(one.number for one in found)


@pytest.fixture
def filled(any_backend):
    fill(any_backend.table(*ENTITIES))
    any_backend.sent.clear()
    return any_backend.table(*ENTITIES)


@pytest.fixture
def fake_filled(fake):
    fill(fake.table(*ENTITIES))
    fake.sent.clear()
    return fake.table(*ENTITIES)


@pytest.mark.parametrize(
    ("models", "instead"),
    [
        ((Note,), r"query by Note\.Key, Note\.InBox, Note\.ByOwner, Note\.ByState, or say allow_scan=True"),
        ((Box, Account), r"query by Box\.Key, Account\.Key, or say"),
    ],
    ids=["one", "two"],
)
def test_a_scan_that_nobody_meant_is_refused_with_what_there_is_instead(fake, models, instead):
    with pytest.raises(RequestError, match=instead):
        fake.table(*ENTITIES).scan(*models)
    assert fake.sent.operations == []


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda table: table.scan(allow_scan=True), "name at least one"),
        (lambda table: table.scan(LaterNote, allow_scan=True), "LaterNote is not an entity of table"),
        (lambda table: table.scan(Note, allow_scan=True, segments=0), "1 to 1,000,000 segments, not 0"),
        (lambda table: table.scan(Note, allow_scan=True, segments=1_000_001), "segments"),
        (lambda table: scan(table, Note, Box).filter(lambda note: note.number == 1), "one entity"),
        (lambda table: scan(table, Note, Box).select(Number), "one entity"),
        (lambda table: scan(table, Box).select(Number), "box does not have"),
        (lambda table: scan(table).limit(0), "limit must be 1 or more"),
        (lambda table: scan(table).page(0), "a size of 1 or more"),
        (lambda table: scan(table).limit(2).page(1), "without limit"),
    ],
)
def test_a_scan_that_cannot_be_right_is_refused_before_it_is_sent(fake, call, problem):
    with pytest.raises(RequestError, match=problem):
        call(fake.table(*ENTITIES))
    assert fake.sent.operations == []


@segmented
def test_all_items_of_an_entity_are_found_once(filled, segments):
    assert numbers(scan(filled, segments=segments).all()) == list(range(40))
    assert numbers(scan(filled, segments=segments)) == list(range(40))
    assert scan(filled, segments=segments).count() == 40


@segmented
def test_all_items_of_two_entities_are_found_once(filled, segments):
    found = scan(filled, Note, Box, segments=segments).all()
    assert numbers(one for one in found if isinstance(one, Note)) == list(range(40))
    assert len([one for one in found if isinstance(one, Box)]) == 10
    assert scan(filled, Note, Box, segments=segments).count() == 50


def test_pointers_of_lookups_are_not_found(backend):
    table = backend.table(*ENTITIES)
    table.create(Account(id="1", email="a@x", handle="a"))
    assert len(backend.items()) == 3
    assert [account.id for account in scan(table, Account)] == ["1"]


@segmented
def test_expired_items_are_not_found(any_backend, segments):
    table = any_backend.table(Box, Note, ttl={"note": {"default_ttl_seconds": 60}})
    table.put_many([Note(box_id="b", number=number) for number in range(5)])
    any_backend.clock.advance(seconds=60)
    table.put_many([Note(box_id="b", number=number) for number in range(5, 8)])
    assert numbers(scan(table, segments=segments)) == [5, 6, 7]
    assert scan(table, segments=segments).count() == 3


@segmented
def test_a_scope_sees_its_own_items_and_no_scope_none_of_any_tenant(any_backend, segments):
    table = any_backend.table(*ENTITIES)
    places = {"a": table.scoped("a"), "ab": table.scoped("ab"), "none": table}
    for position, place in enumerate(places.values()):
        place.put_many([Note(box_id=f"b{number}", number=number + 10 * position) for number in range(5)])
    for position, place in enumerate(places.values()):
        assert numbers(scan(place, segments=segments)) == list(range(10 * position, 10 * position + 5))
        assert scan(place, segments=segments).count() == 5


@segmented
def test_a_filter_is_answered_by_dynamodb(filled, any_backend, segments):
    found = scan(filled, segments=segments).filter(lambda note: note.count == 3)
    assert numbers(found) == list(range(3, 40, 4))
    assert found.count() == 10
    assert sum(len(response.get("Items", [])) for response in any_backend.sent.responses) == 10


def test_fields_are_selected(filled, any_backend):
    found = scan(filled).select(Number).all()
    assert numbers(found) == list(range(40))
    assert type(found[0]) is Number
    assert {frozenset(item) for item in any_backend.sent.responses[0]["Items"]} == {frozenset({"pk", "sk", "number"})}


@segmented
def test_a_limit_is_of_results(filled, segments):
    assert len(scan(filled, segments=segments).limit(7).all()) == 7
    assert scan(filled, segments=segments).limit(7).count() == 7


def test_the_request_of_a_scan_can_be_read_before_it_is_sent(fake_filled, fake):
    request = scan(fake_filled.scoped("ada"), segments=2).limit(3).request()
    assert request == Request(
        "Scan",
        {
            "TableName": "fake",
            "FilterExpression": "((#0 IN (:0)) AND (begins_with(#1, :1))) "
            "AND ((attribute_not_exists(#2)) OR (#2 > :2))",
            "ConsistentRead": True,
            "Segment": 0,
            "TotalSegments": 2,
            "Limit": 100,
            "ExpressionAttributeNames": {"#0": "_entity", "#1": "pk", "#2": "ttl"},
            "ExpressionAttributeValues": {
                ":0": {"S": "note"},
                ":1": {"S": "@ada#"},
                ":2": {"N": str(int(fake.clock().timestamp()))},
            },
        },
    )


def test_a_scan_is_strongly_consistent_unless_it_is_said_otherwise(fake_filled, fake):
    scan(fake_filled).all()
    scan(fake_filled).consistent(False).all()
    assert [request.params["ConsistentRead"] for request in fake.sent.requests] == [True, False]


def test_every_segment_is_read_to_its_end(fake):
    table = fake.table(*ENTITIES)
    table.put_many([Note(box_id=f"b{number}", number=number, text="x" * 100_000) for number in range(60)])
    fake.sent.clear()
    assert numbers(scan(table, segments=3)) == list(range(60))
    pages = [request.params["Segment"] for request in fake.sent.requests]
    assert {0, 1, 2} == set(pages[:3])
    assert len(pages) > 6
    # The segments of a round are read before the next round begins.
    assert all(segment not in pages[3:] or "LastEvaluatedKey" in fake.sent.responses[segment] for segment in range(3))


class Meeting:
    """A transport whose scans are answered only when so many are on their way at once."""

    def __init__(self, inner, parties):
        self.inner = inner
        self.barrier = threading.Barrier(parties, timeout=30)

    def send(self, request):
        if request.operation == "Scan":
            self.barrier.wait()
        return self.inner.send(request)


def test_segments_are_read_at_once():
    memory = MemoryTransport()
    fill(Table("t", memory, entities=ENTITIES))
    table = Table("t", Meeting(memory, 4), entities=ENTITIES)
    assert numbers(scan(table, segments=4)) == list(range(40))


def test_no_more_than_eight_segments_are_read_in_a_round(fake_filled, fake):
    iterator = iter(scan(fake_filled, segments=20))
    next(iterator)
    assert len(fake.sent.operations) in (8, 16)
    iterator.close()
    assert numbers(scan(fake_filled, segments=20)) == list(range(40))


# Pages


@pytest.mark.parametrize("size", [7, 40, 41])
@segmented
def test_the_pages_are_the_list(filled, size, segments):
    query = scan(filled, segments=segments)
    page = query.page(size)
    pages = [page]
    while page.has_more:
        page = query.page(size, page.cursor)
        pages.append(page)
    assert numbers(one for page in pages for one in page.items) == list(range(40))
    assert [len(page.items) for page in pages[:-1]] == [size] * (len(pages) - 1)
    assert pages[-1].items
    assert {page.previous for page in pages} == {None}


def test_the_pages_of_a_large_table_are_the_list(fake):
    table = fake.table(*ENTITIES)
    table.put_many([Note(box_id=f"b{number}", number=number, text="x" * 90_000) for number in range(70)])
    query, found = scan(table, segments=5), []
    page = query.page(9)
    found += page.items
    while page.has_more:
        page = query.page(9, page.cursor)
        found += page.items
    assert numbers(found) == list(range(70))


@pytest.mark.parametrize(
    "other",
    [
        lambda table: scan(table, segments=3),
        lambda table: scan(table, Box, segments=4),
        lambda table: scan(table, Note, Box, segments=4),
        lambda table: scan(table, segments=4).filter(lambda note: note.number == 1),
        lambda table: scan(table.scoped("ada"), segments=4),
        lambda table: table.query(Note.InBox(box_id="b1")),
    ],
    ids=["segments", "entity", "entities", "filter", "scope", "query"],
)
def test_a_cursor_of_another_scan_is_refused(fake_filled, other):
    cursor = scan(fake_filled, segments=4).page(3).cursor
    with pytest.raises(InvalidCursorError, match="another query"):
        other(fake_filled).page(3, cursor)


@pytest.mark.parametrize("cursor", ["", "x", "####", "e30", "é"])
def test_a_damaged_cursor_is_refused(fake_filled, cursor):
    with pytest.raises(InvalidCursorError, match="damaged"):
        scan(fake_filled).page(3, cursor)


# Budgets


@segmented
def test_a_budget_bounds_what_is_read(filled, any_backend, segments):
    query = scan(filled, segments=segments).filter(lambda note: note.count == 1).within(max_items=11)
    page = query.page(50)
    found = page.items
    assert sum(any_backend.sent.scanned_counts) <= 11
    for _ in range(50):
        if not page.has_more:
            break
        page = query.page(50, page.cursor)
        found = found + page.items
    assert numbers(found) == list(range(1, 40, 4))


@pytest.mark.parametrize(
    "read", [lambda query: query.all(), list, lambda query: query.count()], ids=["all", "iter", "n"]
)
@segmented
def test_what_wants_everything_raises_where_the_budget_ends(filled, segments, read):
    query = scan(filled, segments=segments)
    with pytest.raises(BudgetExceededError) as caught:
        read(query.within(max_items=20))
    assert 0 < len(query.page(50, caught.value.cursor).items) < 40


def test_iteration_and_the_pages_after_it_are_everything(filled):
    query, found = scan(filled, segments=4), []

    def read():
        for note in query.within(max_items=22):
            found.append(note)

    with pytest.raises(BudgetExceededError) as caught:
        read()
    assert found
    rest = query.page(50, caught.value.cursor)
    assert numbers([*found, *rest.items]) == list(range(40))


def test_read_units_end_a_scan(fake):
    table = fake.table(*ENTITIES)
    table.put_many([Note(box_id=f"b{number}", number=number, text="x" * 8_000) for number in range(300)])
    fake.sent.clear()
    page = scan(table).filter(lambda note: note.text == "none").within(max_rcu=150).page(9)
    assert (page.items, page.has_more, fake.sent.scanned_counts) == ([], True, [100])


# Items that do not fit


def test_items_that_do_not_fit_are_reported_or_raised(fake_filled, fake):
    broken = {**to_item(Note(box_id="b7", number=7)), "count": {"S": "none"}}
    fake.database.execute(Request("PutItem", {"TableName": fake.table_name, "Item": broken}))
    with pytest.raises(CorruptItemError):
        scan(fake_filled).all()
    reported = []
    assert numbers(scan(fake_filled).on_corrupt(reported.append)) == [n for n in range(40) if n != 7]
    assert [error.key["pk"] for error in reported] == [{"S": "shelf#b7"}]
    page = scan(fake_filled).on_corrupt(reported.append).page(40)
    assert (len(page.items), page.has_more) == (39, False)
