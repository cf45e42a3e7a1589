"""Several ordered queries read as one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from ..._async.query import AsyncQuery
from ...concurrency import gather_in_tasks

R = TypeVar("R", bound=BaseModel)
FILTERED = 100
"""Items that a request reads where DynamoDB filters them: few of them may come back."""


@dataclass
class _Lane(Generic[R]):
    """One of the queries, and how far it was read."""

    query: AsyncQuery[Any, R]
    rows: deque[R] = field(default_factory=deque[R])
    cursor: str | None = None
    finished: bool = False

    @property
    def is_dry(self) -> bool:
        """Whether its next row is not known yet."""
        return not self.rows and not self.finished

    async def fetch(self, count: int) -> None:
        """Read on, by one request."""
        found = await self.query.within(max_items=count).page(count, self.cursor)
        self.rows.extend(found.items)
        self.cursor, self.finished = found.cursor, found.cursor is None


class AsyncMerge(Generic[R]):
    """The results of queries of one order, in that order; nothing is sent before `take`."""

    def __init__(self, queries: Sequence[AsyncQuery[Any, R]], key: Callable[[R], Any], *, descending: bool) -> None:
        self._lanes = [_Lane(query) for query in queries]
        self._key = key
        self._descending = descending

    async def take(self, count: int) -> list[R]:
        """The next `count` results; fewer, where these are the last ones."""
        taken: list[R] = []
        while len(taken) < count:
            await self._refill(count - len(taken))
            lanes = [lane for lane in self._lanes if lane.rows]
            if not lanes:
                break
            lanes.sort(key=lambda lane: self._key(lane.rows[0]), reverse=self._descending)
            taken.append(lanes[0].rows.popleft())
        return taken

    async def _refill(self, wanted: int) -> None:
        """Read on, all at once, in the lanes whose next row is not known: it may be the next of all."""
        while dry := [lane for lane in self._lanes if lane.is_dry]:
            await gather_in_tasks([partial(lane.fetch, self._size(lane, wanted)) for lane in dry])

    def _size(self, lane: _Lane[R], wanted: int) -> int:
        """Somewhat more than the lane's share of what is wanted."""
        return FILTERED if lane.query.plan.is_selective else 1 + wanted * 2 // (1 + len(self._lanes))
