"""Transcripts: every chat message comes back as it was, turns begin with the user, bad lines are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.cli.transcripts import ROLES, TranscriptError, conversations, from_openai, to_openai, turns
from singletable.codec import decode_json, encode_json

EXAMPLES = sorted(Path("examples/transcripts").glob("*.jsonl"))
CALL = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
CHATS: list[dict[str, Any]] = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": None, "tool_calls": [CALL, CALL | {"id": "c2"}]},
    {"role": "tool", "content": "12:00", "tool_call_id": "c1"},
    {"role": "user", "content": "hello", "name": "ada"},
    {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    {"role": "assistant", "content": None, "refusal": "No."},
    {"role": "assistant"},
    {"role": "developer", "content": "Be brief."},
    {"role": "function", "name": "now", "content": "12:00"},
]
# What the store can hold: 64-bit integers, finite floats, texts that UTF-8 can hold.
TEXT = st.text(st.characters(codec="utf-8"))
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def chat_messages(draw: st.DrawFn) -> dict[str, Any]:
    extra = draw(st.dictionaries(TEXT.filter(lambda name: name not in {"role", "content", "messages"}), VALUES))
    content = draw(st.none() | TEXT | st.lists(st.dictionaries(TEXT, VALUES, max_size=3), max_size=3))
    chat: dict[str, Any] = {"role": draw(st.sampled_from(sorted(ROLES))), **extra}
    return chat if content is None and draw(st.booleans()) else chat | {"content": content}


def lines(*values: object) -> bytes:
    return "\n".join(json.dumps(value, ensure_ascii=False) for value in values).encode()


@pytest.mark.parametrize("chat", CHATS, ids=lambda chat: "+".join(chat))
def test_a_chat_message_comes_back_as_it_was(chat: dict[str, Any]) -> None:
    assert to_openai(from_openai(chat, thread_id="t")) == chat


@given(chat_messages())
def test_every_chat_message_comes_back_as_it_was(chat: dict[str, Any]) -> None:
    message = from_openai(chat, thread_id="t")
    stored = message.model_copy(update={"content": decode_json(encode_json(message.content, "content"))})
    assert to_openai(stored) == chat
    assert conversations("a.jsonl", lines(chat)) == [[chat]]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples_come_back_as_they_were(file: Path) -> None:
    chats = [json.loads(line) for line in file.read_text().split("\n") if line]
    assert [to_openai(from_openai(chat, thread_id="t")) for chat in chats] == chats
    assert conversations(file.name, file.read_bytes()) == [chats]


def test_plain_text_is_the_content_and_anything_else_the_object() -> None:
    contents = [from_openai(chat, thread_id="t").content for chat in CHATS]
    assert contents[0] == "hello"
    assert contents[3] == {"content": "12:00", "tool_call_id": "c1"}
    assert contents[8] == {"role": "developer", "content": "Be brief."}


@pytest.mark.parametrize(("role", "stored"), [("developer", "system"), ("function", "tool"), ("user", "user")])
def test_roles_that_the_store_lacks_are_kept_under_the_nearest(role: str, stored: str) -> None:
    assert from_openai({"role": role, "content": "x"}, thread_id="t").role == stored


def test_types_tell_calls_and_results_from_text() -> None:
    types = [from_openai(chat, thread_id="t").type for chat in CHATS]
    assert types == ["text", "text", "tool-call", "tool-result", *["text"] * 5, "tool-result"]


def test_content_of_another_origin_becomes_the_content() -> None:
    message = from_openai({"role": "user", "content": ""}, thread_id="t")
    parts = [{"type": "text", "text": "x"}]
    assert to_openai(message.model_copy(update={"content": parts})) == {"role": "user", "content": parts}


def test_a_turn_begins_with_the_user() -> None:
    roles = ["system", "user", "assistant", "tool", "assistant", "user", "user", "assistant"]
    messages = [from_openai({"role": role, "content": "x"}, thread_id="t") for role in roles]
    assert [[message.role for message in turn] for turn in turns(messages)] == [
        ["system"],
        ["user", "assistant", "tool", "assistant"],
        ["user"],
        ["user", "assistant"],
    ]
    assert turns([]) == []


def test_lines_are_one_conversation_and_lists_one_each() -> None:
    hello, bye = CHATS[0], CHATS[1]
    content = lines(hello, bye, {"messages": [bye]}, {"messages": [hello, hello], "tools": []}, bye)
    assert conversations("a.jsonl", content) == [[hello, bye], [bye], [hello, hello], [bye]]


def test_blank_lines_other_line_ends_and_a_byte_order_mark_do_no_harm() -> None:
    content = b"\xef\xbb\xbf\r\n" + lines(CHATS[0]) + b"\r\n\r\n" + lines({"role": "user", "content": "a\u2028b"})
    assert conversations("a.jsonl", content) == [[CHATS[0], {"role": "user", "content": "a\u2028b"}]]


@pytest.mark.parametrize(
    "bad",
    [
        b"SECRET",
        b'{"role": "user", "content": "SECRET"',
        b'"SECRET"',
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b"1" * 5_000,
        b'{"content": "SECRET"}',
        b'{"role": "SECRET", "content": ""}',
        b'{"role": ["SECRET"], "content": ""}',
        b'{"role": "user", "content": 1}',
        b'{"role": "user", "content": "SECRET \\ud800"}',
        b'{"role": "user", "SECRET": NaN}',
        b'{"role": "user", "SECRET": 18446744073709551616}',
        b'{"role": "user", "SECRET": ' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"messages": []}',
        b'{"messages": "SECRET"}',
        b'{"messages": ["SECRET"]}',
    ],
    ids=lambda bad: bad[:24].decode(errors="replace"),
)
def test_a_bad_line_is_named_and_not_shown(bad: bytes) -> None:
    with pytest.raises(TranscriptError, match=r"^a\.jsonl, line 2: ") as caught:
        conversations("a.jsonl", lines(CHATS[0]) + b"\n" + bad)
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("empty", [b"", b"\n \n"])
def test_a_file_without_messages_is_refused(empty: bytes) -> None:
    with pytest.raises(TranscriptError, match=r"^a\.jsonl: there are no messages"):
        conversations("a.jsonl", empty)
