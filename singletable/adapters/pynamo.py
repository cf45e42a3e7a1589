"""Transports over pynamodb's `Connection`: DynamoDB itself, or anything that speaks its HTTP API.

Stored content stays out of pynamodb's log, which prints a call's parameters at DEBUG: ours do not print.  botocore's
own DEBUG log prints whole requests, credentials' tokens included, whoever calls it: leave it at INFO.
"""

from __future__ import annotations

import contextvars
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ipaddress import ip_address
from threading import Lock
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
from pynamodb.connection.base import Connection

from ..errors import ConfigurationError, RequestError
from ..wire import Request, Response
from ._botocore import UNREADABLE, Parameters, is_blank, register
from ._refusals import refusal, unreadable

__all__ = ["AsyncPynamoTransport", "Credentials", "PynamoTransport"]

T = TypeVar("T")

THREADS: Final = 16
"""Threads of one AsyncPynamoTransport; more do not help, because botocore is bound by the interpreter lock."""

_CONFIG: Final[Any] = Config(
    # DynamoDB validates every request itself; botocore's own validation is a third of the time of a put.
    parameter_validation=False,
    retries={"mode": "standard", "total_max_attempts": 4},
    tcp_keepalive=True,
    max_pool_connections=2 * THREADS,
    connect_timeout=3,
    read_timeout=10,
)


@dataclass(frozen=True)
class Credentials:
    """Keys of an AWS account; the secret ones are never printed."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        # boto3 takes an empty key for none, and would silently look for other credentials.
        if not self.access_key_id.strip() or not self.secret_access_key.strip():
            raise ConfigurationError("Credentials: access_key_id= and secret_access_key= must not be blank")


class PynamoTransport:
    """Sends requests through pynamodb, on a tuned client of its own or on your boto3 client as it is.

    Nothing is contacted before the first request; one client then serves all threads.  A client of yours keeps its own
    retries: botocore's may send a conditional write twice after a lost answer, and report the second one's failure.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        credentials: Credentials | None = None,
        session: Any = None,
    ) -> None:
        _refuse_conflicts(client, region=region, endpoint_url=endpoint_url, credentials=credentials, session=session)
        self._owned = client is None
        make_client = _client_maker(region, endpoint_url, credentials, session) if self._owned else lambda: client
        self._client = _SharedClient(make_client)
        # Any, because pynamodb's dispatch is only half typed.
        self._connection: Any = _Connection(self._client)
        self._closed = False

    def send(self, request: Request) -> Response:
        """The response to `request`; raises the StorageError that DynamoDB's refusal means."""
        if self._closed:
            raise RequestError(f"{request.operation}: this transport is closed; make another one")
        parameters = Parameters(request.params)
        try:
            response: Response = self._connection.dispatch(request.operation, parameters)
        except (BotoCoreError, ClientError) as error:
            if isinstance(error, NoCredentialsError):
                self._client.forget()
            # pynamodb wraps botocore's ClientError, and keeps it as the cause.
            cause = error.__cause__ if isinstance(error.__cause__, ClientError) else error
            raise refusal(request, cause, unanswered=parameters.unanswered) from cause
        if UNREADABLE in response or (not self._owned and is_blank(response)):
            raise unreadable(request, response)
        return response

    def close(self) -> None:
        """Give up the connections of a client of our own; a client of yours stays open."""
        self._closed = True
        if self._owned:
            self._client.close()


