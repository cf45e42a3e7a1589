# Generated from ../_async/results.py by scripts/generate_sync.py; edit that file.
"""What queries and scans have in common: results that are read when they are iterated."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar, cast

from pydantic import BaseModel

from ..budgets import UNBOUNDED, Budget
from ..entity import Entity
from ..errors import BudgetExceededError, CorruptItemError, RequestError
from ..page import Page
from ..plans import Lane, Plan
from ..wire import Request
from .rounds import Entry, Rounds
from .sender import Sender

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Results(ABC, Generic[E, R]):
    """The results R of a reading of entities E: each method returns a new one, and nothing is sent before iteration."""

    sender: Sender
    plan: Plan
    most: int | None = None
    budget: Budget = UNBOUNDED
    report: Callable[[CorruptItemError], None] | None = None

    def limit(self, most: int) -> Self:
        """The first `most` results."""
        if most < 1:
            raise RequestError(f"limit must be 1 or more, not {most}")
        return replace(self, most=most)

    def consistent(self, consistent: bool, /) -> Self:
        """Strongly consistent, or at half the read units; raises RequestError if an index is to be consistent."""
        return replace(self, plan=self.plan.reading(consistent=consistent))

    def filter(self, test: Callable[[E], bool]) -> Self:
        """The results for which `test` holds; DynamoDB reads, and bills, the others as well: see `within`.

        Raises RequestError where an index is read that does not hold what `test` compares."""
        return replace(self, plan=self.plan.filtered(test))

    def within(self, *, max_rcu: float | None = None, max_items: int | None = None) -> Self:
        """The same, but one call reads no more than `max_items` items, those that are filtered out among them.

        `max_rcu` ends it as soon as so many read units are consumed, so that its last requests may go beyond.
        `page` then returns what it has, and a cursor; all else raises BudgetExceededError with a cursor for `page`."""
        return replace(self, budget=Budget(max_rcu, max_items))

    def with_expired(self) -> Self:
        """The same, with the items that have expired and that DynamoDB has not removed yet."""
        return replace(self, plan=replace(self.plan, with_expired=True))

    def on_corrupt(self, report: Callable[[CorruptItemError], None]) -> Self:
        """The same, but an item that does not fit its entity is given to `report` and left out, instead of raised.

        It takes its place on its page, which has fewer results, and is counted by `count`, which looks into none."""
        return replace(self, report=report)

    def request(self) -> Request:
        """The first request that iteration would send."""
        return self._rounds(self.plan).requests(self.most)[0]

    def __iter__(self) -> Iterator[R]:
        """All results, one round of pages in memory at a time."""
        rounds, left = self._rounds(self.plan), self.most
        while not rounds.finished:
            self._require_budget(rounds)
            for result in self._loaded(rounds.entries(left)):
                yield result
                left = None if left is None else left - 1
                if left == 0:
                    return

    def all(self) -> list[R]:
        """All results.  Where a budget ends them, those that were read are lost: iterate, or ask for pages."""
        return [result for result in self]

    def count(self) -> int:
        """How many results there are; all of them are read, and at most their keys are sent back.

        An index that holds only keys does not know what has expired, so that the items themselves are read as well."""
        rounds, total = self._rounds(self.plan.counted()), 0
        while not rounds.finished and (self.most is None or total < self.most):
            self._require_budget(rounds)
            total += rounds.count()
        return total if self.most is None else min(total, self.most)

    @abstractmethod
    def page(self, size: int, cursor: str | None = None) -> Page[R]:
        """Up to `size` results, and how to go on."""

    def _rounds(self, plan: Plan, lanes: Sequence[Lane] | None = None) -> Rounds:
        return Rounds(self.sender, plan, self.budget, list(plan.lanes() if lanes is None else lanes))

    def _collected(self, rounds: Rounds, size: int) -> list[Entry]:
        """At least `size` entries, unless the reading or its budget ends before."""
        if size < 2 or self.most is not None:
            raise RequestError(f"a page needs a size of 1 or more, not {size - 1}, and is taken without limit()")
        entries: list[Entry] = []
        while len(entries) < size and not rounds.finished and not rounds.exhausted:
            entries += rounds.entries(size - len(entries))
        return entries

    def _loaded(self, entries: Iterable[Entry]) -> Iterable[R]:
        for entry in entries:
            try:
                yield cast("R", self.plan.load(entry.model, entry.item))  # a plan does not know the type of its results
            except CorruptItemError as error:
                if self.report is None:
                    raise
                self.report(error)

    def _require_budget(self, rounds: Rounds) -> None:
        if rounds.exhausted:
            raise BudgetExceededError(
                "the budget was used up before the reading came to its end; .cursor goes on from there",
                cursor=self.plan.onward(rounds.lanes),
            )
