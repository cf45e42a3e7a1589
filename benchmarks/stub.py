"""The server that the candidates talk to: `stub.c` where there is a C compiler, otherwise this module as a process.

Both print their port, answer each operation with the bytes of a file of its name, and end with their standard input.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

SOURCE = Path(__file__).with_suffix(".c")


def stub_command(build: Path) -> list[str]:
    """The command of the stub, compiled into `build` if there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return [sys.executable, "-m", "benchmarks.stub"]
    subprocess.run([compiler, "-O2", "-o", str(build / "stub"), str(SOURCE)], check=True)
    return [str(build / "stub")]


@contextmanager
def stub(command: Sequence[str], answers: Path) -> Generator[str]:
    """The URL of a stub, in a process of its own, that gives these answers."""
    with subprocess.Popen([*command, str(answers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        assert process.stdin is not None
        process.stdin.close()


def recorded(write: Callable[[str], None]) -> list[dict[str, Any]]:
    """The items that `write` puts, one by one, when it is given the URL of a server."""
    received: list[dict[str, Any]] = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, answers={}, received=received))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        write(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    return [body["Item"] for body in received if "Item" in body]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def __init__(
        self, *request: Any, answers: Mapping[str, bytes], received: list[dict[str, Any]], delay: float = 0
    ) -> None:
        self._answers, self._received, self._delay = answers, received, delay
        super().__init__(*request)

    def do_POST(self) -> None:
        """Answer an operation."""
        operation = self.headers.get("X-Amz-Target", "").partition(".")[2]
        self._received.append(orjson.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        body = self._answers.get(operation, b"{}")
        time.sleep(self._delay)
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-amz-crc32", str(zlib.crc32(body)))
        self.send_header("x-amzn-RequestId", "STUB")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a line for each request would hide the results."""


class _Forgetful(list[dict[str, Any]]):
    def append(self, body: dict[str, Any], /) -> None:
        """Keep nothing."""


def main(directory: str, delay: str = "0") -> None:
    """What `stub.c` does, at a slower pace."""
    answers = {path.name: path.read_bytes() for path in Path(directory).iterdir()}
    handler = partial(_Handler, answers=answers, received=_Forgetful(), delay=float(delay) / 1000)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.write(1, b"%d\n" % server.server_port)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
