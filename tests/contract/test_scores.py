"""store.scores keeps its contract on the fake, moto and dynalite, sync and async."""

from __future__ import annotations

import json
from datetime import timedelta, timezone
from itertools import cycle

import pytest

from singletable import (
    AccessDeniedError,
    ConditionFailedError,
    DynamoDBStore,
    ItemTooLargeError,
    PartialBatchError,
    RequestError,
)
from singletable.schemas import Score
from singletable.store._sync.scores import Scores
from singletable.store.contention import CHANGES
from singletable.testing import MemoryTransport
from tests.contract.support import ALL, FAKES, START, make_store_backend

HOUR = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)
COLUMNS = """
    id scorer_id trace_id span_id run_id scorer preprocess_step_result extract_step_result analyze_step_result score
    reason metadata preprocess_prompt extract_prompt generate_score_prompt generate_reason_prompt analyze_prompt
    reason_prompt input output additional_context request_context entity_type entity entity_id source resource_id
    thread_id organization_id project_id batch_id dataset_id dataset_item_id created_at updated_at
"""
JSON = {"a": [1, 1.0, None, True, "é😀", {"": [[]]}], "big": 2**53, "b": "2026-11-30T22:00:00.000Z"}
FULL = {
    "scorer_id": "scorer",
    "run_id": "run",
    "scorer": JSON,
    "score": 0.1 + 0.2,
    "input": [JSON, "text"],
    "output": "text",
    "source": "LIVE",
    "entity_type": "AGENT",
    "entity_id": "agent",
    "entity": JSON,
    "trace_id": "trace",
    "span_id": "span",
    "resource_id": "ada",
    "thread_id": "thread",
    "organization_id": "acme",
    "project_id": "project",
    "batch_id": "batch",
    "dataset_id": "dataset",
    "dataset_item_id": "item",
    "preprocess_step_result": JSON,
    "extract_step_result": [1, 1.0],
    "analyze_step_result": False,
    "preprocess_prompt": "one",
    "extract_prompt": "two",
    "analyze_prompt": "three",
    "generate_score_prompt": "four",
    "generate_reason_prompt": "five",
    "reason_prompt": "six",
    "reason": "because",
    "metadata": JSON,
    "additional_context": JSON,
    "request_context": {},
}
FREE_FORM = [name for name, value in FULL.items() if isinstance(value, dict | list | bool)] + ["output"]


@pytest.fixture(params=ALL)
def any_backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def scores(any_backend):
    return any_backend.store().scores


def score(score_id="s", **fields):
    given = {"scorer_id": "scorer", "run_id": "run", "scorer": {}, "score": 1.0, "output": None, "source": "LIVE"}
    return Score(**{**given, "id": score_id, **fields})


def saved(scores, *given):
    return [scores.save_score(one) for one in given]


# One score.


def test_a_score_has_the_columns_of_mastra():
    assert set(Score.model_fields) == set(COLUMNS.split())


def test_s01_a_score_with_an_id_is_stored_under_it_once(scores, any_backend):
    first = scores.save_score(score(reason="first"))
    any_backend.clock.advance(hours=1)
    second = scores.save_score(score(reason="second", score=0.5))
    assert scores.get_score_by_id("s") == second
    assert (second.reason, second.score) == ("second", 0.5)
    assert (second.created_at, second.updated_at) == (first.created_at, START + HOUR)
    assert [one.id for one in scores.list_scores_by_scorer_id("scorer").items] == ["s"]


def test_s01_a_score_that_is_saved_again_loses_what_is_not_given(scores):
    scores.save_score(score(**FULL))
    scores.save_score(score())
    found = scores.get_score_by_id("s")
    assert {name for name, value in found.model_dump().items() if value is not None} == {
        *("id", "scorer_id", "run_id", "scorer", "score", "source", "created_at", "updated_at")
    }


def test_s04_a_score_comes_back_as_it_was_given_and_with_nothing_more(scores):
    stored = scores.save_score(score(**FULL))
    found = scores.get_score_by_id("s")
    assert found == stored
    assert found.model_dump() == FULL | {"id": "s", "created_at": START, "updated_at": START}
    (listed,) = scores.list_scores_by_run_id("run").items
    assert listed.model_dump() == found.model_dump()


@pytest.mark.parametrize("name", FREE_FORM)
def test_s04_free_form_json_comes_back_exactly(scores, name):
    scores.save_score(score(**FULL))
    found = getattr(scores.get_score_by_id("s"), name)
    assert json.dumps(found) == json.dumps(FULL[name])


@pytest.mark.parametrize("number", [0, 1, -1, 0.0, 0.1, 1e-7, 1 / 3, 12345678.9])
def test_a_score_is_a_float(scores, number):
    scores.save_score(score(score=number))
    found = scores.get_score_by_id("s").score
    assert (type(found), found) == (float, number)


