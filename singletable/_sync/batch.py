# Generated from ../_async/batch.py by scripts/generate_sync.py; edit that file.
"""Batches driven to their end: what DynamoDB leaves unprocessed is sent again, with growing pauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from ..concurrency import gather_in_threads
from ..errors import StorageError, ThrottledError
from ..requests import BATCH_GET_KEYS, BATCH_WRITE_ITEMS
from ..retry import ATTEMPTS, pause_seconds
from ..wire import WireItem
from .sender import Sender

Member = Mapping[str, Any]
T = TypeVar("T")


@dataclass
class Unwritten:
    """What of a batch was not written, in no order, and the error that stood in the way."""

    members: list[Member] = field(default_factory=list[Member])
    error: StorageError | None = None


def batch_get(sender: Sender, keys: Sequence[WireItem], *, consistent: bool) -> list[WireItem]:
    """The items of `keys` that exist, in no order; 100 keys a request, several requests at once."""
    calls = [partial(_get, sender, part, consistent=consistent) for part in _cut(keys, BATCH_GET_KEYS)]
    return [item for items in gather_in_threads(calls) for item in items]


def batch_write(sender: Sender, members: Sequence[Member], *, ordered: bool) -> Unwritten:
    """Put and delete without conditions, 25 members a request; several requests at once, unless `ordered`.

    Nothing more is sent once something could not be written."""
    left = Unwritten()
    calls = [partial(_write, sender, part, left) for part in _cut(members, BATCH_WRITE_ITEMS)]
    if not ordered:
        gather_in_threads(calls)
        return left
    for call in calls:
        call()
    return left


def _cut(members: Sequence[T], count: int) -> list[Sequence[T]]:
    return [members[start : start + count] for start in range(0, len(members), count)]


def _get(sender: Sender, keys: Sequence[WireItem], *, consistent: bool) -> list[WireItem]:
    table = sender.settings.table
    items: list[WireItem] = []
    attempt = 0
    while True:
        response = sender.send(sender.requests.batch_get(keys, consistent=consistent))
        found = response.get("Responses", {}).get(table, [])
        items += found
        keys = response.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
        if not keys:
            return items
        attempt = 0 if found else attempt + 1
        if attempt == ATTEMPTS:
            raise ThrottledError(
                f"{len(keys)} keys were not read in {ATTEMPTS} attempts", operation="BatchGetItem", table=table
            )
        sender.sleep(pause_seconds(attempt))


def _write(sender: Sender, members: Sequence[Member], left: Unwritten) -> None:
    attempt = 0
    while members and not left.members:
        try:
            response = sender.send(sender.requests.batch_write(members))
        except StorageError as error:
            left.error = error
            break
        unprocessed: Sequence[Member] = response.get("UnprocessedItems", {}).get(sender.settings.table, [])
        attempt = 0 if len(unprocessed) < len(members) else attempt + 1
        members = unprocessed
        if attempt == ATTEMPTS:
            break
        if members:
            sender.sleep(pause_seconds(attempt))
    left.members += members
