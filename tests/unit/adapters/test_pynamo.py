"""The transports over pynamodb, against moto's server, a stub that misbehaves on purpose, and botocore's Stubber."""

from __future__ import annotations

import asyncio
import copy
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from decimal import Decimal
from types import MappingProxyType
from typing import Any, cast

import boto3
import orjson
import pytest
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionClosedError,
    NoCredentialsError,
    SSLError,
    UnauthorizedSSOTokenError,
)
from botocore.stub import Stubber

from singletable.adapters._botocore import Parameters, register
from singletable.adapters.pynamo import AsyncPynamoTransport, Credentials, PynamoTransport
from singletable.errors import (
    AccessDeniedError,
    ConditionFailedError,
    ConfigurationError,
    OutcomeUnknownError,
    RequestError,
    StorageError,
    TableNotFoundError,
    ThrottledError,
    TransactionFailedError,
    UnreachableError,
)
from singletable.wire import Operation, Request
from tests.servers import Answer, Stub, dynamodb, free_port, fresh_table

MARKER = "MARKER-OF-STORED-CONTENT"
SECRET = "MARKER-OF-A-SECRET"
CREDENTIALS = Credentials("AKIDTEST", SECRET, SECRET + "-TOKEN")
KEY = {"pk": {"S": "thread#1"}, "sk": {"S": MARKER}}
ITEM = {
    **KEY,
    "gsi1pk": {"S": "g"},
    "gsi1sk": {"S": "1"},
    "text": {"S": f"héllo {MARKER}"},
    "number": {"N": "1.5"},
    "many": {"L": [{"M": {"a": {"BOOL": True}}}, {"NULL": True}, {"SS": ["x", "y"]}]},
}
PUT = Request("PutItem", {"TableName": "chat", "Item": ITEM})
CREATE = Request("PutItem", {"TableName": "chat", "Item": ITEM, "ConditionExpression": "attribute_not_exists(pk)"})
GET = Request("GetItem", {"TableName": "chat", "Key": KEY})
UPDATE = Request("UpdateItem", {"TableName": "chat", "Key": KEY, "UpdateExpression": "SET a = b"})
DELETE = Request("DeleteItem", {"TableName": "chat", "Key": KEY})
TRANSACT = Request("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "chat", "Item": ITEM}}]})
BATCH = Request("BatchWriteItem", {"RequestItems": {"chat": [{"PutRequest": {"Item": ITEM}}]}})


@pytest.fixture(autouse=True)
def _no_aws_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def moto(moto_url: str) -> Iterator[PynamoTransport]:
    transport = PynamoTransport(endpoint_url=moto_url, credentials=CREDENTIALS)
    yield transport
    transport.close()


@pytest.fixture
def table(moto_url: str) -> str:
    return fresh_table(moto_url)


def in_table(request: Request, table: str) -> Request:
    return request._replace(params={**request.params, "TableName": table})


def client(url: str, **config: Any) -> Any:
    """A client as a user might make it."""
    settings = Config(retries={"total_max_attempts": 1}, **config)
    return cast("Any", boto3).client(  # boto3 has no types
        "dynamodb",
        endpoint_url=url,
        region_name="us-east-1",
        aws_access_key_id="AKIDTEST",
        aws_secret_access_key=SECRET,
        config=settings,
    )


def always(answer: Answer | None) -> Callable[[str, Any], Answer | None]:
    return lambda operation, parameters: answer


def refused_by(transport: PynamoTransport, request: Request) -> StorageError:
    """The error of a request, with all that holds for every error already checked."""
    with pytest.raises(StorageError) as caught:
        transport.send(request)
    error = caught.value
    assert error.operation == request.operation
    assert error.table == "chat"
    assert error.key == request.params.get("Key")
    assert str(error).startswith(f"{request.operation} on table 'chat': ")
    assert "MARKER" not in str(error)
    return error


def answered(request: Request, code: str, *, status: int = 400, message: str = "as DynamoDB says", **body: Any) -> Any:
    """The error of a request that DynamoDB answers with `code`, on a client without retries."""
    answer = Answer({"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message, **body}, status)
    with Stub(always(answer)) as stub:
        error = refused_by(PynamoTransport(client(stub.url)), request)
    assert error.request_id == "STUB"
    assert isinstance(error.__cause__, ClientError)
    assert "Verbose" not in type(error.__cause__).__name__, "the cause is botocore's own error"
    return error


# --- what DynamoDB answers


def test_an_item_goes_there_and_back(moto: PynamoTransport, table: str) -> None:
    moto.send(in_table(PUT, table))
    assert moto.send(in_table(GET, table))["Item"] == ITEM


def test_a_missing_item_is_no_error(moto: PynamoTransport, table: str) -> None:
    assert "Item" not in moto.send(in_table(GET, table))


def test_a_request_is_not_changed(moto: PynamoTransport, table: str) -> None:
    transact = Request("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": table, "Item": ITEM}}]})
    for request in (in_table(PUT, table), in_table(GET, table), transact):
        before = copy.deepcopy(request)
        moto.send(request)
        assert request == before


