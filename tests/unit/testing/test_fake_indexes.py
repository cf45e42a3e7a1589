"""The indexes of the fake: which there are, and what they hold of an item."""

import pytest

from singletable.errors import StorageError, TableNotFoundError
from singletable.provision import create_table_params
from singletable.schemas import Thread
from singletable.testing import IndexKeys, MemoryDatabase, MemoryTransport
from singletable.wire import Request

KEYS = {"pk": {"S": "p"}, "sk": {"S": "s"}, "day": {"S": "2026-01-01"}, "at": {"S": "10:00"}}
ITEM = {**KEYS, "title": {"S": "Trip"}, "meta": {"M": {"seen": {"BOOL": True}}}, "body": {"S": "long"}}
BY_DAY = {
    "KeyConditionExpression": "#day = :day",
    "ExpressionAttributeNames": {"#day": "day"},
    "ExpressionAttributeValues": {":day": {"S": "2026-01-01"}},
}


@pytest.fixture
def ask():
    """`ask("KEYS_ONLY", Select=…)`: the response to a query of an index with this projection."""

    def send(projection, operation="Query", **params):
        transport = MemoryTransport(MemoryDatabase(indexes={"by_day": IndexKeys("day", "at", projection)}))
        transport.send(Request("PutItem", {"TableName": "t", "Item": ITEM}))
        condition = BY_DAY if operation == "Query" else {}
        values = {**condition.get("ExpressionAttributeValues", {}), **params.pop("ExpressionAttributeValues", {})}
        params |= {"ExpressionAttributeValues": values} if values else {}
        return transport.send(Request(operation, {"TableName": "t", "IndexName": "by_day", **condition, **params}))

    return send


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize(
    ("projection", "held"),
    [
        ("ALL", ITEM),
        ("KEYS_ONLY", KEYS),
        (("title",), {**KEYS, "title": {"S": "Trip"}}),
        (("title", "absent", "pk"), {**KEYS, "title": {"S": "Trip"}}),
    ],
    ids=["all", "keys only", "some", "some that are there anyway"],
)
def test_an_index_holds_what_it_projects(ask, operation, projection, held):
    assert ask(projection, operation)["Items"] == [held]
    assert ask(projection, operation, Select="ALL_PROJECTED_ATTRIBUTES")["Items"] == [held]


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_filter_sees_only_what_is_projected(ask, operation):
    by_body = {"FilterExpression": "body = :b", "ExpressionAttributeValues": {":b": {"S": "long"}}}
    assert ask(("title",), operation, **by_body)["Count"] == 0
    assert ask(("body",), operation, **by_body)["Count"] == 1


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_what_an_index_does_not_project_cannot_be_asked_for(ask, operation):
    with pytest.raises(StorageError, match=r"ALL_ATTRIBUTES is not supported for global secondary index by_day"):
        ask("KEYS_ONLY", operation, Select="ALL_ATTRIBUTES")
    with pytest.raises(StorageError, match=r"index by_day does not project \[body, title\]"):
        ask(("meta",), operation, ProjectionExpression="pk, title, body, meta.seen")


def test_what_an_index_projects_can_be_asked_for(ask):
    assert ask("ALL", Select="ALL_ATTRIBUTES")["Items"] == [ITEM]
    some = ask(("meta",), ProjectionExpression="sk, meta.seen")
    assert some["Items"] == [{"sk": {"S": "s"}, "meta": {"M": {"seen": {"BOOL": True}}}}]


def test_a_projection_that_means_nothing_is_refused():
    with pytest.raises(ValueError, match=r"tuple of attributes, not 'title'"):
        IndexKeys("day", "at", "title")


def test_an_index_is_there_only_where_it_is_named(ask):
    with pytest.raises(TableNotFoundError, match=r"does not have the specified index: gsi1"):
        ask("ALL", "Scan", IndexName="gsi1")


def test_a_database_of_a_create_table_call():
    keys = [{"AttributeName": "day", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}]
    by_day = {
        "IndexName": "by_day",
        "KeySchema": keys,
        "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]},
    }
    bare = {"IndexName": "bare", "KeySchema": keys, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    transport = MemoryTransport(MemoryDatabase.for_table({"GlobalSecondaryIndexes": [by_day, bare]}))
    transport.send(Request("PutItem", {"TableName": "t", "Item": ITEM}))
    for index, held in (("by_day", {**KEYS, "title": {"S": "Trip"}}), ("bare", KEYS)):
        assert transport.send(Request("Scan", {"TableName": "t", "IndexName": index}))["Items"] == [held]


def test_a_database_of_the_table_of_some_entities():
    transport = MemoryTransport(MemoryDatabase.for_table(create_table_params("t", [Thread.spec])))
    item = {"pk": {"S": "p"}, "sk": {"S": "s"}, "gsi1pk": {"S": "g"}, "gsi1sk": {"S": "1"}, "title": {"S": "Trip"}}
    transport.send(Request("PutItem", {"TableName": "t", "Item": item}))
    assert transport.send(Request("Scan", {"TableName": "t", "IndexName": "gsi1"}))["Items"] == [item]
    with pytest.raises(TableNotFoundError):
        transport.send(Request("Scan", {"TableName": "t", "IndexName": "gsi4"}))


def test_a_table_without_indexes():
    transport = MemoryTransport(MemoryDatabase.for_table(create_table_params("t", [])))
    with pytest.raises(TableNotFoundError):
        transport.send(Request("Scan", {"TableName": "t", "IndexName": "gsi1"}))
