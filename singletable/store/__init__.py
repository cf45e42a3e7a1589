"""The storage facade: what a chat application keeps, in the verbs of Mastra's storage."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ._async.blobs import AsyncBlobs
    from ._async.dynamodb import AsyncDynamoDBStore
    from ._async.leases import AsyncLeases
    from ._async.sessions import AsyncSessions
    from ._sync.blobs import Blobs
    from ._sync.dynamodb import DynamoDBStore
    from ._sync.leases import Leases
    from ._sync.sessions import Sessions
    from .blob_forms import BlobHead, Collected
    from .claim import Claim
    from .context import Context
    from .dates import DateRange
    from .held_lease import HeldLease
    from .imported import Imported
    from .message_forms import Include, MessageUpdate
    from .receipt import Receipt
    from .records import RecordError, from_line, to_line
    from .session_forms import AsyncTurnHandler, Commit, SessionContext, TurnHandler
    from .span_filters import SpanFilters
    from .span_forms import Delta, LightSpan, LightTrace
    from .thread_copy import ThreadCopy
    from .thread_reports import Diagnosis, EqualTimes, LargeMessage, ThreadStats

__all__ = [
    "AsyncBlobs",
    "AsyncDynamoDBStore",
    "AsyncLeases",
    "AsyncSessions",
    "AsyncTurnHandler",
    "BlobHead",
    "Blobs",
    "Claim",
    "Collected",
    "Commit",
    "Context",
    "DateRange",
    "Delta",
    "Diagnosis",
    "DynamoDBStore",
    "EqualTimes",
    "HeldLease",
    "Imported",
    "Include",
    "LargeMessage",
    "Leases",
    "LightSpan",
    "LightTrace",
    "MessageUpdate",
    "Receipt",
    "RecordError",
    "SessionContext",
    "Sessions",
    "SpanFilters",
    "ThreadCopy",
    "ThreadStats",
    "TurnHandler",
    "from_line",
    "to_line",
]

# Imported at the first use, so that nobody waits for a driver, a store or a twin that is not wanted.  A new name goes
# to the imports for the type checkers and to `__all__` as well; a test compares them.
_HOMES: Final = {
    "AsyncBlobs": "_async.blobs",
    "Blobs": "_sync.blobs",
    "BlobHead": "blob_forms",
    "Collected": "blob_forms",
    "AsyncDynamoDBStore": "_async.dynamodb",
    "DynamoDBStore": "_sync.dynamodb",
    "AsyncLeases": "_async.leases",
    "Leases": "_sync.leases",
    "AsyncSessions": "_async.sessions",
    "Sessions": "_sync.sessions",
    "AsyncTurnHandler": "session_forms",
    "Commit": "session_forms",
    "SessionContext": "session_forms",
    "TurnHandler": "session_forms",
    "HeldLease": "held_lease",
    "Claim": "claim",
    "Context": "context",
    "DateRange": "dates",
    "Imported": "imported",
    "Include": "message_forms",
    "MessageUpdate": "message_forms",
    "Receipt": "receipt",
    "RecordError": "records",
    "from_line": "records",
    "to_line": "records",
    "SpanFilters": "span_filters",
    "Delta": "span_forms",
    "LightSpan": "span_forms",
    "LightTrace": "span_forms",
    "ThreadCopy": "thread_copy",
    "Diagnosis": "thread_reports",
    "EqualTimes": "thread_reports",
    "LargeMessage": "thread_reports",
    "ThreadStats": "thread_reports",
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
