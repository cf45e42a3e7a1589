"""DynamoDBs for tests, all on 127.0.0.1: moto and dynalite as processes, and a stub that answers as it is told."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, cast

import boto3

ROOT = Path(__file__).resolve().parent.parent
MOTO = Path(__file__).with_name("moto_server.py")
DYNALITE = ROOT / ".cache" / "dynalite"
DYNALITE_VERSION = "4.0.0"
INDEXES = ("gsi1", "gsi2", "gsi3", "gsi4")
START_SECONDS = 60


class Unavailable(Exception):
    """A server cannot be run on this machine; the message says what is missing."""


def dynamodb(url: str) -> Any:
    """A plain boto3 client of a local server, for tests to set things up beside the code under test."""
    return cast("Any", boto3).client(  # boto3 has no types
        "dynamodb", endpoint_url=url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )


def s3(url: str) -> Any:
    """A plain boto3 client of a local server's S3."""
    return cast("Any", boto3).client(
        "s3", endpoint_url=url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )


def fresh_table(url: str) -> str:
    """The name of a new, empty table with the four indexes."""
    name = f"test-{uuid.uuid4().hex}"
    client = dynamodb(url)
    client.create_table(**_definition(name))
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1, "MaxAttempts": 30})
    client.close()
    return name


def _definition(name: str) -> dict[str, Any]:
    keys = [("pk", "sk"), *((f"{index}pk", f"{index}sk") for index in INDEXES)]
    schemas = [[{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}] for pk, sk in keys]
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": part, "AttributeType": "S"} for pair in keys for part in pair],
        "KeySchema": schemas[0],
        "GlobalSecondaryIndexes": [
            {"IndexName": index, "KeySchema": schema, "Projection": {"ProjectionType": "ALL"}}
            for index, schema in zip(INDEXES, schemas[1:], strict=True)
        ],
    }


@contextmanager
def moto() -> Generator[str]:
    """The URL of moto's server in a process of its own, so that its tables and its patches stay out of this one."""
    with _process(lambda port: [sys.executable, str(MOTO), str(port)]) as url:
        yield url


@contextmanager
def dynalite() -> Generator[str]:
    """The URL of dynalite, installed on first use; raises Unavailable without Node or npm."""
    node, script = shutil.which("node"), _install_dynalite()
    if node is None:
        raise Unavailable("dynalite needs Node, which is not installed")
    milliseconds = ["--createTableMs", "0", "--deleteTableMs", "0", "--updateTableMs", "0"]
    with _process(lambda port: [node, script, "--host", "127.0.0.1", "--port", str(port), *milliseconds]) as url:
        yield url


def _install_dynalite() -> str:
    script = DYNALITE / "node_modules" / ".bin" / "dynalite"
    DYNALITE.mkdir(parents=True, exist_ok=True)
    # Under a lock, because each worker of pytest-xdist comes here.
    with (DYNALITE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not script.exists():
            npm = shutil.which("npm")
            if npm is None:
                raise Unavailable(f"dynalite is not installed in {DYNALITE}, and there is no npm to install it with")
            package = f"dynalite@{DYNALITE_VERSION}"
            command = [npm, "install", "--prefix", str(DYNALITE), package, "--no-audit", "--no-fund"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise Unavailable(f"npm could not install {package}: {done.stderr.strip()[-500:]}")
    return str(script)


@contextmanager
def _process(command: Callable[[int], Sequence[str]]) -> Generator[str]:
    """The URL of a server process that answers; another program may take the free port first, hence three attempts."""
    for _ in range(3):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            command(port), env=_unmeasured(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            if _answers(url, process):
                yield url
                return
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    raise Unavailable(f"the server ended before it answered: {' '.join(command(0))}")


def _unmeasured() -> dict[str, str]:
    """This environment without what would measure coverage in the server too, which takes half of its time."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("COVERAGE_", "COV_CORE_"))}


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether the process answers HTTP; False where it has ended."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            return False
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError as error:
            error.close()  # an answer, if not to this question
            return True
        except OSError:
            time.sleep(0.05)  # between two polls; the deadline decides
        else:
            return True
    raise Unavailable(f"no answer from {url} within {START_SECONDS} s")


def free_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Answer(NamedTuple):
    """What the stub answers: `body` as JSON, or as it is where it is bytes."""

    body: Any
    status: int = 200
    content_length: int | None = None
    """What the header says; the true length where it is None."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 128
    """Of connections at once; the default of 5 resets some of them on a machine that is busy."""


class Stub:
    """A DynamoDB that answers each call with what `answer` returns for its operation and parameters.

    Where `answer` returns None, the stub closes the connection: the request has arrived, but no answer comes.
    """

    def __init__(self, answer: Callable[[str, Any], Answer | None]) -> None:
        self.calls: list[str] = []
        self.regions: list[str] = []
        """The region for which each call was signed."""
        self._answer = answer
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def receive(self, operation: str, authorization: str, body: bytes) -> Answer | None:
        self.calls.append(operation)
        self.regions.append(authorization.split("/")[2])
        return self._answer(operation, json.loads(body))


def _handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            operation = self.headers["X-Amz-Target"].partition(".")[2]
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            given = stub.receive(operation, self.headers["Authorization"], sent)
            if given is None:
                self.close_connection = True
                return
            body = given.body if isinstance(given.body, bytes) else json.dumps(given.body).encode()
            self.send_response(given.status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(given.content_length or len(body)))
            self.send_header("x-amzn-RequestId", "STUB")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: pytest would show a line per request."""

    return Handler


def required_in_ci() -> bool:
    """Whether a server that is missing is a failure, rather than a reason to skip."""
    return bool(os.environ.get("CI"))
