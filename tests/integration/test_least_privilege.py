"""P110: the store needs what the generated policies allow, feature by feature, all of it, and nothing besides.

One run calls every method that scans nothing. It is recorded twice: what the store asks of a transport, and what
reaches the wire through pynamodb and botocore, which might send something of their own. The policy for streams is not
shown here: the library reads records, and leaves it to others to fetch them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import boto3
import pytest

from singletable import DynamoDBStore, Request, RequestError, S3Blobs
from singletable.provision import create_table_params, policy
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase, MemoryTransport
from tests import servers
from tests.contract.every_verb import CALLS, result
from tests.contract.leading import partition_keys
from tests.contract.support import ticking
from tests.contract.users import ADA, all_expire, fill

TABLE = "least-privilege"
ARN = f"arn:aws:dynamodb:us-east-1:123456789012:table/{TABLE}"
READING = re.compile(r"(.*\.)?(context|diagnose|export|get|head|iter|list|load|read|read_many|read_range|stats)(_.*)?")
WRITES_FIRST = {"blobs.read_stream"}
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


def allowed(feature: str = "chat") -> set[Permission]:
    return {
        Permission(action.removeprefix("dynamodb:"), statement["Resource"] == f"{ARN}/index/*")
        for statement in policy(feature, ARN)["Statement"]
        for action in statement["Action"]
    }


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
    return ticking(START)


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


def test_p110_reading_asks_for_exactly_what_the_policy_for_reading_allows(clock: Callable[[], datetime]) -> None:
    transport = MemoryTransport()
    store = DynamoDBStore(TABLE, transport=transport, clock=clock)
    fill(store, ADA, "x")
    store.blobs.write("x/k", bytes(500_000))
    del transport.requests[:]
    for name in CALLS.keys() - WRITES_FIRST:
        if READING.fullmatch(name):
            result(store, name)
    assert needed_by(transport.requests) == allowed("read-only")


def test_p104_a_tenant_needs_no_more_than_the_keys_that_its_policy_allows(clock: Callable[[], datetime]) -> None:
    (pattern,) = {
        pattern
        for statement in policy("tenant", ARN)["Statement"]
        for pattern in statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    }
    transport = MemoryTransport()
    store = DynamoDBStore(TABLE, transport=transport, clock=clock)
    for name, call in CALLS.items():
        begun = len(transport.requests)
        fill(store.scoped(name), ADA, "x")
        call(store.scoped(name))
        beginning = pattern.replace("${aws:PrincipalTag/tenant}", name).removesuffix("*")
        for request in transport.requests[begun:]:
            keys = list(partition_keys(request.params))
            assert keys
            assert [key for key in keys if not key.startswith(beginning)] == []
    assert needed_by(transport.requests) == allowed("tenant")


def test_p110_payloads_need_exactly_what_their_policy_allows(moto_url: str) -> None:
    s3, names = servers.s3(moto_url), {"DeleteObjects": "DeleteObject", "ListObjectsV2": "ListBucket"}
    s3.create_bucket(Bucket="least")
    sent: set[str] = set()
    s3.meta.events.register(
        "provide-client-params.s3", lambda model, **_: sent.add(f"s3:{names.get(model.name, model.name)}")
    )
    transport, now = MemoryTransport(), START
    store = DynamoDBStore(TABLE, transport=transport, blobs=S3Blobs("least", client=s3), clock=lambda: now)
    store.blobs.write("x/k", bytes(5_000_000))
    assert store.blobs.read("x/k") == bytes(5_000_000)
    with pytest.raises(RequestError):
        store.blobs.write("x/dead", [bytes(5_000_000), bytes(5_000_000), "no bytes"])
    now += timedelta(days=2)
    assert store.blobs.gc().pieces == 2
    statements = policy("payloads", ARN, bucket="least")["Statement"]
    assert sent == {action for statement in statements for action in statement["Action"]}
    s3.close()
