"""Queries: collections, projections of indexes, budgets, cursors in both directions, items that do not fit."""

from __future__ import annotations

import uuid

import pytest
from pydantic import BaseModel

from singletable import (
    KEEP,
    BudgetExceededError,
    Change,
    Changes,
    CorruptItemError,
    Entity,
    Index,
    InvalidCursorError,
    Pk,
    PrimaryKey,
    Request,
    RequestError,
    Sk,
    SkRange,
    gte,
)
from singletable.items import to_item
from singletable.provision import create_table_params
from singletable.schemas import Message
from singletable.testing import MemoryDatabase
from tests.contract.entities import Account, Box, Label, Note
from tests.contract.support import ALL, FakeBackend, make_backend

pytestmark = pytest.mark.every_engine

BODY = "x" * 50_000


class Doc(Entity, entity="doc", version=1):
    """An entity with an index of keys only and one of some fields."""

    id: str
    owner: str
    topic: str
    rank: int
    title: str = ""
    body: str = ""

    class Key(PrimaryKey["Doc"]):
        id: Pk[str]

    class ByOwner(Index["Doc"], on="gsi1", projection="keys_only"):
        owner: Pk[str]
        rank: SkRange[int] = None

    class ByTopic(Index["Doc"], on="gsi2", collection="topical", projection=("title", "rank")):
        topic: Pk[str]
        rank: SkRange[int] = None

    class Patch(Changes["Doc"]):
        owner: Change[str] = KEEP
        rank: Change[int] = KEEP
        title: Change[str] = KEEP


class Memo(Entity, entity="memo", version=1):
    """Shares the index of topics."""

    id: str
    topic: str
    author: str = ""

    class Key(PrimaryKey["Memo"]):
        id: Pk[str]

    class ByTopic(Index["Memo"], on="gsi2", collection="topical", projection=("author",)):
        topic: Pk[str]
        id: SkRange[str] = None


class NewDoc(Entity, entity="doc", version=2, upcasters={1: lambda old: {**old, "title": old["title"].upper()}}):
    """What a later version of the application makes of documents."""

    id: str
    topic: str
    rank: int
    title: str = ""

    class Key(PrimaryKey["NewDoc"]):
        id: Pk[str]

    class ByTopic(Index["NewDoc"], on="gsi2", collection="topical", projection=("title", "rank")):
        topic: Pk[str]
        rank: SkRange[int] = None


class Event(Entity, entity="event", version=1):
    """Many of them lie in one partition, and share the sort key of an index."""

    stream: str
    number: int
    kind: str = "a"

    class Key(PrimaryKey["Event"]):
        stream: Pk[str]
        number: Sk[int]

    class In(Index["Event"]):
        stream: Pk[str]
        number: SkRange[int] = None

    class ByKind(Index["Event"], on="gsi1"):
        stream: Pk[str]
        kind: SkRange[str] = None


class Title(BaseModel):
    title: str


class Ranked(BaseModel):
    title: str
    rank: int


class Body(BaseModel):
    body: str


def backend_of(request, name, *entities):
    """A table of the definition that these entities have, on a DynamoDB that has this name in ALL."""
    params = create_table_params(f"test-{uuid.uuid4().hex}", [entity.spec for entity in entities])
    if name.startswith("fake"):
        loop = request.getfixturevalue("loop") if name.endswith("-async") else None
        return FakeBackend(loop, database=MemoryDatabase.for_table(params))
    backend = make_backend(request, name)
    client = request.getfixturevalue(name.partition("-")[0]).client
    client.create_table(**params)
    while client.describe_table(TableName=params["TableName"])["Table"]["TableStatus"] != "ACTIVE":
        pass
    backend.table_name = params["TableName"]
    return backend


@pytest.fixture(params=ALL)
def indexed(request):
    """A table with lesser indexes."""
    return backend_of(request, request.param, Doc, Memo)


@pytest.fixture(params=["fake-sync", "fake-async"])
def indexed_fake(request):
    return backend_of(request, request.param, Doc, Memo)


