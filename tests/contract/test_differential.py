"""The fake answers as moto and dynalite do, wherever these are right: the same short sequences of requests go to both.

What is never generated, because the server differs from DynamoDB there (the unit tests of the fake, and those of P113,
say what DynamoDB does), has its reason beside the strategy that leaves it out.  For both of them that is, first of all,
what they accept although DynamoDB refuses it: 26 items, 16 MB and 4 MB, wrong types in index keys, filters on keys,
inverted BETWEEN, foreign start keys, numbers beyond 38 digits, duplicates in sets, deep nesting, unused placeholders;
what moto applies twice: a transaction with a token that is sent again; and what only the fake brings about: its faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from singletable.errors import ConditionFailedError, StorageError, TransactionFailedError
from singletable.testing import MemoryDatabase, MemoryTransport
from singletable.wire import Request

TABLE = "differential"
METHODS = {
    "PutItem": "put_item",
    "UpdateItem": "update_item",
    "DeleteItem": "delete_item",
    "GetItem": "get_item",
    "Query": "query",
    "Scan": "scan",
    "BatchGetItem": "batch_get_item",
    "BatchWriteItem": "batch_write_item",
    "TransactGetItems": "transact_get_items",
    "TransactWriteItems": "transact_write_items",
}
CHECKED = settings(
    max_examples=40,
    derandomize=True,
    # Not shrunk: that would ask the server thousands of times, and the first difference says enough.
    phases=[Phase.generate],
)


def key_schema(partition, sort):
    return [{"AttributeName": partition, "KeyType": "HASH"}, {"AttributeName": sort, "KeyType": "RANGE"}]


def table_params(name):
    """A table with an index that holds everything, and one that holds keys and the attribute `a1`."""
    names = ("pk", "sk", "gsi1pk", "gsi1sk")
    some = {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a1"]}
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": attribute, "AttributeType": "S"} for attribute in names],
        "KeySchema": key_schema("pk", "sk"),
        "GlobalSecondaryIndexes": [
            {"IndexName": name, "KeySchema": key_schema("gsi1pk", "gsi1sk"), "Projection": projection}
            for name, projection in (("gsi1", {"ProjectionType": "ALL"}), ("gsi2", some))
        ],
    }


# Two ways to ask the same.


class Server:
    """A server, with a new table for each example."""

    def __init__(self, url: str) -> None:
        self._numbers = count()
        self._client: Any = boto3.client(
            "dynamodb",
            endpoint_url=url,
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}, parameter_validation=False),
        )

    def new_table(self) -> None:
        self._table = f"{TABLE}-{next(self._numbers)}"
        self._client.create_table(**table_params(self._table))
        while self._client.describe_table(TableName=self._table)["Table"]["TableStatus"] != "ACTIVE":
            pass

    def answer(self, request: Request) -> Any:
        """The response; its code, and where a transaction was cancelled those of its members, where it is none."""
        params = renamed(request.params, TABLE, self._table)
        try:
            response = getattr(self._client, METHODS[request.operation])(**params)
        except ClientError as error:
            reasons = tuple(reason["Code"] for reason in error.response.get("CancellationReasons", ()))
            return Refused(error.response["Error"]["Code"], reasons, plain(error.response.get("Item")))
        return renamed(response, self._table, TABLE)

    def close(self) -> None:
        self._client.close()


class Fake:
    """The fake, new for each example."""

    def __init__(self) -> None:
        self._transport = MemoryTransport(MemoryDatabase.for_table(table_params(TABLE)))

    def answer(self, request: Request) -> Any:
        try:
            return self._transport.send(request)
        except ConditionFailedError as error:
            return Refused("ConditionalCheckFailedException", (), plain(error.item))
        except TransactionFailedError as error:
            return Refused("TransactionCanceledException", tuple(reason.code for reason in error.reasons))
        except StorageError as error:
            return Refused(str(error).split(":")[0])


@dataclass(frozen=True)
class Refused:
    code: str
    reasons: tuple[str, ...] = ()
    item: Any = None


def renamed(value: Any, old: str, new: str) -> Any:
    if isinstance(value, list):
        return [renamed(member, old, new) for member in value]
    if isinstance(value, Mapping):
        return {new if name == old else name: renamed(member, old, new) for name, member in value.items()}
    return new if value == old else value


@dataclass(frozen=True)
class Reading:
    """A query or a scan that is followed to its end, in each of the segments."""

    request: Request
    segments: int = 1

    def pages(self, engine: Any) -> Iterator[Any]:
        for segment in range(self.segments):
            shared = {"Segment": segment, "TotalSegments": self.segments} if self.segments > 1 else {}
            params = {**self.request.params, **shared}
            while True:
                page = engine.answer(self.request._replace(params=params))
                yield page
                if isinstance(page, Refused) or "LastEvaluatedKey" not in page:
                    break
                params["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def outcome(engine: Any, asked: Request | Reading) -> Any:
    """What the engine did, in a form in which two engines can be compared."""
    if isinstance(asked, Reading):
        pages = list(asked.pages(engine))
        if isinstance(pages[-1], Refused):
            return pages[-1]
        items = [plain(item) for page in pages for item in page.get("Items", ())]
        # Partitions have no order, and each engine has its own.
        found = items if asked.request.operation == "Query" else sorted(items, key=repr)
        return {"Items": found, **{name: sum(page[name] for page in pages) for name in ("Count", "ScannedCount")}}
    response = engine.answer(asked)
    if isinstance(response, Refused):
        return response
    shown = {name: plain(response[name]) for name in ("Item", "Attributes") if name in response}
    if asked.operation == "TransactGetItems":
        shown["Responses"] = plain(response["Responses"])
    if asked.operation == "BatchGetItem":
        shown["Responses"] = sorted(plain(response["Responses"][TABLE]), key=repr)
    return shown


def plain(value: Any) -> Any:
    """Sets have no order, names have none either, and moto writes 5 as 5.0."""
    if isinstance(value, list):
        return [plain(member) for member in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) & {"SS", "NS", "BS"} and isinstance(next(iter(value.values())), list):
        return {tag: sorted(members) for tag, members in value.items()}
    if set(value) == {"N"}:
        return {"N": Decimal(value["N"])}
    return {name: plain(value[name]) for name in sorted(value)}


def everything(engine: Any) -> Any:
    return outcome(engine, Reading(Request("Scan", {"TableName": TABLE, "ConsistentRead": True})))


# What is asked.

# Nothing empty: dynalite takes it for nothing in IN, BETWEEN, size and attribute_type.  And only ASCII: dynalite's size
# counts characters.  Keys have others.
TEXTS = st.sampled_from(["a", "ab", "b", "B"])
NUMBERS = st.sampled_from(["0", "1", "-1", "2.5", "10"])
SCALARS = st.one_of(
    TEXTS.map(lambda text: {"S": text}),
    NUMBERS.map(lambda number: {"N": number}),
    st.booleans().map(lambda flag: {"BOOL": flag}),
    st.just({"NULL": True}),
    st.sampled_from([b"a", b"ab"]).map(lambda data: {"B": data}),
)
TEXT_SETS = st.sets(st.sampled_from("abc"), min_size=1).map(lambda members: {"SS": sorted(members)})
SETS = st.one_of(
    TEXT_SETS,
    st.sets(NUMBERS, min_size=1).map(lambda members: {"NS": sorted(members)}),
)
LISTS = st.lists(SCALARS, max_size=3).map(lambda members: {"L": members})
MAPS = st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2).map(lambda members: {"M": members})
VALUES = st.one_of(SCALARS, SETS, LISTS, MAPS)
NAMES = st.sampled_from(["a1", "b1"])
KEYS = st.builds(
    lambda pk, sk: {"pk": {"S": pk}, "sk": {"S": sk}},
    st.sampled_from("pq"),
    st.sampled_from(["a", "ab", "b", "é", "B"]),
)


@st.composite
def items(draw, keys=KEYS):
    """An item, whose place in an index is its own: DynamoDB promises no order among equal keys of an index."""
    key = draw(keys)
    index = {"gsi1pk": {"S": "g"}, "gsi1sk": {"S": key["sk"]["S"] + key["pk"]["S"]}}
    part = draw(st.sampled_from([{}, index, index, {"gsi1pk": {"S": "g"}}]))
    typed = {"m1": MAPS, "l1": LISTS, "s1": TEXT_SETS, "n1": NUMBERS.map(lambda number: {"N": number})}
    documents = draw(st.fixed_dictionaries(typed))
    return {**key, **part, **documents, **draw(st.dictionaries(NAMES, VALUES, max_size=2))}


def is_told_apart(value: Any) -> bool:
    """Whether moto tells `value` from all others: not NULL from nothing, nor False from 0 and True from 1."""
    return not any(text in repr(value) for text in ("NULL", "BOOL", "'0'", "'1'"))


COMPARED = VALUES.filter(is_told_apart)


@st.composite
def conditions(draw):
    """A condition on a stored attribute, and the values it needs."""
    path = draw(st.sampled_from(["a1", "b1", "a1.x", "a1[0]", "b1[1]", "b1.y", "m1.x", "l1[0]"]))
    kind = draw(st.sampled_from(["exists", "equal", "ordered", "between", "in", "begins", "contains", "size", "type"]))
    match kind:
        case "exists":
            return draw(st.sampled_from(["attribute_exists", "attribute_not_exists"])) + f"({path})", {}
        case "equal":
            return f"{path} {draw(st.sampled_from(['=', '<>']))} :c", {":c": draw(COMPARED)}
        case "in":
            return f"{path} IN (:c, :d)", {":c": draw(COMPARED), ":d": draw(COMPARED)}
        case "begins":
            return f"begins_with({path}, :c)", {":c": {"S": draw(TEXTS)}}
        case "contains":
            return f"contains({path}, :c)", {":c": draw(st.sampled_from([{"S": "a"}, {"N": "10"}]))}
        case "type":
            return f"attribute_type({path}, :c)", {":c": {"S": draw(st.sampled_from(["S", "N", "L", "M", "SS"]))}}
        case "size":
            # moto takes the size of a number, and fails on that of a flag.
            values = {":c": {"N": draw(st.sampled_from("012"))}, ":type": {"S": draw(st.sampled_from(["S", "L", "M"]))}}
            return f"attribute_type({path}, :type) AND size({path}) > :c", values
        case _:
            return draw(ordered_conditions(path, kind))


@st.composite
def ordered_conditions(draw, path, kind):
    """A comparison of values of one type: moto fails where the types differ."""
    tag, texts = draw(st.sampled_from([("S", TEXTS), ("N", NUMBERS)]))
    low, high = sorted([draw(texts), draw(texts)], key=str.encode if tag == "S" else float)
    values = {":type": {"S": tag}, ":c": {tag: low}}
    if kind == "between":
        return f"attribute_type({path}, :type) AND {path} BETWEEN :c AND :d", {**values, ":d": {tag: high}}
    sign = draw(st.sampled_from(["<", "<=", ">", ">="]))
    return f"attribute_type({path}, :type) AND {path} {sign} :c", values


@st.composite
def guards(draw):
    """Parameters with a condition, or none."""
    if draw(st.integers(0, 2)):
        return {}
    condition, values = draw(conditions())
    shape = draw(st.sampled_from(["{}", "NOT ({})", "attribute_exists(pk) AND ({})", "attribute_not_exists(pk) OR {}"]))
    params = {"ConditionExpression": shape.format(condition)}
    return {**params, "ExpressionAttributeValues": values} if values else params


@st.composite
def updates(draw, for_moto):
    """Parameters with an update expression, values named `:u`."""
    path = draw(st.sampled_from(["a1", "b1", "m1.x", "m1.y", "l1[0]", "l1[1]", "l1[5]"]))
    # An attribute that mostly has the type that is asked for, and one that mostly has not.
    number_name, list_name, set_name = (draw(st.sampled_from([name, name, "a1"])) for name in ("n1", "l1", "s1"))
    number, members, value = {"N": draw(NUMBERS)}, draw(SETS), draw(VALUES)
    expression, used = draw(
        st.sampled_from(
            [
                (f"SET {path} = :u", value),
                (f"SET {number_name} = {number_name} + :u", number),
                (f"SET {number_name} = :u - {number_name}", number),
                (f"SET a1 = if_not_exists({path}, :u)", value),
                (f"SET {list_name} = list_append({list_name}, :u)", {"L": [number]}),
                (f"SET {list_name} = list_append(:u, {list_name})", {"L": [number]}),
                # moto appends in the order in which this is written, instead of that of the positions.
                ("SET l1[5] = :u, l1[7] = n1" if for_moto else "SET l1[7] = :u, l1[5] = n1", value),
                ("SET a1 = b1, b1 = :u", value),
                ("SET gsi1pk = :u", {"S": "g"}),
                ("REMOVE gsi1pk", None),
                # The higher position first: otherwise dynalite removes what the first removal moved there.
                ("REMOVE l1[1], l1[0]", None),
                (f"REMOVE {path}", None),
                (f"ADD {number_name} :u", number),
                (f"ADD {set_name} :u", members),
                (f"DELETE {set_name} :u", members),
            ]
        )
    )
    values = {} if used is None else {"ExpressionAttributeValues": {":u": used}}
    return {"UpdateExpression": expression, **values}


def joined(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters put together, with the values of all of them."""
    params: dict[str, Any] = {"TableName": TABLE}
    values: dict[str, Any] = {}
    for part in parts:
        values |= part.get("ExpressionAttributeValues", {})
        params |= part
    return {**params, "ExpressionAttributeValues": values} if values else params


