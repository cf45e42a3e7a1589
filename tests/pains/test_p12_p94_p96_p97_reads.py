"""P12: no consistent read of an index.  P94: large bodies stay out of indexes.  P96: no scan by surprise.
P97: filtering reads no more than it may."""

from __future__ import annotations

import pytest

from singletable import (
    KEEP,
    BudgetExceededError,
    Change,
    Changes,
    Entity,
    IncompleteKeyError,
    Index,
    Pk,
    PrimaryKey,
    Request,
    RequestError,
    SkRange,
)
from singletable.provision import create_table_params
from singletable.schemas import Message, Thread
from singletable.testing import MemoryDatabase
from tests.contract.support import FakeBackend

BODY = "x" * 50_000


class Ticket(Entity, entity="ticket", version=1):
    """A large body, and two indexes that do without it."""

    id: str
    owner: str
    state: str
    title: str = ""
    visits: int = 0
    body: str = ""

    class Key(PrimaryKey["Ticket"]):
        id: Pk[str]

    class ByOwner(Index["Ticket"], on="gsi1", projection="keys_only"):
        owner: Pk[str]
        visits: SkRange[int] = None

    class ByState(Index["Ticket"], on="gsi2", projection=("title",)):
        state: Pk[str]

    class Patch(Changes["Ticket"]):
        visits: Change[int] = KEEP
        title: Change[str] = KEEP
        state: Change[str] = KEEP


class Wide(Entity, entity="wide", version=1):
    """The same with everything in its indexes."""

    id: str
    owner: str
    visits: int = 0
    body: str = ""

    class Key(PrimaryKey["Wide"]):
        id: Pk[str]

    class ByOwner(Index["Wide"], on="gsi1"):
        owner: Pk[str]
        visits: SkRange[int] = None

    class Patch(Changes["Wide"]):
        visits: Change[int] = KEEP


def database(*entities):
    return MemoryDatabase.for_table(create_table_params("fake", [entity.spec for entity in entities]))


@pytest.fixture(params=["fake-sync", "fake-async"])
def tickets(request, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=database(Ticket))


def ticket(number, **fields):
    return Ticket(**{"id": f"k{number}", "owner": "ada", "state": "open", "title": f"t{number}", **fields})


# P12


def test_p12_a_consistent_read_of_an_index_is_refused_before_it_is_sent(fake):
    query = fake.table(Thread, Message).query(Thread.ByResource(resource_id="ada"))
    with pytest.raises(RequestError, match="gsi1 cannot be read consistently; read the table"):
        query.consistent(True)
    assert fake.sent.operations == []


def test_p12_nothing_but_the_table_is_read_consistently(backend):
    table = backend.table(Thread, Message)
    table.query(Thread.ByResource(resource_id="ada")).all()
    table.query(Thread.ByResource(resource_id="ada")).consistent(False).all()
    table.query(Message.InThread(thread_id="t")).all()
    assert [request.params.get("ConsistentRead") for request in backend.sent.requests] == [None, None, True]


# P94


def in_index(backend, index, partition):
    """What an index itself holds of its one item."""
    params = {
        "TableName": backend.table_name,
        "IndexName": index,
        "KeyConditionExpression": f"{index}pk = :pk",
        "ExpressionAttributeValues": {":pk": {"S": partition}},
    }
    (item,) = backend.database.execute(Request("Query", params))["Items"]
    return set(item)


def test_p94_a_large_body_is_in_no_index(tickets):
    tickets.table(Ticket, ttl={"ticket": {"default_ttl_seconds": 60}}).create(ticket(1, body=BODY))
    assert in_index(tickets, "gsi1", "ticket#ada") == {"pk", "sk", "gsi1pk", "gsi1sk"}
    assert in_index(tickets, "gsi2", "ticket#open") == {"pk", "sk", "gsi2pk", "gsi2sk", "title", "ttl"}


def bumped(model, item, patch):
    """The write units per index of an update of an item of 50 KB."""
    backend = FakeBackend(database=database(model))
    table = backend.table(model)
    table.create(item)
    before = backend.items()[0]
    table.update(model.Key(id=item.id), patch)
    after = backend.items()[0]
    backend.database.execute(Request("PutItem", {"TableName": "fake", "Item": before}))
    put = Request("PutItem", {"TableName": "fake", "Item": after, "ReturnConsumedCapacity": "INDEXES"})
    consumed = backend.database.execute(put)["ConsumedCapacity"]
    return {index: units["CapacityUnits"] for index, units in consumed["GlobalSecondaryIndexes"].items()}


