"""Rows of Mastra's tables, as its SQL adapters have them, become the entities that they are."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singletable.schemas import Message, Resource, Score, Span, Thread, ThreadState, WorkflowSnapshot
from singletable.store.mastra_rows import TABLES, from_mastra
from singletable.store.records import RecordError

AT, LATER = "2026-11-30T22:00:00.123Z", "2026-11-30T23:00:00.000Z"
TIMES = {"createdAt": AT, "updatedAt": LATER}
CREATED, UPDATED = (datetime.fromisoformat(time) for time in (AT, LATER))
CONTENT = {"format": 2, "parts": [{"type": "text", "text": "hello"}], "content": "hello", "metadata": {"a": {"b": 1.0}}}
SNAPSHOT = {"status": "suspended", "context": {"input": {}}, "runId": "r"}
ROWS: dict[str, dict[str, Any]] = {
    "mastra_threads": {"id": "T", "resourceId": "R", "title": "", "metadata": {"a": [1]}, **TIMES},
    "mastra_messages": {
        "id": "M",
        "thread_id": "T",
        "content": json.dumps(CONTENT),
        "role": "assistant",
        "type": "v2",
        "createdAt": AT,
        "resourceId": "R",
    },
    "mastra_resources": {"id": "R", "workingMemory": '{"likes": "tea"}', "metadata": {"a": 1}, **TIMES},
    "mastra_thread_state": {"threadId": "T", "type": "plan", "value": {"steps": [1]}, **TIMES},
    "mastra_workflow_snapshot": {
        "workflow_name": "W",
        "run_id": "r",
        "resourceId": "R",
        "snapshot": SNAPSHOT,
        **TIMES,
    },
    "mastra_scorers": {
        "id": "S",
        "scorerId": "sc",
        "runId": "r",
        "scorer": {"name": "n"},
        "score": 0.5,
        "input": [{"role": "user"}],
        "output": {"text": "42"},
        "source": "LIVE",
        "entity": {"id": "a"},
        "preprocessStepResult": {"x": 1},
        "datasetItemId": "d",
        **TIMES,
    },
    "mastra_ai_spans": {
        "traceId": "t",
        "spanId": "s",
        "name": "agent run",
        "spanType": "agent_run",
        "isEvent": False,
        "startedAt": AT,
        "endedAt": LATER,
        "parentEntityVersionId": "v",
        "input": [{"role": "user", "content": "hello"}],
        "output": {"text": "hi"},
        "tags": ["beta"],
        "links": [{"traceId": "x"}],
        "requestContext": {"tier": "gold"},
        **TIMES,
    },
}


def row(table: str, **columns: Any) -> dict[str, Any]:
    return {"table": table, **ROWS[table], **columns}


def as_texts(table: str) -> dict[str, Any]:
    """A row as SQLite has it: its JSON is text."""
    names = TABLES[table].json_columns
    return {name: json.dumps(value) if name in names else value for name, value in row(table).items()}


def problem(columns: dict[str, Any]) -> str:
    with pytest.raises(RecordError) as refused:
        from_mastra(columns)
    return str(refused.value)


def test_a_thread() -> None:
    given = {"id": "T", "resource_id": "R", "title": "", "metadata": {"a": [1]}}
    assert from_mastra(row("mastra_threads")) == Thread(**given, created_at=CREATED, updated_at=UPDATED)


def test_a_message_keeps_its_content_whole() -> None:
    message = from_mastra(row("mastra_messages"))
    assert message == Message(
        id="M",
        thread_id="T",
        resource_id="R",
        role="assistant",
        type="v2",
        content=CONTENT,
        metadata={"a": {"b": 1.0}},
        created_at=CREATED,
    )


def test_working_memory_is_text_even_where_it_is_json() -> None:
    resource = from_mastra(row("mastra_resources"))
    assert isinstance(resource, Resource)
    assert (resource.working_memory, resource.metadata) == ('{"likes": "tea"}', {"a": 1})
    assert (resource.created_at, resource.updated_at) == (CREATED, UPDATED)


def test_a_state() -> None:
    state = from_mastra(row("mastra_thread_state"))
    assert isinstance(state, ThreadState)
    assert (state.thread_id, state.type, state.value, state.version) == ("T", "plan", {"steps": [1]}, "")


def test_a_run_has_the_status_and_the_thread_of_its_snapshot() -> None:
    list_state = {"memoryInfo": {"threadId": "T"}}
    snapshot = {**SNAPSHOT, "context": {"input": {"messageListState": list_state}}}
    run = from_mastra(row("mastra_workflow_snapshot", snapshot=snapshot))
    assert isinstance(run, WorkflowSnapshot)
    assert (run.workflow_name, run.run_id, run.resource_id, run.snapshot) == ("W", "r", "R", snapshot)
    assert (run.status, run.thread_id) == ("suspended", "T")


def test_a_score() -> None:
    score = from_mastra(row("mastra_scorers"))
    assert isinstance(score, Score)
    assert (score.scorer_id, score.score, score.entity, score.dataset_item_id) == ("sc", 0.5, {"id": "a"}, "d")
    assert (score.input, score.output, score.updated_at) == ([{"role": "user"}], {"text": "42"}, UPDATED)


def test_a_span() -> None:
    span = from_mastra(row("mastra_ai_spans"))
    assert isinstance(span, Span)
    assert (span.span_type, span.ended_at, span.parent_entity_version_id) == ("agent_run", UPDATED, "v")
    assert (span.tags, span.links, span.request_context) == (["beta"], [{"traceId": "x"}], {"tier": "gold"})
    assert (span.created_at, span.is_event) == (CREATED, False)


@pytest.mark.parametrize("table", TABLES)
def test_json_may_be_text(table: str) -> None:
    assert from_mastra(as_texts(table)) == from_mastra(row(table))


@pytest.mark.parametrize("table", TABLES)
def test_the_table_may_be_given(table: str) -> None:
    assert from_mastra(ROWS[table], table) == from_mastra(row(table))


@pytest.mark.parametrize("table", TABLES)
def test_columns_that_are_null_are_as_if_they_were_not_there(table: str) -> None:
    missing = {name: None for name in TABLES[table].columns if name not in ROWS[table]}
    assert from_mastra(row(table, **missing, legacy=None)) == from_mastra(row(table))


def test_in_a_row_of_json_a_text_is_a_text() -> None:
    score = from_mastra(row("mastra_scorers", output='{"looks": "like JSON"}', input="123"))
    assert isinstance(score, Score)
    assert (score.output, score.input) == ('{"looks": "like JSON"}', "123")


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("hello", "hello"),
        ('"hello"', "hello"),
        ("123", "123"),
        ("true", "true"),
        ("[1]", "[1]"),
        ('{"open', '{"open'),
        ('[{"type": "text"}]', [{"type": "text"}]),
        (CONTENT, CONTENT),
        ("[" * 100_000, "[" * 100_000),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_a_content_is(text: object, content: object) -> None:
    message = from_mastra(row("mastra_messages", content=text))
    assert isinstance(message, Message)
    assert message.content == content


@pytest.mark.parametrize("metadata", [None, [], "text", 1])
def test_metadata_of_a_content_that_is_no_object_stays_in_it(metadata: object) -> None:
    content = {"format": 2, "metadata": metadata}
    message = from_mastra(row("mastra_messages", content=content))
    assert isinstance(message, Message)
    assert (message.content, message.metadata) == (content, {})


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T22:00:00.123Z",
        "2026-11-30 22:00:00.123",
        "2026-11-30 22:00:00.123+00",
        "2026-12-01T00:00:00.123+02:00",
    ],
)
def test_times(text: str) -> None:
    thread = from_mastra(row("mastra_threads", createdAt=text))
    assert isinstance(thread, Thread)
    assert thread.created_at == CREATED
    assert thread.created_at.tzinfo is UTC


def test_the_time_with_its_zone_is_preferred() -> None:
    thread = from_mastra(row("mastra_threads", createdAt="2026-11-30T23:00:00", createdAtZ=AT))
    assert isinstance(thread, Thread)
    assert thread.created_at == CREATED


def test_what_was_never_updated_was_so_when_it_was_created() -> None:
    thread = from_mastra(row("mastra_threads", updatedAt=None))
    assert isinstance(thread, Thread)
    assert thread.updated_at == CREATED


@pytest.mark.parametrize("table", [None, "", "mastra_traces", 7, ["mastra_threads"]])
def test_a_row_of_no_table(table: object) -> None:
    assert problem({**ROWS["mastra_threads"], "table": table}).startswith("a row needs its table: one of mastra_th")


@pytest.mark.parametrize(
    ("table", "columns", "expected"),
    [
        ("mastra_threads", {"secret": 1}, "1 columns of the row are unknown"),
        ("mastra_messages", {"order": "1"}, "1 columns of the row are unknown"),
        ("mastra_workflow_snapshot", {"status": "done"}, "1 columns of the row are unknown"),
        ("mastra_ai_spans", {"arrival": "1"}, "1 columns of the row are unknown"),
        ("mastra_threads", {"createdAt": None}, "createdAt is missing"),
        ("mastra_threads", {"createdAt": 1}, "createdAt must be a time"),
        ("mastra_threads", {"updatedAt": "secret"}, "updatedAt must be a time"),
        ("mastra_threads", {"resourceId": None}, "resource_id: missing"),
        ("mastra_threads", {"metadata": "secret"}, "metadata: dict_type"),
        ("mastra_messages", {"role": "secret"}, "role must be one of user, assistant, system, tool"),
        ("mastra_messages", {"role": ["secret"]}, "role must be one of"),
        ("mastra_messages", {"content": None}, "content: "),
        ("mastra_workflow_snapshot", {"snapshot": "secret"}, "snapshot must be a JSON object"),
        ("mastra_workflow_snapshot", {"snapshot": {"status": 1}}, "is a text or None"),
        ("mastra_scorers", {"score": "secret"}, "score: float_parsing"),
        ("mastra_scorers", {"scorer": {"secret": 1}, "score": None}, "score: missing"),
    ],
)
def test_a_bad_row_is_refused_without_its_content(table: str, columns: dict[str, Any], expected: str) -> None:
    text = problem(row(table, **columns))
    assert expected in text
    assert "secret" not in text


COLUMNS = sorted({name for table in TABLES.values() for name in table.columns})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=3
)


@given(st.sampled_from(sorted(TABLES)), st.dictionaries(st.sampled_from(COLUMNS), VALUES))
def test_any_row_is_an_entity_or_refused(table: str, columns: dict[str, Any]) -> None:
    found: object = None
    with suppress(RecordError):
        found = from_mastra(row(table, **columns))
    assert found is None or isinstance(found, TABLES[table].model)
