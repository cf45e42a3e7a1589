"""Messages that are changed, or moved to another place or thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime

from singletable.schemas import Message

from ..._async.transaction import AsyncTransaction
from ...errors import PartialSaveError, SingleTableError, TransactionFailedError
from ...fences import Fence
from ...refusals import refused_at
from ...requests import TRANSACTION_BYTES, TRANSACTION_MEMBERS
from ...values import KEEP
from ..contention import CHANGES, change_pause_seconds
from ..message_forms import MessageUpdate, several
from ..stamps import after
from .filtering import require_text
from .parts import OVERHEAD_BYTES
from .rows import AsyncRows, Known, touch
from .selecting import place_of
from .threads import thread_deleted

CHANGE_MEMBERS = 2
"""A message that changes in its place, and the row of its thread."""
MOVE_MEMBERS = 5
"""A message in its new place, its pointer, the place that it leaves, and the rows of both threads."""


@dataclass(frozen=True)
class _Change:
    """What becomes of a stored message."""

    update: MessageUpdate
    old: Message
    new: Message

    @property
    def moves(self) -> bool:
        """Whether the message gets another place."""
        return place_of(self.old) != place_of(self.new)

    @property
    def fields(self) -> AbstractSet[str]:
        """What changes of a message that stays in its place."""
        return self.update.given().keys() & {*Message.Patch.declared_names}

    @property
    def threads(self) -> set[str]:
        """The thread that is touched, or both."""
        return {self.old.thread_id, self.new.thread_id}


class AsyncUpdating(AsyncRows):
    """Messages changed by their ids."""

    async def update_messages(
        self, updates: Iterable[MessageUpdate], *, resource_id: str | None = None, fence: Fence | None = None
    ) -> list[Message]:
        """The messages after the changes, in the order of the updates; ids that are not there are left out.

        With `resource_id`, messages of other resources are as if they were not there.  `updated_at` of each thread
        that is touched moves forward: for a move, of both.  Of changes that are made at the same time none is lost:
        who was slower reads again what there is to change.  A message that changes keeps its expiry; one that moves
        gets a new one, and comes after those of its millisecond.

        Four requests for up to 50 changes, or 20 moves, all or none, and four more for each caller who was faster; two
        write units for each KB of a message before or after, and two for its thread.  More than that, or than 4 MB
        before and after, are changed in parts, in order: PartialSaveError says how far that came.  With `fence`, a
        lease, only while that is held: LeaseLostError otherwise, and then nothing more is changed.  Raises
        ThreadDeletedError for a move into a deleted thread, and RequestError for values that do not fit, before
        anything is sent."""
        left = several(updates, MessageUpdate, "MessageUpdates")
        if resource_id is not None:
            require_text("resource_id", resource_id)
        for update in left:
            self._check(update)
        changed: list[Message] = []
        is_due = bool(left or fence)
        while is_due:
            try:
                done, count = await self._update(_beginning(left, fence), resource_id, fence)
            except SingleTableError as error:
                if not changed:
                    raise
                raise self._partial(changed) from error
            changed += done
            left = left[count:]
            is_due = bool(left)
        return changed

    def _check(self, update: MessageUpdate) -> None:
        """Raise RequestError for what no message could hold, whatever is stored."""
        blank = Message(id="x", thread_id="x", role="user", content="", order="x")
        self.table.size_bytes(update.applied_to(blank).model_copy(update={"id": update.id}))

    async def _update(
        self, updates: Sequence[MessageUpdate], owner: str | None, fence: Fence | None
    ) -> tuple[list[Message], int]:
        """The messages after as many of the changes, from the first on, as one transaction holds; and how many."""
        attempt = 0
        while True:
            found = await self._changes(updates, owner)
            changes = self._fitting(found)
            count = updates.index(found[len(changes)].update) if len(changes) < len(found) else len(updates)
            known = await self._rows(set[str]().union(*(change.threads for change in changes)))
            changes = self._possible(changes, known)
            try:
                await self._apply(changes, known, fence)
                return [change.new for change in changes], count
            except TransactionFailedError as error:
                # Another caller changed or moved a message, or the row of its thread.
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
            await self.table.sleep(change_pause_seconds(attempt))

    async def _changes(self, updates: Sequence[MessageUpdate], owner: str | None) -> list[_Change]:
        stored = await self._by_ids([update.id for update in updates], owner)
        # In the order of their old places: messages that move into one millisecond stay in it.
        orders = dict(
            zip(
                sorted(stored, key=lambda one: place_of(stored[one])),
                self.orders.next(self.clock(), len(stored)),
                strict=True,
            )
        )
        return [_change(update, stored[update.id], orders[update.id]) for update in updates if update.id in stored]

    def _fitting(self, changes: Sequence[_Change]) -> list[_Change]:
        """The first of the changes, of no more bytes than a transaction takes; at least one."""
        kept: list[_Change] = []
        bytes_left = TRANSACTION_BYTES
        for change in changes:
            bytes_left -= self.table.size_bytes(change.old) + self.table.size_bytes(change.new) + OVERHEAD_BYTES
            if kept and bytes_left < 0:
                break
            kept.append(change)
        return kept

    def _possible(self, changes: Sequence[_Change], known: Known) -> list[_Change]:
        """The changes of messages that can be seen; raises ThreadDeletedError for a move to where nothing can."""
        visible = [change for change in changes if change.old.thread_id not in known.deleted]
        if any(change.new.thread_id in known.deleted for change in visible):
            raise thread_deleted(self.table.name)
        return visible

    async def _apply(self, changes: Sequence[_Change], known: Known, fence: Fence | None) -> None:
        changes = [change for change in changes if change.moves or change.fields]
        async with self.table.transaction(fence=fence) as tx:
            for change in changes:
                if change.moves:
                    _move(tx, change)
                else:
                    patch = Message.Patch(**{name: getattr(change.new, name) for name in change.fields})
                    tx.update(Message.Key.of(change.old), patch, where=unchanged(change.old))
            for thread, time in self._times(changes, known).items():
                touch(tx, thread, has_row=thread in known.threads, time=time)

    def _times(self, changes: Sequence[_Change], known: Known) -> Mapping[str, datetime]:
        """When each thread was changed: now, and after what it was changed at before."""
        threads = set[str]().union(*(change.threads for change in changes))
        rows = {thread: known.threads.get(thread) for thread in threads}
        return {thread: after(self.clock(), *([row.updated_at] if row else [])) for thread, row in rows.items()}

    def _partial(self, changed: Sequence[Message]) -> PartialSaveError:
        return PartialSaveError(
            f"{len(changed)} messages are changed, in the order of the updates; .saved has them, send the others again",
            saved=changed,
            operation="TransactWriteItems",
            table=self.table.name,
        )


def unchanged(message: Message) -> Callable[[Message], bool]:
    """The condition that a message is stored as it was read."""
    return lambda stored: (
        (stored.id == message.id)
        & (stored.resource_id == message.resource_id)
        & (stored.role == message.role)
        & (stored.type == message.type)
        & (stored.content == message.content)
        & (stored.metadata == message.metadata)
    )


def _change(update: MessageUpdate, old: Message, order: str) -> _Change:
    """A change with its result: a message in a new place gets a new order, because its own may be taken there."""
    new = update.applied_to(old)
    moves = place_of(old) != place_of(new)
    return _Change(update, old, new.model_copy(update={"order": order}) if moves else new)


def _move(tx: AsyncTransaction, change: _Change) -> None:
    """Put a message into its new place, and take it from its old one if it is unchanged there."""
    writes, moment = tx.sender.writes, tx.sender.moment()
    put, pointer, _ = writes.put(change.new, moment, old=change.old)
    tx.writes += [put, pointer, *writes.delete(Message.Key.of(change.old), moment, where=unchanged(change.old))]


def _beginning(updates: Sequence[MessageUpdate], fence: Fence | None) -> list[MessageUpdate]:
    """As many updates as a transaction has members for, with one of each message."""
    part: dict[str, MessageUpdate] = {}
    members = TRANSACTION_MEMBERS - (fence is not None)
    for update in updates:
        stays = update.thread_id is KEEP and update.created_at is KEEP
        members -= CHANGE_MEMBERS if stays else MOVE_MEMBERS
        if members < 0 or update.id in part:
            break
        part[update.id] = update
    return list(part.values())
