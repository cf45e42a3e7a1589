"""Calls of tools and their results, in the formats that messages come in, and windows that part none.  Pure.

Known are OpenAI's `tool_calls` and `tool_call_id`, in the content or in the metadata of a message; the blocks of
Anthropic (`tool_use`, `tool_result`), of Bedrock and Strands (`toolUse`, `toolResult`) and of the AI SDK (`tool-call`,
`tool-result`); and the parts `tool-invocation` of Mastra's messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from singletable.schemas import Message

DEPTH = 5
"""How deep blocks lie at most: in the content, in a message in it, in the list of that, in a block."""
HOLDERS = ("message", "content", "parts")
"""Under which names the objects of the formats hold others."""


@dataclass(frozen=True)
class Tools:
    """What a message says of calls, by their ids."""

    calls: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()
    """Results that say nothing without the message of their call."""
    whole: frozenset[str] = frozenset()
    """Results that hold their call as well, as Mastra's do; the call may stand in an earlier message all the same."""


class Window(NamedTuple):
    """The newest messages of those that were read."""

    size: int
    """How many they are."""
    is_open: bool
    """Whether a result among them has its call before all that was read, if anywhere."""


def tools_of(message: Message) -> Tools:
    """The calls and results of a message."""
    found: dict[str, set[str]] = {"calls": set(), "results": set(), "whole": set()}
    for block in (*_blocks(message.metadata, 1), *_blocks(message.content, DEPTH)):
        for kind, value in _ids(block):
            if isinstance(value, str) and value:
                found[kind].add(value)
    return Tools(frozenset(found["calls"]), frozenset(found["results"]), frozenset(found["whole"]))


def window_of(newest_first: Sequence[Message], least: int) -> Window:
    """The newest `least` messages and as many before them as it takes to begin before or after each pair."""
    tools = [tools_of(message) for message in newest_first]
    oldest = {call: position for position, one in enumerate(tools) for call in one.calls}
    wanted: set[str] = set()
    needed: set[str] = set()
    size = 0
    for position, one in enumerate(tools):
        wanted |= one.results | one.whole
        wanted -= one.calls
        needed = (needed | one.results) - one.calls
        size = position + 1
        if size >= least and all(oldest.get(call, position) <= position for call in wanted):
            break
    return Window(size, any(call not in oldest for call in needed))


def _ids(block: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """What one block says of calls: the kind, and the id."""
    calls = block.get("tool_calls")
    if isinstance(calls, Sequence):
        for call in cast("Sequence[object]", calls):
            yield "calls", _inside(call, "id")
    yield "results", block.get("tool_call_id")
    yield "calls", _inside(block.get("toolUse"), "toolUseId")
    yield "results", _inside(block.get("toolResult"), "toolUseId")
    match block.get("type"):
        case "tool_use":
            yield "calls", block.get("id")
        case "tool_result":
            yield "results", block.get("tool_use_id")
        case "tool-call":
            yield "calls", block.get("toolCallId")
        case "tool-result":
            yield "results", block.get("toolCallId")
        case "tool-invocation":
            invocation = block.get("toolInvocation")
            kind = "whole" if _inside(invocation, "state") == "result" else "calls"
            yield kind, _inside(invocation, "toolCallId")
        case _:
            pass


def _blocks(value: object, depth: int) -> Iterator[Mapping[str, Any]]:
    """The objects in which calls and results may stand."""
    if depth and isinstance(value, Mapping):
        block = cast("Mapping[str, Any]", value)
        yield block
        for name in HOLDERS:
            yield from _blocks(block.get(name), depth - 1)
    elif depth and isinstance(value, Sequence) and not isinstance(value, str):
        for inner in cast("Sequence[object]", value):
            yield from _blocks(inner, depth - 1)


def _inside(value: object, name: str) -> object:
    return cast("Mapping[str, object]", value).get(name) if isinstance(value, Mapping) else None