def test_s06_s07_a_score_without_an_id_gets_one_of_its_own(scores):
    fields = score().model_dump(exclude={"id", "created_at", "updated_at"})
    first, second = saved(scores, Score(**fields), Score(**fields))
    assert first.id != second.id
    assert scores.get_score_by_id(first.id) == first
    assert {one.id for one in scores.list_scores_by_run_id("run").items} == {first.id, second.id}


def test_a_score_that_is_not_there_is_none(scores):
    assert scores.get_score_by_id("s") is None


def test_ids_that_differ_in_case_are_two_scores(scores):
    saved(scores, score("Abc", reason="upper"), score("abc", reason="lower"))
    assert scores.get_score_by_id("Abc").reason == "upper"
    assert scores.get_score_by_id("abc").reason == "lower"


def test_s14_tenancy_is_stored(scores):
    scores.save_score(score(organization_id="acme", project_id="atlas"))
    found = scores.get_score_by_id("s")
    assert (found.organization_id, found.project_id) == ("acme", "atlas")


def test_s15_provenance_is_stored(scores):
    scores.save_score(score(batch_id="b", dataset_id="d", dataset_item_id="i"))
    found = scores.get_score_by_id("s")
    assert (found.batch_id, found.dataset_id, found.dataset_item_id) == ("b", "d", "i")


# Times.


def test_a_created_at_that_is_given_is_stored_to_the_millisecond_and_in_utc(scores):
    given = START.replace(microsecond=123_999).astimezone(timezone(timedelta(hours=2)))
    scores.save_score(score(created_at=given))
    found = scores.get_score_by_id("s")
    assert (found.created_at, found.created_at.utcoffset()) == (START.replace(microsecond=123_000), timedelta())


def test_a_created_at_that_is_given_replaces(scores):
    saved(scores, score(), score(created_at=START - HOUR))
    assert scores.get_score_by_id("s").created_at == START - HOUR


def test_a_score_that_was_read_and_is_saved_keeps_created_at(scores, any_backend):
    scores.save_score(score())
    any_backend.clock.advance(hours=1)
    again = scores.save_score(scores.get_score_by_id("s").model_copy(update={"reason": "new"}))
    assert (again.reason, again.created_at, again.updated_at) == ("new", START, START + HOUR)


@pytest.mark.parametrize("step", [timedelta(), -HOUR], ids=["stands still", "goes back"])
def test_updated_at_moves_forward_whatever_the_clock_does(scores, any_backend, step):
    stamps = []
    for _ in range(3):
        stamps.append(scores.save_score(score(updated_at=START - HOUR)).updated_at)
        any_backend.clock.now += step
    assert stamps == [START, START + MILLISECOND, START + 2 * MILLISECOND]


def test_a_naive_time_is_refused(scores, any_backend):
    with pytest.raises(RequestError, match="naive"):
        scores.save_score(score(created_at=START.replace(tzinfo=None)))
    assert any_backend.sent.requests == []


# What is refused.


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"id": " "}, "id is blank"),
        ({"scorer_id": ""}, "scorer_id is blank"),
        ({"run_id": " "}, "run_id is blank"),
        ({"score": float("nan")}, "score.score is nan"),
        ({"score": float("inf")}, "score.score is inf"),
        ({"input": {"a": {1}}}, "score.input.a is a set"),
        ({"metadata": {"a": float("nan")}}, "score.metadata.a is nan"),
        ({"reason": "\ud800"}, "surrogate"),
    ],
    ids=repr,
)
def test_what_cannot_be_stored_is_refused_before_anything_is_sent(scores, any_backend, fields, problem):
    with pytest.raises(RequestError, match=problem):
        scores.save_score(score(**fields))
    assert any_backend.sent.requests == []


def test_a_score_that_is_too_large_is_refused_before_anything_is_sent(scores, any_backend):
    with pytest.raises(ItemTooLargeError, match="output"):
        scores.save_score(score(output="x" * 410_000))
    assert any_backend.sent.requests == []


@pytest.mark.parametrize("given", [{"id": "s"}, "s", None])
def test_only_a_score_is_saved(scores, any_backend, given):
    with pytest.raises(RequestError, match="takes a Score"):
        scores.save_score(given)
    assert any_backend.sent.requests == []


@pytest.mark.parametrize("score_id", ["", " ", None, 1])
def test_a_score_is_asked_for_by_an_id(scores, any_backend, score_id):
    with pytest.raises(RequestError, match="id"):
        scores.get_score_by_id(score_id)
    assert any_backend.sent.requests == []


# Deleting.


def test_deleted_scores_are_gone_and_the_others_are_not(scores):
    saved(scores, *(score(one, **FULL) for one in "abcd"))
    scores.delete_scores(["a", "c", "a", "never there"])
    scores.delete_scores(iter(["a"]))
    assert [one for one in "abcd" if scores.get_score_by_id(one)] == ["b", "d"]
    assert {one.id for one in scores.list_scores_by_resource_id("ada").items} == {"b", "d"}


def test_deleting_no_scores_sends_nothing(scores, any_backend):
    scores.delete_scores([])
    assert any_backend.sent.requests == []


