"""The newest messages of a thread, without a result of a tool that has lost its call."""

from __future__ import annotations

from typing import Literal, TypeAlias

from singletable.schemas import Message

from ..._async.query import AsyncQuery
from ...errors import RequestError
from ...page import Page
from ..turns import window_of
from .domain import AsyncDomain
from .selecting import cursor_at

Align: TypeAlias = Literal["turn"]
SPARE = 8
"""Messages that are read beyond those that are wanted: most turns begin among them."""
STEP = 50
"""Messages that are read at a time to find an earlier call."""
LOOK_BACK = 200
"""How many messages before the window a call is looked for; a result without one counts as unpaired."""


class AsyncAligning(AsyncDomain):
    """Windows that begin before or after a call and its results, never between them."""

    async def _last_turns(
        self, query: AsyncQuery[Message, Message], last: int, cursor: str | None = None
    ) -> Page[Message]:
        """The first `last` messages of a query that goes backwards, and as many more as it takes; newest first."""
        return await self._extended(query, await query.page(last + SPARE, cursor), last)

    async def _extended(self, query: AsyncQuery[Message, Message], newest: Page[Message], last: int) -> Page[Message]:
        read, cursor = list(newest.items), newest.cursor
        window = window_of(read, last)
        while window.is_open and cursor is not None and len(read) < last + LOOK_BACK:
            found = await query.page(STEP, cursor)
            read, cursor = read + found.items, found.cursor
            window = window_of(read, last)
        kept = read[: window.size]
        follows = cursor is not None or len(kept) < len(read)
        return Page(kept, cursor_at(query, kept[-1]) if kept and follows else None, previous=newest.previous)


def check_align(align: object) -> None:
    """Raise RequestError for an alignment that there is not."""
    if align not in (None, "turn"):
        raise RequestError('align must be "turn", or None')
