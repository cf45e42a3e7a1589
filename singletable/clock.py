"""The time, which everything that needs it takes as an argument."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

Clock: TypeAlias = Callable[[], datetime]
"""Gives the time, with a time zone."""


def utc_now() -> datetime:
    """The time of this machine."""
    return datetime.now(UTC)