@pytest.mark.parametrize("given", ["abc", ["a", ""], ["a", None]])
def test_what_is_no_list_of_ids_deletes_nothing(scores, any_backend, given):
    scores.save_score(score("a"))
    any_backend.sent.clear()
    with pytest.raises(RequestError):
        scores.delete_scores(given)
    assert any_backend.sent.requests == []


# Expiry.


def test_an_expired_score_is_absent_and_its_id_is_free(any_backend):
    scores = any_backend.store(ttl={"score": {"default_ttl_seconds": 60}}).scores
    scores.save_score(score())
    any_backend.clock.advance(seconds=60)
    assert scores.get_score_by_id("s") is None
    assert scores.list_scores_by_run_id("run", include_total=True).total == 0
    again = scores.save_score(score())
    assert (again.created_at, again.updated_at) == (START + timedelta(seconds=60),) * 2


def test_a_score_that_is_saved_again_lives_on(any_backend):
    scores = any_backend.store(ttl={"score": {"default_ttl_seconds": 60}}).scores
    scores.save_score(score())
    any_backend.clock.advance(seconds=59)
    scores.save_score(score())
    any_backend.clock.advance(seconds=59)
    assert scores.get_score_by_id("s").created_at == START


def test_scores_do_not_expire_unless_it_is_asked_for(scores, any_backend):
    scores.save_score(score())
    assert all("ttl" not in item for item in any_backend.items())


# Other writers, and faults.


@pytest.fixture
def rival(fake):
    """Another process with the same table."""
    return DynamoDBStore("fake", transport=MemoryTransport(fake.database), clock=fake.clock).scores


def before_each_put(fake, acts):
    """Have one of `acts` done before each PutItem, until there are no more."""
    waiting = iter(acts)

    def act(request):
        if request.operation == "PutItem":
            next(waiting, lambda: None)()

    fake.faults.on_request = act


def test_a_save_that_is_overtaken_is_made_over_what_is_there(fake, rival):
    others = [lambda n=n: rival.save_score(score(reason=f"rival {n}")) for n in range(3)]
    before_each_put(fake, others)
    stored = fake.store().scores.save_score(score(reason="mine"))
    assert fake.sent.operations == ["PutItem"] * 4
    assert (stored.created_at, stored.updated_at) == (START, START + 3 * MILLISECOND)
    assert rival.get_score_by_id("s") == stored


def test_a_save_over_a_score_that_is_deleted_meanwhile_makes_it_anew(fake, rival):
    rival.save_score(score(created_at=START - HOUR))
    before_each_put(fake, [lambda: None, lambda: rival.delete_scores(["s"])])
    assert fake.store().scores.save_score(score()).created_at == START
    assert fake.sent.operations == ["PutItem", "PutItem", "GetItem", "PutItem"]


@pytest.mark.parametrize("fake", ["fake-sync"], indirect=True)
def test_a_save_that_is_overtaken_every_time_is_given_up(fake, rival):
    scores = Scores(fake.table(Score))  # which waits for nothing
    before_each_put(fake, cycle([lambda: rival.save_score(score(reason="rival"))]))
    with pytest.raises(ConditionFailedError):
        scores.save_score(score(reason="mine"))
    assert fake.sent.operations == ["PutItem"] * CHANGES
    assert rival.get_score_by_id("s").reason == "rival"


@pytest.mark.parametrize("before", [0, 1], ids=["a new one", "a stored one"])
@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_a_save_whose_answer_was_lost_is_made_once(fake, fault, before):
    scores = fake.store().scores
    stamps = [scores.save_score(score()).updated_at for _ in range(before)]
    getattr(fake.faults, fault)(operation="PutItem")
    stored = scores.save_score(score(reason="new"))
    assert scores.get_score_by_id("s") == stored
    assert stored.updated_at == (stamps[0] + MILLISECOND if stamps else START)


def test_saving_costs_one_request_for_a_new_score_and_two_for_a_stored_one(fake):
    scores = fake.store().scores
    for operations in (["PutItem"], ["PutItem", "PutItem"]):
        fake.sent.clear()
        scores.save_score(score())
        assert fake.sent.operations == operations


def test_reading_costs_one_request_and_deleting_one_for_25(fake):
    scores = fake.store().scores
    scores.get_score_by_id("s")
    scores.delete_scores(f"s{number}" for number in range(26))
    assert fake.sent.operations == ["GetItem", "BatchWriteItem", "BatchWriteItem"]
    assert fake.sent.requests[0].params["ConsistentRead"] is True


def test_what_is_not_deleted_is_raised(fake):
    scores = fake.store().scores
    scores.save_score(score("a"))
    fake.faults.on_request = lambda request: AccessDeniedError("refused", operation=request.operation)
    with pytest.raises(PartialBatchError) as caught:
        scores.delete_scores(["a"])
    assert caught.value.unwritten == (Score.Key(id="a"),)
