"""A typed single-table mapper for DynamoDB, and a memory for agents and chat applications on top of it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .clock import utc_now
from .errors import (
    AccessDeniedError,
    AlreadyExistsError,
    BudgetExceededError,
    ConditionFailedError,
    ConfigurationError,
    CorruptItemError,
    CorruptPayloadError,
    DeclarationError,
    IncompleteIndexWarning,
    IncompleteKeyError,
    InvalidCursorError,
    InvalidKeyError,
    InvalidValueError,
    ItemTooLargeError,
    LeaseHeldError,
    LeaseLostError,
    NotFoundError,
    OutcomeUnknownError,
    OutdatedItemError,
    PartialBatchError,
    PartialSaveError,
    PayloadMissingError,
    Reason,
    RequestError,
    SingleTableError,
    StorageError,
    TableNotFoundError,
    ThreadDeletedError,
    ThrottledError,
    TransactionConflictError,
    TransactionFailedError,
    TurnReusedError,
    UnreachableError,
    VersionConflictError,
)
from .page import Page
from .transport import AsyncTransport, Transport
from .values import (
    KEEP,
    Change,
    CreatedAt,
    JsonObject,
    Map,
    Order,
    Pk,
    Range,
    Sk,
    SkRange,
    UpdatedAt,
    Version,
    add,
    append,
    between,
    default,
    discard,
    gt,
    gte,
    lt,
    lte,
    merge,
    prepend,
    remove,
    remove_at,
    set_at,
    starting,
    subtract,
)
from .wire import Request

if TYPE_CHECKING:
    from ._async.query import AsyncQuery
    from ._async.scan import AsyncScan
    from ._async.table import AsyncTable
    from ._async.transaction import AsyncTransaction
    from ._sync.query import Query
    from ._sync.scan import Scan
    from ._sync.table import Table
    from ._sync.transaction import Transaction
    from .adapters.pynamo import Credentials
    from .adapters.s3 import S3Blobs
    from .declare import Changes, Index, Lookup, PrimaryKey
    from .entity import Entity
    from .grouping import Grouped
    from .store import AsyncDynamoDBStore, Context, DynamoDBStore

__version__ = "0.1.0"

__all__ = [
    "KEEP",
    "AccessDeniedError",
    "AlreadyExistsError",
    "AsyncDynamoDBStore",
    "AsyncQuery",
    "AsyncScan",
    "AsyncTable",
    "AsyncTransaction",
    "AsyncTransport",
    "BudgetExceededError",
    "Change",
    "Changes",
    "ConditionFailedError",
    "ConfigurationError",
    "Context",
    "CorruptItemError",
    "CorruptPayloadError",
    "CreatedAt",
    "Credentials",
    "DeclarationError",
    "DynamoDBStore",
    "Entity",
    "Grouped",
    "IncompleteIndexWarning",
    "IncompleteKeyError",
    "Index",
    "InvalidCursorError",
    "InvalidKeyError",
    "InvalidValueError",
    "ItemTooLargeError",
    "JsonObject",
    "LeaseHeldError",
    "LeaseLostError",
    "Lookup",
    "Map",
    "NotFoundError",
    "Order",
    "OutcomeUnknownError",
    "OutdatedItemError",
    "Page",
    "PartialBatchError",
    "PartialSaveError",
    "PayloadMissingError",
    "Pk",
    "PrimaryKey",
    "Query",
    "Range",
    "Reason",
    "Request",
    "RequestError",
    "S3Blobs",
    "Scan",
    "SingleTableError",
    "Sk",
    "SkRange",
    "StorageError",
    "Table",
    "TableNotFoundError",
    "ThreadDeletedError",
    "ThrottledError",
    "Transaction",
    "TransactionConflictError",
    "TransactionFailedError",
    "Transport",
    "TurnReusedError",
    "UnreachableError",
    "UpdatedAt",
    "Version",
    "VersionConflictError",
    "add",
    "append",
    "between",
    "default",
    "discard",
    "gt",
    "gte",
    "lt",
    "lte",
    "merge",
    "prepend",
    "remove",
    "remove_at",
    "set_at",
    "starting",
    "subtract",
    "utc_now",
]

# Imported at the first use, so that nobody waits for a driver, a store or a twin that is not wanted.  A new name goes
# to the imports for the type checkers and to `__all__` as well; a test compares them.
_HOMES: Final = {
    "AsyncQuery": "_async.query",
    "AsyncScan": "_async.scan",
    "AsyncTable": "_async.table",
    "AsyncTransaction": "_async.transaction",
    "Query": "_sync.query",
    "Scan": "_sync.scan",
    "Table": "_sync.table",
    "Transaction": "_sync.transaction",
    "Credentials": "adapters.pynamo",
    "S3Blobs": "adapters.s3",
    "Changes": "declare",
    "Index": "declare",
    "Lookup": "declare",
    "PrimaryKey": "declare",
    "Entity": "entity",
    "Grouped": "grouping",
    "AsyncDynamoDBStore": "store",
    "Context": "store",
    "DynamoDBStore": "store",
}

if not TYPE_CHECKING:  # or the checkers would believe that every name exists

    def __getattr__(name: str) -> Any:
        """A public name at its first use; from then on it is an ordinary global."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
