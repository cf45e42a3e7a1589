# Generated from ../_async/separate.py by scripts/generate_sync.py; edit that file.
"""The writes of a transaction, sent without one: cheaper, and not all or none."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..._sync.transaction import Transaction
from ...concurrency import gather_in_threads
from ...errors import OutcomeUnknownError
from ...retry import ATTEMPTS, pause_seconds
from ...writes import Write


def send_each(tx: Transaction) -> None:
    """Send the updates of a transaction, then the pointers that it puts, then the items; each on its own condition.

    Pointers first: a process that dies leaves one without its item, which counts for nothing, and no item that its
    pointer does not know.  Left out is what only checks, because no request does that alone.  Raises the
    ConditionFailedError of a write that was refused; what was sent before it stays."""
    gather_in_threads([partial(tx.sender.write, [write]) for write in _updates(tx.writes)])
    gather_in_threads([partial(_put_pointer, tx, write) for write in _pointers(tx.writes)])
    gather_in_threads([partial(tx.sender.write, [write]) for write in _items(tx.writes)])


def _put_pointer(tx: Transaction, write: Write) -> None:
    """Put a pointer; one whose answer was lost is put again, which changes nothing where it is there already."""
    attempt = 0
    while True:
        try:
            tx.sender.write([write])
            return
        except OutcomeUnknownError:
            attempt += 1
            if attempt == ATTEMPTS:
                raise
        tx.sender.sleep(pause_seconds(attempt))


def _updates(writes: Sequence[Write]) -> list[Write]:
    return [write for write in writes if write.verb == "Update"]


def _pointers(writes: Sequence[Write]) -> list[Write]:
    return [write for write in writes if write.verb == "Put" and write.what != write.spec.name]


def _items(writes: Sequence[Write]) -> list[Write]:
    return [write for write in writes if write.verb == "Put" and write.what == write.spec.name]
