"""Key templates: how the fields of an entity become the text of `pk`, `sk` and the index keys, and back.  Pure.

A key is `TAG#part#part`.  Every character of a part below `&` becomes `%XX`; so `#` ends a part, sorts before every
character of a part, and no two tuples of parts give the same text.  The order of the texts is the order of the tuples.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cache
from typing import Any, cast
from uuid import UUID

from .errors import IncompleteKeyError, InvalidKeyError, InvalidValueError
from .values import Range

PARTITION_BYTES = 2048
SORT_BYTES = 1024
"""DynamoDB's limits for the values of partition and sort keys."""
INTEGER_DIGITS = 38
"""As many as a number of DynamoDB has."""
END = "#"
BEYOND = "$"
"""Sorts after `#` and before every character of a part, `%` included: a text with it closes the range of a part."""
LONGEST_CHARACTER = 4
"""The bytes of a character in UTF-8, at most."""
HIGHEST = ("", "\x7f", "\u07ff", "\uffff", "\U0010ffff")
"""The greatest text of 0 to 4 bytes."""
ESCAPED = re.compile("[\x00-\x25]")


@dataclass(frozen=True)
class KeyPart:
    """One field inside a key."""

    name: str
    kind: type


@dataclass(frozen=True)
class Interval:
    """The key texts from `low` to `high`, both included."""

    low: str
    high: str

    def __contains__(self, text: str) -> bool:
        return self.low <= text <= self.high


@dataclass(frozen=True)
class KeyTemplate:
    """One half of a key, for example `message#{created_at}#{order}`."""

    attribute: str
    prefix: str
    parts: tuple[KeyPart, ...]
    limit_bytes: int

    def __str__(self) -> str:
        return self.prefix + END + END.join(f"{{{part.name}}}" for part in self.parts)

    def missing(self, values: Mapping[str, object]) -> list[str]:
        """The parts that `values` does not give."""
        return [part.name for part in self.parts if values.get(part.name) is None]

    def render(self, values: Mapping[str, object], scope: str = "") -> str:
        """The whole key, behind the text of a scope; raises IncompleteKeyError where a part is missing."""
        missing = self.missing(values)
        if missing:
            raise IncompleteKeyError(f"{self.attribute} ({self}) needs {', '.join(missing)}")
        return self._checked(scope + self._stem(self.parts, values))

    def interval(self, values: Mapping[str, object]) -> Interval:
        """The keys that fit the leading parts of `values`, the last of which may be a Range."""
        given = self._leading(values)
        exact = given[:-1] if given and isinstance(values[given[-1].name], Range) else given
        stem = self._stem(exact, values)
        if len(exact) == len(self.parts):
            return Interval(self._checked(stem), stem)
        if exact:
            stem += END
        if exact == given:
            return Interval(self._checked(stem), stem[:-1] + BEYOND)
        part = given[-1]
        return self._ranged(stem, part, cast("Range[object]", values[part.name]), last=part is self.parts[-1])

    def parse(self, text: str) -> dict[str, object]:
        """The fields of a key that `render` made."""
        tag, end, rest = text.partition(END)
        texts = rest.split(END) if self.parts else []
        try:
            values = {part.name: decode_part(part, escaped) for part, escaped in zip(self.parts, texts, strict=True)}
        except ValueError:
            values = None
        if values is None or tag + end != self.prefix + END or (rest and not self.parts):
            raise InvalidKeyError(f"{self.attribute}: a stored key does not have the form {self}")
        return values

    def _leading(self, values: Mapping[str, object]) -> tuple[KeyPart, ...]:
        given = [part for part in self.parts if values.get(part.name) is not None]
        for position, part in enumerate(given):
            before = self.parts[position]
            if part is not before:
                raise IncompleteKeyError(f"{self.attribute} ({self}): {part.name} is given, but not {before.name}")
            if isinstance(values[part.name], Range) and part is not given[-1]:
                raise IncompleteKeyError(f"{self.attribute} ({self}): {part.name} is a range, so it must be the last")
        return tuple(given)

    def _stem(self, parts: Sequence[KeyPart], values: Mapping[str, object]) -> str:
        return self.prefix + END + END.join(encode_part(part, values[part.name]) for part in parts)

    def _ranged(self, stem: str, part: KeyPart, value: Range[object], *, last: bool) -> Interval:
        # A time finer than a millisecond lies between two that are stored.
        up = value.operator in ("gte", "lt", "between")
        low = self._checked(stem + encode_part(part, _whole_milliseconds(value.low) if up else value.low))
        floor, ceiling = stem, stem[:-1] + BEYOND
        match value.operator:
            case "gt":
                return Interval(min(_after(low), ceiling), ceiling)
            case "gte":
                return Interval(low, ceiling)
            case "lt":
                return Interval(floor, _below(low) if last else low)
            case "lte":
                return Interval(floor, _closed(low))
            case "starting":
                return Interval(low, _greatest(low))
            case "between":
                high = self._checked(stem + encode_part(part, value.high))
                if stem + encode_part(part, value.low) > high:
                    raise InvalidKeyError(f"{part.name}: between() has its bounds the wrong way round")
                # No time that is stored lies between two that are closer than a millisecond.
                return Interval(low, _closed(high)) if low <= high else Interval(ceiling, ceiling)

    def _checked(self, text: str) -> str:
        if len(text) * LONGEST_CHARACTER <= self.limit_bytes:
            return text
        size = len(text.encode())
        if size > self.limit_bytes:
            names = ", ".join(part.name for part in self.parts)
            raise InvalidKeyError(
                f"{self.attribute} ({names}): the key has {size:,} bytes, DynamoDB allows {self.limit_bytes:,}"
            )
        return text


