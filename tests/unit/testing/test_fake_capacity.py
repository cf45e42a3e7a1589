"""What the fake says a request consumed."""

import pytest

from singletable.errors import StorageError
from singletable.testing import IndexKeys, MemoryDatabase, MemoryTransport
from singletable.wire import Request

INDEXED = {"gsi1pk": {"S": "g"}, "gsi1sk": {"S": "1"}}
BY_KEY = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
BY_INDEX = {
    "IndexName": "gsi1",
    "KeyConditionExpression": "gsi1pk = :g",
    "ExpressionAttributeValues": {":g": {"S": "g"}},
}


def key(sk="s"):
    return {"pk": {"S": "p"}, "sk": {"S": sk}}


def sized(size_bytes, sk="s", **attributes):
    """An item of so many bytes."""
    item = {**key(sk), **attributes, "text": {"S": ""}}
    taken = sum(len(name) + len(value["S"]) for name, value in item.items())
    return {**item, "text": {"S": "x" * (size_bytes - taken)}}


def updated(expression, **values):
    update = {"Key": key(), "UpdateExpression": expression}
    return {**update, "ExpressionAttributeValues": {f":{n}": {"S": v} for n, v in values.items()}} if values else update


@pytest.fixture
def units(send):
    """`units("GetItem", Key=…)`: how many units the request consumed."""

    def consumed(operation, **params):
        capacity = send(operation, ReturnConsumedCapacity="TOTAL", **params)["ConsumedCapacity"]
        assert capacity == {"TableName": "t", "CapacityUnits": capacity["CapacityUnits"]}
        return capacity["CapacityUnits"]

    return consumed


@pytest.mark.parametrize("asked", [{}, {"ReturnConsumedCapacity": "NONE"}])
def test_nothing_is_reported_unless_asked(send, asked):
    assert send("GetItem", Key=key(), **asked) == {}
    assert send("PutItem", Item=key(), **asked) == {}


def test_what_to_report_is_checked(send, database):
    with pytest.raises(StorageError, match="'returnConsumedCapacity' must be one of"):
        send("PutItem", Item=key(), ReturnConsumedCapacity="ALL")
    assert database.items("t") == []


@pytest.mark.parametrize(("size", "expected"), [(100, 1), (4096, 1), (4097, 2), (40_000, 10)])
def test_a_get_costs_a_unit_per_4_kb_and_half_of_it_when_eventual(send, units, size, expected):
    send("PutItem", Item=sized(size))
    assert units("GetItem", Key=key(), ConsistentRead=True, ProjectionExpression="sk") == expected
    assert units("GetItem", Key=key()) == expected / 2


def test_nothing_costs_as_much_as_something_small(units):
    assert units("GetItem", Key=key(), ConsistentRead=True) == 1
    assert units("Query", **BY_KEY) == 0.5
    assert units("Scan") == 0.5
    assert units("DeleteItem", Key=key()) == 1


@pytest.mark.parametrize("operation", ["Query", "Scan"])
def test_a_page_is_rounded_up_once_and_costs_what_it_read(send, units, operation):
    for sk in "abc":
        send("PutItem", Item=sized(3000, sk))
    asked = BY_KEY if operation == "Query" else {}
    nothing = {"FilterExpression": "attribute_not_exists(#t)", "ExpressionAttributeNames": {"#t": "text"}}
    assert units(operation, ConsistentRead=True, **asked) == 3
    assert units(operation, **asked, **nothing) == 1.5
    assert units(operation, Limit=1, **asked) == 0.5
    assert units(operation, Select="COUNT", **asked) == 1.5


@pytest.mark.parametrize(
    ("operation", "asked"), [("Query", BY_INDEX), ("Scan", {"IndexName": "gsi1"})], ids=["Query", "Scan"]
)
def test_a_page_of_an_index_is_consumed_there(send, operation, asked):
    send("PutItem", Item=sized(5000, **INDEXED))
    capacity = send(operation, ReturnConsumedCapacity="INDEXES", **asked)["ConsumedCapacity"]
    assert capacity == {
        "TableName": "t",
        "CapacityUnits": 1,
        "Table": {"CapacityUnits": 0},
        "GlobalSecondaryIndexes": {"gsi1": {"CapacityUnits": 1}},
    }


def test_an_index_with_little_in_it_is_cheap_to_read():
    database = MemoryDatabase(indexes={"gsi1": IndexKeys("gsi1pk", "gsi1sk", "KEYS_ONLY")})
    transport = MemoryTransport(database)
    item, asked = sized(9000, **INDEXED), {"TableName": "t", "ReturnConsumedCapacity": "TOTAL"}
    written = transport.send(Request("PutItem", {"Item": item, **asked}))
    assert written["ConsumedCapacity"]["CapacityUnits"] == 9 + 1
    assert transport.send(Request("Query", {**BY_INDEX, **asked}))["ConsumedCapacity"]["CapacityUnits"] == 0.5


