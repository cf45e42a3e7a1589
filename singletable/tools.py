"""What a model may ask of a large value: some of its lines, what surrounds a text, one part of a JSON document.

Plain functions, which frameworks wrap as tools; what they give is short enough for a model, whatever the value is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TypedDict, Unpack, cast

from .errors import NotFoundError, RequestError
from .store import AsyncBlobs, Blobs

MOST_CHARACTERS = 10_000


class Part(TypedDict, total=False):
    """Which part of a value is asked for."""

    lines: tuple[int, int] | None
    """The first and the last line, from 1."""
    find: str | None
    """A text, not a pattern: each line with it."""
    context: int
    """So many lines around each of them."""
    pointer: str | None
    """A JSON pointer (RFC 6901) to a part of a document."""
    most_characters: int
    """Where what is given is cut."""


def read_blob(blobs: Blobs, key: str, **part: Unpack[Part]) -> str:
    """The part of a blob that is asked for, as text, cut at `most_characters`, 10,000 unless it is said otherwise.

    `pointer` comes first, and `lines` bound what `find` looks at; `context` is 2 unless it is said otherwise.  Bytes
    that are no UTF-8 show as U+FFFD.  The whole blob is read.  Raises NotFoundError where there is none, RequestError
    for a part that cannot be."""
    return excerpt(_found(blobs.read(key)), **part)


async def read_blob_async(blobs: AsyncBlobs, key: str, **part: Unpack[Part]) -> str:
    """The same as `read_blob`, of a store to await."""
    return excerpt(_found(await blobs.read(key)), **part)


def excerpt(
    data: bytes,
    *,
    lines: tuple[int, int] | None = None,
    find: str | None = None,
    context: int = 2,
    pointer: str | None = None,
    most_characters: int = MOST_CHARACTERS,
) -> str:
    """The part of some bytes that is asked for, as `read_blob` gives it.  Pure."""
    if context < 0 or most_characters < 1:
        raise RequestError("context is 0 or more, most_characters 1 or more")
    text = data.decode("utf-8", "replace")
    if pointer is not None:
        text = json.dumps(_pointed(text, pointer), ensure_ascii=False, indent=1)
    if lines is None and find is None:
        return _cut(text, most_characters)
    numbered = list(enumerate(text.splitlines(), 1))
    if lines is not None:
        first, last = lines
        if not 1 <= first <= last:
            raise RequestError("lines are a first and a last one, from 1, in this order")
        numbered = numbered[first - 1 : last]
    if find is None:
        return _cut("\n".join(f"{number}| {line}" for number, line in numbered), most_characters)
    if not find:
        raise RequestError("find is a text of at least one character")
    return _cut("\n".join(_around(numbered, find, context)), most_characters)


def _around(numbered: Sequence[tuple[int, str]], find: str, context: int) -> Iterable[str]:
    """The lines with a text, marked, and those around them; `---` where some are left out."""
    hits = {position for position, (_, line) in enumerate(numbered) if find in line}
    if not hits:
        return [f"no line has {find!r}"]
    shown = sorted({near for hit in hits for near in range(hit - context, hit + context + 1)} & {*range(len(numbered))})
    result: list[str] = []
    for before, position in zip([shown[0] - 1, *shown], shown, strict=False):
        if position != before + 1:
            result.append("---")
        number, line = numbered[position]
        result.append(f"{'>' if position in hits else ' '} {number}| {line}")
    return result


def _pointed(text: str, pointer: str) -> object:
    """The part of a JSON document that a pointer names."""
    if pointer and not pointer.startswith("/"):
        raise RequestError("a JSON pointer is empty, or begins with a slash")
    try:
        found: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise RequestError("the value is no JSON document, so a pointer names nothing in it") from error
    for token in pointer.split("/")[1:]:
        found = _member(found, token.replace("~1", "/").replace("~0", "~"))
    return found


def _member(value: object, name: str) -> object:
    match value:
        case dict() if name in value:
            return cast("dict[str, object]", value)[name]
        case list() if name.isdecimal() and int(name) < len(cast("list[object]", value)):
            return cast("list[object]", value)[int(name)]
        case _:
            raise RequestError("the pointer names nothing in the document")


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… cut after {most:,} of {len(text):,} characters: ask for less"


def _found(data: bytes | None) -> bytes:
    if data is None:
        raise NotFoundError("there is no blob with this key", entity="blob")
    return data
