"""Lists of threads: sorted, filtered and by page; Mastra's cases by their ids.

Lists are queries, so that they run on dynalite too: there threads are put into the table, because a save is a
transaction."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import InvalidCursorError, RequestError
from singletable.schemas import Thread
from tests.contract.support import ALL, FAKES, START, TRANSACTING, make_backend

HOUR = timedelta(hours=1)


def thread(thread_id="t", **fields):
    return Thread(**{"id": thread_id, "resource_id": "ada", **fields})


def ids(found):
    return [one.id for one in found]


def listed(memory, resource_id="ada", **options):
    return ids(memory.list_threads(resource_id, **options).items)


def pages(memory, per_page, **options):
    """All pages, each by the cursor of the one before."""
    page = memory.list_threads("ada", per_page=per_page, **options)
    yield page
    while page.has_more:
        page = memory.list_threads("ada", per_page=per_page, cursor=page.cursor, **options)
        yield page


# Sorted.  Created as a, b, c; changed as c, a, b.


@pytest.fixture(scope="module", params=ALL)
def sorted_memory(request):
    store = make_backend(request, request.param).store()
    for number, name in enumerate("abc"):
        times = {"created_at": START + number * HOUR, "updated_at": START + (number + 1) % 3 * HOUR}
        store.table.put(thread(name, **times))
    store.table.put(thread("other", resource_id="bob", metadata={"kind": "x"}))
    return store.memory


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param({}, "cba", id="ts01"),
        pytest.param({"order_by": "created_at", "order": "asc"}, "abc", id="ts02"),
        pytest.param({"order_by": "created_at", "order": "desc"}, "cba", id="ts03"),
        pytest.param({"order_by": "updated_at", "order": "asc"}, "cab", id="ts04"),
        pytest.param({"order_by": "updated_at", "order": "desc"}, "bac", id="ts05"),
        pytest.param({"order_by": "created_at"}, "cba", id="ts06"),
        pytest.param({"order_by": "updated_at"}, "bac", id="ts07"),
        pytest.param({"order": "asc"}, "abc", id="ts08"),
        pytest.param({"order": "desc"}, "cba", id="ts09"),
    ],
)
def test_ts01_to_ts09_threads_in_order(sorted_memory, options, expected):
    assert listed(sorted_memory, **options) == list(expected)


@pytest.mark.parametrize("order_by", ["created_at", "updated_at"])
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_ts10_the_pages_are_the_list(sorted_memory, order_by, order):
    options = {"order_by": order_by, "order": order}
    by_cursor = [ids(page.items) for page in pages(sorted_memory, 1, **options)]
    by_number = [listed(sorted_memory, per_page=1, page=number, **options) for number in range(3)]
    assert by_cursor == by_number == [[one] for one in listed(sorted_memory, **options)]


@pytest.mark.parametrize("options", [{"order_by": "updated_at"}, {"order": "asc"}], ids=repr)
def test_ts11_ts12_no_thread_and_one_thread_sorted(sorted_memory, options):
    assert listed(sorted_memory, "nobody", **options) == []
    assert listed(sorted_memory, "bob", **options) == ["other"]


@pytest.mark.parametrize("order_by", ["created_at", "updated_at"])
def test_ts13_of_threads_with_one_time_no_page_repeats_or_loses_one(any_backend, order_by):
    store, names = any_backend.store(), [f"t{number}" for number in range(7)]
    for name in names:
        store.table.put(thread(name, created_at=START, updated_at=START))
    memory = store.memory
    found = [one for page in pages(memory, 2, order_by=order_by) for one in ids(page.items)]
    assert sorted(found) == names
    assert found == listed(memory, order_by=order_by)


# Filtered.


METADATA = {
    "none": {},
    "red": {"colour": "red", "size": 1, "tags": ["a", "b"], "deep": {"x": {"y": [1, {"z": None}]}}},
    "red-large": {"colour": "red", "size": 2, "flag": True},
    "blue": {"colour": "blue", "size": 1, "nothing": None, "flag": False},
    "text": {"colour": "1", "size": "1", "flag": "true", "empty": {}, "list": []},
}


def fill(backend):
    """A memory with the threads of METADATA, an hour apart, and one of bob."""
    store = backend.store()
    for number, (name, metadata) in enumerate(METADATA.items()):
        time = START + number * HOUR
        store.table.put(thread(name, metadata=metadata, created_at=time, updated_at=time))
    store.table.put(thread("bobs", resource_id="bob", metadata={"colour": "red", "size": 1}))
    return store.memory


@pytest.fixture(scope="module", params=ALL)
def filled(request):
    return fill(make_backend(request, request.param))


@pytest.fixture(scope="module", params=TRANSACTING)
def deep(request):
    """Without dynalite, to which no map and no list is equal to another."""
    return fill(make_backend(request, request.param))


@pytest.fixture(scope="module", params=[*FAKES, "dynalite-sync"])
def strict(request):
    """Without moto, which compares as Python does, where True is 1."""
    return fill(make_backend(request, request.param))


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param(None, ["text", "blue", "red-large", "red", "none"], id="tf01-tf05-no-filter"),
        pytest.param({}, ["text", "blue", "red-large", "red", "none"], id="empty"),
        pytest.param({"colour": "red"}, ["red-large", "red"], id="tf02-tf04-one-key"),
        pytest.param({"colour": "red", "size": 1}, ["red"], id="tf03-two-keys"),
        pytest.param({"colour": "green"}, [], id="tf06-no-value"),
        pytest.param({"colour": "red", "size": 9}, [], id="tf08-not-both"),
        pytest.param({"unknown": "red"}, [], id="no-key"),
        pytest.param({"size": 1}, ["blue", "red"], id="number"),
        pytest.param({"size": 1.0}, ["blue", "red"], id="equal-number"),
        pytest.param({"size": "1"}, ["text"], id="text"),
        pytest.param({"flag": True}, ["red-large"], id="true"),
        pytest.param({"flag": False}, ["blue"], id="false"),
        pytest.param({"nothing": None}, ["blue"], id="tf11-null-is-there"),
    ],
)
@pytest.mark.parametrize("order_by", ["created_at", "updated_at"])
def test_tf01_to_tf11_ts14_to_ts16_threads_with_metadata(filled, metadata, expected, order_by):
    found = filled.list_threads("ada", metadata=metadata, order_by=order_by, include_total=True)
    assert (ids(found.items), found.has_more, found.total) == (expected, False, len(expected))
    assert listed(filled, metadata=metadata, order_by=order_by, order="asc") == expected[::-1]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param({"empty": {}}, ["text"], id="empty-object"),
        pytest.param({"list": []}, ["text"], id="empty-list"),
        pytest.param({"tags": ["a", "b"]}, ["red"], id="list"),
        pytest.param({"tags": ["b", "a"]}, [], id="list-in-order"),
        pytest.param({"tags": "a"}, [], id="member-of-a-list"),
        pytest.param({"deep": {"x": {"y": [1, {"z": None}]}}}, ["red"], id="deep"),
        pytest.param({"deep": {"x": {"y": [1, {"z": 0}]}}}, [], id="deep-other"),
        pytest.param({"deep": {"x": {}}}, [], id="deep-part"),
    ],
)
def test_objects_and_lists_are_compared_to_their_depth(deep, metadata, expected):
    assert listed(deep, metadata=metadata) == expected


@pytest.mark.parametrize(
    "metadata", [{"size": True}, {"flag": 1}, {"flag": 0}, {"deep": {"x": {"y": [True, {"z": None}]}}}], ids=repr
)
def test_a_number_is_not_equal_to_a_bool(strict, metadata):
    assert listed(strict, metadata=metadata) == []


def test_tf07_a_resource_that_does_not_exist(filled):
    found = filled.list_threads("nobody", metadata={"colour": "red"}, include_total=True)
    assert (found.items, found.has_more, found.total) == ([], False, 0)


def test_tf12_a_filtered_thread_is_as_it_is_read(filled):
    for found in filled.list_threads("ada", metadata={"colour": "red"}).items:
        assert found == filled.get_thread_by_id(found.id)


# By page.


@pytest.fixture(scope="module", params=ALL)
def many(request):
    """17 threads, of which every third is marked."""
    store = make_backend(request, request.param).store()
    for number in range(17):
        marked = {"marked": True} if number % 3 == 0 else {}
        store.table.put(thread(f"t{number:02}", created_at=START + number * HOUR, metadata=marked))
    return store.memory


def test_t09_t18_pages_by_number_with_the_total(many):
    found = [many.list_threads("ada", page=number, per_page=10, include_total=True) for number in range(2)]
    assert [(len(page.items), page.has_more, page.total) for page in found] == [(10, True, 17), (7, False, 17)]
    assert {one for page in found for one in ids(page.items)} == {f"t{number:02}" for number in range(17)}


def test_t19_a_page_has_100_threads_unless_it_is_said_otherwise(fake):
    memory = fake.store().memory
    for number in range(101):
        memory.save_thread(thread(f"t{number}"))
    page = memory.list_threads("ada")
    assert (len(page.items), page.has_more) == (100, True)


@pytest.mark.parametrize("per_page", [1, 2, 3, 5, 6, 7])
def test_tf09_filtered_pages_are_full_and_prove_that_more_follows(many, per_page):
    marked = [f"t{number:02}" for number in range(15, -1, -3)]
    found = list(pages(many, per_page, metadata={"marked": True}))
    assert [one for page in found for one in ids(page.items)] == marked
    assert all(len(page.items) == per_page for page in found[:-1])
    assert found[-1].items
    for number, page in enumerate(found):
        again = many.list_threads("ada", metadata={"marked": True}, page=number, per_page=per_page)
        assert (again.items, again.has_more) == (page.items, page.has_more)


def test_tf10_everything(many):
    page = many.list_threads("ada", per_page=None, metadata={"marked": True}, include_total=True)
    assert (len(page.items), page.has_more, page.total) == (6, False, 6)
    assert len(listed(many, per_page=None)) == 17


def test_a_page_of_nothing_has_the_total(many):
    page = many.list_threads("ada", per_page=0, metadata={"marked": True}, include_total=True)
    assert (page.items, page.total) == ([], 6)


def test_a_cursor_belongs_to_its_filter(many):
    cursor = many.list_threads("ada", per_page=2, metadata={"marked": True}).cursor
    for metadata in (None, {"marked": False}):
        with pytest.raises(InvalidCursorError):
            many.list_threads("ada", per_page=2, metadata=metadata, cursor=cursor)


# Refused.


def refused(fake, **options):
    memory = fake.store().memory
    with pytest.raises(RequestError) as caught:
        memory.list_threads(**{"resource_id": "ada", **options})
    assert fake.sent.operations == []
    return str(caught.value)


WRONG_KEYS = ["__proto__", "prototype", "constructor", "a.b", "a-b", "1a", "", "a b", "é", "a\n", "k" * 129, "a[0]"]


@pytest.mark.parametrize("key", WRONG_KEYS, ids=repr)
def test_a_key_of_a_filter_that_mastra_refuses_is_refused(fake, key):
    text = refused(fake, metadata={"fine": 1, key: "secret-value"})
    assert "a key of a metadata filter" in text
    assert "secret" not in text


@pytest.mark.parametrize("key", ["a", "_", "_a1", "A9_", "proto", "k" * 128])
def test_any_other_key_finds_its_thread(fake, key):
    memory = fake.store().memory
    memory.save_thread(thread(metadata={key: "x"}))
    assert listed(memory, metadata={key: "x"}) == ["t"]


@pytest.mark.parametrize(
    "metadata",
    [["a"], "a", 5, True, {1: 2}, {"a": {1, 2}}, {"a": START}, {"a": float("nan")}, {"a": b"x"}],
    ids=repr,
)
def test_a_filter_that_is_no_json_is_refused(fake, metadata):
    refused(fake, metadata=metadata)


def test_a_filter_has_up_to_50_keys(fake):
    assert "at most 50" in refused(fake, metadata={f"k{number}": number for number in range(51)})
    memory = fake.store().memory
    metadata = {f"k{number}": {"n": number} for number in range(50)}
    memory.save_thread(thread(metadata=metadata))
    assert listed(memory, metadata=metadata) == ["t"]


@pytest.mark.parametrize("resource_id", [None, "", "  ", "\t\u3000", 5], ids=repr)
def test_a_list_without_an_owner_is_refused(fake, resource_id):
    assert "resource_id" in refused(fake, resource_id=resource_id)


def test_a_filter_reads_a_hundred_threads_a_request(fake):
    memory = fake.store().memory
    for number in range(120):
        memory.save_thread(thread(f"t{number}", metadata={"rare": number == 0}))
    fake.sent.clear()
    page = memory.list_threads("ada", per_page=2, metadata={"rare": True})
    assert (ids(page.items), page.has_more) == (["t0"], False)
    assert fake.sent.operations == ["Query", "Query"]
