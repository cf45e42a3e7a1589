"""The states of sessions: loaded whole, and committed by the turn."""

from __future__ import annotations

from dataclasses import replace

from singletable.schemas import Event, Session

from ...errors import AlreadyExistsError, ConditionFailedError, NotFoundError, VersionConflictError
from ...fences import Fence
from ...writes import ExpiryMode
from ..contention import CHANGES, change_pause_seconds
from ..runs import as_json
from ..session_forms import Commit, Merge, SessionContext
from ..session_turns import advanced, asked, replayed
from ..stamps import after, milliseconds
from .domain import AsyncDomain, require
from .filtering import require_text
from .paging import require_count


class AsyncCommitting(AsyncDomain):
    """Sessions, each of which changes by one turn at a time."""

    async def load(self, actor_id: str, session_id: str) -> Session:
        """The session with all that a turn needs; a new one, of version 0, where nothing is stored.

        One strongly consistent read."""
        found = await self.table.get(Session.Key(actor_id=actor_id, session_id=session_id))
        return found or self._new(actor_id, session_id)

    async def context(self, actor_id: str, session_id: str, *, last: int = 20) -> SessionContext:
        """The session and its newest `last` events, oldest first: one strongly consistent request."""
        require_count("last", last, least=1)
        names = {"actor_id": actor_id, "session_id": session_id}
        # The session lies behind its events: one item more than events are asked for.
        query = self.table.query(Event.InSession(**names), Session.Key(**names)).reverse()
        found = await query.limit(last + 1).all()
        session = next((item for item in found if isinstance(item, Session)), None)
        events = [item for item in found if isinstance(item, Event)]
        return SessionContext(session or self._new(actor_id, session_id), events[:last][::-1])

    async def commit(
        self,
        session: Session,
        *,
        turn_id: str,
        result: object = None,
        request: object = None,
        merge: Merge | None = None,
        expiry: ExpiryMode = "refresh",
        fence: Fence | None = None,
    ) -> Commit:
        """Store the state of a session that was loaded, and the result of the turn that changed it.

        A turn that was committed before, by whomever, is not committed again: its result of then comes back, and
        `is_replayed`.  The newest 20 turns are remembered.  Where another turn was faster, VersionConflictError has the
        session of now as `.current`, or None where it was deleted, and nothing is written; `merge(theirs, mine)`, if
        it is given, makes one state of both instead, and is called again until nobody was faster, a hundred times at
        most.  With `request`, what was asked for, a `turn_id` of which another request was made before raises
        TurnReusedError.  The expiry of the session starts again (`refresh`), stays (`keep`) or goes (`clear`).  With
        `fence`, a lease, only while that is held: LeaseLostError otherwise.

        One request, whatever comes of it, under a fence as well, and one more for each merge; for a turn that `session`
        itself remembers one read, and under a fence its check; one write unit for each KB of the state and the
        remembered results, under a fence two, and two more.  Raises ItemTooLargeError for more than 400 KB before
        anything is sent."""
        require(session, Session)
        require_text("turn_id", turn_id)
        turn, mine = asked(turn_id, request, result), as_json("state", session.state)
        if (done := replayed(session, turn)) is not None:
            async with self.table.transaction(fence=fence):  # checks the fence, where there is one
                # The one at hand may have been changed for the turn that is not committed.
                return replace(done, session=await self.load(session.actor_id, session.session_id))
        state, attempt = mine, 0
        while True:
            new = advanced(session, turn, state, after(self.clock(), *([session.changed_at] if session.etag else [])))
            try:
                return Commit(await self._write(new, expiry, fence), turn.result)
            except (AlreadyExistsError, NotFoundError, VersionConflictError) as error:
                current = error.current if isinstance(error.current, Session) else None
                if current is not None and (done := replayed(current, turn)) is not None:
                    return done
                attempt += 1
                if current is None or merge is None or attempt == CHANGES:
                    raise _overtaken(error, current) from error
            await self.table.sleep(change_pause_seconds(attempt))
            session, state = current, as_json("what merge returns", merge(current.state, mine))

    def _new(self, actor_id: str, session_id: str) -> Session:
        now = milliseconds(self.clock())
        return Session(actor_id=actor_id, session_id=session_id, created_at=now, changed_at=now)

    async def _write(self, session: Session, expiry: ExpiryMode, fence: Fence | None) -> Session:
        """Store a session over the one that it was made of."""
        self.table.size_bytes(session)
        tx = self.table.transaction(fence=fence)
        if session.etag:
            changed = {name: getattr(session, name) for name in Session.Patch.declared_names}
            tx.update(Session.Key.of(session), Session.Patch(**changed), if_version=session.etag, expiry=expiry)
        else:
            tx.put(session, expiry="clear" if expiry == "clear" else "refresh")
        await tx.sender.write(tx.writes)
        return session.model_copy(update={"etag": tx.writes[0].write_id})


def _overtaken(error: ConditionFailedError, current: Session | None) -> VersionConflictError:
    return VersionConflictError(
        "another turn was faster, or the session was deleted; nothing was written: take the turn again on .current",
        item=error.item,
        current=current,
        operation=error.operation,
        table=error.table,
        entity=error.entity,
        key=error.key,
        request_id=error.request_id,
    )
