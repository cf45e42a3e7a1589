"""States of threads: one value for each type."""

from __future__ import annotations

from singletable.schemas import ThreadState, Tombstone

from ..._async.reading import AnyKey
from ...codec import encode_json
from ...errors import NotFoundError, TransactionFailedError, VersionConflictError
from ...page import Page
from ...refusals import refused_at
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after, milliseconds
from .domain import AsyncDomain
from .paging import paged
from .threads import thread_deleted


class AsyncThreadStates(AsyncDomain):
    """What an agent keeps of a thread beside its messages; it goes with the thread."""

    async def get_thread_state(self, thread_id: str, *, type: str) -> ThreadState | None:
        """The state of one type, or None.  Two strongly consistent reads in one request."""
        found, tombstone = await self._stored_state(thread_id, type)
        return None if tombstone else found

    async def set_thread_state(
        self, thread_id: str, *, type: str, value: object, if_version: str | None = None
    ) -> ThreadState:
        """Store a value, any JSON, in the place of the one that a type has; the thread itself need not be saved.

        `created_at` stays, and `updated_at` always moves forward.  The value takes the place of whatever others wrote
        meanwhile: with the `if_version` of a state that was read it replaces only that, and raises
        VersionConflictError, or NotFoundError, otherwise.  Raises ThreadDeletedError for a deleted thread.  Two
        requests, and two write units for each KB."""
        encode_json(value, "thread_state.value")
        attempt = 0
        while True:
            old, is_deleted = await self._stored_state(thread_id, type)
            if is_deleted:
                raise thread_deleted(self.table.name)
            if if_version is not None:
                self._require_state_version(old, if_version)
            time = after(self.clock(), old.updated_at) if old else milliseconds(self.clock())
            state = old or ThreadState(thread_id=thread_id, type=type, value=value, created_at=time)
            try:
                return await self._put_state(state.model_copy(update={"value": value, "updated_at": time}))
            except TransactionFailedError as error:
                attempt += 1
                if attempt == CHANGES or not refused_at(error):
                    raise
            await self.table.sleep(change_pause_seconds(attempt))

    async def list_thread_states(
        self,
        thread_id: str,
        *,
        page: int = 0,
        per_page: int | None = 100,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[ThreadState]:
        """The states of a thread in the order of their types; strongly consistent.  Two requests for a page."""
        query = self.table.query(ThreadState.InThread(thread_id=thread_id))
        found = await paged(query, page=page, per_page=per_page, cursor=cursor, include_total=include_total)
        # Not before: of a thread that is being deleted while it is read, some states would be missing.
        if await self._is_deleted(thread_id):
            return Page([], None, 0 if include_total else None)
        return found

    async def delete_thread_state(self, thread_id: str, *, type: str) -> None:
        """Delete the state of one type; one that is not there is fine.  One request."""
        await self.table.delete(ThreadState.Key(thread_id=thread_id, type=type))

    async def _stored_state(self, thread_id: str, type: str) -> tuple[ThreadState | None, bool]:
        """The state, and whether its thread was deleted."""
        keys: list[AnyKey] = [ThreadState.Key(thread_id=thread_id, type=type), Tombstone.Key(thread_id=thread_id)]
        state, tombstone = await self.table.get_each(keys)
        return state if isinstance(state, ThreadState) else None, tombstone is not None

    async def _put_state(self, state: ThreadState) -> ThreadState:
        """Store a state over the version that was read, unless its thread was deleted."""
        async with self.table.transaction() as tx:
            tx.put(state)
            tx.check_absent(Tombstone.Key(thread_id=state.thread_id))
        put, _ = tx.writes
        return self.table.load(ThreadState, put.params["Item"])

    def _require_state_version(self, old: ThreadState | None, version: str) -> None:
        if old is None or old.version != version:
            kind = VersionConflictError if old else NotFoundError
            raise kind(
                "the stored state is not the version that was read; .current has it",
                current=old,
                operation="TransactWriteItems",
                table=self.table.name,
                entity="thread_state",
            )