def test_parameters_may_be_any_mapping(moto: PynamoTransport, table: str) -> None:
    moto.send(Request("PutItem", MappingProxyType({"TableName": table, "Item": MappingProxyType(ITEM)})))
    assert moto.send(in_table(GET, table))["Item"] == ITEM


def test_a_missing_table(moto: PynamoTransport) -> None:
    error = refused_by(moto, GET)
    assert type(error) is TableNotFoundError
    assert "region=" in str(error)
    assert error.request_id


def test_a_missing_index_on_moto(moto: PynamoTransport, table: str) -> None:
    query = {"IndexName": "none", "KeyConditionExpression": "a = :a", "ExpressionAttributeValues": {":a": {"S": "a"}}}
    with pytest.raises(TableNotFoundError):
        moto.send(Request("Query", {"TableName": table, **query}))


def test_a_missing_index_as_dynamodb_says_it() -> None:
    text = "The table does not have the specified index: gsi9"
    assert type(answered(GET, "ValidationException", message=text)) is TableNotFoundError


def test_a_failed_condition_shows_what_is_stored(moto: PynamoTransport, table: str) -> None:
    moto.send(in_table(PUT, table))
    create = in_table(CREATE, table)
    asking = create._replace(params={**create.params, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"})
    with pytest.raises(ConditionFailedError) as asked:
        moto.send(asking)
    with pytest.raises(ConditionFailedError) as not_asked:
        moto.send(create)
    assert asked.value.item == ITEM
    assert not_asked.value.item is None
    assert "MARKER" not in str(asked.value) + str(not_asked.value)
    assert isinstance(asked.value.__cause__, ClientError)


def test_a_cancelled_transaction_has_a_reason_for_each_member(moto: PynamoTransport, table: str) -> None:
    moto.send(in_table(PUT, table))
    create = {"ConditionExpression": "attribute_not_exists(pk)", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    other = {**ITEM, "sk": {"S": "other"}}
    members = [
        {"Put": {"TableName": table, "Item": other}},
        {"Put": {"TableName": table, "Item": ITEM, **create}},
    ]
    with pytest.raises(TransactionFailedError) as caught:
        moto.send(Request("TransactWriteItems", {"TransactItems": members}))
    error = caught.value
    assert [reason.code for reason in error.reasons] == ["None", "ConditionalCheckFailed"]
    assert [reason.item for reason in error.reasons] == [None, ITEM]
    assert "member 1: ConditionalCheckFailed" in str(error)
    assert "MARKER" not in str(error)
    assert (error.operation, error.table) == ("TransactWriteItems", table)


@pytest.mark.parametrize(
    "code",
    [
        "AccessDeniedException",
        "UnrecognizedClientException",
        "InvalidSignatureException",
        "ExpiredTokenException",
        "MissingAuthenticationTokenException",
    ],
)
def test_refused_credentials(code: str) -> None:
    error = answered(PUT, code, message="User: u is not authorized")
    assert type(error) is AccessDeniedError
    assert code in str(error)


def test_the_text_of_a_refused_signature_is_not_repeated() -> None:
    text = f"The Canonical String should have been x-amz-security-token:{SECRET}"
    assert "Canonical" not in str(answered(PUT, "InvalidSignatureException", message=text))


@pytest.mark.parametrize(
    "code", ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"]
)
def test_throttling(code: str) -> None:
    assert type(answered(PUT, code)) is ThrottledError


def test_everything_else_is_a_storage_error_with_its_code() -> None:
    error = answered(PUT, "ItemCollectionSizeLimitExceededException", message="too large")
    assert type(error) is StorageError
    assert "ItemCollectionSizeLimitExceededException: too large" in str(error)


def test_an_error_without_a_text() -> None:
    assert str(answered(TRANSACT, "UnknownOperationException", message="")).endswith(": UnknownOperationException")


def test_content_that_dynamodb_quotes_is_not_repeated(moto: PynamoTransport, table: str) -> None:
    wrong = {"TableName": table, "Item": {**ITEM, "wrong": {"N": MARKER}}}
    with pytest.raises(StorageError, match="ValidationException: ") as caught:
        moto.send(Request("PutItem", wrong))
    assert MARKER in str(caught.value.__cause__), "the test needs a message that quotes"
    assert "MARKER" not in str(caught.value)


def test_members_of_a_set_are_not_repeated() -> None:
    request = Request("PutItem", {"TableName": "chat", "Item": {**KEY, "tags": {"SS": [MARKER, MARKER]}}})
    text = f"Input collection [{MARKER}, {MARKER}] contains duplicates."
    assert "Input collection […, …] contains duplicates." in str(answered(request, "ValidationException", message=text))


def test_a_stubbed_client() -> None:
    stubbed = client("http://127.0.0.1:1")
    with Stubber(stubbed) as untyped:
        stubber: Any = untyped
        stubber.add_client_error("get_item", "AccessDeniedException", "no", http_status_code=400)
        stubber.add_response("get_item", {"Item": KEY})
        transport = PynamoTransport(stubbed)
        assert type(refused_by(transport, GET)) is AccessDeniedError
        assert transport.send(GET)["Item"] == KEY


def test_on_dynalite(dynalite_url: str) -> None:
    table = fresh_table(dynalite_url)
    transport = PynamoTransport(endpoint_url=dynalite_url, credentials=CREDENTIALS)
    transport.send(in_table(PUT, table))
    assert transport.send(in_table(GET, table))["Item"] == ITEM
    with pytest.raises(ConditionFailedError):
        transport.send(in_table(CREATE, table))
    with pytest.raises(StorageError, match="UnknownOperationException"):
        transport.send(TRANSACT)
    transport.close()


# --- no answer


def test_an_unreachable_endpoint() -> None:
    transport = PynamoTransport(endpoint_url=f"http://127.0.0.1:{free_port()}", credentials=CREDENTIALS)
    for request in (GET, CREATE):
        error = refused_by(transport, request)
        assert type(error) is UnreachableError
        assert "endpoint_url=" in str(error)
        assert isinstance(error.__cause__, BotoCoreError)


def test_a_port_that_does_not_speak_tls() -> None:
    with Stub(always(Answer({}))) as stub:
        transport = PynamoTransport(endpoint_url=stub.url.replace("http:", "https:"), credentials=CREDENTIALS)
        error = refused_by(transport, PUT)
    assert type(error) is UnreachableError
    assert isinstance(error.__cause__, SSLError)


@pytest.mark.parametrize("request_", [CREATE, UPDATE], ids=["conditional put", "update"])
@pytest.mark.parametrize("answer", [None, Answer({}, 500), Answer(b'{"Attr', 200)], ids=["closed", "500", "cut short"])
def test_a_write_that_must_not_be_applied_twice_is_sent_once(request_: Request, answer: Answer | None) -> None:
    with Stub(always(answer)) as stub:
        transport = PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS)
        error = refused_by(transport, request_)
    assert type(error) is OutcomeUnknownError
    assert stub.calls == [request_.operation]


@pytest.mark.parametrize("request_", [PUT, DELETE, TRANSACT, BATCH], ids=lambda request: request.operation)
def test_a_write_that_may_be_repeated_is(request_: Request) -> None:
    answers: list[Answer | None] = [None, Answer({}, 503), Answer({})]
    with Stub(lambda operation, parameters: answers[len(stub.calls) - 1]) as stub:
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(request_)
    assert stub.calls == [request_.operation] * 3


def test_a_repeated_transaction_carries_its_token() -> None:
    tokens: list[str] = []

    def answer(_: str, parameters: Any) -> Answer | None:
        tokens.append(parameters["ClientRequestToken"])
        return Answer({}) if len(tokens) > 1 else None

    with Stub(answer) as stub:
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(TRANSACT)
    assert len(tokens) == 2
    assert len(set(tokens)) == 1


def test_a_later_refusal_does_not_hide_a_lost_answer() -> None:
    denied = Answer({"__type": "x#AccessDeniedException", "message": "no"}, 400)
    with Stub(lambda operation, parameters: None if len(stub.calls) == 1 else denied) as stub:
        error = refused_by(PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS), PUT)
    assert type(error) is OutcomeUnknownError
    assert len(stub.calls) == 2


def test_a_conditional_write_is_repeated_after_a_refusal() -> None:
    busy = Answer({"__type": "x#TransactionInProgressException", "message": "wait"}, 400)
    with Stub(lambda operation, parameters: busy if len(stub.calls) == 1 else Answer({})) as stub:
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(CREATE)
    assert stub.calls == ["PutItem"] * 2


@pytest.mark.parametrize("answer", [None, Answer({"message": MARKER}, 500)], ids=["closed", "500"])
def test_a_read_without_an_answer_is_tried_again(answer: Answer | None) -> None:
    with Stub(always(answer)) as stub:
        error = refused_by(PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS), GET)
    assert type(error) is UnreachableError
    assert stub.calls == ["GetItem"] * 4


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b'{"Item": {"pk": {"S"'),
        Answer(b'{"Item": {"pk": {"S"', content_length=500),
        Answer(b"<html>log in to the hotel's network</html>"),
        Answer([1, 2]),
    ],
    ids=["cut", "cut, with the full length", "html", "list"],
)
def test_an_unreadable_answer_is_not_an_empty_one(answer: Answer) -> None:
    with Stub(always(answer)) as stub:
        transport = PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS)
        assert type(refused_by(transport, GET)) is UnreachableError
        transport.close()


