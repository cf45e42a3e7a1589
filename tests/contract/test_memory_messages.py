"""Lists of messages keep Mastra's contract (ML, MP) on the fake and on moto, sync and async."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import InvalidKeyError, ItemTooLargeError, RequestError, between, gt, gte, lt, lte
from singletable.schemas import Message, Thread
from singletable.store.dates import DateRange
from tests.contract.support import FAKES, START, TRANSACTING, make_backend

DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)


def thread(thread_id="t", resource_id="ada"):
    return Thread(id=thread_id, resource_id=resource_id)


def message(message_id, thread_id="t", day=0, **fields):
    fields = {"role": "user", "content": message_id, "created_at": START + DAY * day, **fields}
    return Message(id=message_id, thread_id=thread_id, **fields)


def ids(found):
    return [one.id for one in found]


def listed(memory, thread_id="t", **options):
    return ids(memory.list_messages(thread_id, **options).items)


def save_all(memory):
    """Ten messages in two threads of ada, a day apart and by turns, and one thread of bob."""
    for name, owner in {"a": "ada", "b": "ada", "c": "bob"}.items():
        memory.save_thread(thread(name, owner))
    memory.save_messages(
        message(f"m{day}", "ab"[day % 2], day, resource_id="ada", metadata={"even": day % 2 == 0, "day": day})
        for day in range(10)
    )
    memory.save_messages([message("c0", "c", 1, resource_id="bob")])
    return memory


@pytest.fixture(scope="module", params=TRANSACTING)
def ten(request):
    """Shared: these tests only read."""
    return save_all(make_backend(request, request.param).store().memory)


def named(digits):
    return [f"m{digit}" for digit in digits]


EXPECTED = {
    "ml01-all": (("a",), {"per_page": None}, "02468", False),
    "ml03-a-page": (("a",), {"per_page": 2}, "02", True),
    "ml04-its-resource": (("a",), {"resource_id": "ada"}, "02468", False),
    "ml04-another-resource": (("a",), {"resource_id": "bob"}, "", False),
    "ml11-asc-by-default": (("a", "b"), {}, "0123456789", False),
    "ml12-asc": (("a", "b"), {"order": "asc"}, "0123456789", False),
    "ml13-desc": (("a", "b"), {"order": "desc"}, "9876543210", False),
    "ml14-empty": (("none",), {}, "", False),
    "ml22-restricted": (("a", "b"), {"per_page": 3}, "012", True),
    "ml24-page-skips": (("a", "b"), {"per_page": 4, "page": 1}, "4567", True),
    "ml25-last-page": (("a", "b"), {"per_page": 4, "page": 2}, "89", False),
    "ml25-beyond": (("a", "b"), {"per_page": 5, "page": 2}, "", False),
    "ml28-resource": (("a", "c"), {"per_page": 2, "resource_id": "ada"}, "02", True),
    "ml33-nothing": (("a", "b"), {"per_page": 0}, "", False),
    "several-last": (("a", "b"), {"last": 3}, "789", True),
    "several-last-desc": (("a", "b"), {"last": 3, "order": "desc"}, "987", True),
    "several-all": (("b", "a"), {"per_page": None}, "0123456789", False),
    "several-all-desc": (("b", "a"), {"per_page": None, "order": "desc"}, "9876543210", False),
    "one-of-several": (["a", "a"], {}, "02468", False),
    "metadata": (("a", "b"), {"metadata": {"even": False}}, "13579", False),
    "metadata-page": (("a", "b"), {"metadata": {"even": False}, "per_page": 2, "page": 1}, "57", True),
    "metadata-of-one": (("a",), {"metadata": {"even": True, "day": 4}}, "4", False),
    "metadata-empty": (("a",), {"metadata": {}}, "02468", False),
}


def page_of(memory, threads, options):
    page = memory.list_messages(threads[0] if len(threads) == 1 else threads, **options)
    return ids(page.items), page.has_more


@pytest.mark.parametrize(("threads", "options", "expected", "more"), EXPECTED.values(), ids=EXPECTED)
def test_ml01_ml03_ml04_ml11_to_ml14_ml22_ml24_ml25_ml28_ml33_lists(ten, threads, options, expected, more):
    assert page_of(ten, threads, options) == (named(expected), more)


EXPECTED_IN_A_PERIOD = {
    "ml05-from": (("a",), {"created_at": DateRange(start=START + 3 * DAY)}, "468", False),
    "ml05-both": (("a",), {"created_at": DateRange(start=START + 2 * DAY, end=START + 6 * DAY)}, "246", False),
    "ml21-second-page": (("a",), {"created_at": gte(START + 2 * DAY), "per_page": 2, "page": 1}, "68", False),
    "ml27-first-page": (("a", "b"), {"per_page": 2, "created_at": lt(START + 5 * DAY)}, "01", True),
    "mp15-end-only": (("a",), {"created_at": DateRange(end=START + 4 * DAY)}, "024", False),
    "mp17-no-time-is-in-it": (
        ("a",),
        {"created_at": DateRange(start=START, end=START, start_exclusive=True, end_exclusive=True)},
        "",
        False,
    ),
    "mp17-no-message-is-in-it": (("a",), {"created_at": gt(START + 20 * DAY)}, "", False),
}


@pytest.mark.parametrize(
    ("threads", "options", "expected", "more"), EXPECTED_IN_A_PERIOD.values(), ids=EXPECTED_IN_A_PERIOD
)
def test_ml05_ml21_ml27_mp15_mp17_lists_of_a_period(ten, threads, options, expected, more):
    assert page_of(ten, threads, options) == (named(expected), more)


@pytest.mark.parametrize(
    ("options", "total"),
    [
        ({}, 10),
        ({"per_page": 3, "page": 1}, 10),
        ({"resource_id": "ada"}, 10),
        ({"resource_id": "bob"}, 0),
        ({"created_at": gt(START)}, 9),
        ({"created_at": gt(START), "per_page": 3}, 9),
        ({"metadata": {"even": True}}, 5),
        ({"last": 2}, 10),
        ({"per_page": None}, 10),
    ],
    ids=repr,
)
def test_mp01_mp02_the_total_of_several_threads(ten, options, total):
    assert ten.list_messages(["a", "b"], include_total=True, **options).total == total
    assert ten.list_messages(["a", "b"], **options).total is None


def test_ml02_estimates_of_tokens_are_stored_with_a_message(memory):
    content = {"format": 2, "parts": [{"type": "text", "text": "x", "providerMetadata": {"mastra": {"tokens": 7}}}]}
    memory.save_messages([message("m", content=content, metadata={"tokenEstimate": {"v": 1, "tokens": 7}})])
    (found,) = memory.list_messages("t").items
    assert (found.content, found.metadata) == (content, {"tokenEstimate": {"v": 1, "tokens": 7}})


@pytest.mark.parametrize("one", ["", "   ", "\t", [], ["t", " "], ["t", ""], (), ["t", 5], 5, None], ids=repr)
def test_ml16_ml17_mp12_a_thread_id_is_a_text_or_several(ten, one):
    with pytest.raises(RequestError, match="thread_id"):
        ten.list_messages(one)


def test_mp12_a_message_without_a_thread_is_not_saved(memory, backend):
    with pytest.raises(InvalidKeyError, match="thread_id"):
        memory.save_messages([message("a"), message("b", " ")])
    assert backend.items() == []


def test_ml19_mp22_mp23_the_content_comes_back_as_it_was_given(memory):
    content = {"format": 2, "parts": [{"type": "text", "text": "hello"}], "content": "hello"}
    memory.save_messages([message("m", content=content)])
    assert [one.content for one in memory.list_messages("t").items] == [content]
    assert [one.content for one in memory.list_messages_by_id(["m"])] == [content]


def test_ml23_everything_at_once(fake):
    memory = fake.store().memory
    names = [f"m{number:02}" for number in range(55)]
    memory.save_messages(message(name) for name in names)
    page = memory.list_messages("t", per_page=None)
    assert (ids(page.items), page.has_more) == (names, False)


def test_ml29_a_page_of_nothing_has_a_total_all_the_same(ten):
    page = ten.list_messages("a", per_page=0, include_total=True)
    assert (page.items, page.has_more, page.total) == ([], False, 5)


@pytest.mark.parametrize("thread_id", ["a", ["a", "b"]], ids=["one", "several"])
@pytest.mark.parametrize(
    "options",
    [
        {"per_page": -5},
        {"page": -1},
        {"page": 1, "per_page": None},
        {"page": 1, "cursor": "x"},
        {"cursor": "x"},
        {"cursor": "x", "per_page": None},
        {"order": "DESC"},
        {"resource_id": ""},
        {"resource_id": " "},
        {"resource_id": 5},
        {"last": 0},
        {"last": 5, "page": 1},
        {"align": "turn"},
        {"align": "turns", "last": 5},
        {"align": "turn", "last": 5, "metadata": {"a": 1}},
        {"include": "m"},
        {"created_at": DateRange(start=START + DAY, end=START)},
        {"created_at": between(START + DAY, START)},
        {"created_at": DateRange(start="yesterday")},
        {"created_at": DateRange(end="2026-11-30T22:00:00")},
        {"created_at": gt(5)},
        {"created_at": START},
        {"metadata": {"": 1}},
        {"metadata": {"a.b": 1}},
        {"metadata": {"1a": 1}},
        {"metadata": {"__proto__": 1}},
        {"metadata": {"x" * 129: 1}},
        {"metadata": {"a": [1]}},
        {"metadata": {"a": {"b": 1}}},
        {"metadata": {"a": float("nan")}},
        {"metadata": ["a"]},
    ],
    ids=repr,
)
def test_ml30_what_is_wrong_is_refused(ten, thread_id, options):
    with pytest.raises(RequestError):
        ten.list_messages(thread_id, **options)


# Filters on metadata.


VALUES = {"text": "1", "number": 1, "float": 1.5, "true": True, "false": False, "null": None, "zero": 0, "empty": ""}


@pytest.fixture(scope="module", params=FAKES)
def typed(request):
    """A message for each value of `k`, and two without; not on moto, which takes True for 1 as Python does."""
    memory = make_backend(request, request.param).store().memory
    memory.save_messages([message(name, metadata={"k": value}) for name, value in VALUES.items()])
    memory.save_messages([message("absent"), message("nested", metadata={"other": {"k": 1}})])
    return memory


@pytest.mark.parametrize("name", VALUES)
def test_metadata_is_compared_with_its_type(typed, name):
    assert listed(typed, metadata={"k": VALUES[name]}) == [name]
    assert listed(typed, metadata={"k": VALUES[name], "other": 1}) == []


def test_pages_under_a_filter_are_full(fake):
    memory = fake.store().memory
    memory.save_messages(message(f"m{number:03}", metadata={"rare": number % 60 == 0}) for number in range(300))
    page = memory.list_messages("t", metadata={"rare": True}, per_page=3)
    assert (ids(page.items), page.has_more) == (["m000", "m060", "m120"], True)
    page = memory.list_messages("t", metadata={"rare": True}, per_page=3, cursor=page.cursor)
    assert (ids(page.items), page.has_more) == (["m180", "m240"], False)


def test_the_filter_runs_in_dynamodb(fake):
    memory = fake.store().memory
    memory.save_messages([message("a", metadata={"k": 1})])
    memory.list_messages("t", metadata={"k": 1}, resource_id="ada")
    (query,) = [request for request in fake.sent.requests if "KeyConditionExpression" in request.params][-1:]
    assert query.params["FilterExpression"].count("=") >= 2


# Dates.


TEXTS = {
    "zulu": gte("2026-12-02T22:00:00Z"),
    "milliseconds": gte("2026-12-02T22:00:00.000Z"),
    "offset": DateRange(start="2026-12-03T00:00:00+02:00"),
    "between": between("2026-12-02T22:00:00Z", "2026-12-30T22:00:00Z"),
    "mixed": DateRange(start="2026-12-02T22:00:00Z", end=START + 20 * DAY),
}


@pytest.mark.parametrize("created_at", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("threads", ["a", ["a", "none"]], ids=["one", "several"])
def test_mp16_times_in_iso_8601(ten, threads, created_at):
    assert listed(ten, threads, created_at=created_at) == named("2468")


@pytest.mark.parametrize(
    ("start_exclusive", "end_exclusive", "expected"),
    [(False, False, "23456"), (True, False, "3456"), (False, True, "2345"), (True, True, "345")],
)
def test_mp14_either_bound_may_be_exclusive(ten, start_exclusive, end_exclusive, expected):
    bounds = {"start_exclusive": start_exclusive, "end_exclusive": end_exclusive}
    dates = DateRange(start=START + 2 * DAY, end=START + 6 * DAY, **bounds)
    assert listed(ten, "a", created_at=dates) == named(digit for digit in expected if digit in "02468")
    assert listed(ten, ["a", "b"], created_at=dates) == named(expected)
    assert ids(ten.list_messages_by_resource_id("ada", created_at=dates).items) == named(expected)


def test_mp13_paging_back_by_an_exclusive_end(ten):
    found, end = [], START + 100 * DAY
    while page := ten.list_messages(["a", "b"], created_at=DateRange(end=end, end_exclusive=True), last=4).items:
        found, end = ids(page) + found, page[0].created_at
    assert found == named("0123456789")


def test_mp18_pages_within_a_range(ten):
    dates = between(START + DAY, START + 7 * DAY)
    pages = [listed(ten, ["a", "b"], created_at=dates, per_page=3, page=page) for page in range(4)]
    assert pages == [named("123"), named("456"), named("7"), []]


@pytest.mark.parametrize(
    ("created_at", "expected"),
    [
        (gt(START), ["b", "c"]),
        (gt(START + MILLISECOND), ["c"]),
        (lt(START + MILLISECOND), ["a"]),
        (lte(START + MILLISECOND), ["a", "b"]),
        (DateRange(start=START, end=START + 2 * MILLISECOND, start_exclusive=True, end_exclusive=True), ["b"]),
        (DateRange(start=START + timedelta(microseconds=500)), ["b", "c"]),
        (DateRange(end=START + timedelta(microseconds=1500)), ["a", "b"]),
        (DateRange(end=START + timedelta(microseconds=1500), end_exclusive=True), ["a", "b"]),
        (DateRange(start=START + timedelta(microseconds=500), start_exclusive=True), ["b", "c"]),
    ],
    ids=repr,
)
def test_mp19_bounds_are_exact_to_the_millisecond(fake, created_at, expected):
    memory = fake.store().memory
    memory.save_messages(message(name, created_at=START + number * MILLISECOND) for number, name in enumerate("abc"))
    assert listed(memory, created_at=created_at) == expected
    assert ids(memory.iter_messages("t", created_at=created_at)) == expected


# Of a resource.


@pytest.mark.parametrize(
    ("options", "expected", "more"),
    [
        ({}, "0123456789", False),
        ({"created_at": gte(START + 6 * DAY)}, "6789", False),
        ({"per_page": 3}, "012", True),
        ({"per_page": 3, "page": 2}, "678", True),
        ({"per_page": 3, "page": 3}, "9", False),
        ({"per_page": 3, "order": "desc"}, "987", True),
        ({"per_page": None, "order": "desc"}, "9876543210", False),
        ({"metadata": {"even": True}, "per_page": 2}, "02", True),
        ({"per_page": 0}, "", False),
    ],
    ids=repr,
)
def test_ml37_ml38_ml39_ml42_messages_of_a_resource(ten, options, expected, more):
    page = ten.list_messages_by_resource_id("ada", **options)
    assert (ids(page.items), page.has_more) == (named(expected), more)


def test_ml40_a_resource_without_messages(ten):
    page = ten.list_messages_by_resource_id("eve", include_total=True)
    assert (page.items, page.has_more, page.total) == ([], False, 0)


def test_ml41_the_messages_of_each_resource_are_its_own(ten):
    assert ids(ten.list_messages_by_resource_id("bob", include_total=True).items) == ["c0"]
    assert ten.list_messages_by_resource_id("ada", include_total=True).total == 10


@pytest.mark.parametrize("per_page", [1, 2, None])
def test_ml41_what_names_another_resource_is_left_out(memory, per_page):
    memory.save_thread(thread("t"))
    memory.save_messages([message("no-owner"), message("hers", resource_id="ada"), message("his", resource_id="bob")])
    page = memory.list_messages_by_resource_id("ada", per_page=per_page, include_total=True)
    assert page.total == 2
    found = ids(page.items)
    while page.has_more:
        page = memory.list_messages_by_resource_id("ada", per_page=per_page, cursor=page.cursor)
        found += ids(page.items)
    assert found == ["no-owner", "hers"]
    assert listed(memory, resource_id="ada") == ["hers"]


@pytest.mark.parametrize("one", ["", " ", None, 5], ids=repr)
def test_p100_a_resource_is_named(ten, one):
    with pytest.raises(RequestError, match="resource_id"):
        ten.list_messages_by_resource_id(one)


# Saves.


def test_mp03_mp05_what_is_saved_comes_back_in_its_order(memory):
    saved = memory.save_messages(message(name, day=day) for day, name in enumerate("zab"))
    assert memory.list_messages("t").items == saved
    assert ids(saved) == ["z", "a", "b"]


def test_mp04_saving_nothing(memory):
    assert memory.save_messages([]) == []


def test_mp06_all_or_none(memory, backend):
    with pytest.raises(ItemTooLargeError):
        memory.save_messages([message("a"), message("b", content="x" * 420_000)])
    assert backend.items() == []


@pytest.mark.parametrize("name", ["t", "t2"])
def test_mp10_a_save_moves_each_thread_forward(memory, name):
    before = memory.save_thread(thread(name)).updated_at
    memory.save_messages([message("a", "t"), message("b", "t2")])
    assert memory.get_thread_by_id(name).updated_at > before


def test_mp09_the_same_id_in_another_thread_is_a_move(memory):
    memory.save_messages([message("a"), message("b")])
    memory.save_messages([message("a", "other", content="new")])
    assert (listed(memory), listed(memory, "other")) == (["b"], ["a"])
    assert [one.content for one in memory.list_messages_by_id(["a"])] == ["new"]


def test_mp11_the_same_id_in_the_same_thread_is_replaced(memory):
    memory.save_messages([message("a"), message("b")])
    memory.save_messages([message("a", content="new")])
    assert [one.content for one in memory.list_messages("t").items] == ["new", "b"]


def test_a_move_takes_no_place_that_is_taken(memory):
    """A message that was copied with its thread has the place in the copy that it has in the original."""
    (original,) = memory.save_messages([message("a")])
    copy = original.model_copy(update={"id": "copy", "thread_id": "other"})
    memory.save_messages([copy])
    memory.save_messages([message("a", "other", content="moved")])
    assert sorted(listed(memory, "other")) == ["a", "copy"]
    assert listed(memory) == []


# By id.


def test_mp20_no_ids(memory):
    assert memory.list_messages_by_id([]) == []


def test_mp21_mp23_mp24_mp25_by_id_from_anywhere_oldest_first(ten):
    assert ids(ten.list_messages_by_id(["m7", "c0", "m2", "none", "m2", "m0"])) == ["m0", "c0", "m2", "m7"]


def test_p101_by_id_within_a_resource(ten):
    wanted = ["m7", "c0", "m2"]
    assert ids(ten.list_messages_by_id(wanted, resource_id="ada")) == ["m2", "m7"]
    assert ids(ten.list_messages_by_id(wanted, resource_id="bob")) == ["c0"]
    assert ids(ten.list_messages_by_id(wanted, resource_id="eve")) == []


@pytest.mark.parametrize("one", ["", " ", 5], ids=repr)
def test_p100_the_owner_of_messages_by_id_is_named(ten, one):
    with pytest.raises(RequestError, match="resource_id"):
        ten.list_messages_by_id(["m1"], resource_id=one)
