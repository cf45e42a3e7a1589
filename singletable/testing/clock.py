"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

START: Final = datetime(2026, 1, 1, tzinfo=UTC)


class Clock:
    """A time that stands still until it is moved, to pass as `clock=` to tables and stores.

    Tables and stores that share one see the same time, so an item expires when you say so.
    """

    def __init__(self, now: datetime = START) -> None:
        if now.tzinfo is None:
            raise ValueError("now= has no time zone; pass for example datetime(2026, 1, 1, tzinfo=UTC)")
        self._now = now

    def __call__(self) -> datetime:
        """The time."""
        return self._now

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0, milliseconds: float = 0
    ) -> datetime:
        """Move on by this much, or back where it is negative, and say what time it is then."""
        self._now += timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
        return self._now
