"""P114, P115, P116: one fake for sync code, async code and threads; transactions that hold whole or leave nothing;
clients that contradict each other, that talk too early, or whose credentials expire."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import boto3
import pytest

from singletable import (
    AccessDeniedError,
    AsyncDynamoDBStore,
    ConfigurationError,
    Credentials,
    DynamoDBStore,
    Request,
    StorageError,
    TransactionFailedError,
)
from singletable.adapters.pynamo import AsyncPynamoTransport, PynamoTransport
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests.servers import Answer, Stub

CREDENTIALS = Credentials("AKIDTEST", "secret")
EXPIRED = Answer({"__type": "com.amazon.coral.service#ExpiredTokenException", "message": "expired"}, 400)
COUNT = Request(
    "UpdateItem",
    {
        "TableName": "t",
        "Key": {"pk": {"S": "p"}, "sk": {"S": "counter"}},
        "UpdateExpression": "ADD n :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    },
)
GET = Request("GetItem", {"TableName": "t", "Key": COUNT.params["Key"]})


def count_async(database, times):
    """Count in an event loop of its own."""
    transport = AsyncMemoryTransport(database)

    async def main():
        await asyncio.gather(*(transport.send(COUNT) for _ in range(times)))

    asyncio.run(main())


def count_sync(database, times):
    transport = MemoryTransport(database)
    for _ in range(times):
        transport.send(COUNT)


def test_p114_sync_and_async_code_see_the_same_items():
    database = MemoryDatabase()
    count_sync(database, 1)
    count_async(database, 1)
    assert MemoryTransport(database).send(GET)["Item"]["n"] == {"N": "2"}


def test_p114_threads_and_event_loops_share_a_database():
    database = MemoryDatabase()
    with ThreadPoolExecutor(8) as pool:
        for work in [count_sync, count_async] * 4:
            pool.submit(work, database, 50)
    assert database.items("t")[0]["n"] == {"N": "400"}


def test_p114_one_transport_serves_threads():
    transport = MemoryTransport()
    transport.faults.throttle(10)
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(transport.send, COUNT) for _ in range(200)]
    assert sum(one.exception() is not None for one in sent) == 10
    assert transport.database.items("t")[0]["n"] == {"N": "190"}
    assert len(transport.requests) == 200


def test_p114_one_async_transport_serves_event_loops():
    transport = AsyncMemoryTransport()

    async def main():
        await transport.send(COUNT)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(20):
            pool.submit(asyncio.run, main())
    assert transport.database.items("t")[0]["n"] == {"N": "20"}


MEMBERS = 4
BAD = {
    "condition of a put": {"Put": {"ConditionExpression": "attribute_exists(pk)"}},
    "condition of an update": {
        "Update": {"UpdateExpression": "REMOVE n", "ConditionExpression": "attribute_exists(pk)"}
    },
    "condition of a deletion": {"Delete": {"ConditionExpression": "attribute_exists(pk)"}},
    "condition alone": {"ConditionCheck": {"ConditionExpression": "attribute_exists(pk)"}},
    "update that does not fit": {"Update": {"UpdateExpression": "SET n = m"}},
}
REFUSED = {
    "value": {"Put": {"n": {"NS": []}}},
    "key": {"Put": {"sk": {"S": ""}}},
    "expression": {"Update": {"UpdateExpression": "SET"}},
    "parameter": {"Delete": {"ReturnValues": "ALL_OLD"}},
    "kind": {"Get": {}},
}


def key(number):
    return {"pk": {"S": "p"}, "sk": {"S": str(number)}}


def transaction(bad, *places):
    """Puts, but for the bad members at these places."""
    ((kind, params),) = bad.items()
    members = []
    for number in range(MEMBERS):
        item = {**key(number), **{name: value for name, value in params.items() if isinstance(value, dict)}}
        options = {name: value for name, value in params.items() if not isinstance(value, dict)}
        good = {"Put": {"TableName": "t", "Item": key(number)}}
        spoilt = {kind: {"TableName": "t", **({"Item": item} if kind == "Put" else {"Key": key(number)}), **options}}
        members.append(spoilt if number in places else good)
    return Request("TransactWriteItems", {"TransactItems": members})


@pytest.mark.parametrize("place", range(MEMBERS))
@pytest.mark.parametrize("case", BAD)
def test_p115_a_member_that_cannot_be_applied_leaves_nothing(case, place):
    transport = MemoryTransport()
    with pytest.raises(TransactionFailedError) as caught:
        transport.send(transaction(BAD[case], place))
    objected = [number for number, reason in enumerate(caught.value.reasons) if reason.code != "None"]
    assert (len(caught.value.reasons), objected) == (MEMBERS, [place])
    assert transport.database.items("t") == []


@pytest.mark.parametrize("place", range(MEMBERS))
@pytest.mark.parametrize("case", REFUSED)
def test_p115_a_member_that_is_refused_leaves_nothing(case, place):
    transport = MemoryTransport()
    with pytest.raises(StorageError, match=r"^ValidationException: "):
        transport.send(transaction(REFUSED[case], place))
    assert transport.database.items("t") == []


def test_p115_the_condition_of_every_member_is_checked():
    transport = MemoryTransport()
    with pytest.raises(TransactionFailedError) as caught:
        transport.send(transaction(BAD["condition alone"], 0, 2, 3))
    codes = [reason.code for reason in caught.value.reasons]
    assert codes == ["ConditionalCheckFailed", "None", "ConditionalCheckFailed", "ConditionalCheckFailed"]


@pytest.fixture
def elsewhere(monkeypatch):
    """No AWS settings but those of the test."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")


