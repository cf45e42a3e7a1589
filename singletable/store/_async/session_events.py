"""What happens in sessions: events that are added, and never changed."""

from __future__ import annotations

from collections.abc import Iterable

from singletable.schemas import Event

from ...fences import Fence
from ...page import Page
from ..stamps import milliseconds
from .domain import AsyncDomain
from .paging import paged


class AsyncSessionEvents(AsyncDomain):
    """The events of sessions, beside their states: adding one is in nobody's way."""

    async def append(
        self, actor_id: str, session_id: str, events: Iterable[object], *, fence: Fence | None = None
    ) -> list[Event]:
        """Add events, any JSON each, all or none; they come back as they are stored.

        They never conflict, neither with each other nor with turns.  Their order is that of the calls, and within one
        that in which they were given; between machines it is that of their clocks.  It never changes.  A session of
        which no turn was committed has events all the same.

        One request for up to 100 events, or 4 MB, with a fence 99; RequestError for more.  One write unit for each KB
        and one for the index, both twice if it is more than one event or under a fence, a lease: that must be held, or
        nothing is written: LeaseLostError."""
        given, now = list(events), milliseconds(self.clock())
        names = {"actor_id": actor_id, "session_id": session_id}
        orders = self.orders.next(self.clock(), len(given))
        stored = [
            Event(**names, order=order, data=data, created_at=now) for order, data in zip(orders, given, strict=True)
        ]
        tx = self.table.transaction(fence=fence)
        for event in stored:
            tx.create(event)
        if tx.writes or fence:
            await tx.sender.write(tx.writes)
        return stored

    async def list_events(
        self, actor_id: str, session_id: str, *, page: int = 0, per_page: int | None = 100, cursor: str | None = None
    ) -> Page[Event]:
        """The events of a session, oldest first; strongly consistent."""
        query = self.table.query(Event.InSession(actor_id=actor_id, session_id=session_id))
        return await paged(query, page=page, per_page=per_page, cursor=cursor, include_total=False)
