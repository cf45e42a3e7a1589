"""What requests consume, as ReturnConsumedCapacity has it reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from ..wire import Request
from ._refusal import Refusal
from ._schema import AccessPath, Schema
from ._sizes import item_size_bytes
from ._values import Item

READ_UNIT_BYTES = 4096
WRITE_UNIT_BYTES = 1024
_Kind: TypeAlias = Literal["Read", "Write"]


class Meter:
    """Adds up what one request consumes, for its response."""

    def __init__(self, request: Request) -> None:
        params = request.params
        self._wanted = params.get("ReturnConsumedCapacity", "NONE")
        if self._wanted not in ("INDEXES", "TOTAL", "NONE"):
            raise Refusal("Value at 'returnConsumedCapacity' must be one of: INDEXES, TOTAL, NONE")
        self._is_transaction = "TransactItems" in params
        self._is_list = "TableName" not in params
        self._kind: _Kind = "Read"
        self._consumed: dict[str, dict[str | None, float]] = {}

    def read(
        self, table: str, items: Iterable[Item | None], *, consistent: bool = False, index: str | None = None
    ) -> None:
        """Count `items` that were read together; nothing costs as much as something small."""
        size_bytes = sum(item_size_bytes(item) for item in items if item is not None)
        rate = 1 if consistent or self._is_transaction else 0.5
        self._count(table, index, _units(size_bytes, READ_UNIT_BYTES) * rate)

    def write(self, table: str, old: Item | None, new: Item | None, schema: Schema) -> None:
        """Count a write that found `old` and left `new`, in the table and in those indexes in which it shows."""
        self._kind = "Write"
        sizes = [item_size_bytes(item) for item in (old, new) if item is not None]
        self._count(table, None, _units(max(sizes, default=0), WRITE_UNIT_BYTES))
        for path in schema.indexes:
            if units := _index_units(path, old, new):
                self._count(table, path.index, units)

    def report(self) -> dict[str, Any]:
        """The part of the response that says what was consumed; empty where nobody asked."""
        if self._wanted == "NONE":
            return {}
        reports = [self._report(table, consumed) for table, consumed in self._consumed.items()]
        return {"ConsumedCapacity": reports if self._is_list else reports[0]}

    def _count(self, table: str, index: str | None, units: float) -> None:
        consumed = self._consumed.setdefault(table, {None: 0.0})
        consumed[index] = consumed.get(index, 0.0) + units * (2 if self._is_transaction else 1)

    def _report(self, table: str, consumed: dict[str | None, float]) -> dict[str, Any]:
        report = {"TableName": table, **self._capacity(sum(consumed.values()))}
        if self._wanted == "INDEXES":
            report["Table"] = self._capacity(consumed[None])
            indexes = {index: self._capacity(units) for index, units in consumed.items() if index is not None}
            if indexes:
                report["GlobalSecondaryIndexes"] = indexes
        return report

    def _capacity(self, units: float) -> dict[str, Any]:
        return {"CapacityUnits": units, **({f"{self._kind}CapacityUnits": units} if self._is_transaction else {})}


def _index_units(path: AccessPath, old: Item | None, new: Item | None) -> int:
    before, after = (path.entries([] if item is None else [item]) for item in (old, new))
    if before == after:
        return 0
    entries = [*before, *after]
    # An entry that changes in place is one write; one that moves is taken from its old place and put to its new one.
    if len(entries) == 2 and all(before[0][name] == after[0][name] for name in path.key_attributes):
        entries = [max(entries, key=item_size_bytes)]
    return sum(_units(item_size_bytes(entry), WRITE_UNIT_BYTES) for entry in entries)


def _units(size_bytes: int, unit_bytes: int) -> int:
    return max(1, -(-size_bytes // unit_bytes))
