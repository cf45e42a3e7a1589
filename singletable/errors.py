"""Every error the library raises on purpose.

* SingleTableError
  x DeclarationError (TypeError)   an entity class is wrong: raised at import
  x RequestError (ValueError)      a call is wrong: raised before anything is sent
    + ConfigurationError           a constructor argument or a setting
    + InvalidKeyError              a key part is blank, over-long or of the wrong type
    + IncompleteKeyError           a key lacks a part
    + InvalidValueError            DynamoDB cannot hold a value
    + ItemTooLargeError            an item of over 400 KB
    + InvalidCursorError           a cursor of another query
  x StorageError                   DynamoDB refused a request, or did not answer
    + ConditionFailedError         .current is what is stored
      - AlreadyExistsError
      - NotFoundError
      - VersionConflictError     the item was changed since it was read
      - OutdatedItemError        an item that was stored before its entity got an index or a map
      - ThreadDeletedError
      - LeaseHeldError
      - TurnReusedError          a turn id of which something else was asked before
    + TransactionFailedError       .reasons, one per member
    + PartialBatchError            .unwritten
    + PartialSaveError             .saved
    + TransactionConflictError
    + LeaseLostError               nothing was written under a lease that is somebody else's by now
    + ThrottledError
    + TableNotFoundError
    + AccessDeniedError
    + UnreachableError             nothing was answered, and nothing was written
    + OutcomeUnknownError          nothing was answered to a write that may have been applied
  x CorruptItemError               a stored item does not fit its entity
  x BudgetExceededError            a reading came to the bound of `within`; .cursor goes on

Messages name entities and fields; they never hold stored content, key values or credentials, because they end in logs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .wire import WireItem


class SingleTableError(Exception):
    """Base class of every error raised on purpose by singletable."""


class DeclarationError(SingleTableError, TypeError):
    """An entity, key, index, lookup or patch class is declared wrongly."""


class RequestError(SingleTableError, ValueError):
    """A call asks for something that cannot be sent."""


class ConfigurationError(RequestError):
    """A constructor argument or a setting is wrong, or an extra is not installed."""


class InvalidKeyError(RequestError):
    """A key part is blank, over-long, not text that UTF-8 can hold, or of the wrong type."""


class IncompleteKeyError(RequestError):
    """A key lacks a part; the message names the index and the missing parts."""


class InvalidValueError(RequestError):
    """DynamoDB cannot hold a value; the message names the path to it."""


class InvalidCursorError(RequestError):
    """A cursor is damaged, or was made by another query."""


class ItemTooLargeError(RequestError):
    """An item is larger than DynamoDB's 400 KB; nothing of the call was sent."""

    def __init__(
        self, *, entity: str, key: WireItem, size_bytes: int, limit_bytes: int, largest: Mapping[str, int]
    ) -> None:
        attributes = ", ".join(f"{name} {size:,}" for name, size in largest.items())
        super().__init__(
            f"{entity}: the item has {size_bytes:,} bytes, DynamoDB holds at most {limit_bytes:,}; "
            f"largest attributes in bytes: {attributes}. Shorten them, or store them elsewhere and keep a reference."
        )
        self.entity = entity
        self.key = key
        self.size_bytes = size_bytes
        self.largest = largest


