"""Leases: of all who work at the same thing, one at a time."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from singletable.schemas import Lease

from ...clock import Stopwatch, stopwatch
from ...concurrency import RepeatingInTask, repeating_in_task
from ...errors import ConditionFailedError, LeaseHeldError, LeaseLostError, SingleTableError, StorageError
from ...fences import require_fence
from ...retry import Draw, draw, pause_seconds
from ..contention import CHANGES
from ..held_lease import HeldLease
from ..lease_watch import LeaseWatch
from ..seconds import require_ttl, require_wait
from ..stamps import milliseconds
from .domain import AsyncDomain
from .filtering import require_text

RENEWALS = 3
"""So many times a lease is renewed before it would end: two renewals may fail."""


@dataclass(frozen=True)
class AsyncLeases(AsyncDomain):
    """Names that one holder at a time has."""

    stopwatch: Stopwatch = stopwatch
    draw: Draw = draw
    repeating: RepeatingInTask = repeating_in_task

    @asynccontextmanager
    async def acquire(self, name: str, ttl: float, *, wait: float = 0) -> AsyncGenerator[HeldLease]:
        """A block in which nobody else has the lease: it is renewed beside the block and given back at its end.

        It lasts `ttl` seconds from the last renewal on.  A holder who pauses for longer may lose it; pass it as
        `fence=` to what is written under it, and nothing is written from then on: LeaseLostError.  `wait` is for how
        many seconds others are waited for, at most; then LeaseHeldError.  Who waits reads, at random times that grow to
        two seconds apart, and there is no queue.  A holder that died is replaced five seconds after the end of its
        lease, by the clock of this machine, or after its whole length in which it was seen not to be renewed.

        One request to acquire it, one to give it back, two units in all, and one for each third of `ttl`."""
        require_text("name", name)
        require_ttl(ttl)
        require_wait(wait)
        lease = await self._acquired(name, ttl, wait)
        try:
            async with self.repeating(partial(self._is_kept, lease), ttl / RENEWALS):
                yield lease
        except BaseException:
            with suppress(StorageError):  # what went wrong in the block says more, and the lease ends by itself
                await self._give_back(lease)
            raise
        await self._give_back(lease)

    async def renew(self, lease: HeldLease) -> None:
        """Let a lease last its `ttl` from now on; raises LeaseLostError if it is not held any more.

        `acquire` does that by itself.  By hand it is for the moment before something that no fence protects."""
        require_fence(lease, self.table.name, self.table.scope)
        ends_at = milliseconds(self.clock()) + timedelta(seconds=lease.ttl_seconds)
        try:
            await self._change(lease, Lease.Patch(ends_at=ends_at))
        except ConditionFailedError as error:
            lease.lost.set()
            raise LeaseLostError(
                "the lease was released, or somebody else has it by now",
                current=error.current,
                operation=error.operation,
                table=error.table,
                entity=error.entity,
                key=error.key,
                request_id=error.request_id,
            ) from error

    async def _is_kept(self, lease: HeldLease) -> bool:
        """Whether a lease is to be renewed again: not once it is lost, but also after a renewal that failed."""
        with suppress(SingleTableError):
            await self.renew(lease)
        return not lease.is_lost

    async def _give_back(self, lease: HeldLease) -> None:
        """Let others have a lease; it may have been lost, and then they have it already."""
        with suppress(ConditionFailedError):
            await self._change(lease, Lease.Patch(holder=None))

    async def _change(self, lease: HeldLease, patch: Lease.Patch) -> None:
        await self.table.update(
            Lease.Key(name=lease.name),
            patch,
            where=lambda row: (row.holder == lease.holds["holder"]) & (row.token == lease.token),
            expiry="refresh",
        )

    async def _acquired(self, name: str, ttl: float, wait: float) -> HeldLease:
        """The lease, once it is free: each try is one write, made only where it may succeed."""
        watch, deadline, attempt = LeaseWatch(), self.stopwatch() + wait, 0
        while True:
            try:
                return await self._take(name, ttl, watch)
            except ConditionFailedError as error:
                attempt += 1
                if attempt == CHANGES:
                    raise
                watch.see(error.current if isinstance(error.current, Lease) else None, self.stopwatch())
            await self._freed(name, watch, deadline)

    async def _take(self, name: str, ttl: float, watch: LeaseWatch) -> HeldLease:
        now, seconds = milliseconds(self.clock()), self.stopwatch()
        token, holder = watch.next_token(now), secrets.token_hex(16)
        row = Lease(name=name, token=token, holder=holder, ttl_seconds=ttl, ends_at=now + timedelta(seconds=ttl))
        tx = self.table.transaction()
        tx.put(row, where=watch.may_take(token, now, seconds), or_absent=True)
        await tx.sender.write(tx.writes)
        return HeldLease(
            table=self.table.name,
            scope=self.table.scope,
            key=Lease.Key(name=name),
            holds={"holder": holder, "token": token},
            name=name,
            token=token,
            ttl_seconds=ttl,
        )

    async def _freed(self, name: str, watch: LeaseWatch, deadline: float) -> None:
        """Wait until a lease may be taken; raises LeaseHeldError at the deadline."""
        attempt = 0
        while not watch.is_free(self.clock(), self.stopwatch()):
            left = deadline - self.stopwatch()
            if left <= 0:
                raise LeaseHeldError(
                    "somebody else has the lease: wait for longer, or do without",
                    current=watch.seen,
                    operation="PutItem",
                    table=self.table.name,
                    entity=Lease.spec.name,
                )
            attempt += 1
            await self.table.sleep(min(left, pause_seconds(attempt, self.draw)))
            watch.see(await self.table.get(Lease.Key(name=name)), self.stopwatch())