@pytest.mark.parametrize(("size", "expected"), [(100, 1), (1024, 1), (1025, 2)])
def test_a_write_costs_a_unit_per_kb(units, size, expected):
    assert units("PutItem", Item=sized(size)) == expected
    assert units("UpdateItem", Key=key(), UpdateExpression="REMOVE absent") == expected
    assert units("DeleteItem", Key=key()) == expected


def test_a_write_costs_the_larger_of_what_was_and_what_is(send, units):
    send("PutItem", Item=sized(5000))
    assert units("UpdateItem", **updated("SET a1 = :v", v="x")) == 5
    assert units("PutItem", Item=key()) == 5
    assert units("PutItem", Item=sized(3000)) == 3


@pytest.mark.parametrize(
    ("update", "expected"),
    [
        (updated("SET a1 = :v", v="x"), 2),
        (updated("SET gsi1sk = :v", v="1"), 0),
        (updated("SET gsi1sk = :v", v="2"), 4),
        (updated("SET gsi1pk = :v", v="h"), 4),
        (updated("REMOVE gsi1sk"), 2),
        (updated("SET gsi2pk = :v, gsi2sk = :v", v="x"), 2 + 2),
    ],
    ids=["in place", "unchanged", "other sort key", "other partition", "removed", "another index"],
)
def test_an_index_costs_what_changes_in_it(send, update, expected):
    send("PutItem", Item=sized(1500, **INDEXED))
    capacity = send("UpdateItem", ReturnConsumedCapacity="INDEXES", **update)["ConsumedCapacity"]
    indexes = capacity.get("GlobalSecondaryIndexes", {})
    assert capacity["Table"] == {"CapacityUnits": 2}
    assert sum(index["CapacityUnits"] for index in indexes.values()) == expected
    assert capacity["CapacityUnits"] == 2 + expected


def test_a_batch_get_reports_each_table(send):
    for sk in "ab":
        send("PutItem", Item=sized(3000, sk))
    asked = {
        "t": {"Keys": [key("a"), key("b"), key("absent")]},
        "u": {"Keys": [key("a")], "ConsistentRead": True},
    }
    response = send("BatchGetItem", RequestItems=asked, ReturnConsumedCapacity="TOTAL")
    by_table = sorted(response["ConsumedCapacity"], key=lambda capacity: capacity["TableName"])
    assert by_table == [{"TableName": "t", "CapacityUnits": 1.5}, {"TableName": "u", "CapacityUnits": 1}]


def test_a_batch_write_reports_what_was_done(send, transport):
    batch = [{"PutRequest": {"Item": sized(1500, sk, **INDEXED)}} for sk in "abc"]
    transport.faults.leave_unprocessed(1)
    response = send("BatchWriteItem", RequestItems={"t": batch}, ReturnConsumedCapacity="INDEXES")
    assert response["ConsumedCapacity"] == [
        {
            "TableName": "t",
            "CapacityUnits": 8,
            "Table": {"CapacityUnits": 4},
            "GlobalSecondaryIndexes": {"gsi1": {"CapacityUnits": 4}},
        }
    ]


def test_a_transaction_costs_twice(send):
    members = [
        {"Put": {"TableName": "t", "Item": sized(1500, "a")}},
        {"ConditionCheck": {"TableName": "t", "Key": key("b"), "ConditionExpression": "attribute_not_exists(pk)"}},
    ]
    written = send("TransactWriteItems", TransactItems=members, ReturnConsumedCapacity="TOTAL")
    assert written["ConsumedCapacity"] == [{"TableName": "t", "CapacityUnits": 6, "WriteCapacityUnits": 6}]
    gets = [{"Get": {"TableName": "t", "Key": key(sk)}} for sk in "ab"]
    read = send("TransactGetItems", TransactItems=gets, ReturnConsumedCapacity="INDEXES")
    units = {"CapacityUnits": 4, "ReadCapacityUnits": 4}
    assert read["ConsumedCapacity"] == [{"TableName": "t", **units, "Table": units}]


def test_a_transaction_sent_again_costs_a_read(send):
    params = {
        "TransactItems": [{"Put": {"TableName": "t", "Item": sized(5000)}}],
        "ClientRequestToken": "token",
        "ReturnConsumedCapacity": "TOTAL",
    }
    assert send("TransactWriteItems", **params)["ConsumedCapacity"][0]["WriteCapacityUnits"] == 10
    again = send("TransactWriteItems", **params)["ConsumedCapacity"]
    assert again == [{"TableName": "t", "CapacityUnits": 4, "ReadCapacityUnits": 4}]