def doc(number, **fields):
    return Doc(**{"id": f"d{number}", "owner": "ada", "topic": "oslo", "rank": number, "title": f"t{number}", **fields})


def docs(backend, *numbers, **fields):
    table = backend.table(Doc, Memo)
    table.put_many([doc(number, **fields) for number in numbers])
    backend.sent.clear()
    return table


def ids(found):
    return [one.id for one in found]


def owned(**parts):
    return Doc.ByOwner(owner="ada", **parts)


def topical(**parts):
    return Doc.ByTopic(topic="oslo", **parts)


def shelf(table):
    """A box, three notes and two labels in one partition, and what else there is."""
    table.put_many([Box(id="b"), Box(id="c"), Note(box_id="c", number=1)])
    table.put_many([Note(box_id="b", number=number) for number in (1, 2, 3)])
    table.put_many([Label(box_id="b", name=name) for name in ("x", "y")])
    return Label.InBox(box_id="b"), Note.InBox(box_id="b"), Box.Key(id="b")


# Collections


def test_a_collection_is_in_order(table):
    found = table.query(*shelf(table)).all()
    assert [type(one) for one in found] == [Box, Label, Label, Note, Note, Note]


def test_a_collection_by_entity_is_one_request(any_backend):
    table = any_backend.table(Box, Label, Note)
    paths = shelf(table)
    any_backend.sent.clear()
    grouped = table.query(*paths).grouped()
    assert grouped[Box] == [Box(id="b")]
    assert [label.name for label in grouped[Label]] == ["x", "y"]
    assert [note.number for note in grouped[Note]] == [1, 2, 3]
    assert any_backend.sent.operations == ["Query"]


def test_an_entity_that_has_no_results_has_an_empty_group(table):
    assert table.query(Box.Key(id="none"), Note.InBox(box_id="none")).grouped()[Note] == []


def test_an_entity_that_was_not_asked_for_has_no_group(table):
    grouped = table.query(Box.Key(id="b"), Note.InBox(box_id="b")).grouped()
    with pytest.raises(RequestError, match="did not ask for Account; it asked for Box, Note"):
        grouped[Account]


def test_what_is_selected_is_grouped_by_its_class(table):
    shelf(table)

    class Number(BaseModel):
        number: int

    assert table.query(Note.InBox(box_id="b")).select(Number).grouped()[Number] == [Number(number=n) for n in (1, 2, 3)]


def test_a_collection_is_counted(table):
    paths = shelf(table)
    assert table.query(*paths).count() == 6
    assert table.query(*paths).limit(4).count() == 4


def test_the_count_of_a_collection_leaves_out_what_lies_between(table):
    _, _, box = shelf(table)
    assert table.query(box, Note.InBox(box_id="b", number=gte(2))).count() == 3


def test_the_count_of_a_collection_leaves_out_what_has_expired(any_backend):
    table = any_backend.table(Box, Label, Note, ttl={"note": {"default_ttl_seconds": 60}})
    paths = shelf(table)
    any_backend.clock.advance(seconds=60)
    assert table.query(*paths).count() == 3


def test_the_count_of_a_collection_reads_only_keys(fake):
    table = fake.table(Box, Label, Note)
    paths = shelf(table)
    fake.sent.clear()
    table.query(*paths).count()
    (response,) = fake.sent.responses
    assert {frozenset(item) for item in response["Items"]} == {frozenset({"pk", "sk"})}


# Indexes that hold less than everything


@pytest.mark.parametrize("path", [owned, topical], ids=["keys-only", "some-fields"])
def test_whole_items_come_in_the_order_of_the_index(indexed, path):
    table = docs(indexed, 3, 1, 2, body="whole")
    assert ids(table.query(path()).all()) == ["d1", "d2", "d3"]
    assert ids(table.query(path()).reverse().all()) == ["d3", "d2", "d1"]
    assert {one.body for one in table.query(path())} == {"whole"}


