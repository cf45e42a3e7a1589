"""P110: the store needs what the policy of infra/template.yaml allows, all of it, and nothing besides.

One run calls every method of the facade. It is recorded twice: what the store asks of a transport, and what reaches
the wire through pynamodb and botocore, which might send something of their own.
"""

from __future__ import annotations

import inspect
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
from singletable.schemas import Message, Resource, Thread
from singletable.store._sync.domain import Domain
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryTransport

TEMPLATE = Path(__file__).parents[2] / "infra" / "template.yaml"
TABLE = "least-privilege"
ON_TABLE, ON_INDEX = {"Fn::GetAtt": ["Table", "Arn"]}, {"Fn::Sub": "${Table.Arn}/index/*"}
START = datetime(2026, 11, 30, tzinfo=UTC)
TTL = {entity: {"enabled": True, "default_ttl_seconds": 86400} for entity in ("thread", "message", "resource")}


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


class Called:
    """A memory that notes which of its methods were called."""

    def __init__(self, memory: Any) -> None:
        self.names: set[str] = set()
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._memory, name)


def run(store: DynamoDBStore) -> set[str]:
    """Call every method, on what is there and on what is not; the names of the methods called."""
    memory = Called(store.memory)
    for thread in ("t1", "t1", "t2"):
        memory.save_thread(Thread(id=thread, resource_id="ada"))
    memory.update_thread("t1", title="Oslo", metadata={"topic": "travel"})
    memory.get_thread_by_id("t1")
    _write_messages(memory)
    _read(memory)
    for _ in range(2):
        memory.save_resource(Resource(id="ada"))
    for resource in ("ada", "grace"):
        memory.update_resource(resource, working_memory="likes trains")
        memory.get_resource_by_id(resource)
    for thread in ("t1", "t1", "none"):
        memory.delete_thread(thread)
    return memory.names


def _write_messages(memory: Any) -> None:
    messages = [Message(id=f"m{number}", thread_id="t1", role="user", content="hello") for number in range(40)]
    memory.save_messages(messages)
    memory.save_messages(messages[:1])
    memory.save_messages([messages[1].model_copy(update={"thread_id": "t2"})])
    memory.save_messages([Message(thread_id="without-row", role="user", content="hello", created_at=START)])


def _read(memory: Any) -> None:
    memory.context("t1")
    for order in ("asc", "desc"):
        memory.list_messages("t1", order=order, per_page=5, include_total=True)
        memory.list_threads("ada", order=order, order_by="updated_at", per_page=1, include_total=True)
    memory.list_messages("t1", last=3)
    memory.list_messages("t1", page=1, per_page=5)
    memory.list_threads("ada", page=1, per_page=1)
    memory.list_messages_by_id(["m1", "none"])
    assert list(memory.iter_messages("t1"))


def methods(memory: Any) -> set[str]:
    names = {name for name, _ in inspect.getmembers(type(memory), inspect.isfunction) if not name.startswith("_")}
    return names - set(dir(Domain))


@pytest.fixture
def clock() -> Callable[[], datetime]:
    times = (START + timedelta(seconds=second) for second in count())
    return lambda: next(times)


@pytest.fixture
def client(moto_url: str) -> Generator[Any]:
    keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
    opened = boto3.client("dynamodb", endpoint_url=moto_url, region_name="us-east-1", **keys)
    opened.create_table(**create_table_params(TABLE, [entity.spec for entity in ENTITIES]))
    yield opened
    opened.delete_table(TableName=TABLE)
    opened.close()


def test_the_run_calls_every_method(clock: Callable[[], datetime]) -> None:
    store = DynamoDBStore(TABLE, transport=MemoryTransport(), clock=clock)
    assert run(store) == methods(store.memory)


@pytest.mark.parametrize("ttl", [{}, TTL], ids=["without expiry", "with expiry"])
def test_p110_the_store_asks_for_exactly_what_the_policy_allows(
    clock: Callable[[], datetime], ttl: Mapping[str, object]
) -> None:
    transport = MemoryTransport()
    run(DynamoDBStore(TABLE, transport=transport, ttl=ttl, clock=clock))
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