@pytest.mark.parametrize(("request_", "kind"), [(GET, UnreachableError), (CREATE, OutcomeUnknownError)])
def test_an_unreadable_answer_on_a_users_client(request_: Request, kind: type[StorageError]) -> None:
    with Stub(always(Answer(b'{"Item": {"pk"'))) as stub:
        assert type(refused_by(PynamoTransport(client(stub.url)), request_)) is kind


def test_a_users_client_that_loses_the_answer() -> None:
    with Stub(always(None)) as stub:
        transport = PynamoTransport(client(stub.url))
        write, read = refused_by(transport, CREATE), refused_by(transport, GET)
    assert (type(write), type(read)) == (OutcomeUnknownError, UnreachableError)
    assert isinstance(write.__cause__, ConnectionClosedError)


def test_an_answer_that_takes_too_long() -> None:
    release = threading.Event()

    def answer(*_: Any) -> None:
        release.wait(30)

    with Stub(answer) as stub:
        error = refused_by(PynamoTransport(client(stub.url, read_timeout=0.1)), CREATE)
        release.set()
    assert type(error) is OutcomeUnknownError
    assert "ReadTimeoutError" in str(error)


# --- credentials


def test_missing_credentials_are_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with Stub(always(Answer({"Item": KEY}))) as stub:
        transport = PynamoTransport(endpoint_url=stub.url)
        error = refused_by(transport, GET)
        assert type(error) is AccessDeniedError
        assert isinstance(error.__cause__, NoCredentialsError)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        assert transport.send(GET)["Item"] == KEY