def test_whole_items_are_read_a_hundred_at_a_time(indexed_fake):
    table = docs(indexed_fake, *range(250))
    assert len(table.query(owned()).all()) == 250
    assert indexed_fake.sent.operations == ["Query", "BatchGetItem"] * 3


def test_whole_items_are_strongly_consistent(indexed_fake):
    table = docs(indexed_fake, 1)
    table.query(owned()).all()
    _, batch = indexed_fake.sent.requests
    assert [wanted["ConsistentRead"] for wanted in batch.params["RequestItems"].values()] == [True]


def test_only_keys_are_read_from_an_index_that_lacks_something(indexed):
    table = docs(indexed, 1)
    table.query(owned()).all()
    (item,) = indexed.sent.responses[0]["Items"]
    assert sorted(item) == ["gsi1pk", "gsi1sk", "pk", "sk"]


def test_no_more_whole_items_are_read_than_are_asked_for(indexed):
    table = docs(indexed, 1, 2, 3, 4, 5)
    assert ids(table.query(owned()).limit(2).all()) == ["d1", "d2"]
    (wanted,) = indexed.sent.requests[1].params["RequestItems"].values()
    assert len(wanted["Keys"]) == 2


@pytest.mark.parametrize("model", [Title, Ranked], ids=lambda model: model.__name__)
def test_what_the_index_holds_is_read_from_it(indexed, model):
    table = docs(indexed, 1, 2)
    assert [one.title for one in table.query(topical()).select(model)] == ["t1", "t2"]
    assert indexed.sent.operations == ["Query"]


def test_what_the_index_lacks_is_read_from_the_table(indexed):
    table = docs(indexed, 1, 2, body="whole")
    assert [one.body for one in table.query(topical()).select(Body)] == ["whole", "whole"]
    assert indexed.sent.operations == ["Query", "BatchGetItem"]


def test_an_index_of_keys_is_never_enough_because_it_does_not_know_what_has_expired(indexed):
    table = docs(indexed, 1)
    assert table.query(owned()).select(Title).all() == [Title(title="t1")]
    assert indexed.sent.operations == ["Query", "BatchGetItem"]


def test_a_collection_in_an_index_is_read_whole(indexed):
    table = docs(indexed, 1, 2, body="whole")
    table.create(Memo(id="m", topic="oslo", author="bob"))
    grouped = table.query(topical(), Memo.ByTopic(topic="oslo")).grouped()
    assert [one.body for one in grouped[Doc]] == ["whole", "whole"]
    assert [one.author for one in grouped[Memo]] == ["bob"]


@pytest.mark.parametrize("path", [owned, topical], ids=["keys-only", "some-fields"])
def test_expired_items_are_not_found_in_a_lesser_index(indexed, path):
    table = indexed.table(Doc, ttl={"doc": {"default_ttl_seconds": 60}})
    table.create(doc(1))
    indexed.clock.advance(seconds=30)
    table.create(doc(2))
    indexed.clock.advance(seconds=30)
    assert ids(table.query(path()).all()) == ["d2"]
    assert table.query(path()).count() == 1
    assert [one.title for one in table.query(path()).select(Title)] == ["t2"]


def test_a_page_of_a_lesser_index_is_full_in_spite_of_expired_items(indexed):
    table = indexed.table(Doc, ttl={"doc": {"default_ttl_seconds": 60}})
    table.put_many([doc(number) for number in range(5)])
    indexed.clock.advance(seconds=60)
    table.put_many([doc(number) for number in range(5, 9)])
    page = table.query(owned()).page(3)
    assert (ids(page.items), page.has_more) == (["d5", "d6", "d7"], True)
    page = table.query(owned()).page(3, page.cursor)
    assert (ids(page.items), page.has_more) == (["d8"], False)


def test_an_item_that_is_gone_is_left_out_while_the_index_lags(indexed_fake):
    table = docs(indexed_fake, 1, 2, 3)
    table.delete(Doc.Key(id="d2"))
    indexed_fake.faults.stale_reads(1)
    assert ids(table.query(owned()).all()) == ["d1", "d3"]
    assert table.query(owned()).count() == 2


