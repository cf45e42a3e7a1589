"""The pytest plugin, in a run of its own, as users have it: this run loaded it before anything could be measured."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = "singletable.testing.plugin"
CONFIG = "[pytest]\nfilterwarnings = error\n"
THEIRS = """\
import asyncio
import pytest
from singletable import AsyncTable, Request, Table
from singletable.schemas import Resource
from singletable.testing import IndexKeys, MemoryDatabase, MemoryTransport

PUT = Request("PutItem", {"TableName": "t", "Item": {"pk": {"S": "p"}, "sk": {"S": "s"}}})
SCAN = Request("Scan", {"TableName": "t"})


def test_sync_and_async_share_a_database(dynamodb, async_dynamodb):
    dynamodb.send(PUT)
    assert asyncio.run(async_dynamodb.send(SCAN))["Count"] == 1


def test_the_next_test_has_an_empty_one(dynamodb):
    assert dynamodb.send(SCAN)["Count"] == 0


def test_the_clock_moves_tables(dynamodb, dynamodb_clock):
    ttl = {"resource": {"default_ttl_seconds": 60}}
    table = Table("t", dynamodb, entities=[Resource], clock=dynamodb_clock, ttl=ttl)
    table.put(Resource(id="ada"))
    assert table.get(Resource.Key(id="ada"))
    dynamodb_clock.advance(minutes=2)
    assert table.get(Resource.Key(id="ada")) is None


def test_requests_are_counted(dynamodb, assert_requests):
    table = Table("t", dynamodb, entities=[Resource])
    dynamodb.send(SCAN)
    with assert_requests(1):
        table.put(Resource(id="ada"))
    with assert_requests(0):
        pass


def test_async_requests_are_counted(async_dynamodb, assert_requests):
    async def main():
        table = AsyncTable("t", async_dynamodb, entities=[Resource])
        with assert_requests(2):
            await table.put(Resource(id="ada"))
            await table.get(Resource.Key(id="ada"))

    asyncio.run(main())


def test_an_error_in_the_block_is_the_one_that_is_seen(assert_requests):
    with pytest.raises(KeyError), assert_requests(1):
        raise KeyError("mine")


def test_with_more_requests(dynamodb, async_dynamodb, assert_requests):
    with assert_requests(1):
        dynamodb.send(PUT)
        asyncio.run(async_dynamodb.send(SCAN))


def test_with_fewer_requests(assert_requests):
    with assert_requests(1):
        pass


class TestOtherIndexes:
    @pytest.fixture
    def dynamodb(self):
        return MemoryTransport(MemoryDatabase(indexes={"by_day": IndexKeys("day", "at")}))

    def test_serve_both_transports(self, async_dynamodb):
        by_day = Request("Scan", {"TableName": "t", "IndexName": "by_day"})
        assert asyncio.run(async_dynamodb.send(by_day))["Count"] == 0
"""


@pytest.fixture(scope="module")
def output(tmp_path_factory):
    """What pytest prints about a user's tests."""
    folder = tmp_path_factory.mktemp("theirs")
    (folder / "pytest.ini").write_text(CONFIG)
    (folder / "test_it.py").write_text(THEIRS)
    return run([sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-p", "no:asyncio"], folder)


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "test",
    [
        "test_sync_and_async_share_a_database",
        "test_the_next_test_has_an_empty_one",
        "test_the_clock_moves_tables",
        "test_requests_are_counted",
        "test_async_requests_are_counted",
        "test_an_error_in_the_block_is_the_one_that_is_seen",
        "TestOtherIndexes::test_serve_both_transports",
    ],
)
def test_passes(output, test):
    assert f"test_it.py::{test} PASSED" in output, output


@pytest.mark.parametrize(
    ("test", "message"),
    [
        ("test_with_more_requests", "1 requests expected, 2 sent: PutItem, Scan"),
        ("test_with_fewer_requests", "1 requests expected, 0 sent: none"),
    ],
)
def test_fails_and_says_which_requests_were_sent(output, test, message):
    assert f"test_it.py::{test} FAILED" in output, output
    assert message in output


def test_it_imports_neither_the_fake_nor_a_driver(tmp_path):
    program = f"import sys; import {PLUGIN}; print(*sys.modules)"
    modules = run([sys.executable, "-c", program], tmp_path).split()
    assert PLUGIN in modules
    heavy = {"boto3", "botocore", "moto", "pynamodb", "pydantic", "asyncio", "singletable.testing.database"}
    assert not heavy & set(modules)
