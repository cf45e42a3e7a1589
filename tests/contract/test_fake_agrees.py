"""The fake answers as moto does, wherever moto is right.

Left out, because moto 5.2 differs from DynamoDB there (the unit tests of the fake say what DynamoDB does):

* every cursor, because moto gives none where Limit equals the number of items left;
* a foreign start key, a filter on key attributes, an inverted BETWEEN, unused placeholders: moto accepts them;
* the type and size of index keys, 38 digits, duplicates in sets, nesting, 25 items, 16 MB, 4 MB: moto accepts them;
* a ClientRequestToken: moto applies a transaction twice;
* an update that the item cannot take, where the condition fails too: moto looks at the condition second;
* an update of a name within anything but a map, or of a position within anything but a list: moto accepts or fails;
* two attributes of which neither is there, or one that is not there and NULL: moto holds them equal;
* an order between values of different types: moto fails on it;
* UPDATED_OLD and UPDATED_NEW: moto leaves out what an update set to the value it had, and adds the key of a new item;
* the texts of errors;
* what the fake alone can do: stale reads, unprocessed members, throttling, conflicts.
"""

from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

from singletable.errors import ConditionFailedError, StorageError, TransactionFailedError
from singletable.testing import MemoryTransport
from singletable.wire import Request

TABLE = "agrees"
METHODS = {
    "PutItem": "put_item",
    "UpdateItem": "update_item",
    "DeleteItem": "delete_item",
    "GetItem": "get_item",
    "Query": "query",
    "TransactWriteItems": "transact_write_items",
}


@pytest.fixture(scope="module")
def moto():
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client(
        "dynamodb",
        endpoint_url=f"http://{host}:{port}",
        region_name="us-east-1",
        aws_access_key_id="fake",
        aws_secret_access_key="fake",
        config=Config(retries={"total_max_attempts": 1}),
    )
    names = ("pk", "sk", "gsi1pk", "gsi1sk")
    client.create_table(
        TableName=TABLE,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in names],
        KeySchema=_key_schema("pk", "sk"),
        GlobalSecondaryIndexes=[
            {
                "IndexName": "gsi1",
                "KeySchema": _key_schema("gsi1pk", "gsi1sk"),
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    yield client
    client.close()
    server.stop()


def _key_schema(partition, sort):
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def empty(client):
    for item in client.scan(TableName=TABLE)["Items"]:
        client.delete_item(TableName=TABLE, Key={name: item[name] for name in ("pk", "sk")})


def ask_moto(client, request):
    try:
        return comparable(getattr(client, METHODS[request.operation])(**request.params))
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "TransactionCanceledException":
            return [reason["Code"] for reason in error.response["CancellationReasons"]]
        return code, plain(error.response.get("Item"))


def ask_fake(transport, request):
    try:
        return comparable(transport.send(request))
    except ConditionFailedError as error:
        return "ConditionalCheckFailedException", plain(error.item)
    except TransactionFailedError as error:
        return [reason.code for reason in error.reasons]
    except StorageError as error:
        return str(error).split(":")[0], None


def comparable(response):
    shown = ("Item", "Items", "Attributes", "Count", "ScannedCount")
    return {name: plain(response[name]) for name in shown if name in response}


def agree(fake, moto):
    """Whether both did the same; where moto refuses or fails, the fake may say no for another reason."""
    if isinstance(moto, tuple) and moto[0] in ("500", "ValidationException"):
        return isinstance(fake, tuple)
    return fake == moto


def plain(value):
    """Sets have no order, and moto says `{}` where DynamoDB says nothing."""
    if isinstance(value, list):
        return [plain(member) for member in value]
    if not isinstance(value, dict):
        return value
    if set(value) & {"SS", "NS"} and all(isinstance(member, str) for member in next(iter(value.values()))):
        return {tag: sorted(members) for tag, members in value.items()}
    return {name: plain(member) for name, member in value.items()}


TEXTS = st.sampled_from(["a", "ab", "b", "", "é", "B"])
NUMBERS = st.sampled_from(["0", "1", "-1", "2.5", "10"])
SCALARS = st.one_of(
    TEXTS.map(lambda text: {"S": text}),
    NUMBERS.map(lambda number: {"N": number}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    st.sampled_from([b"", b"a", b"ab"]).map(lambda data: {"B": data}),
)
SETS = st.one_of(
    st.sets(st.sampled_from("abc"), min_size=1).map(lambda members: {"SS": sorted(members)}),
    st.sets(NUMBERS, min_size=1).map(lambda members: {"NS": sorted(members)}),
)
VALUES = st.one_of(
    SCALARS,
    SETS,
    st.lists(SCALARS, max_size=3).map(lambda members: {"L": members}),
    st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2).map(lambda members: {"M": members}),
)
COMPARED = VALUES.filter(lambda value: value != {"NULL": True})
NAMES = st.sampled_from(["a1", "b1"])
PATHS = st.sampled_from(["a1", "b1", "a1.x", "a1[0]", "b1[1]", "b1.y"])
UPDATED_PATHS = st.sampled_from(["a1", "b1", "m1.x", "m1.y", "l1[0]", "l1[1]", "l1[5]"])
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "m1": st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2).map(lambda members: {"M": members}),
        "l1": st.lists(SCALARS, max_size=3).map(lambda members: {"L": members}),
    },
)
KEYS = st.builds(
    lambda pk, sk: {"pk": {"S": pk}, "sk": {"S": sk}},
    st.sampled_from("pq"),
    st.sampled_from(["a", "ab", "b", "é", "B"]),
)


