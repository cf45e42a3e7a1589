# Generated from ../_async/parts.py by scripts/generate_sync.py; edit that file.
"""Messages in groups, each of which one transaction holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from singletable.schemas import Message

from ..._sync.table import Table
from ...requests import TRANSACTION_BYTES

OVERHEAD_BYTES = 16 * 1024
"""What conditions and other keys add to the size of a message in a transaction, at most: keys of 2 KB."""


def in_parts(table: Table, messages: Iterable[Message], most: int) -> Iterator[list[Message]]:
    """The messages, in order, in groups of up to `most`, and of no more bytes than a transaction takes."""
    part: list[Message] = []
    bytes_left = TRANSACTION_BYTES
    for message in messages:
        size = table.size_bytes(message) + OVERHEAD_BYTES
        if part and (size > bytes_left or len(part) == most):
            yield part
            part, bytes_left = [], TRANSACTION_BYTES
        part.append(message)
        bytes_left -= size
    if part:
        yield part
