"""Messages that are included in a list with their neighbours (ML, IS, MP) on the fake and on moto, sync and async."""

from __future__ import annotations

from datetime import timedelta

import pytest

from singletable import RequestError, gte, lt
from singletable.schemas import Message, Thread
from singletable.store.message_forms import Include
from tests.contract.support import FAKES, START, TRANSACTING, FakeBackend, make_backend

MINUTE = timedelta(minutes=1)


def message(message_id, thread_id, minute, **fields):
    fields = {"role": "user", "content": message_id, "created_at": START + MINUTE * minute, **fields}
    return Message(id=message_id, thread_id=thread_id, **fields)


def save_all(memory):
    """Five messages in each of three threads, by turns: a and b are ada's, c is bob's."""
    for name, owner in {"a": "ada", "b": "ada", "c": "bob"}.items():
        memory.save_thread(Thread(id=name, resource_id=owner))
        memory.save_messages(
            message(f"{name}{number}", name, 3 * number + "abc".index(name), resource_id=owner) for number in range(5)
        )
    return memory


@pytest.fixture(scope="module", params=TRANSACTING)
def memory(request):
    """Shared: these tests only read."""
    return save_all(make_backend(request, request.param).store().memory)


def ids(page):
    return [one.id for one in page.items]


ONLY = {"per_page": 0}
CASES = {
    "ml06-previous": ({"created_at": gte(START + 12 * MINUTE)}, [Include("a2", previous=1)], "a1 a2 a4", False),
    "ml07-next": ({"created_at": lt(START + MINUTE)}, [Include("a2", next=1)], "a0 a2 a3", False),
    "ml08-both": ({"per_page": 1}, [Include("a3", previous=1, next=1)], "a0 a2 a3 a4", True),
    "ml09-other-thread": ({}, [Include("b2", previous=1, next=1)], "a0 a1 b1 a2 b2 a3 b3 a4", False),
    "ml09-two-threads": (ONLY, [Include("a1", next=1), Include("b3", previous=1)], "a1 a2 b2 b3", False),
    "ml10-overlapping": ({"per_page": 2}, [Include("a1", next=2), Include("a2", previous=2)], "a0 a1 a2 a3", True),
    "ml13-desc": ({"per_page": 1, "order": "desc"}, [Include("a1", previous=1)], "a4 a1 a0", True),
    "ml15-not-there": ({"per_page": 1}, [Include("none", previous=1), Include("a2")], "a0 a2", True),
    "ml18-all-that-follows": ({"per_page": 3}, [Include("a4", previous=1)], "a0 a1 a2 a3 a4", False),
    "ml18-not-all-that-follows": ({"per_page": 2}, [Include("a4", previous=1)], "a0 a1 a3 a4", True),
    "ml18-nothing-of-this-thread": ({"per_page": 3}, [Include("b4", previous=1)], "a0 a1 a2 b3 b4", True),
    "ml18-second-page": ({"per_page": 2, "page": 1}, [Include("a4")], "a2 a3 a4", False),
    "ml26-page": ({"per_page": 2}, [Include("b0")], "a0 b0 a1", True),
    "ml31-only": (ONLY, [Include("a2", previous=1, next=1)], "a1 a2 a3", False),
    "ml32-only-of-other-threads": (ONLY, [Include("b1", next=1), Include("c3")], "b1 b2 c3", False),
    "ml34-only-once": (
        ONLY,
        [Include("a1", previous=1, next=1), Include("a2", previous=1, next=1)],
        "a0 a1 a2 a3",
        False,
    ),
    "ml35-only-desc": ({**ONLY, "order": "desc"}, [Include("a1", previous=1, next=1)], "a2 a1 a0", False),
    "ml44-in-order": ({"per_page": None}, [Include("c1"), Include("c3")], "a0 a1 c1 a2 a3 c3 a4", False),
    "metadata-does-not-matter": ({"metadata": {"k": 1}}, [Include("a2", next=1)], "a2 a3", False),
    "windows-beyond-the-ends": (ONLY, [Include("a0", previous=9), Include("a4", next=9)], "a0 a4", False),
}
SCOPED = {
    "is02-own-thread": ({"resource_id": "ada", "per_page": 1}, [Include("b2", previous=1)], "a0 b1 b2", True),
    "is01-another-resource": ({"resource_id": "ada"}, [Include("c2", previous=1, next=1)], "a0 a1 a2 a3 a4", False),
    "is03-only-another-resource": ({"resource_id": "ada", **ONLY}, [Include("c2", previous=2)], "", False),
    "is04-no-resource-is-asked-for": (ONLY, [Include("c2", previous=1)], "c1 c2", False),
    "is05-the-target's-thread": (ONLY, [Include("c0", previous=5, next=1)], "c0 c1", False),
    "mp07-more-than-there-are": (ONLY, [Include("b1", previous=1, next=30)], "b0 b1 b2 b3 b4", False),
    "mp07-both-of-a-resource": ({"resource_id": "ada", **ONLY}, [Include("a3", previous=1, next=1)], "a2 a3 a4", False),
}
BESIDE_THE_NEWEST = {
    "mp08-last": ({"last": 2}, [Include("b3", previous=1), Include("a4", previous=1)], "b2 a3 b3 a4", True),
    "mp08-last-desc": ({"last": 2, "order": "desc"}, [Include("b3")], "a4 b3 a3", True),
    "mp08-last-with-the-rest": ({"last": 3}, [Include("a1", previous=1)], "a0 a1 a2 a3 a4", False),
}


