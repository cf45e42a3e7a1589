# Generated from ../_async/query.py by scripts/generate_sync.py; edit that file.
"""Queries: built step by step, sent when they are iterated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, TypeVar

from pydantic import BaseModel

from ..entity import Entity
from ..grouping import Grouped, grouped
from ..page import Page
from ..plans import Lane
from ..queries import Place, QueryPlan
from .results import Results

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=BaseModel)
P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True)
class Query(Results[E, R]):
    """A query over entities E with results R: each method returns a new one, and nothing is sent before iteration.

    Reads of the table are strongly consistent, reads of an index cannot be.  Expired items are left out.  Where an
    index does not hold all that is asked for, its items are read from the table: strongly consistent, in the order of
    the index, without those that are no longer what the query asks for."""

    plan: QueryPlan

    def reverse(self) -> Self:
        """The same results in descending order of the sort key."""
        return replace(self, plan=self.plan.reversed())

    def select(self, model: type[P]) -> Query[E, P]:
        """Only the fields of `model`, whose names are fields of the entity; the read units stay the same.

        They are fewer where an index holds these fields, but not all: then the items themselves are not read."""
        return Query(self.sender, self.plan.selecting(model), self.most, self.budget, self.report)

    def first(self) -> R | None:
        """The first result, or None."""
        results = self.limit(1).all()
        return results[0] if results else None

    def grouped(self) -> Grouped:
        """All results by entity: `grouped[Message]` is a list, empty where there are none."""
        models = [self.plan.projection] if self.plan.projection else self.plan.models
        return grouped(models, self.all())

    def page(self, size: int, cursor: str | None = None) -> Page[R]:
        """Up to `size` results after a page's `cursor`, or those before its `previous`; in the order of the query.

        One item more is read, so that a cursor is given only where results follow, unless a budget ended the page."""
        place = self.plan.place(cursor)
        plan = self.plan.reversed() if place.backward else self.plan
        rounds = self._rounds(plan, [Lane(place.key)])
        entries = self._collected(rounds, size + 1)
        kept, (lane,) = entries[:size], rounds.lanes
        ahead = behind = None
        if len(entries) > size or not lane.finished:
            end = entries[size].before if len(entries) > size else lane.after
            ahead = self.plan.cursor(Place(end, place.backward))
        if place.key:
            start = kept[0].place if kept else lane.after
            behind = self.plan.cursor(Place(start, not place.backward))
        results = list(self._loaded(kept))
        if place.backward:
            return Page(results[::-1], behind, previous=ahead)
        return Page(results, ahead, previous=behind)
