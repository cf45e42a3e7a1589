"""Numbers as DynamoDB keeps them: decimal, 38 digits, in plain notation.  Pure."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from ._refusal import Refusal

MAX_DIGITS = 38
_SHAPE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)
_LARGEST = 125
_SMALLEST = -130
_EXACT = Context(prec=600)
"""Wide enough to add the largest and the smallest number without rounding, so that 38 digits are checked, not cut."""


def normalise_number(text: str) -> str:
    """`text` as DynamoDB gives it back: `1.0` is `1`, `1E+2` is `100`; refused beyond 38 digits or out of range."""
    if not _SHAPE.fullmatch(text):
        raise Refusal("The parameter cannot be converted to a numeric value")
    return _plain(Decimal(text))


def add_numbers(left: str, right: str, *, sign: int = 1) -> str:
    """`left + right`, or `left - right` where `sign` is -1."""
    return _plain(_EXACT.add(Decimal(left), Decimal(right) * sign))


def significant_digits(text: str) -> int:
    """How many digits of `text` take up space: leading and trailing zeros do not."""
    return len(text.lstrip("-").replace(".", "").strip("0")) or 1


def _plain(number: Decimal) -> str:
    if number.is_zero():
        return "0"
    if number.adjusted() > _LARGEST:
        raise Refusal("Number overflow. Attempting to store a number with magnitude larger than supported range")
    if number.adjusted() < _SMALLEST:
        raise Refusal("Number underflow. Attempting to store a number with magnitude smaller than supported range")
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    if significant_digits(plain) > MAX_DIGITS:
        raise Refusal("Attempting to store more than 38 significant digits in a Number")
    return plain
