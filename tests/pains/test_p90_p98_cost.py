"""P90, P91, P93, P95, P98: requests and write units are counted, constant partitions refused, clients shared."""

from __future__ import annotations

import socket
import threading

import boto3
import pytest

from singletable import (
    AsyncDynamoDBStore,
    DeclarationError,
    DynamoDBStore,
    Entity,
    Index,
    Lookup,
    Pk,
    PrimaryKey,
    SkRange,
    ThreadDeletedError,
)
from singletable.schemas import Message, Resource
from singletable.store.entities import ENTITIES
from singletable.testing import Crash
from tests.contract.support import FakeBackend, Metered
from tests.pains.support import another, ids, listed, message, thread, turn

# P90


def test_p90_two_hundred_items_by_key_are_two_requests(fake):
    table = fake.table(Resource)
    resources = [Resource(id=f"r{number}") for number in range(200)]
    table.put_many(resources)
    fake.sent.clear()
    assert len(table.get_many(Resource.Key(id=one.id) for one in resources)) == 200
    assert fake.sent.operations == ["BatchGetItem"] * 2
    fake.sent.clear()
    assert table.get_each(Resource.Key(id=f"x{number}") for number in range(200)) == [None] * 200
    assert fake.sent.operations == ["BatchGetItem"] * 2


@pytest.mark.parametrize("ordered", [True, False])
def test_p90_a_thousand_small_items_are_forty_requests(fake, ordered):
    table = fake.table(Resource)
    table.put_many([Resource(id=f"r{number}") for number in range(1_000)], ordered=ordered)
    assert fake.sent.operations == ["BatchWriteItem"] * 40
    fake.sent.clear()
    table.delete_many((Resource.Key(id=f"r{number}") for number in range(1_000)), ordered=ordered)
    assert (fake.sent.operations, fake.items()) == (["BatchWriteItem"] * 40, [])


def test_p90_a_thread_of_two_hundred_messages_is_one_query(fake):
    memory = fake.store().memory
    names = [f"m{number:03}" for number in range(200)]
    memory.save_thread(thread())
    memory.save_messages(turn(*names))
    fake.sent.clear()
    assert ids(memory.context("t", last=200).messages) == names
    assert fake.sent.operations == ["Query"]
    fake.sent.clear()
    assert listed(memory) == names
    assert fake.sent.operations == ["Query", "GetItem"]
    fake.sent.clear()
    assert ids(memory.list_messages_by_id(names)) == names
    assert sorted(set(fake.sent.operations)) == ["BatchGetItem"]
    assert len(fake.sent.operations) == 5


# P91

LONG = [f"m{number:03}" for number in range(500)]


@pytest.fixture
def long():
    backend = FakeBackend()
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn(*LONG, content="x" * 1_500))
    backend.sent.clear()
    return backend


def test_p91_a_deletion_reads_keys_and_costs_two_requests_for_fifty_messages(long):
    long.store().memory.delete_thread("t")
    assert [item["_entity"]["S"] for item in long.items()] == ["tombstone"]
    operations = long.sent.operations
    # The first query finds the thread, the last one its states.
    assert (operations.count("Query"), operations.count("TransactWriteItems")) == (13, 11)
    assert len(operations) == 25
    listings = [request.params for request in long.sent.requests if request.operation == "Query"][1:]
    assert all(len(params["ProjectionExpression"].split(", ")) <= 6 for params in listings)
    assert all("content" not in params["ExpressionAttributeNames"].values() for params in listings)


@pytest.mark.parametrize("request_number", [3, 4, 13, 23])
def test_p91_a_deletion_that_is_killed_is_finished_by_the_next_call(long, request_number):
    memory = long.store().memory
    long.faults.crash_before(request_number)
    with pytest.raises(Crash):
        memory.delete_thread("t")
    left = len(long.items())
    other = another(long).store().memory
    assert (other.get_thread_by_id("t"), listed(other), other.context("t").messages) == (None, [], [])
    assert other.list_messages_by_id(LONG[::10]) == []
    for revive in (lambda: other.save_messages(turn("late")), lambda: other.save_thread(thread())):
        with pytest.raises(ThreadDeletedError):
            revive()
    assert len(long.items()) == left
    other.delete_thread("t")
    assert [item["_entity"]["S"] for item in long.items()] == ["tombstone"]


# P93


def turns(content):
    """The units of each of fifty turns: to save them, and to read what the next one needs."""
    transport = Metered()
    memory = DynamoDBStore("t", transport=transport).memory
    memory.save_thread(thread())
    saved, read = [], []
    for number in range(50):
        names = (f"q{number:02}", f"a{number:02}")
        saved.append(transport.spent(lambda names=names: memory.save_messages(turn(*names, content=content))))
        read.append(transport.spent(lambda: memory.context("t", last=10)))
    return saved, read


