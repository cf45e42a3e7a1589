# Generated from ../_async/sessions.py by scripts/generate_sync.py; edit that file.
"""Sessions: what an agent knows between two turns, wherever the next one is taken."""

from __future__ import annotations

from typing import cast

from singletable.schemas import Event, Session

from ...errors import VersionConflictError
from ...fences import Fence
from ...retry import ATTEMPTS
from ..contention import change_pause_seconds
from ..session_forms import Q, R, TurnFunction, TurnHandler
from .committing import Committing
from .owned import key_pages
from .session_events import SessionEvents


class Sessions(Committing, SessionEvents):
    """The sessions of agents by actor and session: states that are committed by the turn, and events beside them."""

    def turn_handler(self, function: TurnFunction[Q, R]) -> TurnHandler[Q, R]:
        """What loads the session of a turn, lets `function(session, request)` take it, and commits it; a decorator.

        A turn that is delivered again is not taken again: its result of the first time comes back.  One that was
        overtaken is taken again on the session of then, ten times at most: VersionConflictError.  So `function` may be
        called several times for one turn, also at once by several processes; what it does beside changing
        `session.state` has to bear that, or a lease around the handler, passed to it as `fence=`, has to prevent it.
        Requests and results are JSON, and come back as such: tuples as lists.

        Two requests, and one for each turn that was faster; under a fence three for a turn that was taken before."""

        def handle(request: Q, *, actor_id: str, session_id: str, turn_id: str, fence: Fence | None = None) -> R:
            session, attempt = self.load(actor_id, session_id), 0
            while True:
                is_known = session.turn(turn_id) is not None
                result = None if is_known else function(session, request)
                try:
                    done = self.commit(session, turn_id=turn_id, result=result, request=request, fence=fence)
                    return cast("R", done.result)  # what `function` gave, then or now, as JSON
                except VersionConflictError as error:
                    attempt += 1
                    if attempt == ATTEMPTS:
                        raise
                    current = error.current
                self.table.sleep(change_pause_seconds(attempt))
                session = current if isinstance(current, Session) else self.load(actor_id, session_id)

        return handle

    def delete(self, actor_id: str, session_id: str) -> None:
        """Delete a session, first its state, then its events; one that is not there is fine.

        If it is interrupted, call it again.  Two requests, and one for 25 events."""
        self.table.delete(Session.Key(actor_id=actor_id, session_id=session_id))
        events = self.table.query(Event.InSession(actor_id=actor_id, session_id=session_id)).with_expired()
        for keys in key_pages(events):
            self.table.delete_many(keys)
