"""DynamoDB in memory: its tables, and what it answers to each request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from threading import RLock
from typing import Any

from ..wire import Request, Response, WireItem
from ._batch import batch_get, batch_write
from ._capacity import Meter
from ._parameters import check_parameters
from ._read import get_item, query, scan
from ._refusal import Cancellation, ConditionFailure, MissingResource, Refusal, raise_for
from ._schema import Schema, key_bytes
from ._table import TableItems, View
from ._transaction import transact_again, transact_get, transact_write
from ._values import copied, copied_request
from ._write import write_item
from .indexes import IndexKeys

DEFAULT_INDEXES: Mapping[str, IndexKeys] = {
    f"gsi{number}": IndexKeys(f"gsi{number}pk", f"gsi{number}sk") for number in range(1, 21)
}


class MemoryDatabase:
    """Tables that several transports may share, from several threads.

    A table exists as soon as it is named.  Its key attributes are the strings `pk` and `sk`; all tables have the same
    secondary indexes, which are `gsi1` to `gsi20`, as many as DynamoDB allows, with all attributes unless `indexes`
    says otherwise.
    """

    def __init__(
        self,
        *,
        indexes: Mapping[str, IndexKeys] | None = None,
        missing_tables: Collection[str] = (),
    ) -> None:
        self._schema = Schema(DEFAULT_INDEXES if indexes is None else indexes)
        self._missing_tables = frozenset(missing_tables)
        self._tables: dict[str, TableItems] = {}
        self._applied: dict[str, Request] = {}
        """Transactions by token."""
        self._lock = RLock()

    @classmethod
    def for_table(cls, params: Mapping[str, Any]) -> MemoryDatabase:
        """A database with the indexes of this CreateTable call, such as `singletable.provision` makes.

        Tables of other names have them too, but an index that is missing in `params` is missing in all.
        """
        definitions: list[dict[str, Any]] = params.get("GlobalSecondaryIndexes", [])
        return cls(indexes={index["IndexName"]: _index_keys(index) for index in definitions})

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
                meter = Meter(request)
                return {**self._answer(request, lag, unprocessed, meter), **meter.report()}
        except (Refusal, ConditionFailure, Cancellation) as failure:
            raise_for(failure, request)

    def _answer(self, request: Request, lag: int, unprocessed: int, meter: Meter) -> Response:
        params = request.params
        match request.operation:
            case "GetItem":
                return get_item(params, self._view(params["TableName"], bool(params.get("ConsistentRead")), lag), meter)
            case "PutItem" | "UpdateItem" | "DeleteItem":
                return write_item(request.operation, params, self._table(params["TableName"]), self._schema, meter)
            case "Query" | "Scan":
                return self._read_page(request, lag, meter)
            case "BatchGetItem":
                return batch_get(params, partial(self._view, lag=lag), unprocessed, meter)
            case "BatchWriteItem":
                return batch_write(params, self._table, self._schema, unprocessed, meter)
            case "TransactGetItems":
                return transact_get(params, self._table, meter)
            case "TransactWriteItems":
                return self._once(request, meter)

    def _read_page(self, request: Request, lag: int, meter: Meter) -> Response:
        params = request.params
        consistent = bool(params.get("ConsistentRead"))
        view = self._view(params["TableName"], consistent, lag)
        path = self._schema.path(params.get("IndexName"))
        if consistent and path.index is not None:
            raise Refusal("Consistent reads are not supported on global secondary indexes")
        return (query if request.operation == "Query" else scan)(params, view, path, meter)

    def _once(self, request: Request, meter: Meter) -> Response:
        """Apply a transaction, unless one with its token has been applied before."""
        token: Any = request.params.get("ClientRequestToken")
        if token is None:
            return transact_write(request.params, self._table, self._schema, meter)
        if not 1 <= len(token) <= 36:
            raise Refusal("Value at 'clientRequestToken' must have length between 1 and 36")
        if token not in self._applied:
            response = transact_write(request.params, self._table, self._schema, meter)
            self._applied[token] = copied_request(request)
            return response
        if copied_request(request) != self._applied[token]:
            text = "Token parameter is used with different request parameters"
            raise Refusal(text, code="IdempotentParameterMismatchException")
        return transact_again(request.params, self._table, self._schema, meter)

    def _view(self, table: str, consistent: bool, lag: int) -> View:
        return self._table(table).view(0 if consistent else lag)

    def _table(self, name: str) -> TableItems:
        if name in self._missing_tables:
            raise MissingResource("Requested resource not found", code="ResourceNotFoundException")
        return self._tables.setdefault(name, TableItems())


def _index_keys(definition: Mapping[str, Any]) -> IndexKeys:
    partition, sort = (part["AttributeName"] for part in definition["KeySchema"])
    kind = definition["Projection"]["ProjectionType"]
    return IndexKeys(
        partition, sort, tuple(definition["Projection"]["NonKeyAttributes"]) if kind == "INCLUDE" else kind
    )
