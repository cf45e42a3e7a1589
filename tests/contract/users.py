"""Users of a store with something in every domain, for the tests of their erasure."""

from __future__ import annotations

from typing import Any

from singletable.schemas import Evaluation, Message, Resource, Score, Span, Thread
from tests.contract.support import START

ADA, BOB = "user-ada", "user-bob"
COUNTS = {
    "thread": 2,
    "message": 3,
    "thread_state": 1,
    "resource": 1,
    "workflow_snapshot": 1,
    "score": 1,
    "evaluation": 1,
    "trace": 3,
    "session": 1,
    "event": 2,
}
"""What `fill` stores for a user."""
NOTHING = dict.fromkeys(COUNTS, 0)
TTL_NAMES = tuple(COUNTS)


def mark(owner: str) -> str:
    """A text that is in everything that is stored of a user."""
    return f"the secret of {owner}"


def score(owner: str, score_id: str, **fields: Any) -> Score:
    given = {"scorer_id": "s", "run_id": "r", "scorer": {}, "score": 1.0, "source": "LIVE", "output": mark(owner)}
    return Score(**{"id": score_id, "resource_id": owner, **given, **fields})


def span(owner: str | None, trace_id: str, span_id: str, parent: str | None = None, **fields: Any) -> Span:
    given = {"name": "step", "span_type": "generic", "started_at": START, "resource_id": owner}
    return Span(**{"trace_id": trace_id, "span_id": span_id, "parent_span_id": parent, **given, **fields})


def message(owner: str | None, message_id: str, thread_id: str, **fields: Any) -> Message:
    given = {"role": "user", "content": f"{owner}: {mark(str(owner))}", "resource_id": owner}
    return Message(**{"id": message_id, "thread_id": thread_id, **given, **fields})


def fill(store: Any, owner: str, tag: str) -> None:
    """Store something in every domain; `tag` is in all ids, the owner in none."""
    secret = mark(owner)
    store.memory.save_thread(Thread(id=f"{tag}1", resource_id=owner, title=secret, metadata={"note": secret}))
    store.memory.save_thread(Thread(id=f"{tag}2", resource_id=owner))
    store.memory.save_messages(message(owner, f"{tag}m{number}", f"{tag}1") for number in range(2))
    store.memory.save_messages([message(None, f"{tag}m2", f"{tag}2", content=secret)])
    store.memory.set_thread_state(f"{tag}1", type="plan", value=[secret])
    store.memory.save_resource(Resource(id=owner, working_memory=secret, metadata={"note": secret}))
    store.workflows.persist_workflow_snapshot(
        workflow_name="w", run_id=tag, snapshot={"status": "running", "context": {}, "note": secret}, resource_id=owner
    )
    store.scores.save_score(score(owner, f"{tag}s"))
    given = {"agent_name": "a", "metric_name": "m", "input": secret, "output": secret, "result": {"score": 1}}
    store.observability.save_evaluation(Evaluation(id=f"{tag}e", resource_id=owner, **given))
    store.observability.create_span(span(owner, f"{tag}t", "root", input=secret))
    store.observability.create_span(span(owner, f"{tag}t", "child", "root", output=secret))
    store.observability.create_span(span(None, f"{tag}t", "model", "child", output=secret))
    session = store.sessions.load(owner, f"{tag}n")
    session.state = {"note": secret}
    store.sessions.commit(session, turn_id=f"{tag}r", result=secret)
    store.sessions.append(owner, f"{tag}n", [secret, {"note": secret}])


def left_of(backend: Any, owner: str) -> list[Any]:
    """The stored items that still say something of a user."""
    return [item for item in backend.items() if owner in str(item)]


def kept(backend: Any) -> list[Any]:
    """All stored items but tombstones."""
    return [item for item in backend.items() if item["_entity"] != {"S": "tombstone"}]


def all_expire(seconds: int) -> dict[str, object]:
    """A `ttl` setting under which everything of a user expires."""
    return {name: {"enabled": True, "default_ttl_seconds": seconds} for name in TTL_NAMES}