@st.composite
def items(draw):
    """An item, whose place in the index is its own: DynamoDB promises no order among equal keys of an index."""
    key = draw(KEYS)
    index = {"gsi1pk": {"S": "g"}, "gsi1sk": {"S": key["sk"]["S"] + key["pk"]["S"]}}
    part = draw(st.sampled_from([{}, index, index, {"gsi1pk": {"S": "g"}}]))
    return {**key, **part, **draw(DOCUMENTS), **draw(st.dictionaries(NAMES, VALUES, max_size=2))}


def _values(**values: Any) -> dict[str, Any]:
    return {"ExpressionAttributeValues": {f":{name}": value for name, value in values.items()}}


@st.composite
def simple_conditions(draw):
    """A condition, and the values it needs."""
    path = draw(PATHS)
    kind = draw(st.sampled_from(["exists", "equal", "ordered", "between", "in", "begins", "contains", "size", "type"]))
    if kind == "exists":
        return draw(st.sampled_from(["attribute_exists", "attribute_not_exists"])) + f"({path})", {}
    if kind == "equal":
        return f"{path} {draw(st.sampled_from(['=', '<>']))} :c", {":c": draw(COMPARED)}
    if kind == "in":
        return f"{path} IN (:c, :d)", {":c": draw(COMPARED), ":d": draw(COMPARED)}
    if kind == "begins":
        return f"begins_with({path}, :c)", {":c": {"S": draw(TEXTS)}}
    if kind == "contains":
        return f"contains({path}, :c)", {":c": draw(st.sampled_from([{"S": "a"}, {"N": "1"}]))}
    if kind == "size":
        values = {":c": {"N": draw(st.sampled_from("012"))}, ":type": {"S": "L"}}
        return f"attribute_type({path}, :type) AND size({path}) > :c", values
    if kind == "type":
        return f"attribute_type({path}, :c)", {":c": {"S": draw(st.sampled_from(["S", "N", "L", "M", "SS"]))}}
    return draw(ordered_conditions(path, kind))


@st.composite
def ordered_conditions(draw, path, kind):
    """A comparison that moto is only asked for values of one type."""
    tag, texts = draw(st.sampled_from([("S", TEXTS), ("N", NUMBERS)]))
    low, high = sorted([draw(texts), draw(texts)], key=str.encode if tag == "S" else float)
    values = {":type": {"S": tag}, ":c": {tag: low}}
    if kind == "between":
        return f"attribute_type({path}, :type) AND {path} BETWEEN :c AND :d", {**values, ":d": {tag: high}}
    sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
    return f"attribute_type({path}, :type) AND {path} {sign} :c", values


@st.composite
def conditions(draw):
    """Parameters with a condition, or none."""
    if draw(st.booleans()):
        return {}
    condition, values = draw(simple_conditions())
    shape = draw(st.sampled_from(["{}", "NOT ({})", "attribute_exists(pk) AND ({})", "attribute_not_exists(pk) OR {}"]))
    params = {
        "ConditionExpression": shape.format(condition),
        "ReturnValuesOnConditionCheckFailure": draw(st.sampled_from(["ALL_OLD", "NONE"])),
    }
    return {**params, "ExpressionAttributeValues": values} if values else params


@st.composite
def updates(draw):
    """Parameters with an update expression, values named `:u`."""
    path, name = draw(UPDATED_PATHS), draw(NAMES)
    number, members, value = {"N": draw(NUMBERS)}, draw(SETS), draw(VALUES)
    listed = {"L": draw(st.lists(SCALARS, max_size=2))}
    expression, used = draw(
        st.sampled_from(
            [
                (f"SET {path} = :u", value),
                (f"SET {name} = {name} + :u", number),
                (f"SET {name} = if_not_exists({name}, :u)", value),
                (f"SET {name} = list_append({name}, :u)", listed),
                ("SET a1 = b1, b1 = :u", value),
                (f"REMOVE {path}", None),
                (f"ADD {name} :u", number),
                (f"ADD {name} :u", members),
                (f"DELETE {name} :u", members),
            ]
        )
    )
    return {"UpdateExpression": expression, **({} if used is None else _values(u=used))}