class StorageError(SingleTableError):
    """DynamoDB refused a request or did not answer; the driver's error is the `__cause__`."""

    def __init__(
        self,
        message: str,
        *,
        operation: str = "",
        table: str = "",
        entity: str | None = None,
        key: WireItem | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.operation = operation
        self.table = table
        self.entity = entity
        self.key = key
        self.request_id = request_id


class ConditionFailedError(StorageError):
    """The condition of a write did not hold; nothing was written."""

    def __init__(self, message: str, *, item: WireItem | None = None, current: object = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.item = item
        """What is stored, in DynamoDB's typed JSON; None where nothing is."""
        self.current = current
        """What is stored, as its entity; None where nothing is, or where it has expired or does not fit."""


class AlreadyExistsError(ConditionFailedError):
    """`create` met an item that is already there, or a lookup that belongs to another item."""


class NotFoundError(ConditionFailedError):
    """`update` met no item, or one that has expired."""


class VersionConflictError(ConditionFailedError):
    """The item is not the version that was read: load it again, or work on `.current`, and write once more."""


class OutdatedItemError(ConditionFailedError):
    """An update met an item that was stored before its entity got what is changed: put the whole item once."""


class ThreadDeletedError(ConditionFailedError):
    """A save into a thread that was deleted."""


class LeaseHeldError(ConditionFailedError):
    """A lease is somebody else's, and still was when the waiting ended; `.current` says until when."""


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why one member of a transaction stood in its way."""

    code: str
    """DynamoDB's code: `None` (no objection), `ConditionalCheckFailed`, `TransactionConflict`, …"""
    message: str = ""
    item: WireItem | None = None
    """What is stored, in DynamoDB's typed JSON, where a condition failed and an item is there."""
    entity: str | None = None
    key: WireItem | None = None
    current: object = None
    """What is stored, as its entity; None where nothing is, or where it has expired or does not fit."""


class TransactionFailedError(StorageError):
    """A transaction was cancelled; nothing was written."""

    def __init__(self, message: str, *, reasons: Sequence[Reason] = (), **context: Any) -> None:
        super().__init__(message, **context)
        self.reasons = tuple(reasons)
        """One per member, in the order in which they were added."""


class PartialBatchError(StorageError):
    """A batch was not finished; `unwritten` holds what is not stored, the rest is."""

    def __init__(self, message: str, *, unwritten: Sequence[object] = (), **context: Any) -> None:
        super().__init__(message, **context)
        self.unwritten = tuple(unwritten)


class PartialSaveError(StorageError):
    """A save of more messages than one transaction holds stopped midway; `saved` is a prefix, in order."""

    def __init__(self, message: str, *, saved: Sequence[object] = (), **context: Any) -> None:
        super().__init__(message, **context)
        self.saved = tuple(saved)


class TransactionConflictError(StorageError):
    """A write met a transaction on the same item that was still under way, after all retries."""


class TurnReusedError(ConditionFailedError):
    """A turn has the id of another one of its session."""


class LeaseLostError(StorageError):
    """A lease was released, taken over after its end, or never given out: nothing was written.

    It is no ConditionFailedError, because nothing that is tried again or read anew makes the lease come back."""

    def __init__(self, message: str, *, current: object = None, **context: Any) -> None:
        super().__init__(message, **context)
        self.current = current
        """What is stored under the name of the lease; None where nothing is."""


class ThrottledError(StorageError):
    """DynamoDB refused for lack of capacity, after the driver's own retries."""


class TableNotFoundError(StorageError):
    """The table, or the index asked for, does not exist in this region and account."""


class AccessDeniedError(StorageError):
    """The credentials are missing, expired, or not allowed to do this."""


class UnreachableError(StorageError):
    """The endpoint could not be reached, or a read got no answer; nothing was written."""


class OutcomeUnknownError(StorageError):
    """A write got no answer: it may or may not have been applied.  Read before writing again."""


class CorruptItemError(SingleTableError):
    """A stored item does not fit its entity; `key` says which."""

    def __init__(
        self, message: str, *, entity: str | None = None, key: WireItem | None = None, item: WireItem | None = None
    ) -> None:
        super().__init__(message)
        self.entity = entity
        self.key = key
        self.item = item
        """What is stored, in DynamoDB's typed JSON, as far as it was read."""


class PayloadMissingError(SingleTableError):
    """A value has lost the pieces of which it is made: they were removed from outside, or their bucket was."""


class CorruptPayloadError(SingleTableError):
    """The bytes of a value are not those that were written: their length or their SHA-256 differs."""


class IncompleteIndexWarning(UserWarning):
    """A query reads an index that does not have all older items yet."""


class BudgetExceededError(SingleTableError):
    """A reading used up its budget before its end: `page(size, error.cursor)` goes on after what was read."""

    def __init__(self, message: str, *, cursor: str) -> None:
        super().__init__(message)
        self.cursor = cursor