def client():
    return boto3.client(
        "dynamodb", region_name="eu-west-1", aws_access_key_id="AKIDTEST", aws_secret_access_key="secret"
    )


def session():
    return boto3.Session(region_name="eu-west-1")


@pytest.mark.parametrize("make", [DynamoDBStore, AsyncDynamoDBStore])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (lambda: {"client": client(), "region": "eu-west-1"}, "client= and region= exclude each other"),
        (lambda: {"client": client(), "endpoint_url": "http://127.0.0.1:1"}, "client= and endpoint_url= exclude"),
        (lambda: {"client": client(), "credentials": CREDENTIALS}, "client= and credentials= exclude"),
        (lambda: {"session": session(), "credentials": CREDENTIALS}, "session= and credentials= exclude"),
        (lambda: {"transport": MemoryTransport(), "endpoint_url": "http://127.0.0.1:1"}, "give it alone"),
        (lambda: {"endpoint_url": "127.0.0.1:8000", "region": "eu-west-1"}, "must be a URL"),
        (lambda: {"endpoint_url": "https://dynamodb.example.com"}, "no region"),
        (lambda: {}, "no region"),
    ],
    ids=[
        "client and region",
        "client and endpoint",
        "client and credentials",
        "session and credentials",
        "transport and endpoint",
        "endpoint that is no URL",
        "endpoint without region",
        "nothing",
    ],
)
@pytest.mark.usefixtures("elsewhere")
def test_p116_settings_that_conflict_are_refused(make, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        make("t", **settings())


@pytest.mark.usefixtures("elsewhere")
def test_p116_an_endpoint_and_a_region_are_both_kept():
    with Stub(lambda operation, params: Answer({})) as stub:
        transport = PynamoTransport(region="eu-west-1", endpoint_url=stub.url, credentials=CREDENTIALS)
        transport.send(GET)
        transport.close()
    assert stub.regions == ["eu-west-1"]


def test_p116_imports_and_constructors_contact_nothing():
    # As a program of its own, because here everything is imported already.
    program = """\
import sys

def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        raise SystemExit(f"{event} {arguments[1:]}")

sys.addaudithook(refuse)
from singletable import AsyncDynamoDBStore, DynamoDBStore
from singletable.adapters.pynamo import AsyncPynamoTransport, PynamoTransport
from singletable.testing import MemoryTransport, plugin

for make in (DynamoDBStore, AsyncDynamoDBStore):
    make("t", region="eu-west-1")
for make in (PynamoTransport, AsyncPynamoTransport):
    make(region="eu-west-1", endpoint_url="https://dynamodb.example.com")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def expiring(answers):
    """What a DynamoDB answers whose credentials expire after the first request, and are renewed after the third."""
    return lambda operation, params: next(answers)


def test_p116_credentials_that_expire_midway_are_a_typed_error():
    answers = iter([Answer({}), EXPIRED, EXPIRED, Answer({})])
    with Stub(expiring(answers)) as stub:
        transport = PynamoTransport(endpoint_url=stub.url, region="eu-west-1", credentials=CREDENTIALS)
        assert "Item" not in transport.send(GET)
        for request in (GET, COUNT):
            with pytest.raises(AccessDeniedError, match="ExpiredTokenException; check that the credentials") as caught:
                transport.send(request)
            assert (caught.value.operation, caught.value.table) == (request.operation, "t")
        assert "Item" not in transport.send(GET), "the transport goes on once the credentials are renewed"
        transport.close()
    assert stub.calls == ["GetItem", "GetItem", "UpdateItem", "GetItem"]


def test_p116_credentials_that_expire_midway_are_a_typed_error_of_async_code():
    async def main(url):
        transport = AsyncPynamoTransport(endpoint_url=url, region="eu-west-1", credentials=CREDENTIALS)
        try:
            await transport.send(GET)
            with pytest.raises(AccessDeniedError):
                await transport.send(GET)
        finally:
            await transport.aclose()

    with Stub(expiring(iter([Answer({}), EXPIRED]))) as stub:
        asyncio.run(main(stub.url))
