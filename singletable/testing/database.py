"""DynamoDB in memory: its tables, and what it answers to each request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from threading import RLock
from typing import Any

from ..wire import Request, Response, WireItem
from ._batch import batch_get, batch_write
from ._parameters import check_parameters
from ._read import get_item, query, scan
from ._refusal import Cancellation, ConditionFailure, MissingResource, Refusal, raise_for
from ._schema import Schema, key_bytes
from ._table import TableItems, View
from ._transaction import transact_get, transact_write
from ._values import copied, copied_request
from ._write import write_item

DEFAULT_INDEXES: Mapping[str, tuple[str, str]] = {
    f"gsi{number}": (f"gsi{number}pk", f"gsi{number}sk") for number in range(1, 5)
}


class MemoryDatabase:
    """Tables that several transports may share, from several threads.

    A table exists as soon as it is named.  Its key attributes are the strings `pk` and `sk`; `indexes` gives the
    partition and the sort attribute of each secondary index, which all tables have and which project all attributes.
    """

    def __init__(
        self,
        *,
        indexes: Mapping[str, tuple[str, str]] | None = None,
        missing_tables: Collection[str] = (),
    ) -> None:
        self._schema = Schema(DEFAULT_INDEXES if indexes is None else indexes)
        self._missing_tables = frozenset(missing_tables)
        self._tables: dict[str, TableItems] = {}
        self._answered: dict[str, tuple[Request, Response]] = {}
        self._lock = RLock()

    def items(self, table: str) -> list[WireItem]:
        """Copies of everything stored in `table`, expired items too, ordered by key."""
        with self._lock:
            stored = self._table(table).view().all()
            return [copied(item) for item in sorted(stored, key=key_bytes)]

    def execute(self, request: Request, *, lag: int = 0, unprocessed: int = 0) -> Response:
        """The response to `request`, or the StorageError that DynamoDB's refusal means.

        Reads that are eventually consistent miss the last `lag` writes; a batch leaves `unprocessed` members undone.
        """
        try:
            with self._lock:
                check_parameters(request)
                return self._answer(request, lag, unprocessed)
        except (Refusal, ConditionFailure, Cancellation) as failure:
            raise_for(failure, request)

    def _answer(self, request: Request, lag: int, unprocessed: int) -> Response:
        params = request.params
        match request.operation:
            case "GetItem":
                return get_item(params, self._view(params["TableName"], lag, bool(params.get("ConsistentRead"))))
            case "PutItem" | "UpdateItem" | "DeleteItem":
                return write_item(request.operation, params, self._table(params["TableName"]), self._schema)
            case "Query" | "Scan":
                return self._read_page(request, lag)
            case "BatchGetItem":
                return batch_get(params, lambda name, consistent: self._view(name, lag, consistent), unprocessed)
            case "BatchWriteItem":
                return batch_write(params, self._table, self._schema, unprocessed)
            case "TransactGetItems":
                return transact_get(params, self._table)
            case "TransactWriteItems":
                return self._once(request)

    def _read_page(self, request: Request, lag: int) -> Response:
        params = request.params
        consistent = bool(params.get("ConsistentRead"))
        view = self._view(params["TableName"], lag, consistent)
        path = self._schema.path(params.get("IndexName"))
        if consistent and path.index is not None:
            raise Refusal("Consistent reads are not supported on global secondary indexes")
        return (query if request.operation == "Query" else scan)(params, view, path)

    def _once(self, request: Request) -> Response:
        """Apply a transaction, unless one with its token has been applied before."""
        token: Any = request.params.get("ClientRequestToken")
        if token is None:
            return transact_write(request.params, self._table, self._schema)
        if not 1 <= len(token) <= 36:
            raise Refusal("Value at 'clientRequestToken' must have length between 1 and 36")
        if token not in self._answered:
            response = transact_write(request.params, self._table, self._schema)
            self._answered[token] = (copied_request(request), response)
        first, response = self._answered[token]
        if copied_request(request) != first:
            text = "Token parameter is used with different request parameters"
            raise Refusal(text, code="IdempotentParameterMismatchException")
        return response

    def _view(self, table: str, lag: int, consistent: bool) -> View:
        return self._table(table).view(0 if consistent else lag)

    def _table(self, name: str) -> TableItems:
        if name in self._missing_tables:
            raise MissingResource("Requested resource not found", code="ResourceNotFoundException")
        return self._tables.setdefault(name, TableItems())
