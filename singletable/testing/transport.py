"""Transports whose other end is a MemoryDatabase."""

from __future__ import annotations

import asyncio

from ..wire import Request, Response
from ._values import copied_request
from .database import MemoryDatabase
from .faults import Faults


class _Client:
    """What both transports do with a request, and what they remember of it."""

    def __init__(self, database: MemoryDatabase | None = None) -> None:
        self.database = MemoryDatabase() if database is None else database
        """Where the items are; several transports may share one."""
        self.faults = Faults()
        """What goes wrong with the requests of this transport."""
        self.requests: list[Request] = []
        """Every request that was sent, in order; those a fault refused too."""
        self.scanned_counts: list[int] = []
        """How many items DynamoDB read for each Query and Scan that was answered, in order."""
        self._closed = False

    def _exchange(self, request: Request) -> Response:
        if self._closed:
            raise RuntimeError("the transport is closed")
        self.faults.before_sending(request)
        self.requests.append(copied_request(request))
        self.faults.before_applying(request)
        unprocessed = self.faults.unprocessed(request)
        response = self.database.execute(request, lag=self.faults.lag, unprocessed=unprocessed)
        if self.faults.resends(request):
            response = self.database.execute(request, lag=self.faults.lag, unprocessed=unprocessed)
        self.faults.after_applying(request)
        if "ScannedCount" in response:
            self.scanned_counts.append(response["ScannedCount"])
        return response


class MemoryTransport(_Client):
    """A Transport that answers from memory."""

    def send(self, request: Request) -> Response:
        """The response to `request`, or the StorageError that DynamoDB's refusal means."""
        return self._exchange(request)

    def close(self) -> None:
        """Refuse to send anything from now on; the database stays as it is."""
        self._closed = True


class AsyncMemoryTransport(_Client):
    """An AsyncTransport that answers from memory, after it has let other tasks run."""

    async def send(self, request: Request) -> Response:
        """The response to `request`, or the StorageError that DynamoDB's refusal means."""
        await asyncio.sleep(0)
        return self._exchange(request)

    async def aclose(self) -> None:
        """Refuse to send anything from now on; the database stays as it is."""
        self._closed = True
