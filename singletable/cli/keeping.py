"""Where an export goes: to stdout, or into a file that a later run can go on with."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

from singletable.entity import Entity
from singletable.errors import RequestError
from singletable.page import Page
from singletable.store.records import to_line

PRIVATE = 0o600
"""What people said to an agent is nobody else's on this machine."""


class KeepingError(RequestError):
    """A file cannot be written, or gone on with."""


@dataclass
class Kept:
    """What an export has written, and where it goes on."""

    cursor: str | None = None
    counts: Counter[str] = field(default_factory=Counter[str])

    @property
    def is_begun(self) -> bool:
        """Whether there is anything to go on with."""
        return self.cursor is not None or self.total > 0

    @property
    def total(self) -> int:
        """How many lines that are."""
        return self.counts.total()

    def add(self, page: Page[Entity]) -> bytes:
        """The lines of a page, which are counted."""
        self.counts.update(entity.spec.name for entity in page.items)
        self.cursor = page.cursor
        return b"".join(map(to_line, page.items))


@dataclass
class Keeper:
    """Writes the pages of an export."""

    kept: Kept
    file: BinaryIO
    note: Path | None = None
    """Beside the file: how much of it is whole, and the cursor after that."""

    def write(self, page: Page[Entity]) -> None:
        """Write a page; once it is on the disk, the note says so."""
        self.file.write(self.kept.add(page))
        self.file.flush()
        if self.note is None:
            return
        os.fsync(self.file.fileno())
        if page.cursor is None:
            self.note.unlink()
        else:
            _take_down(self.note, self.kept, self.file.tell())


@contextmanager
def keeper(path: Path | None, *, resume: bool) -> Generator[Keeper]:
    """What writes to a file, or to stdout without one; raises KeepingError for a file that is there already.

    With `resume` it goes on where the note beside the file says, and cuts off what was written after that.  Where
    nothing comes of it, no file is left."""
    if path is None:
        yield Keeper(Kept(), sys.stdout.buffer)
        return
    note = path.with_name(path.name + ".progress")
    try:
        kept, size = _begun(path, note, resume=resume)
        with _opened(path) as file:
            _cut(file, size)
            try:
                yield Keeper(kept, file, note)
            except BaseException:
                if not kept.is_begun:  # as where there is no such thread
                    path.unlink()
                    note.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise KeepingError(
            f"the file cannot be written ({error.strerror}): see that its folder is there, and has room"
        ) from error


def _begun(path: Path, note: Path, *, resume: bool) -> tuple[Kept, int]:
    """What was written before, and how many bytes that is; nothing where there is no file."""
    if not path.exists():
        # Before the file, so that no file of an export that was begun is without its note.
        _take_down(note, Kept(), 0)
        return Kept(), 0
    if not note.exists():
        raise KeepingError("the file is there already, and is complete, or none of an export: name another one")
    if not resume:
        raise KeepingError("the file is there already: go on with --resume, or name another one")
    return _read(note)


def _take_down(note: Path, kept: Kept, size: int) -> None:
    # In one step, so that whoever is killed leaves the one note or the other.
    new = note.with_name(note.name + ".new")
    with _opened(new) as file:
        file.truncate()
        file.write(json.dumps({"cursor": kept.cursor, "bytes": size, "counts": kept.counts}).encode())
    new.replace(note)


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE), "r+b")


def _read(note: Path) -> tuple[Kept, int]:
    try:
        state = cast("dict[str, Any]", json.loads(note.read_bytes()))
        return Kept(state["cursor"], Counter(cast("dict[str, int]", state["counts"]))), int(state["bytes"])
    except (ValueError, TypeError, KeyError):
        raise KeepingError("the note beside the file is damaged: remove both, and begin anew") from None


def _cut(file: BinaryIO, size: int) -> None:
    if file.seek(0, os.SEEK_END) < size:
        raise KeepingError("the file is shorter than the note beside it says: remove both, and begin anew")
    file.truncate(size)
    file.seek(size)


def summary(counts: Mapping[str, int]) -> str:
    """Counts on one line."""
    return ", ".join(f"{count:,} {entity}" for entity, count in sorted(counts.items()) if count) or "nothing"
