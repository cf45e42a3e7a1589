"""P01: one page of DynamoDB is not the thread.  P20: the last ones are the last ones."""

from __future__ import annotations

import pytest

from tests.contract.support import FakeBackend
from tests.pains.support import ids, listed, thread, turn

NAMES = [f"m{number:03}" for number in range(1, 401)]


def save_long(backend):
    memory = backend.store().memory
    memory.save_thread(thread())
    memory.save_messages(turn(*NAMES, content="x" * 5_000))
    backend.sent.clear()
    return memory


@pytest.fixture(scope="module")
def long_database():
    """A thread of 400 messages of 5 KB, which is two pages of DynamoDB; shared by the tests that only read."""
    backend = FakeBackend()
    save_long(backend)
    return backend.database


@pytest.fixture(params=["fake-sync", "fake-async"])
def reader(request, long_database, loop):
    return FakeBackend(loop if request.param == "fake-async" else None, database=long_database)


@pytest.fixture
def long(reader):
    return reader.store().memory


def test_p01_the_thread_is_longer_than_a_page_of_dynamodb(long, reader):
    long.list_messages("t", per_page=None)
    assert reader.sent.operations.count("Query") > 1


def test_p01_all_messages_are_listed(long):
    assert listed(long) == NAMES


def test_p01_all_messages_are_iterated(long):
    assert ids(long.iter_messages("t", order="desc")) == NAMES[::-1]


def test_p01_all_messages_are_counted(long):
    assert long.list_messages("t", include_total=True).total == 400


def test_p01_the_last_are_the_newest(long):
    assert listed(long, last=10) == ids(long.context("t", last=10).messages) == NAMES[390:]


def test_p01_more_than_a_page_of_the_newest(long):
    assert listed(long, last=300) == ids(long.context("t", last=300).messages) == NAMES[100:]


def test_p01_the_last_page(long):
    page = long.list_messages("t", page=9, per_page=40)
    assert (ids(page.items), page.has_more) == (NAMES[360:], False)


def test_p01_the_page_after_the_last_one(long):
    page = long.list_messages("t", page=10, per_page=40)
    assert (page.items, page.has_more) == ([], False)


@pytest.mark.parametrize("per_page", [40, 333])
def test_p01_more_follows_until_the_last_page(long, per_page):
    page = long.list_messages("t", per_page=per_page)
    found, more = ids(page.items), [page.has_more]
    while page.has_more:
        page = long.list_messages("t", per_page=per_page, cursor=page.cursor)
        found += ids(page.items)
        more.append(page.has_more)
    assert found == NAMES
    assert len(more) == -(-400 // per_page)


def test_p01_a_thread_over_a_page_is_deleted_to_its_end(fake):
    save_long(fake).delete_thread("t")
    assert [item["_entity"]["S"] for item in fake.items()] == ["tombstone"]


def test_p01_a_long_thread_over_http(backend):
    memory = backend.store().memory
    memory.save_messages(turn(*NAMES[:8], content="x" * 200_000))
    assert listed(memory) == NAMES[:8]
    assert listed(memory, last=6) == NAMES[2:8]
    assert memory.list_messages("t", include_total=True).total == 8
    assert backend.sent.operations.count("Query") > 4


@pytest.fixture
def ten(memory):
    memory.save_messages(turn(*NAMES[:10]))
    return memory


def test_p20_the_last_three_are_the_newest_in_ascending_order(ten):
    assert listed(ten, last=3) == ids(ten.context("t", last=3).messages) == NAMES[7:10]


def test_p20_the_last_three_are_read_backwards(ten, backend):
    backend.sent.clear()
    ten.list_messages("t", last=3)
    (query,) = [request for request in backend.sent.requests if request.operation == "Query"]
    assert query.params["ScanIndexForward"] is False
    assert query.params["Limit"] <= 4