class AsyncPynamoTransport:
    """Sends requests through pynamodb in 16 threads of its own, so that the event loop stays free.

    A cancelled task stops waiting, but a request that is on its way is not called back.
    """

    def __init__(
        self,
        client: Any = None,
        *,
        region: str | None = None,
        endpoint_url: str | None = None,
        credentials: Credentials | None = None,
        session: Any = None,
    ) -> None:
        self._transport = PynamoTransport(
            client, region=region, endpoint_url=endpoint_url, credentials=credentials, session=session
        )
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="singletable-dynamodb")
        self._closed = False

    async def send(self, request: Request) -> Response:
        """The response to `request`; raises the StorageError that DynamoDB's refusal means."""
        if self._closed:
            raise RequestError(f"{request.operation}: this transport is closed; make another one")
        # Tracing and logging of the caller must see the same context in the thread.
        context = contextvars.copy_context()
        return await _run(self._threads, lambda: context.run(self._transport.send, request))

    async def aclose(self) -> None:
        """Wait for the requests on their way, then give up connections and threads."""
        self._closed = True
        # A thread of its own: the loop's default pool belongs to the application, and may be full.
        closer = ThreadPoolExecutor(1, thread_name_prefix="singletable-close")
        try:
            await _run(closer, self._close)
        finally:
            closer.shutdown(wait=False)

    def _close(self) -> None:
        self._threads.shutdown()
        self._transport.close()


class _SharedClient:
    """One client for all threads, made when it is first needed, because boto3 looks for credentials on the network."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = Lock()
        self._client: Any = None

    def get(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def forget(self) -> None:
        """Let the next request look for credentials again: botocore's client would stay without them for ever."""
        with self._lock:
            self._client = None

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()


class _Connection(Connection):
    """pynamodb's connection on a client that is made elsewhere."""

    def __init__(self, shared: _SharedClient) -> None:
        cast("Any", super()).__init__()  # whose own types are partly unknown
        self.shared = shared

    @property
    def client(self) -> Any:
        return self.shared.get()


def _run(threads: ThreadPoolExecutor, call: Callable[[], T]) -> Awaitable[T]:
    # Here, because it takes as long to import as all of this package, and the sync transport does without.
    import asyncio

    return asyncio.get_running_loop().run_in_executor(threads, call)


def _refuse_conflicts(client: Any, **settings: Any) -> None:
    given = [name for name, value in settings.items() if value is not None]
    if client is not None and given:
        raise ConfigurationError(f"client= and {given[0]}= exclude each other: a client has its own {given[0]}")
    if "session" in given and "credentials" in given:
        raise ConfigurationError("session= and credentials= exclude each other: a session has its own credentials")


def _client_maker(
    region: str | None, endpoint_url: str | None, credentials: Credentials | None, session: Any
) -> Callable[[], Any]:
    """A function that makes our client; everything that can be wrong with the settings is found before it is called."""
    host = _host(endpoint_url)
    keys: dict[str, str | None] = {}
    if credentials is not None:
        keys = {
            "aws_access_key_id": credentials.access_key_id,
            "aws_secret_access_key": credentials.secret_access_key,
            "aws_session_token": credentials.session_token,
        }
    where: dict[str, str | None] = {"region_name": _region(region, session, host), "endpoint_url": endpoint_url}

    def make() -> Any:
        client: Any = (session or _new_session()).client("dynamodb", config=_CONFIG, **where, **keys)
        register(client)
        return client

    return make


def _host(endpoint_url: str | None) -> str | None:
    if endpoint_url is None:
        return None
    parts = urlsplit(endpoint_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigurationError("endpoint_url= must be a URL such as http://127.0.0.1:8000")
    return parts.hostname


def _region(region: str | None, session: Any, host: str | None) -> str:
    """The region asked for, else the session's, else the environment's, else that of the AWS configuration."""
    found = region or (session.region_name if session is not None else None) or os.environ.get("AWS_REGION")
    found = found or _new_session().region_name
    if found:
        return str(found)
    if host is not None and _is_loopback(host):
        return "us-east-1"
    raise ConfigurationError("no region: pass region=, or set AWS_REGION or AWS_DEFAULT_REGION")


def _new_session() -> Any:
    try:
        return boto3.Session()
    except BotoCoreError as error:
        raise ConfigurationError(f"the AWS configuration cannot be used: {error}") from error


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
