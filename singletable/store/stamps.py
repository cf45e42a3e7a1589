"""The times and orders that the store assigns."""

from __future__ import annotations

import secrets
import threading
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from ..entity import Entity
from ..errors import InvalidValueError
from ..values import Order

E = TypeVar("E", bound=Entity)
MILLISECOND = timedelta(milliseconds=1)


def milliseconds(time: datetime) -> datetime:
    """A time as it comes back from the table: in UTC, cut to milliseconds; raises InvalidValueError without a zone."""
    if time.tzinfo is None:
        raise InvalidValueError("a naive datetime cannot be stored; give it a time zone, for example datetime.now(UTC)")
    time = time.astimezone(UTC)
    return time.replace(microsecond=time.microsecond // 1000 * 1000)


def after(now: datetime, *earlier: datetime) -> datetime:
    """Now, or one millisecond after the latest of `earlier` where the clock of this machine is behind it."""
    try:
        return max([milliseconds(now), *(time + MILLISECOND for time in earlier)])
    except OverflowError:
        raise InvalidValueError("what is stored is dated at the end of time: nothing comes after it") from None


def stamped(entity: E, **assigned: datetime) -> E:
    """A copy with the times that were given, as they will be stored, and the assigned ones for those that were not."""
    given = {name: milliseconds(getattr(entity, name)) for name in assigned if name in entity.model_fields_set}
    return entity.model_copy(update={**assigned, **given})


class Orders:
    """Makes texts that sort in the order in which they were made; one per store, safe between threads.

    An order is the microseconds since 1970, the position in the call and a random tail for other processes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def next(self, now: datetime, count: int) -> list[Order]:
        """`count` ascending orders, each above every one before."""
        with self._lock:
            self._last = max(int(now.timestamp() * 1_000_000), self._last + 1)
            moment = self._last
        return [f"{moment:017}-{position:04}-{secrets.token_hex(3)}" for position in range(count)]
