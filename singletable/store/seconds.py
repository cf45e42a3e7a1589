"""Lengths of time that a call is given, in seconds.  Pure."""

from __future__ import annotations

from math import isfinite
from typing import TypeGuard

from ..errors import RequestError
from .entities import LEASE_LIVES

LONGEST_LEASE = LEASE_LIVES / 2
"""A lease is renewed, and its item is kept from there on: it cannot go while somebody has it."""


def require_ttl(seconds: object) -> None:
    """Raise RequestError unless a lease can last for so long."""
    if not _is_length(seconds) or not 0 < seconds <= LONGEST_LEASE:
        raise RequestError(f"ttl is a number of seconds over 0 and up to {LONGEST_LEASE:.0f}: a lease renews itself")


def require_wait(seconds: object) -> None:
    """Raise RequestError unless somebody can wait for so long."""
    if not _is_length(seconds) or seconds < 0:
        raise RequestError("wait is a number of seconds, 0 or more")


def _is_length(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
