"""The door to the outside: one request in, one response out."""

from __future__ import annotations

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
