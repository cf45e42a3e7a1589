"""The local server: loopback only, quiet, stoppable, and clear about a missing extra."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from singletable.adapters.local import LocalServer
from singletable.adapters.pynamo import Credentials, PynamoTransport
from singletable.errors import ConfigurationError
from singletable.wire import Request
from tests.servers import dynamodb, fresh_table

KEY = {"pk": {"S": "a"}, "sk": {"S": "b"}}


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        yield running


def test_it_stores_and_finds_an_item(server: LocalServer) -> None:
    table = fresh_table(server.endpoint_url)
    transport = PynamoTransport(endpoint_url=server.endpoint_url, credentials=Credentials("any", "any"))
    transport.send(Request("PutItem", {"TableName": table, "Item": KEY}))
    assert transport.send(Request("GetItem", {"TableName": table, "Key": KEY}))["Item"] == KEY
    transport.close()


def test_it_listens_on_loopback_only(server: LocalServer) -> None:
    assert urlsplit(server.endpoint_url).hostname == "127.0.0.1"
    port = urlsplit(server.endpoint_url).port
    # Linux gives every 127.x address to loopback: a server on all interfaces would answer on this one too.
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", port)) != 0


def test_stopping_twice_is_stopping_once() -> None:
    server = LocalServer()
    server.stop()
    server.stop()
    parts = urlsplit(server.endpoint_url)
    with socket.socket() as probe:
        assert probe.connect_ex((parts.hostname, parts.port)) != 0


def test_requests_are_not_logged(server: LocalServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="werkzeug"):
        dynamodb(server.endpoint_url).list_tables()
    assert not [record for record in caplog.records if record.name == "werkzeug"]


def test_stopping_gives_the_log_back() -> None:
    before = list(logging.getLogger("werkzeug").filters)
    with LocalServer(), LocalServer():
        pass
    assert logging.getLogger("werkzeug").filters == before


def test_one_of_two_servers_stays_quiet_when_the_other_stops(caplog: pytest.LogCaptureFixture) -> None:
    with LocalServer() as server:
        LocalServer().stop()
        with caplog.at_level(logging.INFO, logger="werkzeug"):
            dynamodb(server.endpoint_url).list_tables()
    assert not [record for record in caplog.records if record.name == "werkzeug"]


@pytest.mark.parametrize("missing", ["moto.server", "flask", "flask_cors"])
def test_a_missing_extra_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigurationError, match=r"pip install 'singletable\[local\]'"):
        LocalServer()


def test_it_neither_needs_nor_changes_the_environment() -> None:
    program = """
import os
before = dict(os.environ)
from singletable.adapters.local import LocalServer
with LocalServer():
    pass
assert dict(os.environ) == before, set(os.environ) ^ set(before)
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "MOTO_"))}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=60)
