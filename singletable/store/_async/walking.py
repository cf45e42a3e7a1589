"""All messages of a thread as they are stored, one page of DynamoDB's at a time."""

from __future__ import annotations

from collections.abc import AsyncIterator

from singletable.schemas import Message

from ..._async.query import AsyncQuery
from ..._async.rounds import AsyncRounds
from ...wire import WireItem


async def stored_pages(query: AsyncQuery[Message, Message]) -> AsyncIterator[list[WireItem]]:
    """The items of each page that DynamoDB gives, of up to 1 MB; nothing is sent before it is iterated."""
    rounds = AsyncRounds(query.sender, query.plan, query.budget, query.plan.lanes())
    while not rounds.finished:
        yield [entry.item for entry in await rounds.entries(None)]
