"""Our signatures against botocore's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import boto3
import pytest
from botocore import UNSIGNED
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import NoCredentialsError
from hypothesis import given
from hypothesis import strategies as st

from singletable.adapters._signing import Signer

TEXT = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1)
TARGET = {"X-Amz-Target": "DynamoDB_20120810.GetItem", "Content-Type": "application/x-amz-json-1.0"}
URLS = [
    "https://dynamodb.eu-north-1.amazonaws.com",
    "https://123456789012.ddb.us-east-1.amazonaws.com:443/",
    "http://127.0.0.1:8000",
    "http://[::1]:8000/",
    "http://User@LOCALHOST:80",
]


def botocores(request: Any, credentials: ReadOnlyCredentials, region: str) -> str:
    """The Authorization header that botocore gives a request at the time that its X-Amz-Date says."""
    auth = cast("Any", SigV4Auth)(credentials, "dynamodb", region)
    request.context["timestamp"] = request.headers["X-Amz-Date"]
    del request.headers["Authorization"]
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return cast("str", auth._inject_signature_to_request(request, signature).headers["Authorization"])


class RequestSigner:
    """What botocore gives to handlers, with the credentials that it found."""

    def __init__(self, credentials: ReadOnlyCredentials | None) -> None:
        self.credentials = credentials

    def get_auth_instance(self, service: str, region: str, version: str, credentials: Any = None) -> Any:
        assert version == "v4"
        return cast("Any", SigV4Auth)(credentials or self.credentials, service, region)


def sign(signer: Signer, request: Any, credentials: ReadOnlyCredentials | None, region: str) -> None:
    assert signer.choose(signature_version="v4", context=request.context) is UNSIGNED
    signer.sign(request=request, signing_name="dynamodb", region_name=region, request_signer=RequestSigner(credentials))


def request_to(url: str, data: Any = b"{}", **headers: str) -> Any:
    return cast("Any", AWSRequest)("POST", url, {**TARGET, **headers}, data)


@given(
    url=st.sampled_from(URLS),
    data=st.binary(),
    secret=TEXT,
    token=st.none() | TEXT.map(str.strip).filter(bool),
    region=st.sampled_from(["us-east-1", "eu-north-1"]),
    extra=st.dictionaries(st.sampled_from(["X-Amz-Meta", "x-amz-other"]), TEXT),
)
def test_a_signature_is_botocores(
    url: str, data: bytes, secret: str, token: str | None, region: str, extra: dict[str, str]
) -> None:
    credentials = ReadOnlyCredentials("AKIDTEST", secret, token)
    request = request_to(url, data, **extra)
    sign(Signer(), request, credentials, region)
    ours = request.headers["Authorization"]
    assert request.headers["X-Amz-Security-Token"] == token
    assert ours == botocores(request, credentials, region)


def test_a_request_is_signed_anew_with_one_of_each_header() -> None:
    signer, request = Signer(), request_to(URLS[0])
    for token in ("one", "two"):
        sign(signer, request, ReadOnlyCredentials("AKIDTEST", "secret", token), "us-east-1")
    for name in ("X-Amz-Date", "X-Amz-Security-Token", "Authorization"):
        assert len(request.headers.get_all(name)) == 1
    assert request.headers["X-Amz-Security-Token"] == "two"


def test_the_kept_key_is_that_of_the_credentials_region_and_service() -> None:
    signer = Signer()
    for secret, region in [("a", "us-east-1"), ("b", "us-east-1"), ("b", "eu-north-1"), ("b", "eu-north-1")]:
        credentials = ReadOnlyCredentials("AKIDTEST", secret, None)
        request = request_to(URLS[0])
        sign(signer, request, credentials, region)
        ours = request.headers["Authorization"]
        assert ours == botocores(request, credentials, region)


def test_headers_that_a_proxy_may_change_are_not_signed() -> None:
    request = request_to(URLS[0], **{"User-Agent": "a", "X-Amzn-Trace-Id": "b", "Expect": "c"})
    sign(Signer(), request, ReadOnlyCredentials("AKIDTEST", "secret", None), "us-east-1")
    assert "SignedHeaders=content-type;host;x-amz-date;x-amz-target," in request.headers["Authorization"]


def test_the_place_that_the_endpoint_rules_give_counts() -> None:
    request, credentials = request_to(URLS[0]), ReadOnlyCredentials("AKIDTEST", "secret", None)
    request.context["signing"] = {"region": "eu-north-1", "signing_name": "dynamodb"}
    sign(Signer(), request, credentials, "us-east-1")
    assert "/eu-north-1/dynamodb/aws4_request" in request.headers["Authorization"]


@pytest.mark.parametrize(
    "unusual",
    [
        lambda: request_to(URLS[0] + "/a/../path"),
        lambda: request_to(URLS[0] + "/?a=b"),
        lambda: request_to(URLS[0], "text"),
    ],
    ids=["path", "query", "text"],
)
def test_botocore_signs_what_is_unusual(unusual: Callable[[], Any]) -> None:
    request, credentials = unusual(), ReadOnlyCredentials("AKIDTEST", "secret", None)
    sign(Signer(), request, credentials, "us-east-1")
    theirs = request.headers["Authorization"]
    assert theirs == botocores(request, credentials, "us-east-1")


def test_no_credentials_are_botocores_error() -> None:
    with pytest.raises(NoCredentialsError):
        sign(Signer(), request_to(URLS[0]), None, "us-east-1")


@pytest.mark.parametrize("version", ["v4a", UNSIGNED], ids=["v4a", "unsigned"])
def test_other_signatures_are_left_alone(version: Any) -> None:
    signer, request = Signer(), request_to(URLS[0])
    assert signer.choose(signature_version=version, context=request.context) is None
    signer.sign(request=request, signing_name="dynamodb", region_name="us-east-1", request_signer=None)
    assert "Authorization" not in request.headers


def test_what_a_handler_of_the_user_adds_is_signed() -> None:
    sent: list[Any] = []

    def stop(request: Any, **_: Any) -> None:
        sent.append(request)
        raise LookupError

    def add(request: Any, **_: Any) -> None:
        request.headers["X-Amz-Mine"] = "1"

    keys = {"aws_access_key_id": "AKIDTEST", "aws_secret_access_key": "secret"}
    config = Config(parameter_validation=False)
    client = cast("Any", boto3).client("dynamodb", region_name="us-east-1", config=config, **keys)
    Signer().register(client)
    client.meta.events.register("before-sign.dynamodb", add)
    client.meta.events.register("before-send.dynamodb", stop)
    with pytest.raises(LookupError):
        client.get_item(TableName="chat", Key={})
    assert b"x-amz-date;x-amz-mine;x-amz-target," in sent[0].headers["Authorization"]
