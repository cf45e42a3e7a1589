"""The way of a table's requests to its transport: errors say which entity, conflicts are tried again."""

from __future__ import annotations

import asyncio
import secrets
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..clock import Clock
from ..errors import (
    ConditionFailedError,
    OutcomeUnknownError,
    StorageError,
    TransactionConflictError,
    TransactionFailedError,
)
from ..fences import Fence, require_fence
from ..moment import Moment
from ..refusals import cancelled, first_refusal, may_retry, refusal
from ..requests import Requests
from ..retry import ATTEMPTS, pause_seconds
from ..settings import Settings
from ..transport import AsyncTransport
from ..wire import Request, Response, WireItem
from ..writes import Write, Writes

Sleep: TypeAlias = Callable[[float], Any]


@dataclass(frozen=True)
class AsyncSender:
    """Sends what a table asks for."""

    transport: AsyncTransport
    settings: Settings
    clock: Clock
    sleep: Sleep = asyncio.sleep
    fence: Fence | None = None
    """What has to stand for anything to be written: then each write is a transaction, in which that is checked."""

    @property
    def requests(self) -> Requests:
        """The requests of the table."""
        return Requests(self.settings)

    @property
    def writes(self) -> Writes:
        """The writes of the table."""
        return Writes(self.settings)

    def moment(self) -> Moment:
        """Now, for one write."""
        return Moment(self.clock(), secrets.token_hex(6))

    def under(self, fence: Fence | None) -> AsyncSender:
        """The same, but it writes only while the fence stands; raises RequestError for a foreign one."""
        if fence is None:
            return self
        require_fence(fence, self.settings.table, self.settings.scope)
        return replace(self, fence=fence)

    async def send(self, request: Request, *, entity: str | None = None, key: WireItem | None = None) -> Response:
        """The response; a StorageError says which entity and key it is about."""
        try:
            return await self.transport.send(request)
        except StorageError as error:
            error.entity = error.entity or entity
            error.key = error.key or key
            raise

    async def write(self, writes: Sequence[Write]) -> Response:
        """All of `writes` or none, in one request; raises the error that the refused write means."""
        if len(writes) > 1 or self.fence:
            try:
                return await self.transact(writes)
            except TransactionFailedError as error:
                raise first_refusal(writes, error, self.settings, self.clock()) from error
        (write,) = writes
        try:
            return await self._alone(write)
        except ConditionFailedError as error:
            raise refusal(write, error.item, error, self.settings, self.clock()) from error

    async def transact(self, writes: Sequence[Write]) -> Response:
        """All of `writes` or none; conflicts with other transactions are tried again, a failed condition is not.

        A lost answer is asked for again: the token makes DynamoDB apply a transaction once, for ten minutes.  Raises
        LeaseLostError where the fence does not stand."""
        fence = [self.writes.fence(self.fence, self.moment())] if self.fence else []
        request = self.requests.transact_write([*writes, *fence], str(uuid.uuid4()))
        attempt = 0
        while True:
            try:
                return await self.send(request)
            except TransactionFailedError as error:
                attempt += 1
                if attempt == ATTEMPTS or not may_retry(error):
                    raise cancelled(error, writes, fence, self.settings, self.clock()) from error.__cause__
            except OutcomeUnknownError:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
            await self.sleep(pause_seconds(attempt))

    async def _alone(self, write: Write) -> Response:
        attempt = 0
        while True:
            try:
                return await self.send(write.request(), entity=write.spec.name, key=write.key)
            except TransactionConflictError:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
            except ConditionFailedError as error:
                # A driver that sent the write twice tells of the second time: the first one was applied.
                if not write.made(error.item):
                    raise
                return {"Attributes": error.item}
            except OutcomeUnknownError as error:
                item = await self._settled(write, error)
                if write.made(item) or (write.verb == "Delete" and item is None):
                    return {"Attributes": item}
                raise
            await self.sleep(pause_seconds(attempt))

    async def _settled(self, write: Write, unknown: OutcomeUnknownError) -> WireItem | None:
        """What is stored after a write whose answer was lost; raises `unknown` if that cannot be read either."""
        request = self.requests.get(write.key, consistent=True)
        try:
            response = await self.send(request, entity=write.spec.name, key=write.key)
        except StorageError as error:
            raise unknown from error
        return response.get("Item")
