"""An entity stored whole, over what has its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..._async.table import AsyncTable
from ...declare import PrimaryKey
from ...entity import Entity
from ...errors import ConditionFailedError
from ..contention import CHANGES, change_pause_seconds

E = TypeVar("E", bound=Entity)


async def replaced(table: AsyncTable, key: PrimaryKey[E], renew: Callable[[E | None], E], *, stamp: str) -> E:
    """What `renew` makes of the stored entity, stored in its place; of None, where nothing has the key.

    `stamp` is a field by which a change in between is seen: then it is done again, with what is stored now.  One
    request where nothing is stored, two otherwise."""
    current: E | None = None
    attempt = 0
    while True:
        entity = renew(current)
        try:
            return await _write(table, entity, current, stamp)
        except ConditionFailedError as error:
            attempt += 1
            if attempt == CHANGES:
                raise
            # Not every DynamoDB says what stands in the way, and what did may be gone.
            current = error.current if isinstance(error.current, type(entity)) else await table.get(key)
        if attempt > 1:  # once is no contention: something is stored
            await table.sleep(change_pause_seconds(attempt))


async def _write(table: AsyncTable, entity: E, current: E | None, stamp: str) -> E:
    if current is None:
        return await table.create(entity)
    seen = getattr(current, stamp)
    return await table.put(entity, where=lambda stored: getattr(stored, stamp) == seen)
