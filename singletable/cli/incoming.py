"""What an import reads: lines, each of which becomes an entity, and transcripts, which become threads."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, TypeAlias

from singletable.entity import Entity
from singletable.errors import RequestError, SingleTableError
from singletable.schemas import Thread
from singletable.store.mastra_rows import from_mastra
from singletable.store.records import RecordError, parsed_object
from singletable.store.stamps import MILLISECOND, milliseconds

from .transcripts import TranscriptError, conversations, from_openai

BOM = b"\xef\xbb\xbf"
LONGEST = 8 * 1024 * 1024
"""Bytes of a line: an item has 400 KB, each of which may be six where JSON escapes it, and more where that is text."""

Reader: TypeAlias = Callable[[bytes], Entity]


class ImportingError(RequestError):
    """A file, or a line of it, cannot be imported; the message says which line, and nothing of what is in it."""


@dataclass
class Lines:
    """The entities of a file, and the lines that they were."""

    name: str
    source: BinaryIO
    read: Reader
    skip_bad: bool
    tell: Callable[[str], None]
    """Gets what is said of a line that is left out."""
    on_bytes: Callable[[int], None]
    """Gets the bytes of each line."""
    left_out: int = 0
    numbers: dict[int, int] = field(default_factory=dict[int, int])
    """By the identity of an entity that is not stored yet, the number of its line."""

    def entities(self) -> Iterator[Entity]:
        """The entities, one after the other; raises ImportingError for a bad line, unless these are left out."""
        for number, line in self._lines():
            if len(line) <= LONGEST and not line.strip():
                continue
            try:
                if len(line) > LONGEST:
                    raise RecordError("the line is longer than any item")
                entity = self.read(line)
            except RequestError as error:
                self._bad(number, error)
                continue
            self.numbers[id(entity)] = number
            yield entity

    def refused(self, entity: Entity, error: SingleTableError) -> None:
        """The store refused an entity: its line is a bad one."""
        self._bad(self.numbers[id(entity)], error)

    def _bad(self, number: int, error: SingleTableError) -> None:
        problem = f"{self.name}, line {number}: {error}"
        if not self.skip_bad:
            raise ImportingError(problem) from error
        self.left_out += 1
        self.tell(f"{problem}; left out")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers; of one that is too long, only the beginning."""
        number = 0
        while line := self.source.readline(LONGEST + 1):
            number += 1
            rest = line
            self.on_bytes(len(rest))
            while len(rest) > LONGEST and not rest.endswith(b"\n"):
                rest = self.source.readline(LONGEST + 1)
                self.on_bytes(len(rest))
            yield number, line.removeprefix(BOM) if number == 1 else line


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """The file, or stdin for `-`; raises ImportingError where it cannot be read."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb")
    except OSError as error:
        raise ImportingError(f"the file cannot be read ({error.strerror}); name a file of JSON Lines") from error
    with file:
        yield file


def row_of(table: str | None) -> Reader:
    """What reads a line as a row of a table of Mastra's; `table` is for rows that do not say theirs."""
    return lambda line: from_mastra(parsed_object(line), table)


def transcript_entities(
    name: str, source: BinaryIO, thread_id: str, resource_id: str, now: datetime
) -> Iterator[Entity]:
    """The threads of a transcript with their messages, a millisecond apart, from `now` on; all of it is in memory.

    The first conversation is the thread `thread_id`, others are `thread_id-2` and so on; messages are numbered, so
    that doing it again finds those that are there."""
    content = _as_lines(name, source.read())
    for number, chats in enumerate(conversations(name, content), 1):
        thread = thread_id if number == 1 else f"{thread_id}-{number}"
        times = [milliseconds(now) + position * MILLISECOND for position in range(len(chats))]
        yield Thread(id=thread, resource_id=resource_id, created_at=times[0], updated_at=times[-1])
        for position, (chat, time) in enumerate(zip(chats, times, strict=True), 1):
            own = {"id": f"{thread}-{position:03}", "thread_id": thread, "resource_id": resource_id}
            yield from_openai(chat, **own, created_at=time)


def _as_lines(name: str, content: bytes) -> bytes:
    """The content; a JSON list of messages as the line of a conversation."""
    content = content.removeprefix(BOM)
    if not content.lstrip().startswith(b"["):
        return content
    try:
        return json.dumps({"messages": json.loads(content)}).encode()
    except (ValueError, RecursionError):
        raise TranscriptError(f"{name}: this is neither JSON Lines nor a JSON list of messages") from None
