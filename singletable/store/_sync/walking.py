# Generated from ../_async/walking.py by scripts/generate_sync.py; edit that file.
"""All messages of a thread as they are stored, one page of DynamoDB's at a time."""

from __future__ import annotations

from collections.abc import Iterator

from singletable.schemas import Message

from ..._sync.query import Query
from ..._sync.rounds import Rounds
from ...wire import WireItem


def stored_pages(query: Query[Message, Message]) -> Iterator[list[WireItem]]:
    """The items of each page that DynamoDB gives, of up to 1 MB; nothing is sent before it is iterated."""
    rounds = Rounds(query.sender, query.plan, query.budget, query.plan.lanes())
    while not rounds.finished:
        yield [entry.item for entry in rounds.entries(None)]