def writes(*, for_moto):
    # dynalite never shows what stands in the way of a condition.
    shown = st.sampled_from([{}, {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}] if for_moto else [{}])
    old = st.sampled_from(["NONE", "ALL_OLD"]).map(lambda wanted: {"ReturnValues": wanted})
    # Not UPDATED_OLD and UPDATED_NEW: moto leaves out what an update set to the value it had.
    new = st.sampled_from(["NONE", "ALL_OLD", "ALL_NEW"]).map(lambda wanted: {"ReturnValues": wanted})
    puts, keys = items().map(lambda item: {"Item": item}), KEYS.map(lambda key: {"Key": key})
    change = st.builds(
        lambda *parts: Request("UpdateItem", joined(*parts)), keys, updates(for_moto), guards(), shown, new
    )
    return st.one_of(
        st.builds(lambda *parts: Request("PutItem", joined(*parts)), puts, guards(), shown, old),
        st.builds(lambda *parts: Request("DeleteItem", joined(*parts)), keys, guards(), shown, old),
        # There is more to update than to put and to delete.
        *[change] * 4,
    )


ATTRIBUTES = st.sampled_from([{}, {"ProjectionExpression": "pk, a1"}])
NESTED = st.sampled_from([{}, {"ProjectionExpression": "pk, a1"}, {"ProjectionExpression": "a1.x, sk, a1.y"}])
LIMITS = st.sampled_from([{}, {"Limit": 1}, {"Limit": 2}, {"Limit": 3}])
SORT_CONDITIONS = st.sampled_from(
    [
        ("", {}),
        (" AND {sk} = :s", {":s": {"S": "a"}}),
        (" AND {sk} < :s", {":s": {"S": "b"}}),
        (" AND {sk} >= :s", {":s": {"S": "ab"}}),
        (" AND begins_with({sk}, :s)", {":s": {"S": "a"}}),
        (" AND {sk} BETWEEN :s AND :t", {":s": {"S": "1"}, ":t": {"S": "b"}}),
    ]
)