def included(memory, options, include):
    page = memory.list_messages("a", include=include, **options)
    return ids(page), page.has_more


@pytest.mark.parametrize(("options", "include", "expected", "more"), CASES.values(), ids=CASES)
def test_ml06_to_ml10_ml15_ml18_ml26_ml31_ml32_ml34_ml35_ml44_included(memory, options, include, expected, more):
    assert included(memory, options, include) == (expected.split(), more)


@pytest.mark.parametrize(("options", "include", "expected", "more"), SCOPED.values(), ids=SCOPED)
def test_is01_to_is05_mp07_included_of_a_resource(memory, options, include, expected, more):
    assert included(memory, options, include) == (expected.split(), more)


@pytest.mark.parametrize(("options", "include", "expected", "more"), BESIDE_THE_NEWEST.values(), ids=BESIDE_THE_NEWEST)
def test_mp08_included_beside_the_newest(memory, options, include, expected, more):
    assert included(memory, options, include) == (expected.split(), more)


def test_ml20_the_thread_of_a_target_need_not_be_known(memory):
    assert ids(memory.list_messages("none", include=[Include("b2")])) == ["b2"]


def test_windows_beside_several_threads(memory):
    page = memory.list_messages(["a", "c"], per_page=2, include=[Include("b1", previous=1)])
    assert (ids(page), page.has_more) == (["a0", "b0", "c0", "b1"], True)


@pytest.mark.parametrize("name", ["a2", "b2", "c2"])
def test_is01_windows_beside_the_messages_of_a_resource_are_its_own(memory, name):
    page = memory.list_messages_by_resource_id("ada", per_page=0, include=[Include(name, previous=1)])
    assert ids(page) == ([] if name == "c2" else [name[0] + "1", name])


def test_the_total_and_the_cursor_are_those_of_the_list(memory):
    page = memory.list_messages("a", per_page=2, include=[Include("b1"), Include("a4")], include_total=True)
    assert (ids(page), page.total) == (["a0", "a1", "b1", "a4"], 5)
    assert ids(memory.list_messages("a", per_page=2, cursor=page.cursor)) == ["a2", "a3"]


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_is01_a_neighbour_of_another_resource_is_not_shown(fake, order):
    """A thread that was handed over has messages of two resources."""
    memory = fake.store().memory
    owners = ["ada", "bob", "ada", None, "ada"]
    memory.save_messages(message(f"m{n}", "t", n, resource_id=owner) for n, owner in enumerate(owners))
    page = memory.list_messages("t", resource_id="ada", per_page=0, order=order, include=[Include("m2", 1, 1)])
    assert sorted(ids(page)) == ["m0", "m2", "m4"]


def test_neighbours_of_equal_times_are_those_beside_it(fake):
    memory = fake.store().memory
    memory.save_messages(message(name, "t", 0) for name in "zyxwv")
    assert ids(memory.list_messages("t", per_page=0, include=[Include("x", previous=1, next=1)])) == ["y", "x", "w"]


def test_ml36_200_messages_with_scattered_includes(fake):
    memory = fake.store().memory
    memory.save_messages(message(f"m{number:03}", "t", number) for number in range(200))
    include = [Include(f"m{number:03}", previous=2, next=2) for number in (50, 100, 101, 150, 199)]
    page = memory.list_messages("t", per_page=3, include=include)
    numbers = [0, 1, 2, *range(48, 53), *range(98, 104), *range(148, 153), *range(197, 200)]
    assert ids(page) == [f"m{number:03}" for number in numbers]
    assert page.has_more


def test_ml43_messages_of_several_saves_stay_sorted(fake):
    memory = fake.store().memory
    memory.save_messages([message("m5", "t", 5), message("m1", "t", 1)])
    memory.save_messages([message("m3", "t", 3), message("m0", "t", 0)])
    memory.save_messages([message("m4", "t", 4), message("m2", "t", 2)])
    assert ids(memory.list_messages("t", per_page=1, include=[Include("m3", 2, 2)])) == [f"m{n}" for n in range(6)]


@pytest.fixture(params=FAKES)
def counted(request, loop):
    backend = FakeBackend(loop if request.param == "fake-async" else None)
    save_all(backend.store().memory)
    backend.sent.clear()
    return backend


def test_windows_are_read_by_the_window(counted):
    include = [Include("a1", previous=1), Include("b1", next=1), Include("c1")]
    counted.store().memory.list_messages("a", per_page=0, include=include)
    assert sorted(counted.sent.operations) == ["BatchGetItem"] * 3 + ["GetItem"] + ["Query"] * 2
    assert max(counted.sent.scanned_counts) <= 2


@pytest.mark.parametrize(
    "include",
    [
        "a1",
        Include("a1"),
        ["a1"],
        [{"message_id": "a1"}],
        [Include("")],
        [Include(5)],
        [Include("x" * 2100)],
        [Include("a1", previous=-1)],
        [Include("a1", next=1.5)],
        [Include("a1", next=True)],
        None,
    ],
    ids=lambda include: repr(include)[:40],
)
@pytest.mark.parametrize("several", [False, True], ids=["thread", "resource"])
def test_what_asks_for_no_window_is_refused_before_anything_is_sent(counted, include, several):
    memory = counted.store().memory
    read = memory.list_messages_by_resource_id if several else memory.list_messages
    with pytest.raises(RequestError):
        read("a", include=include)
    assert counted.sent.requests == []
