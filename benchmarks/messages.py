"""The chat message that every candidate stores: 19 fields, 23 attributes and about 1 KB as an item."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel

THREAD = "thread-0b54f2c1"
TABLE = "benchmark"
_START = datetime(2026, 5, 8, 9, 30, tzinfo=UTC)
_TEXT = "Oslo is mild in May: 5 to 16 degrees, long evenings, and the first boats to the islands of the fjord, now.  "


class Part(BaseModel):
    """A piece of a message."""

    kind: Literal["text", "citation"]
    text: str


class Usage(BaseModel):
    """What a message cost."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int


class Fields(BaseModel):
    """The fields of a message, for the class of each candidate."""

    thread_id: str
    created_at: datetime
    id: str
    resource_id: str
    parent_id: str
    role: Literal["user", "assistant", "system", "tool"]
    kind: str
    parts: list[Part]
    metadata: dict[str, str]
    tags: list[str]
    usage: Usage
    model: str
    language: str
    updated_at: datetime
    finished: bool
    edited: bool
    milliseconds: int
    revision: int
    finish_reason: str


class ChatMessage(Fields):
    """A message as an application without a mapper has it."""


def chat_messages(count: int) -> list[ChatMessage]:
    """Messages of one thread, in order."""
    return [_chat_message(position) for position in range(count)]


def _chat_message(position: int) -> ChatMessage:
    time = _START + timedelta(seconds=30 * position)
    return ChatMessage(
        thread_id=THREAD,
        created_at=time,
        id=f"message-{position:08d}",
        resource_id="user-7f9a2e",
        parent_id=f"message-{max(position - 1, 0):08d}",
        role="assistant",
        kind="chat",
        parts=[Part(kind="text", text=_TEXT * 4), Part(kind="citation", text="guide to the city, page 12")],
        metadata={"client": "web", "channel": "support", "experiment": "b", "trace": f"{position:016x}"},
        tags=["travel", "norway", "spring"],
        usage=Usage(input_tokens=1200 + position, output_tokens=90, cached_tokens=1024),
        model="assistant-large-2026-04",
        language="en",
        updated_at=time + timedelta(milliseconds=1250),
        finished=True,
        edited=False,
        milliseconds=1250 + position,
        revision=1,
        finish_reason="stop",
    )
