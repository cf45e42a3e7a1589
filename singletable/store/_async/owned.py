"""What belongs to one resource, found by its keys, whether it has expired or not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Any, cast

from pydantic import BaseModel

from singletable.schemas import (
    Evaluation,
    Event,
    Message,
    Score,
    Session,
    Span,
    Thread,
    ThreadState,
    WorkflowSnapshot,
)

from ..._async.results import AsyncResults
from ..._async.rounds import AsyncRounds
from ..._async.scan import AsyncScan
from ..._async.table import AsyncTable
from ...declare import PrimaryKey
from ...items import key_fields


class MessagePlace(BaseModel):
    """As much of a message as its deletion needs."""

    id: str
    thread_id: str
    created_at: datetime
    order: str

    @property
    def key(self) -> Message.Key:
        """The key of the message."""
        return Message.Key(thread_id=self.thread_id, created_at=self.created_at, order=self.order)

    @property
    def pointer(self) -> Message.ById:
        """The key of its pointer."""
        return Message.ById(id=self.id)


class SpanOwner(BaseModel):
    """As much of a span as tells whose it is."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    resource_id: str | None = None

    @property
    def key(self) -> Span.Key:
        """The key of the span."""
        return Span.Key(trace_id=self.trace_id, span_id=self.span_id)

    @property
    def is_root(self) -> bool:
        """Whether it is the span, or one of the spans, at which its trace begins."""
        return self.parent_span_id is None


class _Nothing(BaseModel):
    """Nothing but the key of an item."""


async def key_pages(results: AsyncResults[Any, Any]) -> AsyncIterator[list[PrimaryKey[Any]]]:
    """The keys of all results, one page of DynamoDB's at a time; an index holds them, so that no item is read."""
    rounds = AsyncRounds(results.sender, results.plan.selecting(_Nothing), results.budget, list(results.plan.lanes()))
    while not rounds.finished:
        entries = await rounds.entries(None)
        yield [cast(Any, entry.model).Key(**key_fields(entry.model, entry.item)) for entry in entries]


def threads_of(table: AsyncTable, owner: str) -> AsyncResults[Thread, Thread]:
    """The rows of the resource's threads."""
    return table.query(Thread.ByResource(resource_id=owner)).with_expired()


def messages_in(table: AsyncTable, thread_id: str) -> AsyncResults[Message, MessagePlace]:
    """The messages of a thread."""
    return table.query(Message.InThread(thread_id=thread_id)).with_expired().select(MessagePlace)


def states_in(table: AsyncTable, thread_id: str) -> AsyncResults[ThreadState, ThreadState]:
    """The states of a thread."""
    return table.query(ThreadState.InThread(thread_id=thread_id)).with_expired()


def listed_of(table: AsyncTable, owner: str) -> list[AsyncResults[Any, Any]]:
    """The runs, scores and evaluations of the resource."""
    return [
        table.query(WorkflowSnapshot.ByResource(resource_id=owner)).with_expired(),
        table.query(Score.ByResource(resource_id=owner)).with_expired(),
        table.query(Evaluation.ByResource(resource_id=owner)).with_expired(),
    ]


def sessions_of(table: AsyncTable, actor: str) -> list[AsyncResults[Any, Any]]:
    """The events of the actor's sessions, and the sessions."""
    return [
        table.query(Event.ByActor(actor_id=actor)).with_expired(),
        table.query(Session.ByActor(actor_id=actor)).with_expired(),
    ]


def spans_of(table: AsyncTable, owner: str) -> AsyncResults[Span, Span]:
    """The spans that name the resource."""
    return table.query(Span.ByResource(resource_id=owner)).with_expired()


async def owned_in(table: AsyncTable, trace_id: str, owner: str) -> list[SpanOwner]:
    """The spans of a trace that name the resource, and where all its roots do, those that name nobody."""
    spans = await table.query(Span.InTrace(trace_id=trace_id)).with_expired().select(SpanOwner).all()
    roots = [span for span in spans if span.is_root]
    wanted = {owner, None} if roots and all(span.resource_id == owner for span in roots) else {owner}
    found = [span for span in spans if span.resource_id in wanted]
    return found


def strays_of(table: AsyncTable, owner: str) -> AsyncScan[Message, MessagePlace]:
    """The messages of the resource, in whatever threads: it takes a scan to find them."""
    scan = table.scan(Message, allow_scan=True).with_expired()
    return scan.filter(lambda message: message.resource_id == owner).select(MessagePlace)


def trace_ids(keys: Sequence[PrimaryKey[Any]]) -> list[str]:
    """The traces of spans, each once."""
    return list(dict.fromkeys(key.trace_id for key in keys if isinstance(key, Span.Key)))
