"""What a model may ask of a large value."""

from __future__ import annotations

import asyncio
import json

import pytest

from singletable import AsyncDynamoDBStore, DynamoDBStore, NotFoundError, RequestError
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from singletable.tools import excerpt, read_blob, read_blob_async

TEXT = "\n".join(f"line {number}" for number in range(1, 21)).encode()
DOCUMENT = json.dumps({"a": [{"b/c": 1}, {"~": "é"}], "": {"n": None}}).encode()


def test_a_short_value_comes_whole():
    assert excerpt(b"one\ntwo") == "one\ntwo"


def test_a_long_value_is_cut_and_says_so():
    assert excerpt(b"x" * 50, most_characters=10) == "x" * 10 + "\n… cut after 10 of 50 characters: ask for less"


def test_some_lines():
    assert excerpt(TEXT, lines=(3, 4)) == "3| line 3\n4| line 4"
    assert excerpt(TEXT, lines=(20, 99)) == "20| line 20"
    assert excerpt(TEXT, lines=(99, 100)) == ""


def test_what_is_found_is_marked_and_groups_are_apart():
    assert excerpt(TEXT, find="line 1", context=0, lines=(1, 10)) == "> 1| line 1\n---\n> 10| line 10"
    assert excerpt(TEXT, find="line 7", context=1) == "  6| line 6\n> 7| line 7\n  8| line 8"
    assert excerpt(TEXT, find="line 20", context=1) == "  19| line 19\n> 20| line 20"


def test_a_text_is_no_pattern():
    assert excerpt(b"a.c\nabc", find="a.c", context=0) == "> 1| a.c"
    assert excerpt(b"abc", find="(a+)+$") == "no line has '(a+)+$'"


@pytest.mark.parametrize(
    ("pointer", "part"),
    [("", json.loads(DOCUMENT)), ("/a/0/b~1c", 1), ("/a/1/~0", "é"), ("/", {"n": None}), ("//n", None)],
)
def test_a_part_of_a_document(pointer, part):
    assert json.loads(excerpt(DOCUMENT, pointer=pointer)) == part


def test_lines_and_texts_of_a_part_of_a_document():
    assert excerpt(DOCUMENT, pointer="/a/1", find="é", context=0) == '> 2|  "~": "é"'


@pytest.mark.parametrize(
    "wrong",
    [
        {"lines": (0, 1)},
        {"lines": (3, 2)},
        {"find": ""},
        {"context": -1},
        {"most_characters": 0},
        {"pointer": "a"},
        {"pointer": "/b"},
        {"pointer": "/a/2"},
        {"pointer": "/a/x"},
        {"pointer": "/a/-1"},
        {"pointer": "/a/0/b~1c/d"},
    ],
    ids=repr,
)
def test_a_part_that_cannot_be_is_refused(wrong):
    with pytest.raises(RequestError):
        excerpt(DOCUMENT, **wrong)


def test_a_pointer_into_what_is_no_document_is_refused():
    with pytest.raises(RequestError, match="no JSON"):
        excerpt(TEXT, pointer="/a")


def test_bytes_that_are_no_text_do_no_harm():
    assert excerpt(b"\xff\xfe") == "\ufffd\ufffd"


def test_of_a_store_sync_and_async():
    database = MemoryDatabase()
    blobs = DynamoDBStore("t", transport=MemoryTransport(database)).blobs
    later = AsyncDynamoDBStore("t", transport=AsyncMemoryTransport(database)).blobs
    blobs.write("k", TEXT * 50_000)
    assert read_blob(blobs, "k", lines=(1, 1)) == "1| line 1"
    assert asyncio.run(read_blob_async(later, "k", lines=(1, 1))) == "1| line 1"
    with pytest.raises(NotFoundError):
        read_blob(blobs, "none")
    with pytest.raises(NotFoundError):
        asyncio.run(read_blob_async(later, "none"))
