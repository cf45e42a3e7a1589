"""What the calls of a store consume, and what the calls of both stores are about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from singletable.testing import MemoryDatabase
from singletable.values import JsonObject
from singletable.wire import Operation, Request, Response

TABLE = "agents"
READS = {"GetItem", "Query", "BatchGetItem"}


class Bill(NamedTuple):
    """What a call took."""

    requests: int
    read_units: float
    write_units: float


class Metered:
    """A transport to a DynamoDB in memory that notes what each request consumes, whichever thread sends it."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.database = database
        self._consumed: list[tuple[Operation, float]] = []

    def send(self, request: Request) -> Response:
        """The response of the database."""
        params = {**request.params, "ReturnConsumedCapacity": "TOTAL"}
        response = self.database.execute(request._replace(params=params))
        consumed: Any = response["ConsumedCapacity"]
        reports: list[dict[str, Any]] = [consumed] if "CapacityUnits" in consumed else consumed
        self._consumed.append((request.operation, sum(report["CapacityUnits"] for report in reports)))
        return response

    def close(self) -> None:
        """Nothing to give up."""

    def bill(self, call: Callable[[], object]) -> Bill:
        """What one call takes."""
        self._consumed.clear()
        call()
        read = sum(units for operation, units in self._consumed if operation in READS)
        return Bill(len(self._consumed), read, sum(units for _, units in self._consumed) - read)


def ident(number: int) -> str:
    """An id as long as a UUID."""
    return f"{number:08}-0000-4000-8000-000000000000"


def content_of(text: str) -> JsonObject:
    """The content of a message in the form that both stores keep."""
    return {"format": 2, "parts": [{"type": "text", "text": text}]}


def snapshot_of(text: str) -> JsonObject:
    """Where a workflow stands before its next step."""
    return {"status": "running", "context": {"input": {"text": text}}, "requestContext": {}}


THREAD, OWNER, RUN, WORKFLOW, STEP = ident(1), ident(2), ident(3), "booking", "pay"
RESULT: JsonObject = {"status": "success", "output": {"paid": True}}
LATER = 60_000
"""The millisecond of what changes, after that of what is made."""