def test_an_item_that_moved_to_another_partition_is_left_out_while_the_index_lags(indexed_fake):
    table = docs(indexed_fake, 1, 2, 3)
    table.update(Doc.Key(id="d2"), Doc.Patch(owner="bob"))
    indexed_fake.faults.stale_reads(1)
    assert ids(table.query(owned()).all()) == ["d1", "d3"]


def test_an_item_that_moved_out_of_the_range_is_left_out_while_the_index_lags(indexed_fake):
    table = docs(indexed_fake, 1, 2, 3)
    table.update(Doc.Key(id="d2"), Doc.Patch(rank=0))
    indexed_fake.faults.stale_reads(1)
    assert ids(table.query(owned(rank=gte(1))).all()) == ["d1", "d3"]


def test_an_item_that_moved_within_the_range_is_as_it_is_now_where_the_index_has_it(indexed_fake):
    table = docs(indexed_fake, 1, 2, 3)
    table.update(Doc.Key(id="d1"), Doc.Patch(rank=4))
    indexed_fake.faults.stale_reads(1)
    assert [(one.id, one.rank) for one in table.query(owned())] == [("d1", 4), ("d2", 2), ("d3", 3)]


def test_a_filter_is_answered_by_an_index_that_holds_its_field(indexed):
    table = docs(indexed, 1, 2, 3, body="whole")
    (found,) = table.query(topical()).filter(lambda one: one.title == "t2").all()
    assert (found.id, found.body) == ("d2", "whole")


@pytest.mark.parametrize(
    ("path", "test", "problem"),
    [
        (topical, lambda one: one.body == "x", r"gsi2 does not hold doc\.body"),
        (topical, lambda one: (one.title == "x") | (one.owner == "ada"), r"gsi2 does not hold doc\.owner"),
        (owned, lambda one: one.rank > 3, r"gsi1 does not hold doc\.rank"),
    ],
    ids=["some-fields", "one-of-two", "keys-only"],
)
def test_a_filter_that_the_index_cannot_answer_is_refused_before_it_is_sent(indexed_fake, path, test, problem):
    query = docs(indexed_fake, 1).query(path())
    with pytest.raises(RequestError, match=problem):
        query.filter(test)
    assert indexed_fake.sent.operations == []


def test_some_fields_are_counted_by_the_index_and_keys_by_the_items(indexed):
    table = docs(indexed, 1, 2, 3)
    assert (table.query(topical()).count(), indexed.sent.operations) == (3, ["Query"])
    indexed.sent.clear()
    assert (table.query(owned()).count(), indexed.sent.operations) == (3, ["Query", "BatchGetItem"])


