"""The doors to the outside: DynamoDB, one request in, one response out; and a bucket for what no item holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .wire import Request, Response


class Transport(Protocol):
    """Sends requests to DynamoDB and waits for the answer."""

    def send(self, request: Request) -> Response:
        """The response to `request`; raises the StorageError that DynamoDB's refusal means."""
        ...

    def close(self) -> None:
        """Give up connections and threads; sending afterwards is an error."""
        ...


class AsyncTransport(Protocol):
    """Sends requests to DynamoDB without blocking the event loop."""

    async def send(self, request: Request) -> Response:
        """The response to `request`; raises the StorageError that DynamoDB's refusal means."""
        ...

    async def aclose(self) -> None:
        """Give up connections and threads; sending afterwards is an error."""
        ...


class Bucket(Protocol):
    """Objects under names, written once and never changed."""

    def put(self, name: str, data: bytes) -> None:
        """Store an object."""
        ...

    def get(self, name: str) -> bytes:
        """The bytes of an object; raises PayloadMissingError where there is none."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that are not there are fine."""
        ...

    def names(self, beginning: str) -> list[str]:
        """The names of the objects that begin so."""
        ...
