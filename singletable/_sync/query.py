# Generated from ../_async/query.py by scripts/generate_sync.py; edit that file.
"""Queries: built step by step, sent when they are iterated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, cast

from pydantic import BaseModel

from ..declare import TABLE
from ..entity import Entity
from ..errors import RequestError
from ..expressions import record
from ..items import check_projection, from_item, from_projection
from ..page import Page
from ..plans import Plan
from ..wire import Request, WireItem
from .sender import Sender

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=BaseModel)
P = TypeVar("P", bound=BaseModel)
LARGEST_LIMIT = 2**31 - 1
"""What DynamoDB takes for Limit; a page ends at 1 MB long before."""
FILTERED_PAGE = 100
"""With a filter, DynamoDB's Limit counts what is read before it: smaller pages would cost a request for each hit."""


@dataclass(frozen=True)
class Query(Generic[E, R]):
    """A query over entities E with results R: each method returns a new one, and nothing is sent before iteration.

    Reads of the table are strongly consistent, reads of an index cannot be.  Expired items are left out."""

    sender: Sender
    plan: Plan
    most: int | None = None

    def reverse(self) -> Query[E, R]:
        """The same results in descending order of the sort key."""
        return replace(self, plan=replace(self.plan, reverse=not self.plan.reverse))

    def limit(self, most: int) -> Query[E, R]:
        """The first `most` results."""
        if most < 1:
            raise RequestError(f"limit must be 1 or more, not {most}")
        return replace(self, most=most)

    def consistent(self, consistent: bool, /) -> Query[E, R]:
        """Strongly consistent, or at half the read units; raises RequestError if an index is to be consistent."""
        if consistent and self.plan.index.name != TABLE:
            raise RequestError(f"{self.plan.index.name} cannot be read consistently; read the table, or leave it out")
        return replace(self, plan=replace(self.plan, consistent=consistent))

    def filter(self, test: Callable[[E], bool]) -> Query[E, R]:
        """The results for which `test` holds; DynamoDB reads, and bills, the others as well."""
        if len(self.plan.specs) > 1:
            raise RequestError("a filter applies to one entity; this query reads several")
        condition = record(test, self.plan.specs[0])
        return replace(self, plan=replace(self.plan, filters=(*self.plan.filters, condition)))

    def select(self, model: type[P]) -> Query[E, P]:
        """Only the fields of `model`, whose names are fields of the entity; the read units stay the same."""
        if len(self.plan.specs) > 1:
            raise RequestError("a projection applies to one entity; this query reads several")
        check_projection(model, self.plan.specs[0])
        return Query(self.sender, replace(self.plan, projection=model), self.most)

    def request(self) -> Request:
        """The first request that iteration would send."""
        return self.plan.request(self.sender.clock(), limit=self._page_limit(self.most))

    def __iter__(self) -> Iterator[R]:
        """All results, one page in memory at a time."""
        for item in self._items(self.most, None):
            yield self._load(item)

    def all(self) -> list[R]:
        """All results."""
        return [result for result in self]

    def first(self) -> R | None:
        """The first result, or None."""
        results = self.limit(1).all()
        return results[0] if results else None

    def page(self, size: int, cursor: str | None = None) -> Page[R]:
        """Up to `size` results, and the cursor of the next page if there is one.

        One item more is read, so that a cursor is given only where results follow."""
        if size < 1 or self.most is not None:
            raise RequestError(f"a page needs a size of 1 or more, not {size}, and a query without limit()")
        start = None if cursor is None else self.plan.start(cursor)
        items = [item for item in self._items(size + 1, start)]
        more = len(items) > size
        return Page([self._load(item) for item in items[:size]], self.plan.cursor(items[size - 1]) if more else None)

    def count(self) -> int:
        """How many results there are; all of them are read, none is sent back."""
        if len(self.plan.specs) > 1:
            raise RequestError("a count applies to one entity; this query reads several")
        plan = replace(self.plan, projection=None)
        total, start = 0, None
        while True:
            request = plan.request(self.sender.clock(), start=start)
            response = self._send(Request("Query", {**request.params, "Select": "COUNT"}))
            total += cast("int", response["Count"])
            start = response.get("LastEvaluatedKey")
            if not start:
                return total if self.most is None else min(total, self.most)

    def _items(self, most: int | None, start: WireItem | None) -> Iterator[WireItem]:
        left = most
        while True:
            request = self.plan.request(self.sender.clock(), limit=self._page_limit(left), start=start)
            response = self._send(request)
            for item in response["Items"]:
                if self.plan.model_of(item) is None:
                    continue
                yield item
                left = None if left is None else left - 1
                if left == 0:
                    return
            start = response.get("LastEvaluatedKey")
            if not start:
                return

    def _send(self, request: Request) -> Any:
        return self.sender.send(request, entity=" and ".join(spec.name for spec in self.plan.specs))

    def _page_limit(self, left: int | None) -> int | None:
        if left is None:
            return None
        return min(max(left, FILTERED_PAGE) if self.plan.filters else left, LARGEST_LIMIT)

    def _load(self, item: WireItem) -> R:
        model = cast("type[Entity]", self.plan.model_of(item))
        if self.plan.projection:
            return cast("R", from_projection(self.plan.projection, item, model.spec))
        return cast("R", from_item(model, item, self.sender.requests.expiry.attribute))
