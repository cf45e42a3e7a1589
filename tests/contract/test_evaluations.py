"""Evaluations keep their contract on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from singletable import (
    AccessDeniedError,
    DynamoDBStore,
    InvalidCursorError,
    ItemTooLargeError,
    RequestError,
    Table,
    between,
    gt,
    gte,
    lt,
    lte,
)
from singletable.provision import create_table_params
from singletable.schemas import Evaluation
from singletable.store._async.evaluations import AsyncEvaluations
from singletable.store._sync.evaluations import Evaluations
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.support import ALL, FAKES, START, Blocking, make_store_backend

SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
JSON = {"score": 0.5, "info": [1, 1.0, None, True, "é😀", {"": [[]]}], "big": 2**53}
OWNERS = {"agent_name": "agent", "run_id": "run", "resource_id": "ada"}
every_owner = pytest.mark.parametrize("owner", OWNERS)


@pytest.fixture(params=ALL)
def any_backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def evaluations(any_backend):
    return evaluations_of(any_backend)


def evaluations_of(backend, *, tenant=None, **options):
    """The evaluations of a store, over its table."""
    table = backend.store(**options).table
    table = table.scoped(tenant) if tenant else table
    if backend.loop is None:
        return Evaluations(table)
    return Blocking(AsyncEvaluations(table._target), backend.loop)


def evaluation(evaluation_id="e", **fields):
    given = {"metric_name": "metric", "input": "question", "output": "answer", "result": {"score": 1}}
    return Evaluation(**{**OWNERS, **given, "id": evaluation_id, **fields})


def filled(evaluations, *evaluation_ids, **fields):
    """One evaluation a second, the first at START."""
    for number, evaluation_id in enumerate(evaluation_ids):
        evaluations.save_evaluation(evaluation(evaluation_id, created_at=START + number * SECOND, **fields))


def ids(page):
    return [one.id for one in page.items]


def listed(evaluations, owner="agent_name", **options):
    return ids(evaluations.list_evaluations(**{owner: OWNERS[owner], **options}))


# One evaluation.


def test_an_evaluation_comes_back_exactly(evaluations):
    fields = {"input": JSON, "output": [JSON], "result": JSON, "test_info": JSON, "instructions": "", "thread_id": "t"}
    stored = evaluations.save_evaluation(evaluation(global_run_id="all", **fields))
    found = evaluations.get_evaluation_by_id("e")
    assert found == stored
    assert json.dumps([getattr(found, name) for name in fields]) == json.dumps(list(fields.values()))
    assert (found.created_at, found.global_run_id) == (START, "all")


def test_an_evaluation_without_an_id_gets_one_of_its_own(evaluations):
    fields = evaluation().model_dump(exclude={"id", "created_at"})
    stored = [evaluations.save_evaluation(Evaluation(**fields)) for _ in range(2)]
    assert [evaluations.get_evaluation_by_id(one.id) for one in stored] == stored
    assert len({one.id for one in stored}) == 2


def test_an_evaluation_that_is_not_there_is_none(evaluations):
    assert evaluations.get_evaluation_by_id("e") is None


def test_an_evaluation_that_is_saved_again_is_replaced_and_keeps_created_at(evaluations, any_backend):
    evaluations.save_evaluation(evaluation(instructions="old"))
    any_backend.clock.advance(hours=1)
    again = evaluations.save_evaluation(evaluation(result={"score": 0}))
    assert (again.result, again.instructions, again.created_at) == ({"score": 0}, None, START)
    assert evaluations.get_evaluation_by_id("e") == again
    assert listed(evaluations) == ["e"]


def test_a_created_at_that_is_given_replaces(evaluations):
    evaluations.save_evaluation(evaluation())
    evaluations.save_evaluation(evaluation(created_at=START - HOUR))
    assert evaluations.get_evaluation_by_id("e").created_at == START - HOUR


@pytest.mark.parametrize("result", [{}, {"score": None}, {"score": "1"}, {"score": True}, {"Score": 1}], ids=repr)
def test_a_result_has_a_number_under_score(result):
    with pytest.raises(ValidationError, match="number under score"):
        evaluation(result=result)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"id": " "}, "id is blank"),
        ({"agent_name": ""}, "agent_name is blank"),
        ({"metric_name": ""}, "metric_name is blank"),
        ({"run_id": ""}, "run_id is blank"),
        ({"result": {"score": float("nan")}}, "evaluation.result.score is nan"),
        ({"input": {1}}, "evaluation.input is a set"),
    ],
    ids=repr,
)
def test_what_cannot_be_stored_is_refused_before_anything_is_sent(evaluations, any_backend, fields, problem):
    with pytest.raises(RequestError, match=problem):
        evaluations.save_evaluation(evaluation(**fields))
    assert any_backend.sent.requests == []


def test_an_evaluation_that_is_too_large_is_refused(evaluations, any_backend):
    with pytest.raises(ItemTooLargeError, match="output"):
        evaluations.save_evaluation(evaluation(output="x" * 410_000))
    assert any_backend.sent.requests == []


def test_only_an_evaluation_is_saved(evaluations, any_backend):
    with pytest.raises(RequestError, match="takes a Evaluation"):
        evaluations.save_evaluation({"id": "e"})
    assert any_backend.sent.requests == []


def test_deleted_evaluations_are_gone_and_the_others_are_not(evaluations):
    filled(evaluations, *"abc")
    evaluations.delete_evaluations(["a", "a", "never there"])
    evaluations.delete_evaluations(["a"])
    assert evaluations.get_evaluation_by_id("a") is None
    assert listed(evaluations) == ["c", "b"]


@pytest.mark.parametrize("given", ["e", ["e", ""], ["e", None]])
def test_what_is_no_list_of_ids_deletes_nothing(evaluations, given):
    evaluations.save_evaluation(evaluation())
    with pytest.raises(RequestError):
        evaluations.delete_evaluations(given)
    assert listed(evaluations) == ["e"]


# Lists.


@every_owner
def test_a_list_has_the_evaluations_of_its_owner_alone_newest_first(evaluations, owner):
    filled(evaluations, *"cab")
    filled(evaluations, "other", **{owner: "other"})
    filled(evaluations, "upper", **{owner: OWNERS[owner].upper()})
    page = evaluations.list_evaluations(**{owner: OWNERS[owner]}, include_total=True)
    assert (ids(page), page.total, page.has_more) == (["b", "a", "c"], 3, False)
    assert page.items[0] == evaluations.get_evaluation_by_id("b")


@pytest.mark.parametrize("owner", ["run_id", "resource_id"])
def test_an_evaluation_without_an_owner_is_in_the_lists_of_the_others(evaluations, owner):
    evaluations.save_evaluation(evaluation(**{owner: None}))
    assert [name for name in OWNERS if listed(evaluations, name)] == [name for name in OWNERS if name != owner]


@every_owner
@pytest.mark.parametrize("metric", [None, "metric"])
def test_pages_are_the_list_and_full_while_more_follows(evaluations, owner, metric):
    filled(evaluations, *"abcd")
    filled(evaluations, *"ABCD", metric_name="other" if metric else "metric")
    whole = listed(evaluations, owner, metric_name=metric)
    assert whole == (["d", "c", "b", "a"] if metric else ["d", "D", "c", "C", "b", "B", "a", "A"])
    pages = [evaluations.list_evaluations(**{owner: OWNERS[owner]}, metric_name=metric, per_page=2)]
    while pages[-1].has_more:
        options = {owner: OWNERS[owner], "metric_name": metric, "per_page": 2, "cursor": pages[-1].cursor}
        pages.append(evaluations.list_evaluations(**options))
    assert [ids(page) for page in pages] == [whole[n : n + 2] for n in range(0, len(whole), 2)]
    assert [listed(evaluations, owner, metric_name=metric, per_page=2, page=n) for n in (1, 9)] == [whole[2:4], []]


@every_owner
@pytest.mark.parametrize("metric", [None, "metric"])
@pytest.mark.parametrize(
    ("created_at", "found"),
    [
        (gte(START + SECOND), "cb"),
        (gt(START + SECOND), "c"),
        (lte(START + SECOND), "ba"),
        (lt(START + SECOND), "a"),
        (between(START + SECOND, START + SECOND), "b"),
        (gt(START + HOUR), ""),
    ],
    ids=["gte", "gt", "lte", "lt", "between", "none"],
)
def test_a_period_bounds_the_list(evaluations, owner, metric, created_at, found):
    filled(evaluations, *"abc")
    assert listed(evaluations, owner, metric_name=metric, created_at=created_at) == list(found)


@pytest.mark.parametrize(
    "owners",
    [
        {},
        {"metric_name": "metric"},
        {"agent_name": "a", "run_id": "r"},
        dict(OWNERS),
        {"run_id": 1},
        {"run_id": gt("a")},
    ],
    ids=repr,
)
def test_a_list_needs_one_owner(evaluations, any_backend, owners):
    with pytest.raises(RequestError, match="give one of"):
        evaluations.list_evaluations(**owners)
    assert any_backend.sent.requests == []


@every_owner
@pytest.mark.parametrize(
    "options",
    [{"metric_name": " "}, {"metric_name": 1}, {"page": -1}, {"created_at": gt(START.replace(tzinfo=None))}],
    ids=repr,
)
def test_a_wrong_question_is_refused_before_anything_is_sent(fake, owner, options):
    with pytest.raises(RequestError):
        listed(evaluations_of(fake), owner, **options)
    assert fake.sent.requests == []


@every_owner
def test_a_blank_owner_is_refused_before_anything_is_sent(fake, owner):
    with pytest.raises(RequestError, match=f"{owner} is blank"):
        evaluations_of(fake).list_evaluations(**{owner: " "})
    assert fake.sent.requests == []


def test_a_cursor_is_of_one_question(evaluations):
    filled(evaluations, *"abc")
    cursor = evaluations.list_evaluations(agent_name="agent", per_page=1).cursor
    with pytest.raises(InvalidCursorError):
        listed(evaluations, "run_id", per_page=1, cursor=cursor)
    with pytest.raises(InvalidCursorError):
        listed(evaluations, metric_name="metric", per_page=1, cursor=cursor)


# Costs, faults, expiry, tenants.


def test_an_agent_has_an_index_by_metric_which_reads_nothing_else(fake):
    evaluations = evaluations_of(fake)
    filled(evaluations, *"abcd", metric_name="other")
    filled(evaluations, "e")
    fake.sent.clear()
    assert listed(evaluations, metric_name="metric") == ["e"]
    assert (fake.sent.operations, fake.sent.scanned_counts) == (["Query", "BatchGetItem"], [1])


def test_saving_costs_one_request_for_a_new_evaluation_and_two_for_a_stored_one(fake):
    evaluations = evaluations_of(fake)
    for operations in (["PutItem"], ["PutItem", "PutItem"]):
        fake.sent.clear()
        evaluations.save_evaluation(evaluation())
        assert fake.sent.operations == operations


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_a_save_whose_answer_was_lost_is_made_once(fake, fault):
    evaluations = evaluations_of(fake)
    getattr(fake.faults, fault)(operation="PutItem")
    stored = evaluations.save_evaluation(evaluation())
    assert (evaluations.get_evaluation_by_id("e"), listed(evaluations)) == (stored, ["e"])


def test_a_save_that_is_overtaken_keeps_the_created_at_that_it_meets(fake):
    rival = Evaluations(Table("fake", MemoryTransport(fake.database), entities=[Evaluation], clock=fake.clock))
    rival.save_evaluation(evaluation())
    stamps = iter([START - HOUR, START + HOUR])
    seen = []

    def overtake(request):
        seen.append(request.operation)
        if len(seen) in (2, 3):
            rival.save_evaluation(evaluation(created_at=next(stamps)))

    fake.faults.on_request = overtake
    stored = evaluations_of(fake).save_evaluation(evaluation(result={"score": 2}))
    assert (stored.created_at, seen) == (START + HOUR, ["PutItem"] * 4)
    assert rival.get_evaluation_by_id("e") == stored


def test_a_list_that_cannot_be_read_raises(fake):
    fake.faults.on_request = lambda request: AccessDeniedError("refused", operation=request.operation)
    with pytest.raises(AccessDeniedError):
        listed(evaluations_of(fake))


@pytest.mark.parametrize("name", ["eval", "evaluation"])
def test_evaluations_expire_under_the_name_of_mastra_too(any_backend, name):
    evaluations = evaluations_of(any_backend, ttl={name: {"default_ttl_seconds": 60}})
    evaluations.save_evaluation(evaluation())
    assert [item["ttl"] for item in any_backend.items()] == [{"N": str(int(START.timestamp()) + 60)}]
    any_backend.clock.advance(seconds=60)
    assert evaluations.get_evaluation_by_id("e") is None
    assert [listed(evaluations, owner) for owner in OWNERS] == [[], [], []]


def test_evaluations_do_not_expire_where_it_is_switched_off(fake):
    evaluations_of(fake, ttl={"eval": {"enabled": False}}).save_evaluation(evaluation())
    assert [item.get("ttl") for item in fake.items()] == [None]


def test_p103_no_call_reaches_what_another_tenant_has(any_backend, evaluations):
    acme = evaluations_of(any_backend, tenant="acme")
    stored = acme.save_evaluation(evaluation())
    for stranger in (evaluations, evaluations_of(any_backend, tenant="other")):
        assert stranger.get_evaluation_by_id("e") is None
        assert [listed(stranger, owner) for owner in OWNERS] == [[], [], []]
        stranger.delete_evaluations(["e"])
        stranger.save_evaluation(evaluation(result={"score": 0}))
    assert acme.get_evaluation_by_id("e") == stored
    assert [listed(acme, owner) for owner in OWNERS] == [["e"]] * 3


# Every list is the brute-force filter of what was saved.

TEXTS = st.sampled_from(["a", "A", "b"])
TIMES = st.integers(0, 3).map(lambda number: START + number * SECOND)
FIELDS = {
    "agent_name": TEXTS,
    "metric_name": TEXTS,
    "run_id": st.none() | TEXTS,
    "resource_id": st.none() | TEXTS,
    "created_at": TIMES,
}
SAVES = st.lists(st.tuples(st.sampled_from("abcdef"), st.fixed_dictionaries(FIELDS)), max_size=12)
QUESTIONS = st.one_of(st.fixed_dictionaries({owner: TEXTS}, optional={"metric_name": TEXTS}) for owner in OWNERS)
SCHEMA = create_table_params("t", [entity.spec for entity in ENTITIES])


@settings(derandomize=True, max_examples=150)
@given(saves=SAVES, wanted=QUESTIONS, since=st.none() | TIMES, size=st.integers(1, 4))
def test_a_list_is_what_a_filter_of_all_evaluations_gives(saves, wanted, since, size):
    database = MemoryDatabase.for_table(SCHEMA)
    evaluations = Evaluations(DynamoDBStore("t", transport=MemoryTransport(database)).table)
    stored = {one: evaluations.save_evaluation(evaluation(one, **fields)) for one, fields in saves}
    found = [one for one in stored.values() if all(getattr(one, name) == value for name, value in wanted.items())]
    found = [one for one in found if since is None or one.created_at >= since]
    expected = sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)

    options = {**wanted, "created_at": since and gte(since)}
    assert evaluations.list_evaluations(**options).items == expected
    pages = [evaluations.list_evaluations(**options, per_page=size)]
    while pages[-1].has_more:
        pages.append(evaluations.list_evaluations(**options, per_page=size, cursor=pages[-1].cursor))
    assert [page.items for page in pages] == [expected[n : n + size] for n in range(0, max(len(expected), 1), size)]
