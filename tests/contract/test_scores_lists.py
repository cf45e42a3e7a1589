"""The lists of store.scores: what is in them, in which order, page after page, on the fake, moto and dynalite."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import AccessDeniedError, DynamoDBStore, InvalidCursorError, RequestError, ThrottledError
from singletable.provision import create_table_params
from singletable.schemas import Score
from singletable.store.entities import ENTITIES
from singletable.testing import MemoryDatabase, MemoryTransport
from tests.contract.support import ALL, FAKES, START, make_store_backend

SECOND = timedelta(seconds=1)
OWNERS = {
    "scorer": {"scorer_id": "scorer"},
    "run": {"run_id": "run"},
    "entity": {"entity_id": "agent", "entity_type": "AGENT"},
    "span": {"trace_id": "trace", "span_id": "span"},
    "resource": {"resource_id": "ada"},
}
"""What each list is asked by."""
LISTS = {
    "scorer": lambda scores, *, scorer_id="scorer", **options: scores.list_scores_by_scorer_id(scorer_id, **options),
    "run": lambda scores, *, run_id="run", **options: scores.list_scores_by_run_id(run_id, **options),
    "entity": lambda scores, **options: scores.list_scores_by_entity_id(**OWNERS["entity"] | options),
    "span": lambda scores, **options: scores.list_scores_by_span(**OWNERS["span"] | options),
    "resource": lambda scores, *, resource_id="ada", **options: scores.list_scores_by_resource_id(
        resource_id, **options
    ),
}
TENANCY = ["organization_id", "project_id"]
FILTERS = [
    *((name, field) for name in LISTS for field in TENANCY),
    *(("scorer", field) for field in ("source", "entity_id", "entity_type")),
]
every_list = pytest.mark.parametrize("name", LISTS)
every_filter = pytest.mark.parametrize(("name", "field"), FILTERS)


@pytest.fixture(params=ALL)
def any_backend(request):
    return make_store_backend(request, request.param)


@pytest.fixture(params=FAKES)
def fake(request):
    return make_store_backend(request, request.param)


@pytest.fixture
def scores(any_backend):
    return any_backend.store().scores


def score(score_id, **fields):
    """A score that is in every list."""
    owned = {part: value for owner in OWNERS.values() for part, value in owner.items()}
    given = {"scorer": {}, "score": 1.0, "output": None, "source": "LIVE"}
    return Score(**{**owned, **given, "id": score_id, **fields})


def filled(scores, *score_ids, **fields):
    """One score a second, the first at START."""
    for number, score_id in enumerate(score_ids):
        scores.save_score(score(score_id, created_at=START + number * SECOND, **fields))


def listed(scores, name, **options):
    return ids(LISTS[name](scores, **options))


def ids(page):
    return [one.id for one in page.items]


# What is in a list.


@every_list
def test_s02_s06_s08_s10_a_list_has_the_scores_of_its_owner_alone(scores, name):
    filled(scores, "a", "b")
    for number, part in enumerate(OWNERS[name]):
        scores.save_score(score(f"other {number}", **{part: "other"}))
        scores.save_score(score(f"upper {number}", **{part: OWNERS[name][part].swapcase()}))
    assert listed(scores, name) == ["b", "a"]


@every_list
def test_s09_a_listed_score_is_as_it_is_stored(scores, name):
    stored = scores.save_score(score("a", reason="because", metadata={"n": 1.0}))
    assert LISTS[name](scores).items == [stored]


@every_list
def test_nothing_is_an_empty_page(scores, name):
    page = LISTS[name](scores, include_total=True)
    assert (page.items, page.cursor, page.has_more, page.total) == ([], None, False, 0)


@pytest.mark.parametrize("part", ["entity_id", "entity_type", "trace_id", "span_id", "resource_id"])
def test_a_score_that_lacks_a_part_is_in_the_other_lists_only(scores, part):
    scores.save_score(score("a", **{part: None}))
    assert [name for name in LISTS if listed(scores, name)] == [name for name in LISTS if part not in OWNERS[name]]


@every_list
def test_a_score_that_is_saved_for_another_owner_moves(scores, name):
    scores.save_score(score("a"))
    scores.save_score(score("a", **dict.fromkeys(OWNERS[name], "other")))
    assert listed(scores, name) == []
    assert listed(scores, name, **dict.fromkeys(OWNERS[name], "other")) == ["a"]


@every_list
def test_deleted_scores_leave_the_list(scores, name):
    filled(scores, "a", "b")
    scores.delete_scores(["a"])
    assert listed(scores, name) == ["b"]


@every_list
def test_more_than_a_megabyte_is_listed_whole(scores, name):
    names = [f"s{number:02}" for number in range(25)]
    filled(scores, *names, output="x" * 50_000)
    assert listed(scores, name, per_page=None) == names[::-1]


# Order and pages.


@every_list
def test_s03_s08_pages_by_number_are_newest_first(scores, name):
    filled(scores, *"abcde")
    pages = [LISTS[name](scores, page=number, per_page=2) for number in range(4)]
    assert [ids(page) for page in pages] == [["e", "d"], ["c", "b"], ["a"], []]
    assert [page.has_more for page in pages] == [True, True, False, False]


@every_list
@pytest.mark.parametrize("size", [2, 4, 6])
def test_s11_s12_s13_pages_by_cursor_are_the_list(scores, name, size):
    filled(scores, *"abcdef")
    found, cursor = [], None
    while True:
        page = LISTS[name](scores, per_page=size, cursor=cursor)
        assert len(page.items) == size or not page.has_more
        found, cursor = found + ids(page), page.cursor
        if not page.has_more:
            break
    assert found == ["f", "e", "d", "c", "b", "a"]


def test_s11_s12_s13_pages_of_a_span_by_number_count_no_other_span(scores):
    filled(scores, *"abcde")
    for number, other in enumerate([{"trace_id": "x"}, {"span_id": "x"}, {"trace_id": "x", "span_id": "x"}]):
        scores.save_score(score(f"other {number}", **other))
    pages = [LISTS["span"](scores, page=number, per_page=2, include_total=True) for number in range(3)]
    assert [ids(page) for page in pages] == [["e", "d"], ["c", "b"], ["a"]]
    assert [(page.total, page.has_more) for page in pages] == [(5, True), (5, True), (5, False)]


@every_list
def test_equal_times_are_ordered_by_id_on_every_page(scores, name):
    for score_id in "cadb":
        scores.save_score(score(score_id))
    assert listed(scores, name) == ["d", "c", "b", "a"]
    assert [listed(scores, name, page=number, per_page=1) for number in range(4)] == [["d"], ["c"], ["b"], ["a"]]


@every_list
def test_a_cursor_goes_on_whatever_is_written_meanwhile(scores, name):
    filled(scores, *"abcd")
    first = LISTS[name](scores, per_page=2)
    scores.save_score(score("new", created_at=START + 60 * SECOND))
    scores.delete_scores(["c"])
    assert listed(scores, name, per_page=2, cursor=first.cursor) == ["b", "a"]


@every_list
def test_a_total_is_exact_where_it_is_asked_for(scores, name):
    filled(scores, *"abcde")
    assert LISTS[name](scores, per_page=2).total is None
    assert [LISTS[name](scores, per_page=size, include_total=True).total for size in (0, 2, 5, None)] == [5] * 4


@every_list
def test_no_page_is_empty_and_every_page_is_whole(scores, name):
    filled(scores, *"abc")
    assert listed(scores, name, per_page=0) == []
    assert listed(scores, name, per_page=None) == ["c", "b", "a"]


# Filters.


@every_filter
def test_s05_s14_s16_s17_a_filter_leaves_out_what_differs(scores, name, field):
    owned = OWNERS[name].keys()
    filled(scores, "a", **{field: "wanted"})
    for number, value in enumerate(["other", "WANTED", "wanted ", *([] if field == "source" else [None])]):
        scores.save_score(score(f"other {number}", **{field: value}))
    assert field not in owned
    page = LISTS[name](scores, include_total=True, **{field: "wanted"})
    assert (ids(page), page.total) == (["a"], 1)


@every_filter
def test_a_filtered_page_is_full_while_more_follows(scores, name, field):
    for number in range(12):
        value = "wanted" if number % 3 == 0 else "other"
        scores.save_score(score(f"{number:02}", created_at=START + number * SECOND, **{field: value}))
    first = LISTS[name](scores, per_page=2, **{field: "wanted"})
    second = LISTS[name](scores, per_page=2, cursor=first.cursor, **{field: "wanted"})
    assert (ids(first), first.has_more) == (["09", "06"], True)
    assert (ids(second), second.has_more) == (["03", "00"], False)
    assert listed(scores, name, page=1, per_page=2, **{field: "wanted"}) == ["03", "00"]


@every_list
def test_s16_s17_all_filters_hold_at_once(scores, name):
    for organization in ("acme", "other"):
        for project in ("atlas", "other"):
            scores.save_score(score(f"{organization} {project}", organization_id=organization, project_id=project))
    assert listed(scores, name, organization_id="acme", project_id="atlas") == ["acme atlas"]
    assert listed(scores, name, project_id="other") == ["other other", "acme other"]


# What is refused.


@pytest.mark.parametrize("value", [None, "", " ", 1, ["a"]], ids=repr)
@pytest.mark.parametrize(("name", "part"), [(name, part) for name, owner in OWNERS.items() for part in owner])
def test_a_list_without_its_owner_is_refused_before_anything_is_sent(scores, any_backend, name, part, value):
    with pytest.raises(RequestError, match=part):
        LISTS[name](scores, **{part: value})
    assert any_backend.sent.requests == []


@pytest.mark.parametrize("value", ["", " ", 1, ["a"]], ids=repr)
@every_filter
def test_a_filter_that_is_no_text_is_refused_before_anything_is_sent(fake, name, field, value):
    with pytest.raises(RequestError, match=f"{field} must be a text"):
        LISTS[name](fake.store().scores, **{field: value})
    assert fake.sent.requests == []


@every_list
@pytest.mark.parametrize(
    "options", [{"page": -1}, {"per_page": -1}, {"per_page": 1.5}, {"page": 1, "per_page": None}], ids=repr
)
def test_a_wrong_page_is_refused_before_anything_is_sent(fake, name, options):
    with pytest.raises(RequestError, match="page"):
        LISTS[name](fake.store().scores, **options)
    assert fake.sent.requests == []


@every_list
def test_a_cursor_is_of_one_question(scores, name):
    filled(scores, *"abc", organization_id="acme")
    cursor = LISTS[name](scores, per_page=1).cursor
    with pytest.raises(InvalidCursorError):
        LISTS[name](scores, per_page=1, cursor=cursor, organization_id="acme")
    with pytest.raises(InvalidCursorError):
        LISTS[name](scores, per_page=1, cursor=cursor, **dict.fromkeys(OWNERS[name], "other"))


@every_list
@pytest.mark.parametrize("error", [ThrottledError, AccessDeniedError])
def test_a_list_that_cannot_be_read_raises(fake, name, error):
    fake.faults.on_request = lambda request: error("refused", operation=request.operation)
    with pytest.raises(error):
        LISTS[name](fake.store().scores)


# What a list costs, and whose it is.


@every_list
def test_a_page_is_one_query_of_one_entry_more_and_the_scores_themselves(fake, name):
    scores = fake.store().scores
    filled(scores, *map(str, range(10, 40)))
    fake.sent.clear()
    LISTS[name](scores, per_page=10)
    assert (fake.sent.operations, fake.sent.scanned_counts) == (["Query", "BatchGetItem"], [11])


@every_list
def test_p103_no_list_shows_what_another_tenant_has(scores, any_backend, name):
    store = any_backend.store()
    acme, other = store.scoped("acme").scores, store.scoped("other").scores
    for number, one in enumerate((acme, other, scores)):
        one.save_score(score("same id", score=number))
    found = [[one.score for one in LISTS[name](each).items] for each in (acme, other, scores)]
    assert found == [[0.0], [1.0], [2.0]]


def test_p103_no_other_call_reaches_what_another_tenant_has(scores, any_backend):
    acme = any_backend.store().scoped("acme").scores
    stored = acme.save_score(score("s"))
    other = any_backend.store().scoped("other").scores
    for stranger in (scores, other):
        assert stranger.get_score_by_id("s") is None
        stranger.delete_scores(["s"])
        stranger.save_score(score("s", reason="theirs"))
    assert acme.get_score_by_id("s") == stored


# Every list is the brute-force filter of what was saved.

TEXTS = st.sampled_from(["a", "A", "b"])
MAYBE = st.none() | TEXTS
FIELDS = {
    "scorer_id": TEXTS,
    "run_id": TEXTS,
    "entity_type": MAYBE,
    "entity_id": MAYBE,
    "trace_id": MAYBE,
    "span_id": MAYBE,
    "resource_id": MAYBE,
    "source": TEXTS,
    "organization_id": MAYBE,
    "project_id": MAYBE,
    "created_at": st.integers(0, 3).map(lambda number: datetime(2026, 1, 1, tzinfo=UTC) + number * SECOND),
}
SAVES = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.fixed_dictionaries(FIELDS)), max_size=14)
QUESTIONS = st.one_of(
    st.tuples(
        st.just(name),
        st.fixed_dictionaries(
            dict.fromkeys(OWNERS[name], TEXTS),
            optional={field: TEXTS for of, field in FILTERS if of == name},
        ),
    )
    for name in LISTS
)
SCHEMA = create_table_params("t", [entity.spec for entity in ENTITIES])


@settings(derandomize=True, max_examples=150)
@given(
    saves=SAVES, deleted=st.sets(st.sampled_from("abcdefgh"), max_size=2), question=QUESTIONS, size=st.integers(1, 4)
)
def test_a_list_is_what_a_filter_of_all_scores_gives(saves, deleted, question, size):
    scores = DynamoDBStore("t", transport=MemoryTransport(MemoryDatabase.for_table(SCHEMA))).scores
    stored = {score_id: scores.save_score(score(score_id, **fields)) for score_id, fields in saves}
    scores.delete_scores(deleted)
    name, wanted = question
    left = [one for score_id, one in stored.items() if score_id not in deleted]
    found = [one for one in left if all(getattr(one, part) == value for part, value in wanted.items())]
    expected = sorted(found, key=lambda one: (one.created_at, one.id), reverse=True)

    whole = LISTS[name](scores, per_page=None, include_total=True, **wanted)
    assert (whole.items, whole.total) == (expected, len(expected))
    pages = [LISTS[name](scores, per_page=size, **wanted)]
    while pages[-1].has_more:
        pages.append(LISTS[name](scores, per_page=size, cursor=pages[-1].cursor, **wanted))
    assert [page.items for page in pages] == [expected[n : n + size] for n in range(0, max(len(expected), 1), size)]