def _below(text: str) -> str:
    """The greatest key below `text`, because BETWEEN includes its ends."""
    before = ord(text[-1]) - 1
    return _greatest(text[:-1] + chr(0xD7FF if 0xD800 <= before <= 0xDFFF else before))


def _greatest(stem: str) -> str:
    """The greatest key that starts with `stem`."""
    left = SORT_BYTES - len(stem.encode())
    return stem + HIGHEST[-1] * (left // 4) + HIGHEST[left % 4]


def _closed(text: str) -> str:
    """The end of the range of all keys whose part is the last one of `text`."""
    return text + BEYOND if len(text.encode()) < SORT_BYTES else text


def _after(text: str) -> str:
    """The start of the range of all keys whose part is greater than the last one of `text`."""
    if len(text.encode()) < SORT_BYTES:
        return text + BEYOND
    # No key continues one of the greatest length: the next one differs in a character before its end.
    while text[-1] == HIGHEST[-1] or len((following := text[:-1] + _next(text[-1])).encode()) > SORT_BYTES:
        text = text[:-1]
    return following


def _next(character: str) -> str:
    after = ord(character) + 1
    return chr(0xE000 if 0xD800 <= after <= 0xDFFF else after)


def _whole_milliseconds(value: object) -> object:
    """A time rounded up to the milliseconds in which times are stored."""
    if not isinstance(value, datetime) or value.microsecond % 1000 == 0:
        return value
    return value + timedelta(microseconds=1000 - value.microsecond % 1000)


def time_text(value: datetime) -> str:
    """A time as it is stored: UTC, milliseconds (finer is cut off), fixed width, so that text order is time order."""
    try:
        utc = value if value.tzinfo is UTC else value.astimezone(UTC)
        return utc.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    except OverflowError:
        raise InvalidValueError("a time in UTC lies outside the years 1 to 9999") from None


def encode_part(part: KeyPart, value: object) -> str:
    """The text of one part; raises InvalidKeyError naming the field."""
    if type(value) is not part.kind and not _fits(part.kind, value):
        raise InvalidKeyError(f"{part.name} must be {part.kind.__name__}, not {type(value).__name__}")
    if isinstance(value, Enum):
        value = value.value
    return ESCAPED.sub(_escape, _TEXT[_base(part.kind)](part.name, value))


def decode_part(part: KeyPart, text: str) -> object:
    """The value of one part, from its text."""
    plain = re.sub("%([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), text)
    value = _VALUE[_base(part.kind)](plain)
    return part.kind(value) if issubclass(part.kind, Enum) else value


def part_kinds() -> str:
    """The types that a key part may have, for messages."""
    return ", ".join(kind.__name__ for kind in _TEXT) + ", or an Enum or Literal of str or int"


def is_part_kind(kind: type) -> bool:
    """Whether a key part may have this type."""
    return _base(kind) in _TEXT


def _fits(kind: type, value: object) -> bool:
    """Whether a value is of a kind; a bool is no int here, and a datetime no date, because their texts differ."""
    if (kind is int and isinstance(value, bool)) or (kind is date and isinstance(value, datetime)):
        return False
    return isinstance(value, kind)


@cache
def _base(kind: type[Any]) -> type[Any]:
    if not issubclass(kind, Enum):
        return kind
    kinds: set[type[Any]] = {type(cast(object, member.value)) for member in kind}
    return kinds.pop() if len(kinds) == 1 else kind


def _escape(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def _str_text(name: str, value: str) -> str:
    if not value.strip():
        raise InvalidKeyError(f"{name} is blank; give a text with at least one visible character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidKeyError(f"{name} holds a lone surrogate, which UTF-8 cannot hold") from None
    return value


def _int_text(name: str, value: int) -> str:
    if abs(value) >= 10**INTEGER_DIGITS:
        raise InvalidKeyError(f"{name} has more than {INTEGER_DIGITS} digits")
    return f"-{10**INTEGER_DIGITS + value:0{INTEGER_DIGITS}}" if value < 0 else f"0{value:0{INTEGER_DIGITS}}"


def _int_value(text: str) -> int:
    return int(text[1:]) - (10**INTEGER_DIGITS if text[0] == "-" else 0)


def _time_text(name: str, value: datetime) -> str:
    if value.tzinfo is None:
        raise InvalidKeyError(f"{name} is a naive datetime; give it a time zone, for example datetime.now(UTC)")
    try:
        return time_text(value)
    except InvalidValueError as error:
        raise InvalidKeyError(f"{name}: {error}") from None


_TEXT: dict[type, Callable[[str, Any], str]] = {
    str: _str_text,
    int: _int_text,
    bool: lambda _, value: "true" if value else "false",
    datetime: _time_text,
    date: lambda _, value: value.isoformat(),
    UUID: lambda _, value: str(value),
}
_VALUE: dict[type, Callable[[str], object]] = {
    str: str,
    int: _int_value,
    bool: lambda text: text == "true",
    datetime: datetime.fromisoformat,
    date: date.fromisoformat,
    UUID: UUID,
}
