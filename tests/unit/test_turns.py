"""Calls and results of tools are found in the formats that messages come in, and windows part none."""

from __future__ import annotations

from itertools import product

import pytest

from singletable.schemas import Message
from singletable.store.turns import Tools, tools_of, window_of


def message(content="", *, role="assistant", **fields):
    return Message(id="m", thread_id="t", role=role, content=content, **fields)


def openai_call(*ids):
    return {
        "tool_calls": [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
    }


def invocation(one, state):
    return {"type": "tool-invocation", "toolInvocation": {"toolCallId": one, "toolName": "f", "state": state}}


FORMATS = {
    "openai-content": (message({"role": "assistant", "content": None, **openai_call("1", "2")}), "12", "", ""),
    "openai-metadata": (message("text", metadata=openai_call("1")), "1", "", ""),
    "openai-result": (message({"role": "tool", "content": "42", "tool_call_id": "1"}, role="tool"), "", "1", ""),
    "openai-result-metadata": (message("42", role="tool", metadata={"tool_call_id": "1"}), "", "1", ""),
    "anthropic-call": (message([{"type": "text"}, {"type": "tool_use", "id": "1", "input": {}}]), "1", "", ""),
    "anthropic-result": (message([{"type": "tool_result", "tool_use_id": "1"}], role="user"), "", "1", ""),
    "anthropic-whole": (message({"role": "user", "content": [{"type": "tool_use", "id": "1"}]}), "1", "", ""),
    "strands-call": (message([{"text": "x"}, {"toolUse": {"toolUseId": "1", "name": "f"}}]), "1", "", ""),
    "strands-result": (message([{"toolResult": {"toolUseId": "1", "content": [{"text": "42"}]}}]), "", "1", ""),
    "strands-session": (message({"message": {"content": [{"toolUse": {"toolUseId": "1"}}]}}), "1", "", ""),
    "ai-sdk-call": (message([{"type": "tool-call", "toolCallId": "1"}]), "1", "", ""),
    "ai-sdk-result": (message([{"type": "tool-result", "toolCallId": "1"}], role="tool"), "", "1", ""),
    "mastra-call": (message({"format": 2, "parts": [invocation("1", "call")]}), "1", "", ""),
    "mastra-partial-call": (message({"format": 2, "parts": [invocation("1", "partial-call")]}), "1", "", ""),
    "mastra-result": (message({"format": 2, "parts": [invocation("1", "result")]}), "", "", "1"),
    "both": (message([{"type": "tool_use", "id": "1"}, {"type": "tool_result", "tool_use_id": "2"}]), "1", "2", ""),
    "text": (message("tool_call_id: 1"), "", "", ""),
    "nothing": (message([]), "", "", ""),
}


@pytest.mark.parametrize(("one", "calls", "results", "whole"), FORMATS.values(), ids=FORMATS)
def test_the_formats(one, calls, results, whole):
    assert tools_of(one) == Tools(frozenset(calls), frozenset(results), frozenset(whole))


def nested(depth):
    value = {"type": "tool_use", "id": "1"}
    for _ in range(depth):
        value = {"content": [value]}
    return value


@pytest.mark.parametrize(
    "content",
    [
        {"tool_calls": None},
        {"tool_calls": "abc"},
        {"tool_calls": [None, 5, {"id": 5}, {"id": ""}, {}]},
        {"tool_call_id": 5},
        {"toolUse": "x", "toolResult": [1]},
        {"type": ["tool_use"], "id": "1"},
        {"type": "tool_use"},
        {"type": "tool-invocation", "toolInvocation": None},
        {"parts": {"a": {"type": "tool_use", "id": "1"}}},
        nested(100),
    ],
    ids=lambda content: repr(content)[:40],
)
def test_what_only_looks_like_a_call_is_none(content):
    assert tools_of(message(content)) == Tools()


# Windows: letters are calls, digits of the same place their results, uppercase holds both; "-" is neither.


def conversation(text):
    """Messages, newest first, of a text that is read from the oldest to the newest."""
    made = []
    for one in text:
        if one == "-":
            made.append(message("text"))
        elif one in "abc":
            made.append(message([{"type": "tool_use", "id": one}]))
        elif one in "ABC":
            made.append(message({"parts": [invocation(one.lower(), "result")]}))
        else:
            made.append(message([{"type": "tool_result", "tool_use_id": "abc"[int(one)]}], role="user"))
    return made[::-1]


WINDOWS = [
    ("----", 2, 2, False),
    ("-a0-", 1, 1, False),
    ("-a0-", 2, 3, False),
    ("-a0-", 3, 3, False),
    ("-a0", 1, 2, False),
    ("ab01", 1, 4, False),
    ("ab10", 1, 4, False),
    ("ba01", 1, 4, False),
    ("a-b-0-1", 1, 7, False),
    ("a0b1c2", 1, 2, False),
    ("a0b1c2", 3, 4, False),
    ("a0a0a0", 1, 2, False),
    ("a0a0a0", 3, 4, False),
    ("0-", 1, 1, False),
    ("0-", 2, 2, True),
    ("-0", 1, 1, True),
    ("b-01-", 2, 5, True),
    ("aA", 1, 2, False),
    ("-A", 1, 1, False),
    ("A", 1, 1, False),
    ("---", 9, 3, False),
    ("", 1, 0, False),
]


@pytest.mark.parametrize(("text", "least", "size", "is_open"), WINDOWS)
def test_a_window_begins_beside_a_pair(text, least, size, is_open):
    assert window_of(conversation(text), least) == (size, is_open)


@pytest.mark.parametrize("least", range(1, 6))
def test_no_window_parts_a_pair_and_none_is_longer_than_it_must_be(least):
    """Against the definition: of all sizes from `least` on, the smallest at which no pair is parted."""
    for letters in product("a0b1-", repeat=5):
        text = "".join(letters)
        expected = next(size for size in range(least, 6) if size == 5 or not parts(text, 5 - size))
        assert window_of(conversation(text), least).size == expected, text


def parts(text, start):
    """Whether a result from `start` on has its call only before that."""
    for position in range(start, len(text)):
        if text[position].isdigit():
            call = "ab"[int(text[position])]
            if call in text[:start] and call not in text[start:position]:
                return True
    return False
