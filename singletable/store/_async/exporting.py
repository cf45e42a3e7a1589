"""Everything of a resource, a thread or a table, page by page, to be kept elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, cast

from singletable.schemas import (
    Evaluation,
    Event,
    Message,
    Resource,
    Score,
    Session,
    Span,
    Thread,
    ThreadState,
    Tombstone,
    WorkflowSnapshot,
)

from ..._async.query import AsyncQuery
from ..._async.rounds import AsyncRounds
from ..._async.table import AsyncTable
from ...conditions import missing
from ...cursors import cursor_place, cursor_text, damaged
from ...entity import Entity
from ...errors import CorruptItemError, RequestError
from ...page import Page
from ..records import MOVED
from .filtering import require_text
from .owned import owned_in
from .threads import thread_not_found

PAGE = 100
"""Entities of a page; each may have 400 KB."""
SPANS = 25
"""Spans of a page: a root brings along what its trace has without an owner."""

Place: TypeAlias = object
"""Where a step goes on, as JSON; None at its beginning."""


class Part(NamedTuple):
    """Some of what a step gives, and where it goes on; None where it has come to its end."""

    items: Sequence[Entity]
    place: Place


class AsyncStep(Protocol):
    """One of the readings of an export."""

    async def __call__(self, place: Place, /) -> Part:
        """What it gives at a place."""
        ...


Report: TypeAlias = Callable[[CorruptItemError], None]


class AsyncExporting:
    """Reading out what a store keeps.

    An export is not as of one moment: what is written meanwhile may be in it or not.  Nothing is in it that has
    expired, or that is of a deleted thread."""

    table: AsyncTable

    async def export_resource(
        self, resource_id: str, *, cursor: str | None = None, on_corrupt: Report | None = None
    ) -> AsyncIterator[Page[Entity]]:
        """All that is stored of a resource: what `erase_resource` would remove, without a scan.

        The resource, its threads, each with its states and then its messages, oldest first, the runs, scores and
        evaluations that name it, its sessions as an actor and their events, and the spans that name it; of a trace all
        of whose roots name it, also the spans that name nobody.  Found by indexes, which may lag behind a write by
        moments.  Pages may be empty.  To go on after an interruption, pass the `.cursor` of the last page that was
        kept.  An item that does not fit its entity raises CorruptItemError, or is given to `on_corrupt` and left out.

        About five requests for a thread, and one for 100 of its messages; two for 100 of the rest; one for a trace."""
        require_text("resource_id", resource_id)
        reader = AsyncReader(self.table, on_corrupt)
        async for page in reader.pages(("resource", resource_id), reader.of_resource(resource_id), cursor):
            yield page

    async def export_thread(
        self, thread_id: str, *, cursor: str | None = None, on_corrupt: Report | None = None
    ) -> AsyncIterator[Page[Entity]]:
        """A thread, its states, and its messages, oldest first; goes on like `export_resource`.

        Raises NotFoundError where there is nothing of such a thread.  Four requests, and one for 100 messages."""
        require_text("thread_id", thread_id)
        reader = AsyncReader(self.table, on_corrupt)
        found = cursor is not None
        async for page in reader.pages(("thread", thread_id), reader.of_thread(thread_id), cursor):
            found = found or bool(page.items)
            yield page
        if not found:
            raise thread_not_found(self.table.name)

    async def export_all(
        self, *, allow_scan: bool = False, cursor: str | None = None, on_corrupt: Report | None = None
    ) -> AsyncIterator[Page[Entity]]:
        """Everything in the table, in no order; with a scope, everything of the tenant.

        Reads, and bills, the whole table: raises RequestError without `allow_scan=True`.  One request for each MB, and
        one for the threads that it names.  Goes on like `export_resource`; its cursors hold keys of items that were
        passed over, be they of other tenants: keep them where these may be seen."""
        if not allow_scan:
            raise RequestError("this reads, and bills, the whole table: say allow_scan=True if it is meant")
        reader = AsyncReader(self.table, on_corrupt)
        async for page in reader.pages(("all",), [reader.scanned], cursor):
            yield page


@dataclass(frozen=True)
class AsyncReader:
    """One export: the steps that it takes."""

    table: AsyncTable
    on_corrupt: Report | None

    async def pages(
        self, question: tuple[object, ...], steps: Sequence[AsyncStep], cursor: str | None
    ) -> AsyncIterator[Page[Entity]]:
        """What the steps give, one after the other, each page with the cursor after it."""
        bound = ("export", self.table.scope, *question)
        place = None if cursor is None else cursor_place(bound, cursor)
        while True:
            items, place = await _next(steps, place)
            yield Page(list(items), None if place is None else cursor_text(bound, place))
            if place is None:
                return

    def of_resource(self, owner: str) -> list[AsyncStep]:
        """The steps for all that is a resource's."""
        table = self.table
        return [
            partial(self._paged, table.query(Resource.Key(id=owner)), PAGE),
            partial(self._threads, owner),
            partial(self._paged, table.query(WorkflowSnapshot.ByResource(resource_id=owner)), PAGE),
            partial(self._paged, table.query(Score.ByResource(resource_id=owner)), PAGE),
            partial(self._paged, table.query(Evaluation.ByResource(resource_id=owner)), PAGE),
            partial(self._paged, table.query(Session.ByActor(actor_id=owner)), PAGE),
            partial(self._paged, table.query(Event.ByActor(actor_id=owner)), PAGE),
            partial(self._spans, owner),
        ]

    def of_thread(self, thread_id: str) -> list[AsyncStep]:
        """The steps for all that is in a thread."""
        queries: list[AsyncQuery[Any, Any]] = [
            self.table.query(Thread.Key(id=thread_id)),
            self.table.query(ThreadState.InThread(thread_id=thread_id)),
            self.table.query(Message.InThread(thread_id=thread_id)),
        ]
        return [partial(self._in_thread, query, thread_id) for query in queries]

    async def scanned(self, place: Place) -> Part:
        """What one page of a scan gives, without what is of deleted threads."""
        scan = self.table.scan(*MOVED, allow_scan=True)
        plan = scan.plan
        rounds = AsyncRounds(scan.sender, plan, scan.budget, plan.resumed(_text(place)))
        found: list[Entity] = []
        for entry in await rounds.entries(None):
            try:
                found.append(self.table.load(entry.model, entry.item))
            except CorruptItemError as error:
                if self.on_corrupt is None:
                    raise
                self.on_corrupt(error)
        return Part(await self._visible(found), None if rounds.finished else plan.onward(rounds.lanes))

    async def _paged(self, query: AsyncQuery[Any, Any], size: int, place: Place) -> Part:
        if self.on_corrupt is not None:
            query = query.on_corrupt(self.on_corrupt)
        page = await query.page(size, _text(place))
        return Part(page.items, page.cursor)

    async def _in_thread(self, query: AsyncQuery[Any, Any], thread_id: str, place: Place) -> Part:
        found = await self._paged(query, PAGE, place)
        # After it was read, so that nothing is given of a thread that was deleted by then.
        if found.items and await self.table.get(Tombstone.Key(thread_id=thread_id)) is not None:
            return Part([], None)
        return found

    async def _threads(self, owner: str, place: Place) -> Part:
        """Some of one thread of a resource: of the first one after a cursor of their list."""
        after, within, inner = _parts(place, 3) if place is not None else (None, None, None)
        threads = self.table.query(Thread.ByResource(resource_id=owner))
        found = await self._paged(threads, 1, after)
        if not found.items:
            return Part([], found.place and [found.place, None, None])
        (thread,) = cast("Sequence[Thread]", found.items)
        # Where the thread was left in the middle; it may be gone since, and another be the first.
        items, inner = await _next(self.of_thread(thread.id), inner if thread.id == within else None)
        if inner is not None:
            return Part(items, [after, thread.id, inner])
        return Part(items, found.place and [found.place, None, None])

    async def _spans(self, owner: str, place: Place) -> Part:
        found = await self._paged(self.table.query(Span.ByResource(resource_id=owner)), SPANS, place)
        items = list(found.items)
        for span in cast("Sequence[Span]", found.items):
            if span.parent_span_id is None:
                items += await self._unnamed(span, owner)
        return Part(items, found.place)

    async def _unnamed(self, root: Span, owner: str) -> list[Span]:
        """The spans of a trace that name nobody, where they are the resource's; with its first root, so only once."""
        owned = await owned_in(self.table, root.trace_id, owner)
        unnamed = {span.span_id for span in owned if span.resource_id is None}
        if not unnamed or root.span_id != min(span.span_id for span in owned if span.is_root):
            return []
        spans = self.table.query(Span.InTrace(trace_id=root.trace_id)).filter(lambda span: missing(span.resource_id))
        if self.on_corrupt is not None:
            spans = spans.on_corrupt(self.on_corrupt)
        return [span async for span in spans if span.span_id in unnamed]

    async def _visible(self, found: Sequence[Entity]) -> list[Entity]:
        """The entities without those of deleted threads."""
        ids = dict.fromkeys(thread_id for one in found if (thread_id := thread_of(one)) is not None)
        tombstones = await self.table.get_many([Tombstone.Key(thread_id=thread_id) for thread_id in ids])
        deleted = {tombstone.thread_id for tombstone in tombstones}
        return [one for one in found if thread_of(one) not in deleted]


def thread_of(entity: Entity) -> str | None:
    """The thread that an entity goes with: no run, score or span does, though it may name one."""
    match entity:
        case Thread():
            return entity.id
        case Message() | ThreadState():
            return entity.thread_id
        case _:
            return None


async def _next(steps: Sequence[AsyncStep], place: Place) -> Part:
    """What the step gives at which `place` is, and the place after it: the number of a step, and a place in that."""
    number, inner = _parts(place, 2) if place is not None else (0, None)
    if not isinstance(number, int) or not 0 <= number < len(steps):
        raise damaged()
    items, inner = await steps[number](inner)
    if inner is not None:
        return Part(items, [number, inner])
    return Part(items, [number + 1, None] if number + 1 < len(steps) else None)


def _parts(place: Place, count: int) -> list[Place]:
    """The parts of a place that has several."""
    if not isinstance(place, list) or len(parts := cast("list[Place]", place)) != count:
        raise damaged()
    return parts


def _text(place: Place) -> str | None:
    """The cursor that a place is."""
    if place is None or isinstance(place, str):
        return place
    raise damaged()