def joined(*parts):
    """Parameters put together, with the values of all of them."""
    params: dict[str, Any] = {"TableName": TABLE}
    values: dict[str, Any] = {}
    for part in parts:
        values |= part.get("ExpressionAttributeValues", {})
        params |= part
    return {**params, "ExpressionAttributeValues": values} if values else params


PUTS = st.builds(lambda item, condition: joined({"Item": item}, condition), items(), conditions())
DELETES = st.builds(lambda key, condition: joined({"Key": key}, condition), KEYS, conditions())
UPDATES = st.builds(lambda key, *parts: joined({"Key": key}, *parts), KEYS, updates(), conditions())
SORT_CONDITIONS = st.sampled_from(
    [
        ("", {}),
        (" AND {sk} = :s", {"s": {"S": "a"}}),
        (" AND {sk} < :s", {"s": {"S": "b"}}),
        (" AND {sk} >= :s", {"s": {"S": "ab"}}),
        (" AND begins_with({sk}, :s)", {"s": {"S": "a"}}),
        (" AND {sk} BETWEEN :s AND :t", {"s": {"S": "1"}, "t": {"S": "b"}}),
    ]
)


@st.composite
def queries(draw):
    partition, sort, value = draw(st.sampled_from([("pk", "sk", "p"), ("pk", "sk", "q"), ("gsi1pk", "gsi1sk", "g")]))
    condition, values = draw(SORT_CONDITIONS)
    params: dict[str, Any] = {
        "KeyConditionExpression": f"{partition} = :p" + condition.format(sk=sort),
        **_values(p={"S": value}, **values),
    }
    if partition == "gsi1pk":
        params["IndexName"] = "gsi1"
    params["ScanIndexForward"] = draw(st.booleans())
    params |= draw(st.sampled_from([{}, {"Limit": 1}, {"Limit": 2}]))
    if draw(st.booleans()):
        expression, compared = draw(simple_conditions())
        return joined(params, {"FilterExpression": expression, "ExpressionAttributeValues": compared})
    return joined(params)


WRITES = st.one_of(
    PUTS.map(lambda params: Request("PutItem", params)),
    st.builds(
        lambda params, returned: Request("UpdateItem", {**params, "ReturnValues": returned}),
        UPDATES,
        st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW"]),
    ),
    st.builds(
        lambda params, returned: Request("DeleteItem", {**params, "ReturnValues": returned}),
        DELETES,
        st.sampled_from(["NONE", "ALL_OLD"]),
    ),
)
READS = st.one_of(
    st.builds(lambda key: Request("GetItem", {"TableName": TABLE, "Key": key}), KEYS),
    queries().map(lambda params: Request("Query", params)),
)


@st.composite
def transactions(draw):
    """A transaction over one to three different items."""
    keys = draw(st.lists(KEYS, min_size=1, max_size=3, unique_by=lambda key: (key["pk"]["S"], key["sk"]["S"])))
    members = []
    for key in keys:
        kind = draw(st.sampled_from(["Put", "Delete", "Update", "ConditionCheck"]))
        condition = draw(conditions())
        if kind == "ConditionCheck" and not condition:
            condition = {"ConditionExpression": "attribute_exists(pk)"}
        # Not any update: moto reports the refusal of an update in a transaction as that of the whole request.
        change = {"UpdateExpression": "SET c1 = :u", **_values(u=draw(VALUES))} if kind == "Update" else {}
        target = {"Item": key} if kind == "Put" else {"Key": key}
        members.append({kind: joined(target, change, condition)})
    return Request("TransactWriteItems", {"TransactItems": members})


STORED = st.lists(
    items().map(lambda item: Request("PutItem", {"TableName": TABLE, "Item": item})), min_size=4, max_size=8
)
REQUESTS = st.lists(st.one_of(WRITES, READS, transactions()), min_size=4, max_size=10)


@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    # Not shrunk: that would ask moto thousands of times, and the first difference says enough.
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(stored=STORED, requests=REQUESTS)
def test_same_requests_have_the_same_outcomes(moto, stored, requests):
    empty(moto)
    transport = MemoryTransport()
    for request in [*stored, *requests]:
        fake, moto_answer = ask_fake(transport, request), ask_moto(moto, request)
        assert agree(fake, moto_answer), (request, fake, moto_answer)
    by_key = sorted(
        moto.scan(TableName=TABLE)["Items"], key=lambda item: (item["pk"]["S"].encode(), item["sk"]["S"].encode())
    )
    assert plain(transport.database.items(TABLE)) == plain(by_key)
