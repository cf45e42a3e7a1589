"""What a turn makes of a session, and whether it was taken before.  Pure."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime

from singletable.schemas import Session, SessionTurn

from ..codec import decode_json, encode_json
from ..errors import TurnReusedError
from ..values import JsonObject
from .session_forms import Commit

REMEMBERED = 20
"""So many turns of a session are known again."""


def asked(turn_id: str, request: object, result: object) -> SessionTurn:
    """A turn that is to be committed; raises InvalidValueError for what is no JSON."""
    return SessionTurn(id=turn_id, version=0, request=_digest(request), result_text=encode_json(result, "result")["S"])


def advanced(session: Session, turn: SessionTurn, state: JsonObject, time: datetime) -> Session:
    """The session after a turn."""
    version = session.version + 1
    turns = [*session.turns, turn.model_copy(update={"version": version})][-REMEMBERED:]
    return session.model_copy(update={"state": state, "version": version, "turns": turns, "changed_at": time})


def replayed(session: Session, turn: SessionTurn) -> Commit | None:
    """What came of a turn that was committed before; None for a new one.

    Raises TurnReusedError where it was another turn, in which something else was asked for."""
    past = session.turn(turn.id)
    if past is None:
        return None
    if past.request != turn.request:
        raise TurnReusedError(
            "turn_id is that of another turn of this session, in which something else was asked for: give each turn an "
            "id of its own",
            current=session,
            entity=Session.spec.name,
        )
    return Commit(session, past.result, is_replayed=True)


def _digest(request: object) -> str | None:
    """What tells a request from another; None where none was given."""
    if request is None:
        return None
    exact = decode_json(encode_json(request, "request"))
    return hashlib.sha256(json.dumps(exact, sort_keys=True).encode()).hexdigest()[:32]
