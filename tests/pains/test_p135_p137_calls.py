"""P135: names need no care.  P136: no call names an entity by hand.  P137: nothing is left for users to fill in."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import Field

import singletable
from singletable import (
    KEEP,
    AsyncTransport,
    Change,
    Changes,
    DeclarationError,
    Entity,
    Index,
    JsonObject,
    Map,
    Pk,
    PrimaryKey,
    Request,
    RequestError,
    SkRange,
    Table,
    Transport,
    add,
    append,
    merge,
    remove,
    remove_at,
    set_at,
)
from singletable.adapters.pynamo import AsyncPynamoTransport, PynamoTransport
from singletable.conditions import at, begins_with, contains, exists, is_in, missing, size
from singletable.schemas import Resource, Thread
from singletable.testing import AsyncMemoryTransport, MemoryTransport
from singletable.wire import Operation


class Reserved(Entity, entity="name", version=1):
    """Fields whose names are DynamoDB's words, and one whose stored name is not its own."""

    id: str
    status: str = "open"
    name: str = "n"
    data: Map[JsonObject] = Field(default_factory=dict)
    size: int = 0
    values: list[str] = Field(default_factory=list)
    set: frozenset[str] = frozenset()
    date: str = ""
    last_key: str = ""

    class Key(PrimaryKey["Reserved"]):
        id: Pk[str]

    class ByStatus(Index["Reserved"], on="gsi1"):
        status: Pk[str]
        name: SkRange[str] = None

    class Patch(Changes["Reserved"]):
        status: Change[str] = KEEP
        name: Change[str] = KEEP
        data: Change[Map[JsonObject]] = KEEP
        size: Change[int] = KEEP
        values: Change[list[str]] = KEEP
        date: Change[str] = KEEP
        last_key: Change[str] = KEEP


KEY = Reserved.Key(id="a")
DOTTED = {"a.b": 1, "a": {"b": 2}, "#a": 3, ":v": 4, "x[0]": 5, "size(a)": 6, "é 😀": 7}
EXPRESSIONS = ("UpdateExpression", "ConditionExpression", "FilterExpression", "KeyConditionExpression")
WORDS = {"SET", "REMOVE", "ADD", "DELETE", "AND", "OR", "NOT", "IN", "BETWEEN"}
FUNCTIONS = {"attribute_exists", "attribute_not_exists", "attribute_type", "begins_with", "contains", "size"}
FUNCTIONS |= {"if_not_exists", "list_append"}


@pytest.fixture
def table(backend):
    return backend.table(Reserved)


# P135


def test_p135_reserved_words_are_fields_like_others(table):
    table.create(Reserved(id="a", set=frozenset({"x"}), date="today"))
    table.update(KEY, Reserved.Patch(status="done", name="m", size=add(3), values=append(["v"]), date=remove()))
    changed = table.update(
        KEY,
        Reserved.Patch(data=merge({"x": 1}), last_key="k"),
        where=lambda one: (one.status == "done") & (size(one.name) == 1) & contains(one.set, "x") & exists(one.values),
    )
    assert (changed.size, changed.values, changed.date, changed.data, changed.last_key) == (3, ["v"], "", {"x": 1}, "k")
    found = table.query(Reserved.ByStatus(status="done", name="m")).filter(lambda one: one.size > 2)
    assert found.filter(lambda one: is_in(one.last_key, ["k"]) & missing(one.date)).all() == [changed]
    assert found.filter(lambda one: begins_with(one.last_key, "x")).all() == []


@pytest.mark.parametrize("name", DOTTED)
def test_p135_a_name_with_dots_is_one_name(table, name):
    table.create(Reserved(id="a", data=DOTTED))
    changed = table.update(KEY, Reserved.Patch(data=merge({name: "new"})))
    assert changed.data == {**DOTTED, name: "new"}
    changed = table.update(
        KEY, Reserved.Patch(data=set_at(name, value=[1, 2])), where=lambda one: at(one.data, name) == "new"
    )
    assert table.update(KEY, Reserved.Patch(data=remove_at(name, 0))).data == {**DOTTED, name: [2]}
    assert table.update(KEY, Reserved.Patch(data=remove_at(name))).data == {
        k: v for k, v in DOTTED.items() if k != name
    }


def test_p135_no_name_is_in_any_expression(table, backend):
    test_p135_reserved_words_are_fields_like_others(table)
    sent = [request.params for request in backend.sent.requests]
    texts = [params[name] for params in sent for name in EXPRESSIONS if name in params]
    assert len(texts) > 5
    for text in texts:
        words = re.findall(r"[#:]?\w+", text)
        assert {word for word in words if word[0] not in "#:" and not word.isdigit()} <= WORDS | FUNCTIONS


def test_p135_a_field_may_be_called_ttl_where_the_expiry_is_called_otherwise(backend):
    class Cache(Entity, entity="cache"):
        id: str
        ttl: int = 7

        class Key(PrimaryKey["Cache"]):
            id: Pk[str]

    with pytest.raises(DeclarationError, match=r"Cache\.ttl is stored as ttl, the TTL attribute"):
        backend.table(Cache)
    table = backend.table(Cache, ttl={"cache": {"default_ttl_seconds": 60, "attribute_name": "expiresAt"}})
    table.create(Cache(id="a"))
    assert table.get(Cache.Key(id="a")).ttl == 7
    backend.clock.advance(seconds=60)
    assert table.get(Cache.Key(id="a")) is None