def test_p94_a_counter_beside_a_large_body_costs_two_units_in_an_index_of_keys_and_a_hundred_in_one_of_everything():
    assert bumped(Ticket, ticket(1, body=BODY), Ticket.Patch(visits=1)) == {"gsi1": 2}
    wide = Wide(id="k", owner="ada", body=BODY)
    assert bumped(Wide, wide, Wide.Patch(visits=1))["gsi1"] > 90


def test_p94_the_body_is_there_all_the_same_where_it_is_asked_for(tickets):
    table = tickets.table(Ticket)
    table.put_many([ticket(number, body=BODY, visits=number) for number in range(3)])
    assert [len(one.body) for one in table.query(Ticket.ByOwner(owner="ada"))] == [50_000] * 3


# P96


def test_p96_a_list_without_its_partition_cannot_be_said():
    with pytest.raises(TypeError, match="owner"):
        Ticket.ByOwner()


@pytest.mark.parametrize("owner", [None, "", " "], ids=repr)
def test_p96_a_list_of_nobody_is_refused(tickets, owner):
    with pytest.raises(RequestError, match="owner"):
        tickets.table(Ticket).query(Ticket.ByOwner(owner=owner))
    assert tickets.sent.operations == []


def test_p96_the_refusal_names_the_index_and_what_it_lacks(tickets):
    with pytest.raises(IncompleteKeyError, match=r"gsi1pk \(ticket#\{owner\}\) needs owner"):
        tickets.table(Ticket).query(Ticket.ByOwner(owner=None))


def test_p96_a_scan_that_is_not_asked_for_is_refused_with_the_indexes_there_are(tickets):
    with pytest.raises(
        RequestError, match=r"query by Ticket\.Key, Ticket\.ByOwner, Ticket\.ByState, or say allow_scan"
    ):
        tickets.table(Ticket).scan(Ticket)
    assert tickets.sent.operations == []


def test_p96_no_query_ever_becomes_a_scan(tickets):
    table = tickets.table(Ticket)
    table.put_many([ticket(number) for number in range(5)])
    tickets.sent.clear()
    for query in (table.query(Ticket.ByOwner(owner="ada")), table.query(Ticket.ByState(state="open"))):
        query.all(), query.count(), query.page(2), query.first(), query.grouped()
    assert set(tickets.sent.operations) == {"Query", "BatchGetItem"}


# P97


@pytest.fixture
def many(fake):
    """Two thousand rows, of which the last has what is looked for."""
    table = fake.table(Wide)
    table.put_many([Wide(id=f"k{number:04}", owner="ada", visits=number) for number in range(2_000)])
    fake.sent.clear()
    return table.query(Wide.ByOwner(owner="ada")).filter(lambda row: row.visits == 1_999)


def test_p97_a_page_under_a_filter_reads_no_more_than_it_may(many, fake):
    page = many.within(max_items=300).page(10)
    assert (page.items, page.has_more, sum(fake.sent.scanned_counts)) == ([], True, 300)


def test_p97_the_pages_under_a_filter_come_to_the_end(many, fake):
    query, pages = many.within(max_items=300), []
    page = query.page(10)
    while page.has_more:
        pages.append(page)
        page = query.page(10, page.cursor)
    assert ([one.id for one in page.items], len(pages)) == (["k1999"], 6)
    assert sum(fake.sent.scanned_counts) == 2_000


@pytest.mark.parametrize(
    "read", [lambda q: q.all(), lambda q: q.first(), lambda q: q.count()], ids=["all", "1", "count"]
)
def test_p97_what_cannot_be_answered_within_the_bound_says_so(many, fake, read):
    with pytest.raises(BudgetExceededError) as caught:
        read(many.within(max_items=300))
    assert sum(fake.sent.scanned_counts) == 300
    assert [one.id for one in many.page(10, caught.value.cursor).items] == ["k1999"]


def test_p97_a_filter_that_an_index_cannot_answer_does_not_load_everything_in_silence(tickets):
    with pytest.raises(RequestError, match=r"gsi1 does not hold ticket\.title"):
        tickets.table(Ticket).query(Ticket.ByOwner(owner="ada")).filter(lambda one: one.title == "x")
