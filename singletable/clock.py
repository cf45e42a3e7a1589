"""The time, which everything that needs it takes as an argument."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Gives the time, with a time zone."""
Stopwatch: TypeAlias = Callable[[], float]
"""Gives seconds since some moment, which never go back, whatever becomes of the clock."""
stopwatch: Stopwatch = monotonic
"""The seconds that have passed on this machine."""


def utc_now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)
