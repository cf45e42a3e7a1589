"""What becomes of the snapshot of a run when a step reports its result.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import TypeGuard, cast

from ..codec import decode_json, encode_json
from ..errors import InvalidValueError, RequestError
from ..values import JsonObject

PENDING = "__mastra_pending__"
"""`{PENDING: True}` in the output of a foreach step is no output: it asks for the slot to be emptied."""


def as_json(name: str, value: object) -> JsonObject:
    """A copy of a JSON object as it comes back from the table; raises RequestError for what is none."""
    if not _is_object(value):
        raise RequestError(f"{name} takes a JSON object, not a {type(value).__name__}")
    return cast("JsonObject", decode_json(encode_json(value, name)))


def empty_snapshot(run_id: str, timestamp: int) -> JsonObject:
    """What a run with an empty snapshot counts as: pending, with nothing done."""
    return {
        "context": {},
        "activePaths": [],
        "activeStepsPath": {},
        "timestamp": timestamp,
        "suspendedPaths": {},
        "resumeLabels": {},
        "serializedStepGraph": [],
        "value": {},
        "waitingPaths": {},
        "status": "pending",
        "runId": run_id,
    }


def status_of(snapshot: JsonObject) -> str | None:
    """The status that a snapshot names, or None; raises InvalidValueError for one that is no text."""
    status = snapshot.get("status")
    if status is None or isinstance(status, str):
        return status
    raise InvalidValueError(f"snapshot['status'] is a text or None, not a {type(status).__name__}")


def context_of(snapshot: JsonObject) -> JsonObject | None:
    """The results of a snapshot's steps by their ids; None where it has no place for them."""
    context = snapshot.get("context")
    return context if _is_object(context) else None


def thread_of(snapshot: JsonObject) -> str | None:
    """The conversation that a snapshot names: at its first step that is suspended in a stream, or in its input."""
    context = _inside(snapshot, "context")
    streams = (_inside(step, "suspendPayload", "__streamState") for step in context.values() if _is(step, "suspended"))
    stream = next((stream for stream in streams if stream), None)
    for found in (_inside(stream, "messageList"), _inside(context, "input", "messageListState")):
        thread_id = _inside(found, "memoryInfo").get("threadId")
        if isinstance(thread_id, str) and thread_id:
            return thread_id
    return None


def with_result(snapshot: JsonObject, step_id: str, result: JsonObject, request_context: JsonObject) -> JsonObject:
    """The snapshot with the result of one step merged in, and the request's context over the one it had."""
    context = _inside(snapshot, "context")
    return {
        **snapshot,
        "context": {**context, step_id: merged_result(context.get(step_id), result)},
        "requestContext": {**_inside(snapshot, "requestContext"), **request_context},
    }


def merged_result(old: object, new: JsonObject) -> JsonObject:
    """The result of a step after another one: the new one, but the outputs of foreach steps are merged slot by slot.

    Iterations report at the same time, each with what it knows of the others: an empty slot does not overwrite a full
    one.  A new output with pending markers empties the slots that they mark, if these wait to be resumed, and changes
    nothing else."""
    outputs = _outputs(old), _outputs(new)
    if not _is_object(old) or outputs[0] is None or outputs[1] is None:
        return new
    slots = list(zip_longest(outputs[0], outputs[1]))
    if any(_is_pending(slot) for slot in outputs[1]):
        return {**old, "output": [None if _is_pending(to) and _may_be_emptied(was) else was for was, to in slots]}
    return {**old, **new, "output": [was if to is None else to for was, to in slots]}


def _outputs(result: object) -> list[object] | None:
    output = result.get("output") if _is_object(result) else None
    return cast("list[object]", output) if isinstance(output, list) else None


def _is_pending(slot: object) -> bool:
    return _is_object(slot) and len(slot) == 1 and slot.get(PENDING) is True


def _may_be_emptied(slot: object) -> bool:
    if slot is None or _is_pending(slot):
        return True
    return _is(slot, "suspended") and _is_object(slot) and bool(slot.keys() & {"suspendPayload", "suspendedAt"})


def _is(step: object, status: str) -> bool:
    return _is_object(step) and step.get("status") == status


def _inside(value: object, *path: str) -> JsonObject:
    """The object at a path; an empty one where there is none."""
    for name in path:
        value = value.get(name) if _is_object(value) else None
    return value if _is_object(value) else {}


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)
