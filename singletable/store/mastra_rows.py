"""Rows of Mastra's tables to entities: what its SQL adapters keep, one JSON object for each row.  Pure.

A row has the columns of its table under their own names, and its table under `table`.  JSON columns are JSON, or, as
SQLite has them, text that holds JSON: a row in which all of them are such texts is one of these.  Times are ISO 8601;
those without a zone are UTC, as Mastra writes them, and `createdAtZ`, Postgres' second form of one, is preferred.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast, get_args

from pydantic import ValidationError

from singletable.schemas import Message, Resource, Role, Score, Span, Thread, ThreadState, WorkflowSnapshot

from ..entity import Entity
from ..errors import InvalidValueError
from .records import RecordError
from .runs import status_of, thread_of

TIMES = ("createdAt", "updatedAt", "startedAt", "endedAt")
ZONED = "Z"
"""Ends the names of Postgres' columns that hold a time with its zone."""


@dataclass(frozen=True)
class _Table:
    """A table of Mastra's: whose rows it has, and which of its columns are JSON."""

    model: type[Entity]
    json_columns: frozenset[str] = frozenset()

    own: frozenset[str] = frozenset()
    """What the store keeps beside that, and no row has."""

    @property
    def columns(self) -> dict[str, str]:
        """The names that its columns have, and the fields that they are."""
        names = {field.stored: field.name for field in self.model.spec.fields.values() if field.name not in self.own}
        return {MISNAMED.get((self.model.spec.name, column), column): name for column, name in names.items()}


MISNAMED: Mapping[tuple[str, str], str] = {
    ("message", "threadId"): "thread_id",
    ("workflow_snapshot", "workflowName"): "workflow_name",
    ("workflow_snapshot", "runId"): "run_id",
}
"""Columns that are not called as everywhere else."""
FOR_LISTS = frozenset({"listing", "shard", "arrival", "input_preview"})
SPAN_JSON = ("scope", "metadata", "tags", "attributes", "links", "input", "output", "error", "requestContext")
SCORE_JSON = ("scorer", "preprocessStepResult", "extractStepResult", "analyzeStepResult", "metadata", "input", "output")
TABLES: Mapping[str, _Table] = {
    "mastra_threads": _Table(Thread, frozenset({"metadata"})),
    "mastra_messages": _Table(Message, own=frozenset({"metadata", "order"})),
    "mastra_resources": _Table(Resource, frozenset({"metadata"})),
    "mastra_thread_state": _Table(ThreadState, frozenset({"value"}), frozenset({"version"})),
    "mastra_workflow_snapshot": _Table(
        WorkflowSnapshot, frozenset({"snapshot"}), frozenset({"version", "status", "thread_id", "owner"})
    ),
    "mastra_scorers": _Table(Score, frozenset({*SCORE_JSON, "additionalContext", "requestContext", "entity"})),
    "mastra_ai_spans": _Table(Span, frozenset(SPAN_JSON), FOR_LISTS),
}


def from_mastra(row: Mapping[str, object], table_name: str | None = None) -> Entity:
    """The entity of a row; `table_name` is for rows that do not say it.  Raises RecordError for what cannot be one.

    Of a message the content stays whole, and its `metadata` becomes that of the message as well.  A column that the
    table is not known to have is refused, unless it is null: nothing is left behind in silence."""
    columns = {name: value for name, value in row.items() if value is not None}
    name = columns.pop("table", table_name)
    table = TABLES.get(name) if isinstance(name, str) else None
    if table is None:
        raise RecordError(f"a row needs its table: one of {', '.join(TABLES)}")
    columns, known = _with_json(_with_times(columns), table.json_columns), table.columns
    unknown = len(columns.keys() - known.keys())
    if unknown:
        # Which is not said, for a row may be anything.
        raise RecordError(f"{name}: {unknown} columns of the row are unknown; it may have {', '.join(sorted(known))}")
    if "createdAt" not in columns:
        raise RecordError(f"{name}: createdAt is missing")
    if "updatedAt" in known:
        columns.setdefault("updatedAt", columns["createdAt"])
    fields = {known[column]: value for column, value in columns.items()}
    match table.model.spec.name:
        case "message":
            fields = _message(fields)
        case "workflow_snapshot":
            fields |= _run(fields.get("snapshot"))
        case _:
            pass
    try:
        return table.model.model_validate(fields)
    except ValidationError as error:
        raise RecordError(f"{name}: {_problems(error)}") from None


def _with_times(row: Mapping[str, object]) -> dict[str, object]:
    """The row with its times as such."""
    columns = dict(row)
    for name in TIMES:
        text = columns.pop(name + ZONED, None) or columns.get(name)
        if text is not None:
            columns[name] = _time(name, text)
    return columns


def _time(name: str, text: object) -> datetime:
    try:
        time = datetime.fromisoformat(cast("str", text))
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise RecordError(f"{name} must be a time in ISO 8601") from None


def _with_json(row: Mapping[str, object], names: frozenset[str]) -> dict[str, object]:
    """The row with its JSON as such, where all of it is text that holds JSON."""
    texts = {name: row[name] for name in names & row.keys()}
    if not texts:
        return dict(row)
    try:
        return {**row, **{name: json.loads(cast("str", text)) for name, text in texts.items()}}
    except (TypeError, ValueError, RecursionError):
        return dict(row)


def _message(fields: dict[str, object]) -> dict[str, object]:
    content = _content(fields.get("content"))
    metadata: object = cast("Mapping[str, object]", content).get("metadata") if isinstance(content, dict) else None
    if fields.get("role") not in get_args(Role):
        raise RecordError(f"mastra_messages: role must be one of {', '.join(get_args(Role))}")
    own: dict[str, object] = {"content": content}
    if isinstance(metadata, dict):
        own["metadata"] = cast("object", metadata)
    return fields | own


def _content(text: object) -> object:
    """What a column of text stands for: JSON of a format of messages, a text in JSON, or the text that it is."""
    if not isinstance(text, str):
        return text
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found if _is_content(found) else text


def _is_content(value: object) -> bool:
    """Whether JSON is a text, an object, or a list of objects, as the formats of messages are."""
    is_list = isinstance(value, list) and all(isinstance(block, dict) for block in cast("list[object]", value))
    return is_list or isinstance(value, str | dict)


def _run(snapshot: object) -> dict[str, object]:
    """What the store keeps of a snapshot beside it."""
    if not isinstance(snapshot, dict):
        raise RecordError("mastra_workflow_snapshot: snapshot must be a JSON object")
    try:
        found = cast("dict[str, Any]", snapshot)
        return {"status": status_of(found), "thread_id": thread_of(found)}
    except InvalidValueError as error:
        raise RecordError(f"mastra_workflow_snapshot: {error}") from None


def _problems(error: ValidationError) -> str:
    # Deeper than the field a location may hold names of the content.
    found = {f"{(*one['loc'], 'the row')[0]}: {one['type']}" for one in error.errors(include_input=False)}
    return "; ".join(sorted(found))
