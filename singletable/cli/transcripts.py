"""Transcripts in OpenAI's chat format, as JSON Lines, to messages of the store and back.  Pure.

A line is one chat message, `{"role": "user", "content": "hello"}`, or a whole conversation, `{"messages": [...]}`, as
files for fine-tuning have it.  Lines of messages that follow each other are one conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias, cast

from singletable.codec import encode_json
from singletable.errors import InvalidValueError, RequestError
from singletable.schemas import Message
from singletable.values import JsonObject

Role: TypeAlias = Literal["user", "assistant", "system", "tool"]
ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "tool": "tool",
    "developer": "system",
    "function": "tool",
}
"""Every role of the chat format, and the role under which the store keeps its messages."""


class TranscriptError(RequestError):
    """A transcript cannot be read; the message names file and line, and holds nothing of the content."""


def conversations(name: str, content: bytes) -> list[list[JsonObject]]:
    """The conversations of a file; raises TranscriptError where a line is not of the chat format."""
    found: list[list[JsonObject]] = []
    for is_message, run in groupby(_parsed_lines(name, content), key=lambda line: "messages" not in line[1]):
        if is_message:
            found.append([_checked(where, chat) for where, chat in run])
        else:
            found += [_messages_of(where, line) for where, line in run]
    if not found:
        raise TranscriptError(f"{name}: there are no messages in it; one JSON object per line is expected")
    return found


def turns(messages: Sequence[Message]) -> list[list[Message]]:
    """Messages cut before each one of the user: a turn is what they said and all that followed from it."""
    found: list[list[Message]] = []
    for message in messages:
        if not found or message.role == "user":
            found.append([])
        found[-1].append(message)
    return found


def from_openai(chat: JsonObject, **fields: Any) -> Message:
    """The message of a chat message; `fields` are those that the chat format lacks, such as `thread_id`.

    Plain text becomes the content as it is; of anything else the content is the whole object without its role, and
    with it where the store calls the role something else."""
    role = cast("str", chat["role"])
    text = chat.get("content")
    if isinstance(text, str) and len(chat) == 2 and role == ROLES[role]:
        return Message(role=ROLES[role], content=text, **fields)
    content = {name: value for name, value in chat.items() if name != "role" or role != ROLES[role]}
    return Message(role=ROLES[role], type=_type(chat), content=content, **fields)


def to_openai(message: Message) -> JsonObject:
    """The chat message that `from_openai` was given."""
    if isinstance(message.content, str):
        return {"role": message.role, "content": message.content}
    if isinstance(message.content, Mapping):
        return {"role": message.role, **message.content}
    return {"role": message.role, "content": message.content}


def _type(chat: JsonObject) -> str:
    if chat.get("tool_calls") or chat.get("function_call"):
        return "tool-call"
    return "tool-result" if ROLES[cast("str", chat["role"])] == "tool" else "text"


def _parsed_lines(name: str, content: bytes) -> Iterator[tuple[str, JsonObject]]:
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            where = f"{name}, line {number}"
            yield where, _parsed(where, line)


def _parsed(where: str, line: bytes) -> JsonObject:
    try:
        value: object = json.loads(line.decode())
    except (ValueError, RecursionError):
        raise TranscriptError(f"{where}: this is not JSON in UTF-8; one JSON object per line is expected") from None
    return _object(where, value)


def _messages_of(where: str, line: JsonObject) -> list[JsonObject]:
    messages = line["messages"]
    if not isinstance(messages, list) or not messages:
        raise TranscriptError(f"{where}: messages must be a list of at least one chat message")
    return [_checked(where, _object(where, chat)) for chat in cast("list[object]", messages)]


def _object(where: str, value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise TranscriptError(f"{where}: a chat message must be a JSON object with a role")
    return cast("JsonObject", value)


def _checked(where: str, chat: JsonObject) -> JsonObject:
    role = chat.get("role")
    if not isinstance(role, str) or role not in ROLES:
        raise TranscriptError(f"{where}: role must be one of {', '.join(ROLES)}")
    if not isinstance(chat.get("content"), str | list | None):
        raise TranscriptError(f"{where}: content must be text, a list of parts, or null")
    try:
        encode_json(chat, "message")
    except (InvalidValueError, RecursionError):
        raise TranscriptError(f"{where}: it holds a number or a text that cannot be stored as JSON") from None
    return chat
