"""Sessions: any worker takes the next turn, two at once do no harm, and a turn that comes again is not taken again."""

from collections.abc import Mapping

from singletable import DynamoDBStore, VersionConflictError
from singletable.schemas import Session
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport())
sessions = store.sessions

# Load, change, commit: one request each way.
session = sessions.load("ada", "s1")
session.state = {"city": "Oslo"}
done = sessions.commit(session, turn_id="turn-1", result={"reply": "Nice in May."})
print(done.session.version, done.is_replayed)

# The same turn again: what came of it comes back.
print(sessions.commit(session, turn_id="turn-1").result)

# Another turn on what is no longer the newest state: nothing is written.
try:
    sessions.commit(session, turn_id="turn-2")
except VersionConflictError as error:
    print(error.current)

# Events are in nobody's way.
sessions.append("ada", "s1", [{"tool": "search", "query": "trains"}])
print(sessions.context("ada", "s1", last=20).events)


@sessions.turn_handler
def answer(session: Session, request: Mapping[str, str]) -> str:
    session.state = {**session.state, "asked": request["text"]}
    return f"{session.state['city']}: {request['text']}"


# Under a lease one worker at a time takes a turn: four requests.
with store.leases.acquire("conversation-7", ttl=30, wait=60) as lease:
    print(answer({"text": "by train?"}, actor_id="ada", session_id="s1", turn_id="turn-3", fence=lease))