def test_half_of_the_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
    assert type(refused_by(PynamoTransport(endpoint_url="http://127.0.0.1:1"), PUT)) is AccessDeniedError


def test_an_expired_login() -> None:
    users = client("http://127.0.0.1:1")

    def expire(**_: Any) -> None:
        raise UnauthorizedSSOTokenError

    users.meta.events.register("before-sign.dynamodb", expire)
    assert type(refused_by(PynamoTransport(users), PUT)) is AccessDeniedError


def test_a_refused_parameter_is_not_repeated() -> None:
    wrong = Request("GetItem", {"TableName": "chat", "Key": {"pk": {"S": [MARKER]}}})
    error = refused_by(PynamoTransport(client("http://127.0.0.1:1")), wrong)
    assert type(error) is StorageError
    assert "ParamValidationError" in str(error)


def test_secrets_are_not_printed() -> None:
    assert "MARKER" not in repr(CREDENTIALS) + str(CREDENTIALS)
    assert "AKIDTEST" in repr(CREDENTIALS)
    assert "MARKER" not in repr(PynamoTransport(region="eu-west-1", credentials=CREDENTIALS))


@pytest.mark.parametrize("keys", [("", "b"), ("a", " ")])
def test_blank_credentials_do_not_become_others(keys: tuple[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="must not be blank"):
        Credentials(*keys)


# --- configuration

SESSION = boto3.Session(region_name="eu-west-1", aws_access_key_id="AKIDTEST", aws_secret_access_key=SECRET)


@pytest.mark.parametrize("kind", [PynamoTransport, AsyncPynamoTransport])
@pytest.mark.parametrize(
    "settings",
    [
        {"region": "eu-west-1"},
        {"endpoint_url": "http://127.0.0.1:1"},
        {"credentials": CREDENTIALS},
        {"session": SESSION},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_a_client_excludes_settings(kind: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=f"client= and {next(iter(settings))}="):
        kind(client("http://127.0.0.1:1"), **settings)


def test_a_session_excludes_credentials() -> None:
    with pytest.raises(ConfigurationError, match="session= and credentials="):
        PynamoTransport(session=SESSION, credentials=CREDENTIALS)


def test_a_missing_region() -> None:
    with pytest.raises(ConfigurationError, match="pass region=, or set AWS_REGION or AWS_DEFAULT_REGION"):
        PynamoTransport(credentials=CREDENTIALS)
    with pytest.raises(ConfigurationError, match="no region"):
        PynamoTransport(endpoint_url="http://dynamodb.example", credentials=CREDENTIALS)


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "localhost", "ftp://127.0.0.1", "http://"])
def test_an_endpoint_that_is_no_url(url: str) -> None:
    with pytest.raises(ConfigurationError, match="endpoint_url="):
        PynamoTransport(endpoint_url=url, region="eu-west-1")


def test_a_profile_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(ConfigurationError, match="nobody"):
        PynamoTransport()


@pytest.mark.parametrize(
    ("variables", "settings", "region"),
    [
        ({}, {"credentials": CREDENTIALS}, "us-east-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-2"}, {"credentials": CREDENTIALS}, "eu-west-2"),
        ({"AWS_DEFAULT_REGION": "eu-west-2", "AWS_REGION": "eu-west-3"}, {"credentials": CREDENTIALS}, "eu-west-3"),
        ({"AWS_REGION": "eu-west-3"}, {"session": SESSION}, "eu-west-1"),
        ({"AWS_REGION": "eu-west-3"}, {"session": SESSION, "region": "ap-south-1"}, "ap-south-1"),
    ],
)
def test_where_the_region_comes_from(
    variables: Mapping[str, str], settings: Mapping[str, Any], region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with Stub(always(Answer({"Item": KEY}))) as stub:
        PynamoTransport(endpoint_url=stub.url, **settings).send(GET)
    assert stub.regions == [region]


def test_a_host_name_of_loopback_needs_no_region() -> None:
    for host in ("localhost", "[::1]", "dynamodb.localhost"):
        PynamoTransport(endpoint_url=f"http://{host}:8000", credentials=CREDENTIALS)


def test_threads_share_one_client() -> None:
    made: list[object] = []

    class Counting(boto3.Session):  # type: ignore[misc]  # boto3 has no types
        def client(self, *args: Any, **settings: Any) -> Any:
            made.append(args)
            return cast("Any", super()).client(*args, **settings)

    session = Counting(region_name="eu-west-1", aws_access_key_id="AKIDTEST", aws_secret_access_key=SECRET)
    with Stub(always(Answer({"Item": KEY}))) as stub:
        transport = PynamoTransport(session=session, endpoint_url=stub.url)
        assert not made, "a constructor looks for no credentials"
        threads = [threading.Thread(target=transport.send, args=(GET,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        transport.close()
    assert len(made) == 1
    assert len(stub.calls) == 8


def test_closing() -> None:
    with Stub(always(Answer({"Item": KEY}))) as stub:
        transport, users = PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS), client(stub.url)
        transport.send(GET)
        PynamoTransport(users).close()
        assert users.get_item(**GET.params)["Item"] == KEY, "a user's client stays open"
        transport.close()
        transport.close()
        with pytest.raises(RequestError, match="closed"):
            transport.send(GET)


def test_closing_before_the_first_request() -> None:
    PynamoTransport(region="eu-west-1", credentials=CREDENTIALS).close()


# --- bodies and logs


def test_null_members_are_left_out_as_botocore_does() -> None:
    with Stub(always(Answer({"Items": [], "LastEvaluatedKey": None}))) as stub:
        query = Request("Query", {"TableName": "chat"})
        ours = PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(query)
        botocores = PynamoTransport(client(stub.url)).send(query)
    assert ours.keys() == botocores.keys() == {"Items", "ResponseMetadata"}


@pytest.mark.parametrize("operation", ["GetItem", "Query", "Scan", "BatchGetItem", "TransactGetItems", "UpdateItem"])
def test_our_parser_reads_what_botocores_reads(
    operation: Operation, moto: PynamoTransport, moto_url: str, table: str
) -> None:
    moto.send(in_table(PUT, table))
    condition = {"KeyConditionExpression": "gsi1pk = :g", "ExpressionAttributeValues": {":g": {"S": "g"}}}
    parameters: dict[str, Any] = {
        "GetItem": {"TableName": table, "Key": KEY},
        "Query": {"TableName": table, "IndexName": "gsi1", **condition},
        "Scan": {"TableName": table},
        "BatchGetItem": {"RequestItems": {table: {"Keys": [KEY]}}},
        "TransactGetItems": {"TransactItems": [{"Get": {"TableName": table, "Key": KEY}}]},
        "UpdateItem": {
            "TableName": table,
            "Key": KEY,
            "UpdateExpression": "SET a = :a",
            "ExpressionAttributeValues": {":a": {"N": "1"}},
            "ReturnValues": "ALL_NEW",
        },
    }
    request = Request(operation, parameters[operation])
    ours, botocores = dict(moto.send(request)), dict(PynamoTransport(dynamodb(moto_url)).send(request))
    assert ours.pop("ResponseMetadata").keys() == botocores.pop("ResponseMetadata").keys()
    assert ours == botocores
    assert "MARKER" in repr(ours)


def test_bytes_come_as_base64_text_from_our_client_and_as_bytes_from_a_users(
    moto: PynamoTransport, moto_url: str, table: str
) -> None:
    binary = {**KEY, "one": {"B": b"\x00\xff"}, "more": {"BS": [b"\x01"]}}
    moto.send(Request("PutItem", {"TableName": table, "Item": binary}))
    ours = moto.send(in_table(GET, table))["Item"]
    assert (ours["one"], ours["more"]) == ({"B": "AP8="}, {"BS": ["AQ=="]})
    assert PynamoTransport(dynamodb(moto_url)).send(in_table(GET, table))["Item"] == binary


EVERY_KIND = {
    **ITEM,
    "binary": {"B": b"\x00\xff"},
    "binaries": {"BS": (b"\x01",)},
    "frozen": MappingProxyType({"M": MappingProxyType({"a": {"B": bytearray(b"\x02")}})}),
    "set": {"NS": {"1"}},
    "inner": {"L": ({"NULL": True}, {"BOOL": False}, {"S": "\u2028\U0001f600"})},
}


@pytest.mark.parametrize(
    "request_",
    [
        GET,
        UPDATE,
        Request("PutItem", {"TableName": "chat", "Item": EVERY_KIND, "ReturnValues": "ALL_OLD"}),
        Request("Query", {"TableName": "chat", "Limit": 5, "ConsistentRead": True, "ScanIndexForward": False}),
        Request("BatchGetItem", {"RequestItems": {"chat": {"Keys": [KEY], "ConsistentRead": True}, "b": {"Keys": []}}}),
        Request("BatchWriteItem", {"RequestItems": {"chat": [{"PutRequest": {"Item": EVERY_KIND}}], "b": []}}),
        Request("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "chat", "Key": KEY}}]}),
        Request(
            "TransactWriteItems",
            {
                "TransactItems": [{"Put": {"TableName": "chat", "Item": EVERY_KIND}}, {"Delete": DELETE.params}],
                "ClientRequestToken": "token",
            },
        ),
    ],
    ids=lambda request: request.operation,
)
def test_our_client_sends_what_botocore_would(request_: Request) -> None:
    bodies: list[Any] = []

    def answer(_: str, parameters: Any) -> Answer:
        bodies.append(parameters)
        return Answer({})

    with Stub(answer) as stub:
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(request_)
        PynamoTransport(client(stub.url, parameter_validation=False)).send(request_)
    assert bodies[0] == bodies[1]
    assert bodies[0].keys() == request_.params.keys() | {"ReturnConsumedCapacity"}


def test_what_our_client_cannot_write_is_left_to_botocore() -> None:
    beyond_64_bits = Request("Query", {"TableName": "chat", "Limit": 2**70})
    limits: list[int] = []

    def answer(_: str, parameters: Any) -> Answer:
        limits.append(parameters["Limit"])
        return Answer({})

    with Stub(answer) as stub:
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(beyond_64_bits)
    assert limits == [2**70]


def test_what_no_json_can_hold_is_an_error() -> None:
    number = Request("PutItem", {"TableName": "chat", "Item": {**KEY, "number": {"N": Decimal(1)}}})
    with Stub(always(Answer({}))) as stub, pytest.raises(TypeError, match="not JSON serializable"):
        PynamoTransport(endpoint_url=stub.url, credentials=CREDENTIALS).send(number)
    assert stub.calls == []


@pytest.mark.parametrize("request_", [GET, BATCH, TRANSACT], ids=lambda request: request.operation)
def test_the_endpoint_is_chosen_by_the_tables_of_a_request(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account has an endpoint of its own, which botocore takes from the ARN of a table."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    arn = "arn:aws:dynamodb:us-east-1:123456789012:table/chat"
    urls: list[str] = []

    def look(request: Any, **_: Any) -> None:
        urls.append(request.url)
        raise LookupError

    ours = cast("Any", boto3).client("dynamodb", region_name="us-east-1", config=Config(parameter_validation=False))
    register(ours)
    ours.meta.events.register("before-send.dynamodb", look)
    parameters = orjson.loads(orjson.dumps(request_.params).replace(b'"chat"', f'"{arn}"'.encode()))
    with pytest.raises(LookupError):
        ours._make_api_call(request_.operation, Parameters(parameters))
    assert urls == ["https://123456789012.ddb.us-east-1.amazonaws.com/"]


def test_control_plane_answers_keep_botocores_path(moto_url: str, table: str) -> None:
    ours = dynamodb(moto_url)
    register(ours)
    description = ours.describe_table(TableName=table)
    assert description["Table"]["CreationDateTime"].tzinfo is not None


def test_a_users_client_gets_no_handlers(monkeypatch: pytest.MonkeyPatch) -> None:
    users = client("http://127.0.0.1:1")
    with Stubber(users) as untyped:
        stubber: Any = untyped
        stubber.add_response("get_item", {"Item": KEY})
        for register in ("register", "register_first", "register_last"):
            monkeypatch.setattr(users.meta.events, register, None, raising=False)
        PynamoTransport(users).send(GET)
        monkeypatch.undo()


def test_stored_content_stays_out_of_pynamodbs_log(
    moto: PynamoTransport, table: str, caplog: pytest.LogCaptureFixture
) -> None:
    # botocore's own loggers print whole requests at DEBUG; the module's docstring says so.
    caplog.set_level(logging.INFO, logger="botocore")
    with caplog.at_level(logging.DEBUG):
        moto.send(in_table(PUT, table))
        moto.send(in_table(GET, table))
        with pytest.raises(ConditionFailedError):
            moto.send(in_table(CREATE, table))
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("pynamodb")]
    assert any("Calling PutItem" in line for line in lines), "the test needs pynamodb's log"
    assert "MARKER" not in caplog.text


# --- async


def async_transport(url: str) -> AsyncPynamoTransport:
    return AsyncPynamoTransport(endpoint_url=url, credentials=CREDENTIALS)


def test_the_loop_runs_while_a_request_waits() -> None:
    release = threading.Event()

    def answer(*_: Any) -> Answer:
        assert release.wait(30)
        return Answer({"Item": KEY})

    async def main(url: str) -> int:
        transport = async_transport(url)
        sending = asyncio.create_task(transport.send(GET))
        beats = 0
        while beats < 1000:
            await asyncio.sleep(0)
            beats += 1
        assert not sending.done()
        release.set()
        assert (await sending)["Item"] == KEY
        await transport.aclose()
        return beats

    with Stub(answer) as stub:
        assert asyncio.run(main(stub.url)) == 1000


def test_the_loop_runs_while_a_transport_closes() -> None:
    release, arrived = threading.Event(), threading.Event()

    def answer(*_: Any) -> Answer:
        arrived.set()
        assert release.wait(30)
        return Answer({"Item": KEY})

    async def main(url: str) -> None:
        transport = async_transport(url)
        sending = asyncio.create_task(transport.send(GET))
        while not arrived.is_set():
            await asyncio.sleep(0)
        closing = asyncio.create_task(transport.aclose())
        await asyncio.sleep(0)
        with pytest.raises(RequestError, match="closed"):
            await transport.send(GET)
        assert not closing.done()
        release.set()
        assert (await sending)["Item"] == KEY, "a request on its way is waited for"
        await closing
        await transport.aclose()

    before = set(threading.enumerate())
    with Stub(answer) as stub:
        asyncio.run(main(stub.url))
    later = set(threading.enumerate()) - before
    assert not [thread for thread in later if thread.name.startswith("singletable")]


def test_sixteen_requests_travel_at_once_and_the_others_wait() -> None:
    together = threading.Barrier(16)
    first = iter(range(16))
    threads: set[str] = set()

    def answer(*_: Any) -> Answer:
        if next(first, None) is not None:
            together.wait(30)
        return Answer({"Item": KEY})

    async def main(users: Any) -> None:
        def look(**_: Any) -> None:
            threads.add(threading.current_thread().name)

        users.meta.events.register("before-call.dynamodb", look)
        transport = AsyncPynamoTransport(users)
        await asyncio.gather(*(transport.send(GET) for _ in range(100)))
        await transport.aclose()

    with Stub(answer) as stub:
        asyncio.run(main(client(stub.url, max_pool_connections=16)))
    assert len(threads) == 16


def test_errors_and_context_cross_the_thread() -> None:
    trace: ContextVar[str] = ContextVar("trace", default="none")
    users = client("http://127.0.0.1:1")
    seen: list[tuple[str, str]] = []

    def look(**_: Any) -> None:
        seen.append((trace.get(), threading.current_thread().name))

    async def main() -> None:
        trace.set("mine")
        transport = AsyncPynamoTransport(users)
        with pytest.raises(UnreachableError):
            await transport.send(GET)
        await transport.aclose()

    users.meta.events.register("before-call.dynamodb", look)
    asyncio.run(main())
    assert [context for context, _ in seen] == ["mine"]
    assert seen[0][1].startswith("singletable-dynamodb")


def test_the_sync_transport_works_inside_a_running_loop(moto: PynamoTransport, table: str) -> None:
    async def main() -> Any:
        moto.send(in_table(PUT, table))
        return moto.send(in_table(GET, table))["Item"]

    assert asyncio.run(main()) == ITEM


def test_the_async_transport_works_in_a_second_loop() -> None:
    with Stub(always(Answer({"Item": KEY}))) as stub:
        transport = async_transport(stub.url)
        for _ in range(2):
            assert asyncio.run(transport.send(GET))["Item"] == KEY
        asyncio.run(transport.aclose())
