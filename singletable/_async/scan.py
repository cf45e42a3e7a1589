"""Scans: all items of an entity, wherever they lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from ..entity import Entity
from ..page import Page
from ..plans import Lane
from ..scans import ScanPlan
from .results import AsyncResults

E = TypeVar("E", bound=Entity)
R = TypeVar("R", bound=BaseModel)
P = TypeVar("P", bound=BaseModel)


@dataclass(frozen=True)
class AsyncScan(AsyncResults[E, R]):
    """A scan for entities E with results R: each method returns a new one, and nothing is sent before iteration.

    It reads, and bills, the whole table, strongly consistent; up to 8 segments at once.  The results have no order.
    Expired items are left out, and so is what other tenants stored."""

    plan: ScanPlan

    def select(self, model: type[P]) -> AsyncScan[E, P]:
        """Only the fields of `model`, whose names are fields of the entity; the read units stay the same."""
        return AsyncScan(self.sender, self.plan.selecting(model), self.most, self.budget, self.report)

    async def page(self, size: int, cursor: str | None = None) -> Page[R]:
        """Up to `size` results, and a cursor where more follow, or where a budget ended the page.

        The cursor is of a scan with as many segments.  It holds keys of items that were passed over, be they of other
        tenants: keep it where these may be seen."""
        rounds = self._rounds(self.plan, self.plan.resumed(cursor))
        entries = await self._collected(rounds, size + 1)
        lanes = list(rounds.lanes)
        # Backwards, so that each segment goes on before the first of its entries that is left for the next page.
        for entry in reversed(entries[size:]):
            lanes[entry.lane] = Lane(entry.before)
        more = any(not lane.finished for lane in lanes)
        return Page(list(self._loaded(entries[:size])), self.plan.onward(lanes) if more else None)
