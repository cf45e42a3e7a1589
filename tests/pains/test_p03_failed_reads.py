"""P03: a read that failed never looks like an empty conversation."""

from __future__ import annotations

import pytest

from singletable import AccessDeniedError, StorageError, TableNotFoundError, ThrottledError, UnreachableError
from singletable.schemas import Resource
from tests.pains.support import ids, thread, turn

READS = {
    "get-thread": lambda memory: memory.get_thread_by_id("t"),
    "list-threads": lambda memory: memory.list_threads("ada"),
    "list-all-threads": lambda memory: memory.list_threads("ada", per_page=None),
    "list-active-threads": lambda memory: memory.list_threads("ada", order_by="updated_at"),
    "count-threads": lambda memory: memory.list_threads("ada", include_total=True, per_page=0),
    "context": lambda memory: memory.context("t"),
    "list-messages": lambda memory: memory.list_messages("t"),
    "list-all-messages": lambda memory: memory.list_messages("t", per_page=None),
    "list-last-messages": lambda memory: memory.list_messages("t", last=20),
    "list-a-page-of-messages": lambda memory: memory.list_messages("t", page=1, per_page=1),
    "count-messages": lambda memory: memory.list_messages("t", include_total=True, per_page=0),
    "messages-by-id": lambda memory: memory.list_messages_by_id(["a", "b"]),
    "iterate": lambda memory: list(memory.iter_messages("t")),
    "get-resource": lambda memory: memory.get_resource_by_id("ada"),
}
PAGES = ["list-all-threads", "list-all-messages", "iterate", "count-messages", "count-threads"]


@pytest.fixture
def filled(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_resource(Resource(id="ada"))
    memory.save_messages(turn("a", "b"))
    return memory


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("error", [ThrottledError, AccessDeniedError, UnreachableError, TableNotFoundError])
def test_p03_a_failed_read_raises(fake, filled, read, error):
    fake.faults.on_request = lambda request: error("refused", operation=request.operation)
    with pytest.raises(error):
        read(filled)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_p03_a_throttled_read_raises(fake, filled, read):
    fake.faults.throttle(None)
    with pytest.raises(ThrottledError):
        read(filled)


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_p03_each_request_of_a_read_may_fail(fake, filled, read):
    fake.sent.clear()
    read(filled)
    for number in range(len(fake.sent.requests)):
        fake.faults.on_request = fail_at(number + 1)
        with pytest.raises(AccessDeniedError):
            read(filled)


def fail_at(number, operation=None):
    """A hook that refuses the request of this number."""
    seen = []

    def hook(request):
        if operation in (None, request.operation):
            seen.append(request)
        return AccessDeniedError("refused", operation=request.operation) if len(seen) == number else None

    return hook


@pytest.fixture
def large(fake):
    """A memory with 20 messages, and 20 threads of one resource, of 200 KB each: four pages of DynamoDB."""
    memory = fake.store().memory
    memory.save_messages(turn(*(f"m{number}" for number in range(20)), content="x" * 200_000))
    for number in range(20):
        memory.save_thread(thread(f"t{number}", metadata={"x": "x" * 200_000}))
    fake.sent.clear()
    return memory


@pytest.mark.parametrize("name", PAGES)
def test_p03_a_read_that_fails_on_its_third_page_raises(fake, large, name):
    READS[name](large)
    assert fake.sent.operations.count("Query") >= 4
    fake.faults.on_request = fail_at(3, "Query")
    with pytest.raises(AccessDeniedError):
        READS[name](large)


def test_p03_an_iteration_gives_what_it_has_before_it_raises(fake, large):
    fake.faults.on_request = fail_at(3, "Query")
    found = []
    with pytest.raises(AccessDeniedError):
        found.extend(large.iter_messages("t"))
    assert ids(found) == [f"m{number}" for number in range(len(found))]
    assert 0 < len(found) < 20


def test_p03_keys_that_stay_unprocessed_are_an_error(fake):
    table = fake.store().table
    fake.store().memory.save_thread(thread())
    fake.faults.leave_unprocessed(1, times=None, operation="BatchGetItem")
    keys = [type(thread()).Key(id="t")]
    with pytest.raises(ThrottledError):
        fake.table(type(thread())).get_many(keys)
    assert table.get(keys[0]) is not None


def test_p03_an_error_names_operation_and_table(fake, filled):
    fake.faults.throttle()
    with pytest.raises(StorageError) as caught:
        filled.context("t")
    assert (caught.value.operation, caught.value.table) == ("Query", "fake")
    assert "thread" in caught.value.entity


def test_p03_a_failed_read_of_a_save_stores_nothing(fake, filled):
    before = fake.items()
    fake.faults.on_request = fail_at(1)
    with pytest.raises(AccessDeniedError):
        filled.save_messages(turn("c"))
    assert fake.items() == before
