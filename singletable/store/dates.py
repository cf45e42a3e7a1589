"""The times between which messages were created, as a caller gives them.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from ..errors import RequestError
from ..values import Range, gt, gte, lt, lte
from .periods import ALWAYS, Period, period_of
from .stamps import milliseconds


@dataclass(frozen=True, kw_only=True)
class DateRange:
    """From `start` to `end`, each included unless it is exclusive; None is no bound.

    A time may be ISO 8601 text with its zone."""

    start: datetime | str | None = None
    end: datetime | str | None = None
    start_exclusive: bool = False
    end_exclusive: bool = False


Times: TypeAlias = Range[datetime] | Range[str] | DateRange
"""A range of times: `gte("2026-11-30T22:00:00Z")`, `between(…)`, or a DateRange with any bounds."""


def period_of_times(name: str, times: Times | None) -> Period:
    """The milliseconds in a range; raises RequestError for a range of anything else, and for times without zone."""
    if times is None:
        return ALWAYS
    _require_range(name, times)
    try:
        return _from_dates(name, times) if isinstance(times, DateRange) else _from_range(name, times)
    except OverflowError:
        raise RequestError(f"{name}: the range ends outside the years 1 to 9999") from None


def _require_range(name: str, times: object) -> None:
    if not isinstance(times, Range | DateRange):
        raise RequestError(f"{name}: a range of times is needed, for example gte(time) or DateRange(start=time)")


def _from_dates(name: str, dates: DateRange) -> Period:
    first = last = None
    if dates.start is not None:
        start = _time(name, dates.start)
        first = period_of(name, gt(start) if dates.start_exclusive else gte(start))[0]
    if dates.end is not None:
        end = _time(name, dates.end)
        last = period_of(name, lt(end) if dates.end_exclusive else lte(end))[1]
        if dates.start is not None and _time(name, dates.start) > end:
            raise RequestError(f"{name}: the start of the range is after its end")
    return first, last


def _from_range(name: str, times: Range[Any]) -> Period:
    low = _time(name, times.low)
    high = None if times.high is None else _time(name, times.high)
    if high is not None and low > high:
        raise RequestError(f"{name}: between() has its bounds the wrong way round")
    return period_of(name, Range(times.operator, low, high))


def _time(name: str, value: object) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise RequestError(f"{name}: a time in text is ISO 8601 with its zone: 2026-11-30T22:00:00.000Z") from None
    if not isinstance(value, datetime):
        raise RequestError(f"{name}: a range of times is needed, not of a {type(value).__name__}")
    milliseconds(value)  # refuses one without a time zone
    return value