def test_a_collection_in_an_index_of_some_fields_is_counted_without_whole_items(indexed):
    table = docs(indexed, 1, 2)
    table.create(Memo(id="m", topic="oslo"))
    indexed.sent.clear()
    assert table.query(topical(), Memo.ByTopic(topic="oslo")).count() == 3
    assert indexed.sent.operations == ["Query"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_pages_of_an_index_of_keys_are_the_list(indexed, size):
    table = docs(indexed, *range(7))
    query = table.query(owned()).reverse()
    page = query.page(size)
    found = ids(page.items)
    while page.has_more:
        page = query.page(size, page.cursor)
        found += ids(page.items)
    assert found == ids(query.all())
    back = ids(page.items)
    while page.previous:
        page = query.page(size, page.previous)
        back = ids(page.items) + back
    assert back == found


@pytest.mark.parametrize("path", [NewDoc.ByTopic(topic="oslo"), NewDoc.Key(id="d1")], ids=["index", "table"])
def test_items_of_an_earlier_version_are_read_whole_and_cast_up(indexed, path):
    docs(indexed, 1)
    table = indexed.table(NewDoc)
    assert table.query(path).select(Title).all() == [Title(title="T1")]


def test_items_that_no_upcaster_reads_end_the_query(indexed_fake):
    docs(indexed_fake, 1)
    (item,) = indexed_fake.items()
    del item["title"]
    indexed_fake.database.execute(Request("PutItem", {"TableName": indexed_fake.table_name, "Item": item}))
    query = indexed_fake.table(NewDoc).query(NewDoc.Key(id="d1")).select(Title)
    with pytest.raises(CorruptItemError, match="a stored doc cannot be cast up: KeyError"):
        query.all()


# Budgets


@pytest.fixture
def events(table_factory):
    table = table_factory(Event)
    table.put_many([Event(stream="s", number=number, kind="ab"[number % 2]) for number in range(20)])
    return table


@pytest.fixture
def fake_events(fake):
    table = fake.table(Event)
    table.put_many([Event(stream="s", number=number, kind="ab"[number % 2]) for number in range(20)])
    fake.sent.clear()
    return table


STREAM = Event.In(stream="s")


def numbers(found):
    return [one.number for one in found]


def test_a_page_within_a_budget_goes_on_with_its_cursor(events):
    query = events.query(STREAM).filter(lambda event: event.kind == "none").within(max_items=8)
    found, more, cursor = [], [], None
    for _ in range(4):
        page = query.page(5, cursor)
        cursor = page.cursor
        found += page.items
        more.append(page.has_more)
        if not cursor:
            break
    assert (found, more) == ([], [True, True, False])


def test_no_more_items_are_read_than_the_budget_allows(fake, fake_events):
    page = fake_events.query(STREAM).filter(lambda event: event.kind == "b").within(max_items=7).page(50)
    assert (numbers(page.items), sum(fake.sent.scanned_counts)) == ([1, 3, 5], 7)


@pytest.mark.parametrize(
    "read",
    [lambda query: query.all(), list, lambda query: query.count(), lambda query: query.grouped()],
    ids=["all", "iteration", "count", "grouped"],
)
def test_what_wants_everything_raises_where_the_budget_ends(events, read):
    query = events.query(STREAM).within(max_items=12)
    with pytest.raises(BudgetExceededError) as caught:
        read(query)
    assert numbers(query.page(50, caught.value.cursor).items) == list(range(12, 20))


def test_iteration_gives_what_the_budget_allows_and_its_error_goes_on_from_there(events):
    found = []
    query = events.query(STREAM).reverse().within(max_items=12)
    with pytest.raises(BudgetExceededError) as caught:
        found += [found.append(event.number) for event in query]
    assert found == list(range(19, 7, -1))
    assert numbers(query.page(8, caught.value.cursor).items) == list(range(7, -1, -1))


def test_a_budget_that_is_not_used_up_changes_nothing(events):
    query = events.query(STREAM).within(max_items=21, max_rcu=1_000)
    assert numbers(query.all()) == list(range(20))
    assert query.count() == 20
    assert query.page(20).has_more is False


def test_a_limit_that_is_reached_is_no_exceeded_budget(events):
    assert numbers(events.query(STREAM).within(max_items=3).limit(3).all()) == [0, 1, 2]


def test_read_units_end_a_reading(fake):
    table = fake.table(Note)
    table.put_many([Note(box_id="b", number=number, text="x" * 8_000) for number in range(300)])
    fake.sent.clear()
    page = table.query(Note.InBox(box_id="b")).filter(lambda note: note.text == "none").within(max_rcu=150).page(9)
    # 100 notes of 8 KB are 200 units: no request under a budget of units reads more of them.
    assert (page.items, page.has_more, fake.sent.scanned_counts) == ([], True, [100])


def test_read_units_are_asked_for_only_where_they_are_counted(fake, fake_events):
    fake_events.query(STREAM).within(max_items=100).all()
    fake_events.query(STREAM).within(max_rcu=100).all()
    wanted = [request.params.get("ReturnConsumedCapacity") for request in fake.sent.requests]
    assert wanted == [None, "TOTAL"]


def test_whole_items_count_as_read_units(indexed_fake):
    table = docs(indexed_fake, *range(200), body="x" * 7_000)
    page = table.query(owned()).within(max_rcu=150).page(150)
    assert (len(page.items), page.has_more) == (100, True)


def test_read_units_are_reported_by_servers(backend):
    table = backend.table(Event)
    table.put_many([Event(stream="s", number=number) for number in range(3)])
    query = table.query(STREAM).within(max_rcu=1_000)
    assert (len(query.all()), query.count()) == (3, 3)


@pytest.mark.parametrize("bounds", [{"max_items": 0}, {"max_rcu": 0}, {"max_rcu": -1.5}], ids=str)
def test_a_budget_of_nothing_is_refused(fake_events, bounds):
    with pytest.raises(RequestError, match="a budget allows"):
        fake_events.query(STREAM).within(**bounds)


# Pages in both directions


QUERIES = [
    lambda table: table.query(STREAM),
    lambda table: table.query(STREAM).reverse(),
    lambda table: table.query(STREAM).filter(lambda event: event.kind == "b"),
    lambda table: table.query(Event.ByKind(stream="s")),
    lambda table: table.query(Event.ByKind(stream="s", kind="b")).reverse(),
]
QUERY_IDS = ["table", "table-reversed", "filter", "index", "ties-reversed"]


@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize("build", QUERIES, ids=QUERY_IDS)
def test_pages_forward_and_back_are_the_list(events, build, size):
    query = build(events)
    pages = [query.page(size)]
    while pages[-1].has_more:
        pages.append(query.page(size, pages[-1].cursor))
    expected = numbers(query.all())
    assert [number for page in pages for number in numbers(page.items)] == expected
    back = [pages[-1]]
    while back[-1].previous:
        back.append(query.page(size, back[-1].previous))
    assert [numbers(page.items) for page in back[::-1]] == [numbers(page.items) for page in pages]
    assert (pages[0].previous, pages[-1].cursor) == (None, None)


@pytest.mark.parametrize("build", QUERIES, ids=QUERY_IDS)
def test_a_page_that_was_gone_back_to_leads_on_again(events, build):
    query = build(events)
    first = query.page(4)
    second = query.page(4, first.cursor)
    again = query.page(4, second.previous)
    assert numbers(again.items) == numbers(first.items)
    assert again.has_more
    assert numbers(query.page(4, again.cursor).items) == numbers(second.items)


def test_a_page_from_which_everything_is_gone_leads_back_to_the_last_one(events):
    query = events.query(STREAM)
    first = query.page(15)
    events.delete_many([Event.Key(stream="s", number=number) for number in range(15, 20)])
    empty = query.page(15, first.cursor)
    assert (empty.items, empty.cursor) == ([], None)
    last = query.page(15, empty.previous)
    assert (numbers(last.items), last.cursor, last.previous) == (list(range(15)), None, None)


def test_a_page_before_which_everything_is_gone_leads_on_to_the_first_one(events):
    query = events.query(STREAM)
    second = query.page(5, query.page(5).cursor)
    events.delete_many([Event.Key(stream="s", number=number) for number in range(5)])
    empty = query.page(5, second.previous)
    assert (empty.items, empty.previous) == ([], None)
    first = query.page(5, empty.cursor)
    assert (numbers(first.items), first.previous) == ([5, 6, 7, 8, 9], None)


def test_a_page_that_its_budget_emptied_leads_back_to_all_before_it(events):
    query = events.query(STREAM).filter(lambda event: event.number < 5)
    first = query.within(max_items=5).page(5)
    empty = query.within(max_items=5).page(5, first.cursor)
    assert (numbers(first.items), empty.items, empty.has_more) == ([0, 1, 2, 3, 4], [], True)
    assert numbers(query.page(5, empty.previous).items) == [0, 1, 2, 3, 4]


def test_going_back_within_a_budget_goes_on_further_back(events):
    query = events.query(STREAM)
    last = query.page(5, query.page(15).cursor)
    back = query.within(max_items=4).page(10, last.previous)
    assert (numbers(back.items), back.has_more) == ([11, 12, 13, 14], True)
    assert numbers(query.page(4, back.previous).items) == [7, 8, 9, 10]


def test_a_cursor_of_another_scope_is_refused(any_backend):
    table = any_backend.table(Event)
    one, two = table.scoped("one"), table.scoped("two")
    one.put_many([Event(stream="s", number=number) for number in range(3)])
    page = one.query(STREAM).page(1)
    second = one.query(STREAM).page(1, page.cursor)
    for cursor in (page.cursor, second.previous):
        for other in (two, table):
            with pytest.raises(InvalidCursorError, match="another query"):
                other.query(STREAM).page(1, cursor)


def test_the_pages_of_a_memory_have_a_way_back(backend):
    memory = backend.store().memory
    memory.save_messages([Message(id=f"m{n}", thread_id="t", role="user", content="x") for n in range(5)])
    second = memory.list_messages("t", per_page=2, cursor=memory.list_messages("t", per_page=2).cursor)
    assert ids(second.items) == ["m2", "m3"]
    first = memory.list_messages("t", per_page=2, cursor=second.previous)
    assert (ids(first.items), first.previous) == (["m0", "m1"], None)


# Items that do not fit


@pytest.fixture
def spoilt(fake):
    """Ten events, of which the third and the seventh do not fit."""
    table = fake.table(Event)
    for number in range(10):
        item = to_item(Event(stream="s", number=number))
        if number in (2, 6):
            item["number"] = {"S": "none"}
        fake.database.execute(Request("PutItem", {"TableName": fake.table_name, "Item": item}))
    return table


def test_an_item_that_does_not_fit_is_an_error(spoilt):
    with pytest.raises(CorruptItemError):
        spoilt.query(STREAM).all()


def test_items_that_do_not_fit_are_reported_and_left_out(spoilt):
    reported = []
    assert numbers(spoilt.query(STREAM).on_corrupt(reported.append).all()) == [0, 1, 3, 4, 5, 7, 8, 9]
    assert [error.item["number"] for error in reported] == [{"S": "none"}] * 2
    assert {error.entity for error in reported} == {"event"}


def test_an_item_that_does_not_fit_takes_its_place_on_its_page(spoilt):
    reported = []
    query = spoilt.query(STREAM).on_corrupt(reported.append)
    pages = [query.page(3)]
    while pages[-1].has_more:
        pages.append(query.page(3, pages[-1].cursor))
    assert [numbers(page.items) for page in pages] == [[0, 1], [3, 4, 5], [7, 8], [9]]
    assert len(reported) == 2
    back = query.page(3, pages[2].previous)
    assert numbers(back.items) == [3, 4, 5]


def test_a_page_on_which_nothing_fits_leads_on_and_back(spoilt):
    query = spoilt.query(STREAM).on_corrupt(lambda error: None)
    page = query.page(1, query.page(2).cursor)
    assert (page.items, page.has_more) == ([], True)
    assert numbers(query.page(1, page.cursor).items) == [3]
    assert numbers(query.page(2, page.previous).items) == [0, 1]


def test_a_limit_is_of_results_that_fit(spoilt):
    query = spoilt.query(STREAM).on_corrupt(lambda error: None)
    assert numbers(query.limit(3).all()) == [0, 1, 3]
    assert query.reverse().first().number == 9
    assert spoilt.query(Event.In(stream="s", number=gte(2))).on_corrupt(lambda error: None).first().number == 3


def test_what_is_raised_while_reporting_ends_the_query(spoilt):
    def refuse(error):
        raise LookupError from error

    with pytest.raises(LookupError):
        spoilt.query(STREAM).on_corrupt(refuse).all()


def test_whole_items_that_do_not_fit_are_reported(indexed_fake):
    table = docs(indexed_fake, 1, 2, 3)
    broken = {**to_item(doc(2)), "title": {"N": "1"}}
    indexed_fake.database.execute(Request("PutItem", {"TableName": indexed_fake.table_name, "Item": broken}))
    reported = []
    assert ids(table.query(owned()).on_corrupt(reported.append).all()) == ["d1", "d3"]
    assert len(reported) == 1