@st.composite
def filters(draw):
    if draw(st.booleans()):
        return {}
    expression, values = draw(conditions())
    return {"FilterExpression": expression, **({"ExpressionAttributeValues": values} if values else {})}


@st.composite
def queries(draw, projections):
    index = draw(st.sampled_from([None, None, "gsi1", "gsi2"]))
    partition, sort, value = ("pk", "sk", draw(st.sampled_from("pq"))) if index is None else ("gsi1pk", "gsi1sk", "g")
    condition, values = draw(SORT_CONDITIONS)
    key = {
        "KeyConditionExpression": f"{partition} = :p" + condition.format(sk=sort),
        "ExpressionAttributeValues": {":p": {"S": value}, **values},
        "ScanIndexForward": draw(st.booleans()),
        **({} if index is None else {"IndexName": index}),
    }
    return Reading(Request("Query", joined(key, draw(filters()), draw(projections), draw(LIMITS))))


@st.composite
def scans(draw, projections):
    index = draw(st.sampled_from([{}, {}, {"IndexName": "gsi1"}, {"IndexName": "gsi2"}]))
    on_key = {"FilterExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
    wanted = draw(st.one_of(filters(), st.just(on_key)))
    return Reading(Request("Scan", joined(index, wanted, draw(projections), draw(LIMITS))), draw(st.integers(1, 3)))


P = {"ExpressionAttributeValues": {":p": {"S": "p"}}}
BY_INDEX = {"TableName": TABLE, "KeyConditionExpression": "gsi1pk = :p", **P}
HERE: dict[str, Any] = {"TableName": TABLE, "Key": {"pk": {"S": "p"}, "sk": {"S": "a"}}}
MISTAKES = st.sampled_from(
    [
        Request("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "p"}}}),
        Request("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "p"}, "sk": {"N": "1"}}}),
        Request("PutItem", {"TableName": TABLE, "Item": {"pk": {"S": "p"}, "sk": {"S": ""}}}),
        Request("PutItem", {"TableName": TABLE, "Item": {**HERE["Key"], "a1": {"SS": []}}}),
        Request("PutItem", {"TableName": TABLE, "Item": {**HERE["Key"], "a1": {"N": "x"}}}),
        Request("PutItem", {"TableName": TABLE, "Item": HERE["Key"], "ReturnValues": "ALL_NEW"}),
        Request("GetItem", {"TableName": TABLE, "Key": {"pk": {"S": "p"}}}),
        Request("GetItem", {**HERE, "ReturnConsumedCapacity": "ALL"}),
        Request("DeleteItem", {**HERE, "ConditionExpression": "exists(a1)"}),
        Request("DeleteItem", {**HERE, "ConditionExpression": "((attribute_exists(a1)))"}),
        Request("UpdateItem", {**HERE, "UpdateExpression": "SET a1 = :p"}),
        Request("UpdateItem", {**HERE, "UpdateExpression": "REMOVE pk"}),
        Request("UpdateItem", {**HERE, "UpdateExpression": "REMOVE name"}),
        Request("UpdateItem", {**HERE, "UpdateExpression": "REMOVE a1, a1.x"}),
        Request("UpdateItem", {**HERE, "UpdateExpression": "REMOVE a1 REMOVE b1"}),
        # Not ADD of a text: moto refuses it, but leaves the key of an item that was not there.
        Request("Query", {"TableName": TABLE, "KeyConditionExpression": "sk = :p", **P}),
        Request("Query", {"TableName": TABLE, "KeyConditionExpression": "pk > :p", **P}),
        Request("Query", {"TableName": TABLE, "KeyConditionExpression": "pk = :p AND a1 = :p", **P}),
        Request("Query", {**BY_INDEX, "IndexName": "gsi1", "ConsistentRead": True}),
        Request("Query", {**BY_INDEX, "IndexName": "gsi2", "Select": "ALL_ATTRIBUTES"}),
        Request("Scan", {"TableName": TABLE, "Segment": 2, "TotalSegments": 2}),
        Request("Scan", {"TableName": TABLE, "TotalSegments": 2}),
        Request("BatchGetItem", {"RequestItems": {TABLE: {"Keys": [HERE["Key"], HERE["Key"]]}}}),
    ]
)


def some_keys(largest):
    return st.lists(KEYS, min_size=1, max_size=largest, unique_by=lambda key: (key["pk"]["S"], key["sk"]["S"]))


@st.composite
def batch_writes(draw):
    members = [
        {"PutRequest": {"Item": draw(items(st.just(key)))}} if draw(st.booleans()) else {"DeleteRequest": {"Key": key}}
        for key in draw(some_keys(5))
    ]
    return Request("BatchWriteItem", {"RequestItems": {TABLE: members}})


def reads(projections):
    return st.one_of(
        st.builds(lambda key, shown: Request("GetItem", joined({"Key": key}, shown)), KEYS, projections),
        st.builds(
            lambda keys, shown: Request("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys, **shown}}}),
            some_keys(5),
            projections,
        ),
        queries(projections),
        scans(projections),
    )


@st.composite
def transactions(draw):
    """A transaction over one to three different items."""
    members = []
    for key in draw(some_keys(3)):
        kind = draw(st.sampled_from(["Put", "Delete", "Update", "ConditionCheck"]))
        condition = draw(guards())
        if kind == "ConditionCheck" and not condition:
            condition = {"ConditionExpression": "attribute_exists(pk)"}
        # Not any update: moto reports the refusal of an update in a transaction as that of the whole request.
        change = {"UpdateExpression": "SET c1 = :u", "ExpressionAttributeValues": {":u": draw(VALUES)}}
        target = {"Item": draw(items(st.just(key)))} if kind == "Put" else {"Key": key}
        members.append({kind: joined(target, change if kind == "Update" else {}, condition)})
    return Request("TransactWriteItems", {"TransactItems": members})


# Whole items: moto does not project them.
TRANSACT_GETS = some_keys(4).map(
    lambda keys: Request("TransactGetItems", {"TransactItems": [{"Get": joined({"Key": key})} for key in keys]})
)


def sequences(*kinds):
    """Items that are stored, and then what is asked."""
    stored = st.lists(items(), min_size=4, max_size=7, unique_by=lambda item: (item["pk"]["S"], item["sk"]["S"]))
    first = stored.map(
        lambda found: Request("BatchWriteItem", {"RequestItems": {TABLE: [{"PutRequest": {"Item": i}} for i in found]}})
    )
    return st.builds(lambda one, others: [one, *others], first, st.lists(st.one_of(*kinds), min_size=8, max_size=16))


# They agree.


@pytest.fixture(scope="module")
def moto(moto_url):
    server = Server(moto_url)
    yield server
    server.close()


@pytest.fixture(scope="module")
def dynalite(dynalite_url):
    server = Server(dynalite_url)
    yield server
    server.close()


@CHECKED
# No paths within attributes: moto fails where one leads nowhere.
@given(
    asked=sequences(writes(for_moto=True), reads(ATTRIBUTES), batch_writes(), transactions(), TRANSACT_GETS, MISTAKES)
)
def test_the_fake_does_what_moto_does(moto, asked):
    fake = Fake()
    moto.new_table()
    for one in asked:
        answered, expected = outcome(fake, one), outcome(moto, one)
        # Where moto refuses or fails, the fake may say no for another reason.
        if isinstance(expected, Refused) and expected.code in ("500", "ValidationException"):
            assert isinstance(answered, Refused), (one, answered, expected)
        else:
            assert answered == expected, one
    assert everything(fake) == everything(moto)


@CHECKED
# No transactions: dynalite has none.
@given(asked=sequences(writes(for_moto=False), reads(NESTED), batch_writes(), MISTAKES))
def test_the_fake_does_what_dynalite_does(dynalite, asked):
    fake = Fake()
    dynalite.new_table()
    for one in asked:
        assert outcome(fake, one) == outcome(dynalite, one), one
    assert everything(fake) == everything(dynalite)


def test_the_fake_consumes_what_dynalite_does(dynalite):
    fake = Fake()
    dynalite.new_table()
    keys = [{"pk": {"S": "p"}, "sk": {"S": sk}} for sk in "abcd"]
    sizes = {"a": 10, "b": 3000, "c": 5000}
    measured = {"ReturnConsumedCapacity": "INDEXES"}
    puts = [{**key, "a1": {"S": "x" * sizes[key["sk"]["S"]]}} for key in keys[:3]]
    page = {"KeyConditionExpression": "pk = :p", **P}
    asked = [
        *(Request("PutItem", {"TableName": TABLE, "Item": item}) for item in puts),
        *(
            Request("GetItem", {"TableName": TABLE, "Key": key, "ConsistentRead": c})
            for key in keys
            for c in (True, False)
        ),
        *(Request("Query", {"TableName": TABLE, **page, **limit}) for limit in ({}, {"Limit": 2})),
        # Not a consistent one: dynalite's scans know none.
        Request("Scan", {"TableName": TABLE}),
        Request("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys}}}),
        Request("UpdateItem", {"TableName": TABLE, "Key": keys[1], "UpdateExpression": "REMOVE a1"}),
        Request("BatchWriteItem", {"RequestItems": {TABLE: [{"DeleteRequest": {"Key": key}} for key in keys]}}),
    ]
    for one in asked:
        request = one._replace(params={**one.params, **measured})
        assert fake.answer(request)["ConsumedCapacity"] == dynalite.answer(request)["ConsumedCapacity"], one
