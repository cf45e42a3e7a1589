"""What a refused write means, in the words of the caller.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from .entity import Entity
from .errors import (
    AlreadyExistsError,
    ConditionFailedError,
    NotFoundError,
    OutdatedItemError,
    StorageError,
    TransactionFailedError,
)
from .items import ENTITY, from_item
from .requests import Write
from .ttl import Expiry
from .wire import WireItem

REFUSED = "ConditionalCheckFailed"
CONFLICTS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
"""Codes of a cancelled transaction that may succeed when it is sent again."""


def refusal(write: Write, item: WireItem | None, error: StorageError, expiry: Expiry, now: datetime) -> StorageError:
    """The error that a failed condition means, with what is stored instead."""
    live = None if item is None or expiry.is_past(item, now) else item
    kind, problem = _meaning(write, live)
    return kind(
        f"{write.intent}: {problem}",
        item=item,
        current=_entity(write.model, live, expiry),
        operation=error.operation,
        table=error.table,
        entity=write.spec.name,
        key=write.key,
        request_id=error.request_id,
    )


def first_refusal(
    writes: Sequence[Write], error: TransactionFailedError, expiry: Expiry, now: datetime
) -> StorageError:
    """The error that the first failed condition of a cancelled transaction means."""
    for write, reason in zip(writes, error.reasons, strict=True):
        if reason.code == REFUSED:
            return refusal(write, reason.item, error, expiry, now)
    return error


def named(error: TransactionFailedError, writes: Sequence[Write]) -> TransactionFailedError:
    """The error with the entity and key of each member."""
    members = zip(error.reasons, writes, strict=True)
    reasons = [replace(reason, entity=write.what, key=write.key) for reason, write in members]
    refused = ", ".join(f"{reason.entity}: {reason.code}" for reason in reasons if reason.code != "None")
    return TransactionFailedError(
        f"the transaction was cancelled, nothing was written: {refused}",
        reasons=reasons,
        operation=error.operation,
        table=error.table,
        request_id=error.request_id,
    )


def refused_at(error: TransactionFailedError) -> list[int]:
    """The members of a cancelled transaction whose condition failed."""
    return [position for position, reason in enumerate(error.reasons) if reason.code == REFUSED]


def may_retry(error: TransactionFailedError) -> bool:
    """Whether a cancelled transaction may succeed when it is sent again."""
    return {reason.code for reason in error.reasons} - {"None"} <= CONFLICTS


def _meaning(write: Write, live: WireItem | None) -> tuple[type[ConditionFailedError], str]:
    if write.intent in ("create", "put"):
        return AlreadyExistsError, f"the {write.what} is there already, or belongs to another item"
    if live is None:
        return NotFoundError, f"there is no {write.what} with this key, or it has expired"
    lacking = write.needs - live.keys()
    if lacking:
        return OutdatedItemError, (
            f"the stored {write.what} lacks {', '.join(sorted(lacking))}, because it was stored before its entity had "
            "that: put the whole item once"
        )
    return ConditionFailedError, f"the stored {write.what} does not meet the condition; .current has it"


def _entity(model: type[Entity], item: WireItem | None, expiry: Expiry) -> Entity | None:
    if item is None or item.get(ENTITY, {}).get("S") != model.spec.name:
        return None
    return from_item(model, item, expiry.attribute)
