"""P110: the store needs what the policy of infra/template.yaml allows, all of it, and nothing besides.

One run calls every method that scans nothing. It is recorded twice: what the store asks of a transport, and what
reaches the wire through pynamodb and botocore, which might send something of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import boto3
import pytest
from cfnlint.decode import decode

from singletable import DynamoDBStore, Request
from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.every_verb import CALLS, result
from tests.contract.users import ADA, all_expire, fill

TEMPLATE = Path(__file__).parents[2] / "infra" / "template.yaml"
TABLE = "least-privilege"
ON_TABLE, ON_INDEX = {"Fn::GetAtt": ["Table", "Arn"]}, {"Fn::Sub": "${Table.Arn}/index/*"}
START = datetime(2026, 11, 30, tzinfo=UTC)
pytestmark = pytest.mark.no_cover  # long, and it takes three times as long where it is measured


class Permission(NamedTuple):
    """An action of IAM, and whether it is on an index or on the table."""

    action: str
    on_index: bool = False


def needed(operation: str, params: Mapping[str, Any]) -> set[Permission]:
    """What IAM asks for: for a transaction, the actions of its members."""
    if operation == "TransactWriteItems":
        kinds = [kind for member in params["TransactItems"] for kind in member]
        return {Permission("ConditionCheckItem" if kind == "ConditionCheck" else f"{kind}Item") for kind in kinds}
    if operation == "TransactGetItems":
        return {Permission("GetItem")}
    return {Permission(operation, "IndexName" in params)}


def needed_by(requests: Iterable[Request]) -> set[Permission]:
    return {permission for request in requests for permission in needed(request.operation, request.params)}


def allowed() -> set[Permission]:
    template, _ = decode(str(TEMPLATE))
    assert template is not None
    permissions: set[Permission] = set()
    for statement in template["Resources"]["ChatPolicy"]["Properties"]["PolicyDocument"]["Statement"]:
        assert statement["Effect"] == "Allow"
        assert statement["Resource"] in (ON_TABLE, ON_INDEX)
        for action in statement["Action"]:
            service, _, name = action.partition(":")
            assert service == "dynamodb"
            permissions.add(Permission(name, statement["Resource"] == ON_INDEX))
    return permissions


def run(store: DynamoDBStore) -> None:
    """Call every method, each on what a tenant of its own has."""
    for name, call in CALLS.items():
        call(store.scoped(name))
        result(store.scoped(f"{name} of nobody"), name)


def fill_all(store: DynamoDBStore) -> None:
    """Give each of these tenants something in every domain."""
    for name in CALLS:
        fill(store.scoped(name), ADA, "x")


@pytest.fixture
def clock() -> Callable[[], datetime]:
    times = (START + timedelta(seconds=second) for second in count())
    return lambda: next(times)


@pytest.fixture
def client(moto_url: str, clock: Callable[[], datetime]) -> Generator[Any]:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    opened = boto3.client("dynamodb", endpoint_url=moto_url, region_name="us-east-1", **keys)
    opened.create_table(**create_table_params(TABLE, [entity.spec for entity in ENTITIES]))
    # What is there before is of no interest, and a thousand requests quicker to copy.
    database = MemoryDatabase()
    fill_all(DynamoDBStore(TABLE, transport=MemoryTransport(database), clock=clock))
    puts = [{"PutRequest": {"Item": item}} for item in database.items(TABLE)]
    for start in range(0, len(puts), 25):
        opened.batch_write_item(RequestItems={TABLE: puts[start : start + 25]})
    yield opened
    opened.delete_table(TableName=TABLE)
    opened.close()


@pytest.mark.parametrize("ttl", [{}, all_expire(86400)], ids=["without expiry", "with expiry"])
def test_p110_the_store_asks_for_exactly_what_the_policy_allows(
    clock: Callable[[], datetime], ttl: Mapping[str, object]
) -> None:
    transport = MemoryTransport()
    store = DynamoDBStore(TABLE, transport=transport, ttl=ttl, clock=clock)
    fill_all(store)
    run(store)
    assert needed_by(transport.requests) == allowed()


def test_p110_nothing_else_reaches_the_wire(client: Any, clock: Callable[[], datetime]) -> None:
    sent: set[Permission] = set()

    def record(params: Mapping[str, Any], model: Any, **_: Any) -> None:
        sent.update(needed(model.name, params))

    client.meta.events.register("provide-client-params.dynamodb", record)
    with DynamoDBStore(TABLE, client=client, clock=clock) as store:
        run(store)
    client.meta.events.unregister("provide-client-params.dynamodb", record)
    assert sent == allowed()


def test_p110_opening_and_closing_a_store_needs_no_permission_at_all() -> None:
    transport = MemoryTransport()
    with DynamoDBStore(TABLE, transport=transport):
        pass
    assert transport.requests == []
