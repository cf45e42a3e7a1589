"""Which spans a list shows.  Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import Enum, auto
from typing import Final, Literal, TypeAlias, cast

from singletable.schemas import Span
from singletable.schemas.trace import Status

from ..conditions import contains, exists, missing
from ..errors import RequestError
from ..values import JsonObject, Range
from .periods import ALWAYS, Period, period_of

Test: TypeAlias = Callable[[Span], bool]


class Anything(Enum):
    """The type of ANY: an enum of one member, so that checkers can narrow it away."""

    ANY = auto()


ANY: Final = Anything.ANY
"""A filter that is not asked for.  None is refused: an owner that somebody forgot is not everybody."""
Text: TypeAlias = str | Literal[Anything.ANY]


@dataclass(frozen=True, kw_only=True)
class SpanFilters:
    """What the spans of a list have in common: all that is given must hold of the root, or of the anchor, itself.

    `started_at`, `resource_id` and `trace_id` say where to read.  DynamoDB checks the others on what it has read, and
    bills that; `scope`, `metadata` and `has_child_error` are checked here, after that.  Raises RequestError for what
    nothing can be equal to, None and blank texts among it."""

    started_at: Range[datetime] | Literal[Anything.ANY] = ANY
    ended_at: Range[datetime] | Literal[Anything.ANY] = ANY
    """Leaves out what is still running."""
    trace_id: Text = ANY
    span_type: Text = ANY
    entity_type: Text = ANY
    entity_id: Text = ANY
    entity_name: Text = ANY
    entity_version_id: Text = ANY
    parent_entity_type: Text = ANY
    parent_entity_id: Text = ANY
    parent_entity_name: Text = ANY
    parent_entity_version_id: Text = ANY
    root_entity_type: Text = ANY
    root_entity_id: Text = ANY
    root_entity_name: Text = ANY
    root_entity_version_id: Text = ANY
    user_id: Text = ANY
    organization_id: Text = ANY
    resource_id: Text = ANY
    run_id: Text = ANY
    session_id: Text = ANY
    thread_id: Text = ANY
    request_id: Text = ANY
    experiment_id: Text = ANY
    environment: Text = ANY
    service_name: Text = ANY
    source: Text = ANY
    status: Status | Literal[Anything.ANY] = ANY
    tags: Sequence[str] | Literal[Anything.ANY] = ANY
    """All of them, and perhaps others."""
    scope: JsonObject | Literal[Anything.ANY] = ANY
    """Equal under each key that is given; other keys do not matter.  So it is with `metadata`."""
    metadata: JsonObject | Literal[Anything.ANY] = ANY
    has_child_error: bool | Literal[Anything.ANY] = ANY
    """Whether any span of the trace has an error, the root too; the spans of each trace in question are read."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not ANY and not _CHECKS.get(field.name, _is_text)(value):
                raise RequestError(f"filters: {field.name} must be {_wanted(field.name)}; leave it out for any")
        self.started()
        self._ended()

    def started(self) -> Period:
        """When the spans may have started."""
        return ALWAYS if self.started_at is ANY else period_of("started_at", self.started_at)

    def tests(self, known: Collection[str]) -> Iterator[Test]:
        """The conditions that DynamoDB can check, without those on `known` fields, which a key answers for."""
        for name in _TEXTS:
            if name not in known and (value := getattr(self, name)) is not ANY:
                yield _equals(name, value)
        for tag in () if self.tags is ANY else self.tags:
            yield _tagged(tag)
        if self.status is not ANY:
            yield from _STATUS_TESTS[self.status]
        yield from _within("ended_at", self._ended())
        if "started_at" not in known:
            yield from _within("started_at", self.started())

    @property
    def is_for_dynamodb(self) -> bool:
        """Whether the conditions of `tests` are all that there are."""
        return self.scope is ANY and self.metadata is ANY and self.has_child_error is ANY

    def hold(self, scope: JsonObject | None, metadata: JsonObject | None) -> bool:
        """Whether the filters hold that DynamoDB cannot check, because it keeps JSON as text."""
        return _includes(scope, self.scope) and _includes(metadata, self.metadata)

    def _ended(self) -> Period:
        return ALWAYS if self.ended_at is ANY else period_of("ended_at", self.ended_at)


def given(filters: object) -> SpanFilters:
    """The filters of a call, none of which is a filter; raises RequestError for what are none."""
    if filters is None:
        return SpanFilters()
    if not isinstance(filters, SpanFilters):
        raise RequestError(f"filters are SpanFilters, not a {type(filters).__name__}")
    return filters


def given_for_branches(filters: object) -> SpanFilters:
    """The same for branches, which are asked nothing about the rest of their trace."""
    asked = given(filters)
    if asked.has_child_error is not ANY:
        raise RequestError("filters: has_child_error is about traces; for branches filter by status")
    return asked


def same_json(one: object, other: object) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, but not True."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        left, right = cast("Mapping[str, object]", one), cast("Mapping[str, object]", other)
        return left.keys() == right.keys() and all(same_json(left[name], right[name]) for name in left)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        items, others = cast("Sequence[object]", one), cast("Sequence[object]", other)
        return len(items) == len(others) and all(map(same_json, items, others))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _includes(stored: JsonObject | None, wanted: JsonObject | Literal[Anything.ANY]) -> bool:
    if wanted is ANY:
        return True
    held = stored or {}
    return all(name in held and same_json(held[name], value) for name, value in wanted.items())


def _equals(name: str, value: object) -> Test:
    return lambda span: getattr(span, name) == value


def _tagged(tag: str) -> Test:
    return lambda span: contains(span.tags, tag)


def _within(name: str, period: Period) -> Iterator[Test]:
    first, last = period
    if first is not None:
        yield lambda span: getattr(span, name) >= first
    if last is not None:
        yield lambda span: getattr(span, name) <= last


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, cast("Sequence[object]", value)))


def _wanted(name: str) -> str:
    return _WANTED.get(name, "a text that is not blank")


_SPECIAL: Final = {"started_at", "ended_at", "status", "tags", "scope", "metadata", "has_child_error"}
_TEXTS: Final = tuple(name for name in SpanFilters.__dataclass_fields__ if name not in _SPECIAL)
_STATUS_TESTS: Final[Mapping[Status, Sequence[Test]]] = {
    "error": (lambda span: exists(span.error),),
    "running": (lambda span: missing(span.error), lambda span: missing(span.ended_at)),
    "success": (lambda span: missing(span.error), lambda span: exists(span.ended_at)),
}
_CHECKS: Final[Mapping[str, Callable[[object], bool]]] = {
    "started_at": lambda value: isinstance(value, Range),
    "ended_at": lambda value: isinstance(value, Range),
    "status": lambda value: isinstance(value, str) and value in _STATUS_TESTS,
    "tags": _are_texts,
    "scope": lambda value: isinstance(value, Mapping),
    "metadata": lambda value: isinstance(value, Mapping),
    "has_child_error": lambda value: isinstance(value, bool),
}
_WANTED: Final[Mapping[str, str]] = {
    "started_at": "a range, for example gte(time)",
    "ended_at": "a range, for example gte(time)",
    "status": '"success", "error" or "running"',
    "tags": "a list of texts that are not blank",
    "scope": "a mapping",
    "metadata": "a mapping",
    "has_child_error": "True or False",
}