def test_p93_each_turn_of_a_session_costs_the_same():
    """Two messages, their pointers, and the thread's row with its place in an index: nothing that was saved before."""
    saved, read = turns("x" * 500)
    assert set(saved[1:]) == {saved[1]}
    assert set(read[10:]) == {read[-1]}


def test_p93_the_cost_of_a_session_is_linear_in_its_new_bytes():
    small, large = (sum(turns("x" * size)[0]) for size in (500, 8_500))
    # Eight more KB for each of a hundred messages, at two units a KB in a transaction; reading the end of the thread
    # before each save takes two more units for each message of that size, of which it reads one.
    assert 100 * 8 * 2 <= large - small <= 100 * 8 * 2 + 50 * 3


@pytest.mark.parametrize("before", [1, 50])
def test_p93_a_change_of_the_title_costs_what_the_row_weighs_and_not_the_session(before):
    transport = Metered()
    memory = DynamoDBStore("t", transport=transport).memory
    memory.save_thread(thread())
    for number in range(before):
        memory.save_messages([message(f"m{number}", content="x" * 3_000)])
    # The row, its entry in one index, and the move of the other to its new place.
    assert transport.spent(lambda: memory.update_thread("t", title="Trip")) == 4


# P95


@pytest.mark.parametrize("base", [PrimaryKey, Index, Lookup], ids=lambda base: base.__name__)
def test_p95_a_key_without_a_partition_part_is_refused_at_import(base):
    keywords = {"on": "gsi1"} if base is Index else {}
    with pytest.raises(DeclarationError, match="needs a Pk part: one partition for all items would be too hot"):

        class Everything(Entity, entity="everything"):
            id: str

            if base is not PrimaryKey:

                class Key(PrimaryKey["Everything"]):
                    id: Pk[str]

                class All(base["Everything"], **keywords):
                    id: SkRange[str] = None

            else:

                class Key(base["Everything"]):
                    id: SkRange[str] = None


SPREAD = {
    "actor_id",
    "id",
    "thread_id",
    "resource_id",
    "run_id",
    "trace_id",
    "entity_id",
    "shard",
    "path",
    "folder",
    "payload",
    "name",
}
"""Parts of many values."""
SHELVED = {"blob_folder", "blob_upload"}
"""Written seldom, and found without knowing their names: a folder once an hour, an upload for what no item holds."""
NAMED = {"workflow_name", "scorer_id", "agent_name"}
"""Parts of which an application may have few: their rows in the index are small, and a list by them is wanted."""


@pytest.mark.parametrize(
    "entity", [one for one in ENTITIES if one.spec.name not in SHELVED], ids=lambda entity: entity.spec.name
)
def test_p95_no_shipped_entity_has_a_partition_of_few_values(entity):
    paths = [*entity.spec.indexes.values(), *entity.spec.lookups.values()]
    for path in paths:
        assert any(part.name in (SPREAD if path.name == "table" else SPREAD | NAMED) for part in path.pk.parts), (
            path.name
        )


# P98


@pytest.mark.parametrize("kind", [DynamoDBStore, AsyncDynamoDBStore], ids=lambda kind: kind.__name__)
def test_p98_a_thousand_stores_contact_nothing_and_make_no_client(monkeypatch, kind):
    made: list[str] = []
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: made.append("connection"))
    monkeypatch.setattr(socket.socket, "connect", lambda *_: made.append("connection"))
    monkeypatch.setattr(boto3.Session, "client", lambda *_, **__: made.append("client"))
    monkeypatch.setattr(boto3.Session, "resource", lambda *_, **__: made.append("resource"))
    threads = threading.active_count()
    stores = [kind("agents", region="eu-north-1") for _ in range(1_000)]
    scoped = [stores[0].scoped(f"tenant-{number}") for number in range(1_000)]
    assert (made, threading.active_count(), len(scoped)) == ([], threads, 1_000)


def test_p98_a_thousand_stores_share_the_client_that_they_are_given(moto):
    table = moto.backend(is_async=False).table_name
    calls: list[str] = []
    moto.client.meta.events.register("before-call.dynamodb", lambda model, **_: calls.append(model.name), "p98")
    try:
        stores = [DynamoDBStore(table, client=moto.client) for _ in range(1_000)]
        assert calls == []
        for number in (0, 999):
            stores[number].memory.save_resource(Resource(id=f"r{number}"))
        stores[0].close()
        assert stores[1].memory.get_resource_by_id("r999").id == "r999"
    finally:
        moto.client.meta.events.unregister("before-call.dynamodb", unique_id="p98")
    assert calls == ["PutItem", "PutItem", "GetItem"]


def test_p98_a_store_serves_any_number_of_sessions(fake):
    """It is bound to a table, and to no thread or user."""
    memory = fake.store().memory
    memory.save_messages([Message(id=f"m{n}", thread_id=f"t{n}", role="user", content="x") for n in range(33)])
    assert [listed(memory, f"t{number}") for number in range(33)] == [[f"m{number}"] for number in range(33)]
