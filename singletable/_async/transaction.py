"""Several writes or none: collected first, sent when the block ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypeVar

from ..declare import Changes, Lookup, PrimaryKey
from ..entity import Entity
from ..errors import RequestError
from ..writes import ExpiryMode, PutExpiry, Write
from .sender import AsyncSender

E = TypeVar("E", bound=Entity)


@dataclass
class AsyncTransaction:
    """Up to 100 writes, with the pointers of lookups among them, that happen together or not at all.

    Nothing is sent before the end of the block; a block that is left by an exception sends nothing.  Raises
    TransactionFailedError with a reason for each member, and LeaseLostError where a fence does not stand.  Costs two
    write units per KB and item."""

    sender: AsyncSender
    writes: list[Write] = field(default_factory=list[Write])

    def create(self, entity: Entity) -> None:
        """Store an entity where none is."""
        self.writes += self.sender.writes.create(entity, self.sender.moment())

    def put(
        self,
        entity: E,
        *,
        old: E | None = None,
        where: Callable[[E], bool] | None = None,
        or_absent: bool = False,
        expiry: PutExpiry = "refresh",
    ) -> None:
        """Store an entity over what is there; `old` is what it replaces under another key or with other lookups.

        With `where`, an item must be there for which it holds; with `or_absent`, none may be there as well."""
        moment = self.sender.moment()
        self.writes += self.sender.writes.put(entity, moment, old=old, where=where, or_absent=or_absent, expiry=expiry)

    def update(
        self,
        key: PrimaryKey[E],
        patch: Changes[E],
        *,
        where: Callable[[E], bool] | None = None,
        if_version: str | None = None,
        expiry: ExpiryMode = "keep",
    ) -> None:
        """Change an entity that is there, and of the version `if_version` where one is given."""
        moment = self.sender.moment()
        update = self.sender.writes.update(key, patch, moment, where=where, if_version=if_version, expiry=expiry)
        self.writes.append(update)

    def delete(
        self,
        key: PrimaryKey[E],
        *lookups: Lookup[E],
        where: Callable[[E], bool] | None = None,
        if_version: str | None = None,
    ) -> None:
        """Delete an entity and its pointers; raises RequestError unless each of its lookups is given."""
        wanted = set(key.declared_for.spec.lookups)
        if wanted != {type(lookup).__name__ for lookup in lookups}:
            raise RequestError(
                f"{key.declared_for.spec.name} has lookups: give {', '.join(sorted(wanted))}, or use Table.delete"
            )
        moment = self.sender.moment()
        self.writes += self.sender.writes.delete(key, moment, lookups=lookups, where=where, if_version=if_version)

    def check(self, key: PrimaryKey[E], where: Callable[[E], bool]) -> None:
        """Require that an entity is there and that `where` holds."""
        self.writes.append(self.sender.writes.check(key, self.sender.moment(), where=where))

    def check_absent(self, key: PrimaryKey[E]) -> None:
        """Require that no entity is there."""
        self.writes.append(self.sender.writes.check(key, self.sender.moment(), where=None))

    async def __aenter__(self) -> AsyncTransaction:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Under a fence also where there is nothing to write: who lost it must not believe that it had something to say.
        if kind is None and (self.writes or self.sender.fence):
            await self.sender.transact(self.writes)
