"""What a refused write means, in the words of the caller.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from .entity import Entity
from .errors import (
    AlreadyExistsError,
    ConditionFailedError,
    CorruptItemError,
    LeaseLostError,
    NotFoundError,
    OutdatedItemError,
    Reason,
    StorageError,
    TransactionFailedError,
    VersionConflictError,
)
from .items import from_item
from .settings import Settings
from .specs import ENTITY, WRITE
from .upcasting import is_behind, stored_version
from .wire import WireItem
from .writes import Write

REFUSED = "ConditionalCheckFailed"
CONFLICTS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})
"""Codes of a cancelled transaction that may succeed when it is sent again."""


def refusal(
    write: Write, item: WireItem | None, error: StorageError, settings: Settings, now: datetime
) -> StorageError:
    """The error that a failed condition means, with what is stored instead."""
    live = _live(item, settings, now)
    kind, problem = _meaning(write, live)
    return kind(
        f"{write.intent}: {problem}",
        item=item,
        current=_entity(write.model, live, settings),
        operation=error.operation,
        table=error.table,
        entity=write.spec.name,
        key=write.key,
        request_id=error.request_id,
    )


def first_refusal(
    writes: Sequence[Write], error: TransactionFailedError, settings: Settings, now: datetime
) -> StorageError:
    """The error that the first failed condition of a cancelled transaction means."""
    for write, reason in zip(writes, error.reasons, strict=True):
        if reason.code == REFUSED:
            return refusal(write, reason.item, error, settings, now)
    return error


def cancelled(
    error: TransactionFailedError, writes: Sequence[Write], fence: Sequence[Write], settings: Settings, now: datetime
) -> StorageError:
    """What a cancelled transaction means: the entity and key of each write and what is stored there.

    Where the check of a fence, which comes after the writes, has failed, that is all there is to say."""
    members = zip(error.reasons, (*writes, *fence), strict=True)
    reasons = [
        replace(
            reason,
            entity=write.what,
            key=write.key,
            current=_entity(write.model, _live(reason.item, settings, now), settings),
        )
        for reason, write in members
    ]
    if fence and reasons[-1].code == REFUSED:
        return _lost(reasons[-1], error)
    refused = ", ".join(f"{reason.entity}: {reason.code}" for reason in reasons if reason.code != "None")
    return TransactionFailedError(
        f"the transaction was cancelled, nothing was written: {refused}",
        reasons=reasons[: len(writes)],
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


def _lost(reason: Reason, error: StorageError) -> LeaseLostError:
    return LeaseLostError(
        f"the {reason.entity} was released, or somebody else has it by now; nothing was written",
        current=reason.current,
        operation=error.operation,
        table=error.table,
        entity=reason.entity,
        key=reason.key,
        request_id=error.request_id,
    )


def _meaning(write: Write, live: WireItem | None) -> tuple[type[ConditionFailedError], str]:
    if live is not None and write.expected is not None and live.get(WRITE, {}).get("S", "") != write.expected:
        return VersionConflictError, f"the stored {write.what} is not the version that was read; .current has it"
    if write.intent in ("create", "put"):
        return AlreadyExistsError, f"the {write.what} is there already, or belongs to another item"
    if live is None:
        return NotFoundError, f"there is no {write.what} with this key, or it has expired"
    if write.intent == "update" and is_behind(write.spec, live):
        return OutdatedItemError, (
            f"the stored {write.what} is of version {stored_version(live)}: get it and put it, or use Table.update"
        )
    lacking = write.needs - live.keys()
    if lacking:
        return OutdatedItemError, (
            f"the stored {write.what} lacks {', '.join(sorted(lacking))}, because it was stored before its entity had "
            "that: put the whole item once"
        )
    return ConditionFailedError, f"the stored {write.what} does not meet the condition; .current has it"


def _live(item: WireItem | None, settings: Settings, now: datetime) -> WireItem | None:
    return None if item is None or settings.expiry.is_past(item, now) else item


def _entity(model: type[Entity], item: WireItem | None, settings: Settings) -> Entity | None:
    if item is None or item.get(ENTITY, {}).get("S") != model.spec.name:
        return None
    try:
        return from_item(model, item, settings.expiry.attribute)
    except CorruptItemError:
        return None  # what was refused is told nevertheless; the raw item is with it
