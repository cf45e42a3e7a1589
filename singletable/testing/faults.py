"""What goes wrong between an application and DynamoDB, on demand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock, RLock
from typing import Literal, TypeAlias

from ..errors import (
    OutcomeUnknownError,
    Reason,
    StorageError,
    ThrottledError,
    TransactionConflictError,
    UnreachableError,
)
from ..wire import Operation, Request
from ._refusal import cancelled, error_context
from ._table import MAX_LAG

_Kind: TypeAlias = Literal["crash", "throttle", "conflict", "unprocessed", "lose", "resend"]
_SINGLE_WRITES = frozenset({"PutItem", "UpdateItem", "DeleteItem"})
_WRITES = _SINGLE_WRITES | {"BatchWriteItem", "TransactWriteItems"}
_TRANSACTIONS = frozenset({"TransactGetItems", "TransactWriteItems"})
_BATCHES = frozenset({"BatchGetItem", "BatchWriteItem"})


class Crash(BaseException):
    """The process died before it sent a request.

    Not an Exception, so that no `except Exception` of the code under test cleans up what a dead process cannot.
    """


@dataclass(slots=True)
class _Fault:
    kind: _Kind
    operations: frozenset[str] | None
    wait: int = 0
    times: int | None = 1
    count: int = 0

    def matches(self, request: Request) -> bool:
        return self.operations is None or request.operation in self.operations


class Faults:
    """The faults that the requests of one transport meet.

    Each method plans a fault for the next `times` requests that match; None means for ever.  `operation` narrows
    the match.  Faults of one kind are met in the order in which they were planned.
    """

    def __init__(self) -> None:
        self.on_request: Callable[[Request], BaseException | None] | None = None
        """Called with every request before it is applied; what it returns is raised instead of an answer.

        One request at a time: those of other threads wait until it has returned."""
        self._planned: list[_Fault] = []
        self._lag = 0
        self._lock = Lock()
        self._asking = RLock()

    @property
    def lag(self) -> int:
        """How many of a table's latest writes an eventually consistent read, as all reads of an index are, misses."""
        return self._lag

    def stale_reads(self, writes: int) -> None:
        """From now on, eventually consistent reads miss the latest `writes` writes to their table; 0 ends it."""
        if not 0 <= writes <= MAX_LAG:
            raise ValueError(f"reads can be 0 to {MAX_LAG} writes behind, not {writes}")
        self._lag = writes

    def throttle(self, times: int | None = 1, *, operation: Operation | None = None) -> None:
        """Refuse requests for lack of capacity: ThrottledError, nothing applied."""
        self._plan(_Fault("throttle", _only(operation, None), times=times))

    def conflict(self, times: int | None = 1, *, operation: Operation | None = None) -> None:
        """Let transactions conflict with another one that is under way: nothing is applied.

        TransactionFailedError says that the last member was in conflict.  PutItem, UpdateItem and DeleteItem raise
        TransactionConflictError, and meet conflicts only where `operation` names them; other requests never do.
        """
        if operation is not None and operation not in _SINGLE_WRITES | _TRANSACTIONS:
            raise ValueError(f"{operation} never meets a conflict: name a transaction, or a write of one item")
        self._plan(_Fault("conflict", _only(operation, _TRANSACTIONS), times=times))

    def leave_unprocessed(self, count: int, *, times: int | None = 1, operation: Operation | None = None) -> None:
        """Let batches leave their last `count` members unprocessed."""
        self._plan(_Fault("unprocessed", _only(operation, _BATCHES), times=times, count=count))

    def lose_answer(self, times: int | None = 1, *, operation: Operation | None = None) -> None:
        """Apply writes and raise OutcomeUnknownError; a read named by `operation` raises UnreachableError."""
        self._plan(_Fault("lose", _only(operation, _WRITES), times=times))

    def resend(self, times: int | None = 1, *, operation: Operation | None = None) -> None:
        """Lose the first answer to writes, after which the driver sends them again: applied twice, answered once."""
        self._plan(_Fault("resend", _only(operation, _WRITES), times=times))

    def crash_before(self, number: int, *, operation: Operation | None = None) -> None:
        """Raise Crash instead of sending the request of this number, counted from 1 and from now; once."""
        self._plan(_Fault("crash", _only(operation, None), wait=number - 1))

    def clear(self) -> None:
        """Plan nothing any more, and let reads be fresh."""
        with self._lock:
            self._planned.clear()
        self._lag = 0
        self.on_request = None

    def before_sending(self, request: Request) -> None:
        """Raise what keeps `request` from being sent."""
        if self._meets("crash", request):
            raise Crash(f"before {request.operation}")

    def before_applying(self, request: Request) -> None:
        """Raise what DynamoDB refuses `request` with."""
        if self._meets("throttle", request):
            text = "ProvisionedThroughputExceededException: The level of configured provisioned throughput was exceeded"
            raise ThrottledError(text, **error_context(request))
        if self._meets("conflict", request):
            raise _conflict(request)
        with self._asking:
            failure = None if self.on_request is None else self.on_request(request)
        if failure is not None:
            raise failure

    def unprocessed(self, request: Request) -> int:
        """How many members of a batch stay undone."""
        fault = self._meets("unprocessed", request)
        return 0 if fault is None else fault.count

    def resends(self, request: Request) -> bool:
        """Whether the driver sends `request` a second time."""
        return self._meets("resend", request) is not None

    def after_applying(self, request: Request) -> None:
        """Raise what keeps the answer from arriving."""
        if self._meets("lose", request):
            error = OutcomeUnknownError if request.operation in _WRITES else UnreachableError
            raise error("ReadTimeoutError: the answer was lost", **error_context(request))

    def _plan(self, fault: _Fault) -> None:
        if fault.wait < 0 or fault.count < 0 or (fault.times is not None and fault.times < 1):
            raise ValueError("a fault is met at least once, from the first request on")
        with self._lock:
            self._planned.append(fault)

    def _meets(self, kind: _Kind, request: Request) -> _Fault | None:
        with self._lock:
            for fault in self._planned:
                if fault.kind == kind and fault.matches(request) and self._is_due(fault):
                    return fault
        return None

    def _is_due(self, fault: _Fault) -> bool:
        if fault.wait:
            fault.wait -= 1
            return False
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self._planned.remove(fault)
        return True


def _only(operation: Operation | None, default: frozenset[str] | None) -> frozenset[str] | None:
    return default if operation is None else frozenset({operation})


def _conflict(request: Request) -> StorageError:
    text = "Transaction is ongoing for the item"
    if request.operation in _SINGLE_WRITES:
        return TransactionConflictError(f"TransactionConflictException: {text}", **error_context(request))
    others = [Reason(code="None")] * (len(request.params["TransactItems"]) - 1)
    return cancelled(request, [*others, Reason(code="TransactionConflict", message=text)])
