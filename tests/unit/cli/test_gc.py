"""`singletable gc`: what it removes and says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from singletable import DynamoDBStore, RequestError
from singletable.adapters.pynamo import Credentials
from singletable.cli.app import app
from tests import servers


@pytest.fixture
def where(moto_url, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    return ["--table", servers.fresh_table(moto_url), "--endpoint-url", moto_url, "--region", "us-east-1"]


@pytest.fixture
def blobs(where):
    """Blobs of long ago: one that is whole, and the pieces of one whose writing died."""
    _, table, _, url, _, region = where
    credentials = Credentials("test", "test")
    then = datetime(2020, 1, 1, tzinfo=UTC)
    with DynamoDBStore(table, region=region, endpoint_url=url, credentials=credentials, clock=lambda: then) as store:
        store.blobs.write("a/whole", bytes(1_000_000))
        with pytest.raises(RequestError):
            store.blobs.write("a/dead", dying())
        yield store.blobs


def dying():
    """Bytes that end with what is none."""
    for _ in range(30):
        yield bytes(200_000)
    yield "not bytes"


def invoke(where, *arguments):
    result = CliRunner().invoke(app, ["gc", *where, *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_it_removes_what_died_and_nothing_else(where, blobs):
    assert invoke(where, "--dry-run") == "8 pieces of 1 writings, and 0 empty folders would be removed.\n"
    assert invoke(where) == "8 pieces of 1 writings, and 0 empty folders removed.\n"
    assert invoke(where) == "0 pieces of 0 writings, and 0 empty folders removed.\n"
    assert blobs.read("a/whole") == bytes(1_000_000)
    assert blobs.list() == ["a/whole"]


def test_a_tenant_has_its_own(where, blobs):
    assert invoke(where, "--tenant", "acme") == "0 pieces of 0 writings, and 0 empty folders removed.\n"
    assert invoke(where, "--dry-run").startswith("8 pieces")
