"""A fake database and a short way to send it requests."""

import pytest

from singletable.testing import MemoryDatabase, MemoryTransport
from singletable.wire import Request


@pytest.fixture
def database():
    return MemoryDatabase()


@pytest.fixture
def transport(database):
    return MemoryTransport(database)


@pytest.fixture
def send(transport):
    """`send("GetItem", Key=…)`; the table is "t" wherever the operation takes one."""

    def send_request(operation, **params):
        if "RequestItems" not in params and "TransactItems" not in params:
            params.setdefault("TableName", "t")
        return transport.send(Request(operation, params))

    return send_request


@pytest.fixture
def put(send):
    """Store an item: `put("p", "s", title={"S": "x"})`."""

    def put_item(pk, sk, **attributes):
        send("PutItem", Item={"pk": {"S": pk}, "sk": {"S": sk}, **attributes})

    return put_item


@pytest.fixture
def update(send):
    """Update the item p/s: `update("SET a = :a", {":a": …})`; gives the new item."""

    def update_item(expression, values=None, names=None, **params):
        if values:
            params["ExpressionAttributeValues"] = values
        if names:
            params["ExpressionAttributeNames"] = names
        key = {"pk": {"S": "p"}, "sk": {"S": "s"}}
        response = send("UpdateItem", Key=key, UpdateExpression=expression, ReturnValues="ALL_NEW", **params)
        return {name: value for name, value in response["Attributes"].items() if name not in key}

    return update_item
