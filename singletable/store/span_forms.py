"""The light forms of spans, what is stored beside a span so that lists find it, and the answer to a poll.  Pure."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Generic, TypeVar, cast

import orjson
from pydantic import BaseModel

from singletable.schemas.trace import Span, Status, status_of

from ..values import Edit, JsonObject, Keep

T = TypeVar("T")
SHARDS: Final = "0123"
"""Each list is spread over as many partitions, each of which takes 1,000 write units a second."""
ANCHORS: Final = frozenset(
    {
        "agent_run",
        "workflow_run",
        "processor_run",
        "scorer_run",
        "rag_ingestion",
        "tool_call",
        "mcp_tool_call",
        "mcp_server_request",
        "provider_tool_call",
    }
)
"""The types of spans at which branches begin."""
ROOT, ANCHOR, BOTH = "root", "anchor", "root_anchor"
TRACES: Final = (ROOT, BOTH)
BRANCHES: Final = (BOTH, ANCHOR)
PREVIEW_CHARACTERS = 100


class LightSpan(BaseModel):
    """What a tree of spans shows: no input, output, attributes or metadata."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str
    span_type: str
    is_event: bool = False
    started_at: datetime
    ended_at: datetime | None = None
    error: JsonObject | None = None
    entity_type: str | None = None
    entity_id: str | None = None
    entity_name: str | None = None
    created_at: datetime
    updated_at: datetime

    @property
    def status(self) -> Status:
        """An error, where there is one; otherwise running until it has ended."""
        return status_of(self.error, self.ended_at)


class LightTrace(LightSpan):
    """What a list of traces shows of a root span."""

    scope: JsonObject | None = None
    metadata: JsonObject | None = None
    input_preview: str | None = None
    """What the user asked, cut to 100 characters."""


@dataclass(frozen=True)
class Delta(Generic[T]):
    """What was stored since the last poll, oldest first."""

    items: list[T]
    cursor: str
    """For the next poll, whether anything was found or not."""
    has_more: bool = False
    """Whether more was stored than was asked for: poll again at once."""


def placed(span: Span, arrival: str | None) -> Span:
    """A span with what the lists need of it; one that is in no list has no arrival."""
    listing = listing_of(span)
    fields = {
        "listing": listing,
        "shard": listing and shard_of(span.trace_id),
        "arrival": listing and arrival,
        "input_preview": preview(span.input),
    }
    return span.model_copy(update=fields)


def listing_of(span: Span) -> str | None:
    """Which lists a span is in: as a root of a trace, as the anchor of a branch, as both, or None."""
    if span.parent_span_id is None:
        return BOTH if span.span_type in ANCHORS else ROOT
    return ANCHOR if span.span_type in ANCHORS else None


def shard_of(trace_id: str) -> str:
    """The shard of a trace, the same on every machine and for ever."""
    # What UTF-8 cannot hold is refused where the key is made.
    return SHARDS[zlib.crc32(trace_id.encode("utf-8", "surrogatepass")) % len(SHARDS)]


def previewed(updates: Span.Patch) -> Span.Patch:
    """A patch that keeps the preview of an input in step with the input."""
    given = updates.input
    if isinstance(given, Keep):
        return replace(updates, input_preview=given)
    return replace(updates, input_preview=None if isinstance(given, Edit) else preview(given))


def preview(given: object) -> str | None:
    """The texts of the user in the messages of an input, or else the input itself, in 100 characters."""
    if given is None:
        return None
    texts = list(_user_texts(given))
    text = " | ".join(texts) if texts else _text(given)
    return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"


def _user_texts(given: object) -> Iterator[str]:
    for message in _items(_entry(given, "messages") or given):
        if _entry(message, "role") == "user":
            yield from _texts(_entry(message, "content"))


def _texts(content: object) -> Iterator[str]:
    """The texts of a content: itself, or those of its parts."""
    if isinstance(content, str):
        yield content
        return
    for part in _items(_entry(content, "parts") or content):
        text = _entry(part, "text")
        if isinstance(text, str):
            yield text


def _items(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list | tuple) else ()


def _entry(value: object, name: str) -> object:
    return cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None


def _text(given: object) -> str:
    if isinstance(given, str):
        return given
    try:
        return orjson.dumps(given).decode()
    except TypeError:  # what JSON cannot hold is refused, with its path, where the span is stored
        return ""
