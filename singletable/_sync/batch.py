# Generated from ../_async/batch.py by scripts/generate_sync.py; edit that file.
"""Batches driven to their end: what DynamoDB leaves unprocessed is sent again, with growing pauses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import PartialBatchError, StorageError, ThrottledError
from ..items import table_key
from ..requests import BATCH_GET_KEYS, BATCH_WRITE_ITEMS
from ..retry import ATTEMPTS, pause_seconds
from ..wire import WireItem
from .sender import Sender

Member = Mapping[str, Any]


def batch_get(sender: Sender, keys: Sequence[WireItem], *, consistent: bool) -> list[WireItem]:
    """The items of `keys` that exist, in no order; 100 keys a request."""
    items: list[WireItem] = []
    for start in range(0, len(keys), BATCH_GET_KEYS):
        items += _get(sender, keys[start : start + BATCH_GET_KEYS], consistent=consistent)
    return items


def batch_write(sender: Sender, members: Sequence[Member]) -> None:
    """Put and delete without conditions, 25 members a request; raises PartialBatchError with the keys left."""
    for start in range(0, len(members), BATCH_WRITE_ITEMS):
        end = start + BATCH_WRITE_ITEMS
        left, error = _write(sender, members[start:end])
        if left:
            unwritten = [_member_key(member) for member in (*left, *members[end:])]
            raise PartialBatchError(
                f"{len(unwritten)} items of a batch were not written; .unwritten has their keys",
                unwritten=unwritten,
                operation="BatchWriteItem",
                table=sender.requests.table,
            ) from error


def _get(sender: Sender, keys: Sequence[WireItem], *, consistent: bool) -> list[WireItem]:
    table = sender.requests.table
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


def _write(sender: Sender, members: Sequence[Member]) -> tuple[Sequence[Member], StorageError | None]:
    """What is left of `members`, and the error that stopped the rest."""
    attempt = 0
    while True:
        try:
            response = sender.send(sender.requests.batch_write(members))
        except StorageError as error:
            return members, error
        left: Sequence[Member] = response.get("UnprocessedItems", {}).get(sender.requests.table, [])
        attempt = 0 if len(left) < len(members) else attempt + 1
        if not left or attempt == ATTEMPTS:
            return left, None
        members = left
        sender.sleep(pause_seconds(attempt))


def _member_key(member: Member) -> WireItem:
    return member["DeleteRequest"]["Key"] if "DeleteRequest" in member else table_key(member["PutRequest"]["Item"])
