"""P97: a page of a list reads about as much as it shows, however long the list is.  P09: batches come to their end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from singletable import PartialBatchError
from singletable.provision import create_table_params
from singletable.schemas import Evaluation, Message, Score, Span, Thread, ThreadState, WorkflowSnapshot
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase
from tests.contract.every_verb import DOMAINS
from tests.contract.support import START, FakeBackend
from tests.contract.users import score, span

TABLE = create_table_params("fake", [entity.spec for entity in ENTITIES])
COUNT, PAGE = 200, 10


def evaluation(evaluation_id):
    given = {"agent_name": "a", "metric_name": "m", "input": "", "output": "", "result": {"score": 1}}
    return Evaluation(id=evaluation_id, resource_id="ada", created_at=START, **given)


def run(number):
    given = {"workflow_name": "w", "run_id": f"r{number:03}", "resource_id": "ada", "snapshot": {"status": "running"}}
    return WorkflowSnapshot(status="running", created_at=START, updated_at=START, **given)


def message(number):
    given = {"thread_id": "t", "role": "user", "content": "", "created_at": START, "order": f"{number:03}"}
    return Message(id=f"m{number:03}", **given)


FILLED = {
    "thread": lambda number: Thread(id=f"t{number:03}", resource_id="ada"),
    "state": lambda number: ThreadState(thread_id="t", type=f"{number:03}", value=number),
    "run": run,
    "score": lambda number: score(
        "ada", f"s{number:03}", entity_type="agent", entity_id="e", trace_id="t", span_id="s"
    ),
    "evaluation": lambda number: evaluation(f"e{number:03}"),
}


@pytest.fixture(scope="module")
def many():
    """A store with 200 of everything that is listed."""
    fake = FakeBackend(database=MemoryDatabase.for_table(TABLE))
    table, store = fake.table(*ENTITIES), fake.store()
    for make in FILLED.values():
        table.put_many(make(number) for number in range(COUNT))
    for number in range(COUNT):
        table.put(message(number))
        store.observability.create_span(span("ada", f"trace{number:03}", "root"))
    fake.clock.advance(seconds=10)
    return fake, store


LISTS = {
    "threads": lambda s, **page: s.memory.list_threads("ada", **page),
    "threads by activity": lambda s, **page: s.memory.list_threads("ada", order_by="updated_at", **page),
    "messages": lambda s, **page: s.memory.list_messages("t", **page),
    "newest messages first": lambda s, **page: s.memory.list_messages("t", order="desc", **page),
    "states": lambda s, **page: s.memory.list_thread_states("t", **page),
    "runs of a workflow": lambda s, **page: s.workflows.list_workflow_runs(workflow_name="w", **page),
    "runs of a resource": lambda s, **page: s.workflows.list_workflow_runs(resource_id="ada", **page),
    "scores of a scorer": lambda s, **page: s.scores.list_scores_by_scorer_id("s", **page),
    "scores of a run": lambda s, **page: s.scores.list_scores_by_run_id("r", **page),
    "scores of an entity": lambda s, **page: s.scores.list_scores_by_entity_id(
        entity_id="e", entity_type="agent", **page
    ),
    "scores of a span": lambda s, **page: s.scores.list_scores_by_span(trace_id="t", span_id="s", **page),
    "scores of a resource": lambda s, **page: s.scores.list_scores_by_resource_id("ada", **page),
    "evaluations of an agent": lambda s, **page: s.observability.list_evaluations(agent_name="a", **page),
    "evaluations of a resource": lambda s, **page: s.observability.list_evaluations(resource_id="ada", **page),
}


@pytest.mark.parametrize("read", LISTS.values(), ids=LISTS)
def test_p97_a_page_reads_what_it_shows_and_one_more(many, read):
    fake, store = many
    fake.sent.clear()
    first = read(store, per_page=PAGE)
    assert sum(fake.sent.scanned_counts) == PAGE + 1
    fake.sent.clear()
    second = read(store, per_page=PAGE, cursor=first.cursor)
    assert (len(first.items), len(second.items), second.has_more) == (PAGE, PAGE, True)
    assert sum(fake.sent.scanned_counts) == PAGE + 1
    fake.sent.clear()
    assert read(store, per_page=None).items[: 2 * PAGE] == first.items + second.items
    assert sum(fake.sent.scanned_counts) == COUNT


@pytest.mark.parametrize("read", LISTS.values(), ids=LISTS)
def test_p97_a_total_reads_no_item_of_the_list_more_than_once(many, read):
    fake, store = many
    fake.sent.clear()
    assert read(store, per_page=PAGE, include_total=True).total == COUNT
    assert sum(fake.sent.scanned_counts) == COUNT + PAGE + 1
    counting = [request.params for request in fake.sent.requests if request.params.get("Select") == "COUNT"]
    assert len(counting) == 1


# P09


@pytest.fixture
def batches():
    """The fake, and a store that does not wait before it sends again what was left undone."""
    fake = FakeBackend()
    store, table = fake.store(), fake.table(*ENTITIES)
    store.table = table
    for name in DOMAINS:
        setattr(store, name, replace(getattr(store, name), table=table))
    return fake, store, table


SPANS = [span("ada", "trace", f"s{number:02}", "root") for number in range(30)]
WRITTEN = {
    "create spans": (Span, [], lambda s: s.observability.batch_create_spans(SPANS), 30),
    "delete traces": (Span, SPANS, lambda s: s.observability.batch_delete_traces(["trace"]), 0),
    "delete scores": (
        Score,
        [score("ada", f"s{number:02}") for number in range(30)],
        lambda s: s.scores.delete_scores(f"s{number:02}" for number in range(30)),
        0,
    ),
    "delete evaluations": (
        Evaluation,
        [evaluation(f"e{number:02}") for number in range(30)],
        lambda s: s.observability.delete_evaluations(f"e{number:02}" for number in range(30)),
        0,
    ),
}


def stored(fake, kind):
    return sum(item["_entity"]["S"] == kind.spec.name for item in fake.items())


@pytest.mark.parametrize(("kind", "before", "write", "after"), WRITTEN.values(), ids=WRITTEN)
def test_p09_what_dynamodb_leaves_undone_is_sent_again(batches, kind, before, write, after):
    fake, store, table = batches
    table.put_many(before)
    fake.faults.leave_unprocessed(7, times=2)
    write(store)
    assert stored(fake, kind) == after


@pytest.mark.parametrize(("kind", "before", "write", "after"), WRITTEN.values(), ids=WRITTEN)
def test_p09_what_is_never_done_is_an_error_and_another_call_completes_it(batches, kind, before, write, after):
    fake, store, table = batches
    table.put_many(before)
    fake.faults.leave_unprocessed(7, times=None)
    with pytest.raises(PartialBatchError) as caught:
        write(store)
    assert len(caught.value.unwritten) == abs(stored(fake, kind) - after) >= 7
    fake.faults.clear()
    write(store)
    assert stored(fake, kind) == after
