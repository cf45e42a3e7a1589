"""`singletable erase` and `singletable purge`: what they ask, print, and keep to themselves."""

from __future__ import annotations

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from singletable import DynamoDBStore
from singletable.adapters.pynamo import Credentials
from singletable.cli.app import app
from singletable.errors import RequestError, TableNotFoundError
from singletable.provision import create_table_params
from singletable.schemas import Message, Resource, Thread
from singletable.store.entities import ENTITIES
from tests import servers

WHO = "ada-lovelace"
NAME = "erased"


def past() -> datetime:
    """When everything that expires within a day has expired by now."""
    return datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def where(moto_url: str, monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """The options that say where the table is."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    client = servers.dynamodb(moto_url)
    client.create_table(**create_table_params(NAME, [entity.spec for entity in ENTITIES]))
    yield ["--table", NAME, "--endpoint-url", moto_url, "--region", "us-east-1"]
    client.delete_table(TableName=NAME)
    client.close()


def opened(where: list[str], **options: Any) -> DynamoDBStore:
    return DynamoDBStore(
        NAME, region="us-east-1", endpoint_url=where[3], credentials=Credentials("test", "test"), **options
    )


@pytest.fixture
def store(where: list[str]) -> Generator[DynamoDBStore]:
    """A store with a thread of two messages, and a resource."""
    with opened(where) as store:
        fill(store)
        yield store


def fill(store: DynamoDBStore) -> None:
    store.memory.save_thread(Thread(id="t", resource_id=WHO))
    store.memory.save_messages(
        Message(id=name, thread_id="t", resource_id=WHO, role="user", content=name) for name in "ab"
    )
    store.memory.save_resource(Resource(id=WHO, working_memory="likes tea"))


def invoke(where: list[str], command: str, *more: str, answer: str = "") -> Result:
    return CliRunner().invoke(app, [command, *more, *where], input=answer)


def counts(result: Result) -> dict[str, str]:
    """The rows of the printed receipt."""
    rows = [line.split() for line in result.stdout.splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 2 and row[1].isdigit()}


FOUND = {"thread": "1", "message": "2", "thread_state": "0", "resource": "1"}
REST = dict.fromkeys(("workflow_snapshot", "score", "evaluation", "trace", "session", "event"), "0")


def test_it_erases_and_prints_the_receipt(where: list[str], store: DynamoDBStore) -> None:
    result = invoke(where, "erase", WHO, "--yes")
    assert result.exit_code == 0, result.output
    assert counts(result) == FOUND | REST
    assert "would" not in result.stdout
    assert store.memory.get_resource_by_id(WHO) is None
    assert store.memory.get_thread_by_id("t") is None


def test_a_dry_run_counts_and_asks_nothing(where: list[str], store: DynamoDBStore) -> None:
    result = invoke(where, "erase", WHO, "--dry-run")
    assert counts(result) == FOUND | REST
    assert "would be removed" in result.stdout
    assert store.memory.get_resource_by_id(WHO) is not None


def test_it_asks_first(where: list[str], store: DynamoDBStore) -> None:
    refused = invoke(where, "erase", WHO, answer="n\n")
    assert refused.exit_code == 1
    assert store.memory.get_resource_by_id(WHO) is not None
    assert invoke(where, "erase", WHO, answer="y\n").exit_code == 0
    assert store.memory.get_resource_by_id(WHO) is None


def test_where_nobody_answers_nothing_is_erased(where: list[str], store: DynamoDBStore) -> None:
    assert invoke(where, "erase", WHO).exit_code == 1
    assert store.memory.get_resource_by_id(WHO) is not None


@pytest.mark.parametrize("more", [["--yes"], ["--dry-run"], []], ids=["yes", "dry-run", "asked"])
def test_it_never_says_who(where: list[str], store: DynamoDBStore, more: list[str]) -> None:
    assert store.memory.get_resource_by_id(WHO) is not None
    assert WHO not in invoke(where, "erase", WHO, *more, answer="y\n").output


def test_a_tenants_user_is_erased_in_the_tenants_scope(where: list[str], store: DynamoDBStore) -> None:
    fill(store.scoped("acme"))
    assert counts(invoke(where, "erase", WHO, "--yes", "--tenant", "acme")) == FOUND | REST
    assert store.scoped("acme").memory.get_resource_by_id(WHO) is None
    assert store.memory.get_resource_by_id(WHO) is not None


@pytest.mark.parametrize(("more", "found"), [([], "0"), (["--allow-scan"], "1")], ids=["queried", "scanned"])
def test_a_scan_is_asked_for(where: list[str], more: list[str], found: str) -> None:
    with opened(where) as store:
        store.memory.save_messages([Message(id="a", thread_id="t", resource_id=WHO, role="user", content="a")])
    assert counts(invoke(where, "erase", WHO, "--yes", *more))["message"] == found


def test_a_failure_says_how_to_go_on(where: list[str]) -> None:
    result = invoke(["--table", "nowhere", *where[2:]], "erase", WHO, "--yes")
    assert isinstance(result.exception, TableNotFoundError)
    assert result.stderr == "stopped after 0 were removed; run it again to go on\n"
    assert WHO not in result.output


def test_a_blank_id_is_refused(where: list[str], store: DynamoDBStore) -> None:
    result = invoke(where, "erase", " ", "--yes")
    assert isinstance(result.exception, RequestError)
    assert store.memory.get_resource_by_id(WHO) is not None


# The purge


@pytest.mark.parametrize("attribute", ["ttl", "expiry"])
def test_it_purges_what_has_expired(where: list[str], attribute: str) -> None:
    ttl = {"resource": {"enabled": True, "default_ttl_seconds": 60, "attribute_name": attribute}}
    with opened(where, clock=past, ttl=ttl) as store:
        fill(store)
    result = invoke(where, "purge", "--ttl-attribute", attribute, "--per-second", "1000")
    assert result.exit_code == 0, result.output
    assert result.stdout == "6 items read; deleted: 1 resource.\n"
    again = invoke(where, "purge", "--ttl-attribute", attribute)
    assert again.stdout == "5 items read; deleted: nothing.\n"


def test_the_purge_says_how_to_go_on(where: list[str]) -> None:
    result = invoke(where, "purge", "--cursor", "x")
    assert "damaged" in str(result.exception)
    assert result.stderr == "stopped; go on with --cursor x\n"
