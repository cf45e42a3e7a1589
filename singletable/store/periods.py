"""Ranges of times as what they hold: from a first to a last millisecond.  Pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, TypeAlias

from ..errors import RequestError
from ..values import Range, between, gte, lte
from .stamps import MILLISECOND, milliseconds

Period: TypeAlias = tuple[datetime | None, datetime | None]
"""The first and the last millisecond, both included; None where there is no bound."""
ALWAYS: Final[Period] = (None, None)


def period_of(name: str, times: Range[Any]) -> Period:
    """The milliseconds in a range; raises RequestError for a range that is none of times."""
    if not isinstance(times.low, datetime) or not isinstance(times.high, datetime | None):
        raise RequestError(f"{name}: a range of times is needed, for example gte(time)")
    try:
        return _period(name, times)
    except OverflowError:
        raise RequestError(f"{name}: the range ends outside the years 1 to 9999") from None


def later(one: datetime | None, other: datetime | None) -> datetime | None:
    """The later of two bounds, either of which may be missing."""
    return max(one, other) if one and other else one or other


def earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """The earlier of two bounds, either of which may be missing."""
    return min(one, other) if one and other else one or other


def is_empty(period: Period) -> bool:
    """Whether nothing can lie in a period."""
    first, last = period
    return first is not None and last is not None and first > last


def range_of(period: Period) -> Range[datetime] | None:
    """A period that is not empty as the range of a key part; None where it has no bounds."""
    first, last = period
    if first and last:
        return between(first, last)
    if first:
        return gte(first)
    return lte(last) if last else None


def _ceiling(time: datetime) -> datetime:
    """The first whole millisecond that is not before a time."""
    cut = milliseconds(time)
    return cut if cut == time else cut + MILLISECOND


def _period(name: str, times: Range[datetime]) -> Period:
    cut = milliseconds(times.low)
    match times.operator:
        case "gt":
            return cut + MILLISECOND, None
        case "gte":
            return _ceiling(times.low), None
        case "lt":
            return None, _ceiling(times.low) - MILLISECOND
        case "lte":
            return None, cut
        case "between" if times.high is not None and cut <= milliseconds(times.high) and times.low <= times.high:
            return _ceiling(times.low), milliseconds(times.high)
        case _:
            raise RequestError(f"{name}: the range has its bounds the wrong way round, or is none of times")