def test_p135_stored_names_are_used_in_every_expression(table, backend):
    """A field is stored in camelCase: conditions, filters, patches and projections follow."""
    table.create(Reserved(id="a", last_key="k"))
    table.update(KEY, Reserved.Patch(last_key="l"), where=lambda one: one.last_key == "k")
    table.query(KEY).filter(lambda one: one.last_key == "l").all()
    for request in backend.sent.requests[1:]:
        names = request.params["ExpressionAttributeNames"].values()
        assert "lastKey" in names
        assert "last_key" not in names


# P136


def test_p136_no_method_takes_the_name_of_an_entity():
    """A key, an index, a lookup and a patch know their entity; the checkers refuse a patch of another one."""
    methods = [method for name, method in inspect.getmembers(Table, inspect.isfunction) if not name.startswith("_")]
    assert len(methods) > 10
    names = {parameter for method in methods for parameter in inspect.signature(method).parameters}
    assert not names & {"entity_name", "pk", "sk", "index_name", "table_name", "type", "kind"}


def test_p136_what_is_no_entity_of_the_table_is_refused_before_it_is_sent(fake):
    table = fake.table(Thread)
    for call in (
        lambda: table.get(Resource.Key(id="a")),
        lambda: table.get_many([Resource.Key(id="a")]),
        lambda: table.create(Resource(id="a")),
        lambda: table.put_many([Resource(id="a")]),
        lambda: table.update(Resource.Key(id="a"), Resource.Patch(metadata={})),
        lambda: table.delete(Resource.Key(id="a")),
        lambda: table.query(Resource.Key(id="a")),
    ):
        with pytest.raises(RequestError, match="Resource is not an entity of table fake; name it in entities="):
            call()
    assert fake.sent.requests == []


def test_p136_the_right_key_prefix_comes_by_itself(fake):
    table = fake.table(Thread, Resource)
    table.create(Thread(id="a", resource_id="r"))
    table.create(Resource(id="a"))
    assert [item["pk"]["S"] for item in fake.items()] == ["conversation#a", "resource#a"]
    assert type(table.get(Resource.Key(id="a"))) is Resource


# P137

KEY_ITEM = {"pk": {"S": "a"}, "sk": {"S": "b"}}


def request_of(operation, table):
    """A request of each kind, which any DynamoDB answers."""
    put = {"Put": {"TableName": table, "Item": KEY_ITEM}}
    params = {
        "GetItem": {"TableName": table, "Key": KEY_ITEM},
        "PutItem": {"TableName": table, "Item": KEY_ITEM},
        "UpdateItem": {
            "TableName": table,
            "Key": KEY_ITEM,
            "UpdateExpression": "SET n = :n",
            "ExpressionAttributeValues": {":n": {"N": "1"}},
        },
        "DeleteItem": {"TableName": table, "Key": KEY_ITEM},
        "Query": {
            "TableName": table,
            "KeyConditionExpression": "pk = :pk",
            "ExpressionAttributeValues": {":pk": {"S": "a"}},
        },
        "Scan": {"TableName": table},
        "BatchGetItem": {"RequestItems": {table: {"Keys": [KEY_ITEM]}}},
        "BatchWriteItem": {"RequestItems": {table: [{"DeleteRequest": {"Key": KEY_ITEM}}]}},
        "TransactGetItems": {"TransactItems": [{"Get": {"TableName": table, "Key": KEY_ITEM}}]},
        "TransactWriteItems": {"TransactItems": [put]},
    }
    return Request(operation, params[operation])


@pytest.mark.parametrize("operation", get_args(Operation))
def test_p137_every_transport_answers_every_operation(backend, operation):
    response = backend.sent.inner.send(request_of(operation, backend.table_name))
    assert isinstance(response if backend.loop is None else backend.loop.run(response), dict)


@pytest.mark.parametrize(
    ("protocol", "kinds"),
    [(Transport, [PynamoTransport, MemoryTransport]), (AsyncTransport, [AsyncPynamoTransport, AsyncMemoryTransport])],
    ids=["sync", "async"],
)
def test_p137_every_transport_has_the_whole_protocol(protocol, kinds):
    wanted = {name: inspect.signature(method) for name, method in inspect.getmembers(protocol, inspect.isfunction)}
    wanted = {name: list(signature.parameters) for name, signature in wanted.items() if not name.startswith("_")}
    assert wanted
    for kind in kinds:
        assert {name: list(inspect.signature(getattr(kind, name)).parameters) for name in wanted} == wanted


def test_p137_nothing_is_left_to_be_implemented():
    """No public method is a stub: none does nothing, and none raises NotImplementedError."""
    for file in Path(singletable.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        assert "NotImplementedError" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}, file
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                assert not isinstance(node.body[-1], ast.Pass), f"{file}: {node.name}"
