"""P113: a test double that accepts what DynamoDB refuses hides the bug until production.

Every gap that was measured in moto is one case here: the fake refuses what DynamoDB refuses, does what DynamoDB does,
and brings about what DynamoDB only does now and then.
"""

from __future__ import annotations

import pytest

from singletable import (
    Request,
    StorageError,
    Table,
    ThrottledError,
    TransactionConflictError,
    TransactionFailedError,
    UnreachableError,
)
from singletable.schemas import Resource, Thread
from singletable.testing import Clock, Crash, MemoryTransport

FOREIGN = {"pk": {"S": "q"}, "sk": {"S": "s"}}
BY_KEY = {"KeyConditionExpression": "pk = :p"}
VALUE_P = {":p": {"S": "p"}}
INCREMENT = {"UpdateExpression": "ADD n :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}


def key(sk="s"):
    return {"pk": {"S": "p"}, "sk": {"S": str(sk)}}


def put(**attributes):
    return Request("PutItem", {"TableName": "t", "Item": {**key(), **attributes}})


def query(**params):
    return Request("Query", {"TableName": "t", **BY_KEY, "ExpressionAttributeValues": VALUE_P, **params})


def batch(count, **attributes):
    members = [{"PutRequest": {"Item": {**key(number), **attributes}}} for number in range(count)]
    return Request("BatchWriteItem", {"RequestItems": {"t": members}})


def transaction(*members, **params):
    return Request("TransactWriteItems", {"TransactItems": list(members), **params})


def member(number, **attributes):
    return {"Put": {"TableName": "t", "Item": {**key(number), **attributes}}}


def nested(levels):
    value = {"S": "x"}
    for _ in range(levels):
        value = {"L": [value]}
    return value


def between(low, high):
    values = {**VALUE_P, ":low": {"S": low}, ":high": {"S": high}}
    condition = "pk = :p AND sk BETWEEN :low AND :high"
    return query(KeyConditionExpression=condition, ExpressionAttributeValues=values)


REFUSED = {
    "26 items in a batch": batch(26),
    "more than 16 MB in a batch": batch(25, text={"S": "\x01" * 120_000}),
    "more than 4 MB in a transaction": transaction(
        *(member(number, text={"S": "x" * 399_000}) for number in range(11))
    ),
    "number as the key of an index": put(gsi1pk={"N": "1"}),
    "filter on the primary key": query(FilterExpression="sk = :p"),
    "inverted BETWEEN": between("b", "a"),
    "start key of another partition": query(ExclusiveStartKey=FOREIGN),
    "number of 39 digits": put(n={"N": "1" * 39}),
    "number of 1E+126": put(n={"N": "1E+126"}),
    "number twice in a set": put(n={"NS": ["1", "1.0"]}),
    "text twice in a set": put(n={"SS": ["x", "x"]}),
    "33 levels of nesting": put(n=nested(33)),
    "value that no expression uses": query(ExpressionAttributeValues={**VALUE_P, ":more": {"S": "x"}}),
    "name that no expression uses": query(ExpressionAttributeNames={"#more": "x"}),
}
ALLOWED = {
    "25 items in a batch": batch(25),
    "16 MB in a batch": batch(25, text={"S": "\x01" * 110_000}),
    "4 MB in a transaction": transaction(*(member(number, text={"S": "x" * 399_000}) for number in range(10))),
    "text as the key of an index": put(gsi1pk={"S": "1"}),
    "filter on another attribute": query(FilterExpression="title = :p"),
    "BETWEEN of one value": between("a", "a"),
    "start key of the partition": query(ExclusiveStartKey=key("a")),
    "number of 38 digits": put(n={"N": "1" * 38}),
    "number of 9E+125": put(n={"N": "9E+125"}),
    "32 levels of nesting": put(n=nested(32)),
}


@pytest.fixture
def transport():
    return MemoryTransport()


@pytest.fixture
def stored(transport):
    """`stored()`: the sort keys of what is stored."""
    return lambda: [item["sk"]["S"] for item in transport.database.items("t")]


@pytest.fixture
def table(transport):
    return Table("t", transport, entities=[Resource, Thread], sleep=lambda _: None)


@pytest.mark.parametrize("case", REFUSED)
def test_p113_refuses_what_dynamodb_refuses(transport, stored, case):
    with pytest.raises(StorageError, match=r"^ValidationException: "):
        transport.send(REFUSED[case])
    assert stored() == []


@pytest.mark.parametrize("case", ALLOWED)
def test_p113_accepts_what_is_just_allowed(transport, case):
    transport.send(ALLOWED[case])


def test_p113_a_replayed_token_is_applied_once(transport):
    request = transaction({"Update": {"TableName": "t", "Key": key(), **INCREMENT}}, ClientRequestToken="token")
    transport.send(request)
    transport.send(request)
    assert transport.database.items("t")[0]["n"] == {"N": "1"}


def test_p113_a_batch_may_stay_undone_in_part(transport, stored):
    transport.faults.leave_unprocessed(2, operation="BatchWriteItem")
    transport.faults.leave_unprocessed(1, operation="BatchGetItem")
    left = transport.send(batch(3))["UnprocessedItems"]["t"]
    assert (stored(), len(left)) == (["0"], 2)
    read = transport.send(Request("BatchGetItem", {"RequestItems": {"t": {"Keys": [key(0)]}}}))
    assert (read["Responses"], read["UnprocessedKeys"]) == ({"t": []}, {"t": {"Keys": [key(0)]}})


@pytest.mark.parametrize(
    "request_", [query(Limit=3), Request("Scan", {"TableName": "t", "Limit": 3})], ids=["Query", "Scan"]
)
def test_p113_a_page_as_long_as_its_limit_has_a_cursor(transport, request_):
    transport.send(batch(3))
    first = transport.send(request_)
    assert (first["Count"], "LastEvaluatedKey" in first) == (3, True)
    start = {"ExclusiveStartKey": first["LastEvaluatedKey"]}
    then = transport.send(request_._replace(params={**request_.params, **start}))
    assert then == {"Items": [], "Count": 0, "ScannedCount": 0}


def test_p113_reads_may_be_stale_unless_they_are_consistent(transport):
    transport.send(put())
    transport.faults.stale_reads(1)
    assert transport.send(query())["Count"] == 0
    assert transport.send(query(ConsistentRead=True))["Count"] == 1


def test_p113_requests_may_be_throttled(table, transport):
    transport.faults.throttle(operation="GetItem")
    with pytest.raises(ThrottledError):
        table.get(Resource.Key(id="ada"))
    assert table.get(Resource.Key(id="ada")) is None


def test_p113_a_transaction_may_be_in_conflict(transport, stored):
    transport.faults.conflict()
    with pytest.raises(TransactionFailedError) as caught:
        transport.send(transaction(member(1), member(2)))
    assert [reason.code for reason in caught.value.reasons] == ["None", "TransactionConflict"]
    assert stored() == []


def test_p113_a_single_write_may_be_in_conflict_with_a_transaction(table, transport):
    transport.faults.conflict(operation="PutItem")
    table.put(Resource(id="ada"))
    assert [request.operation for request in transport.requests] == ["PutItem", "PutItem"], "tried again"
    transport.faults.conflict(None, operation="PutItem")
    with pytest.raises(TransactionConflictError):
        table.put(Resource(id="bob"))
    assert len(transport.database.items("t")) == 1


def test_p113_answers_may_get_lost(table, transport):
    transport.faults.lose_answer(operation="PutItem")
    table.create(Resource(id="ada"))
    assert table.get(Resource.Key(id="ada")), "a lost answer is settled by reading"
    transport.faults.lose_answer(operation="GetItem")
    with pytest.raises(UnreachableError):
        table.get(Resource.Key(id="ada"))


def test_p113_a_process_may_die_between_two_requests(table, transport):
    transport.faults.crash_before(2)
    with pytest.raises(Crash):
        table.put_many([Resource(id=f"r{number}") for number in range(26)])
    assert len(transport.database.items("t")) == 25


def test_p113_the_clock_may_move(transport):
    clock, ttl = Clock(), {"resource": {"default_ttl_seconds": 60}}
    table = Table("t", transport, entities=[Resource], clock=clock, ttl=ttl)
    table.create(Resource(id="ada"))
    clock.advance(seconds=61)
    assert table.get(Resource.Key(id="ada")) is None
    assert len(transport.database.items("t")) == 1, "DynamoDB removes it later"
    table.create(Resource(id="ada"))
