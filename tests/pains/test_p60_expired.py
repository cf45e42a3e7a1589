"""P60, P61: what has expired is not there, although DynamoDB removes it days later."""

from __future__ import annotations

import pytest

from singletable import NotFoundError
from singletable.schemas import Message, Resource, Thread
from tests.contract.support import TRANSACTING, make_backend
from tests.pains.support import ids, message, thread, turn

TTL = {name: {"enabled": True, "default_ttl_seconds": 60} for name in ("thread", "message", "resource")}


def expire(backend):
    store = backend.store(ttl=TTL)
    store.memory.save_thread(thread(title="old"))
    store.memory.save_messages(turn("a", "b"))
    store.memory.save_resource(Resource(id="ada", working_memory="old"))
    backend.clock.advance(seconds=61)
    assert len(backend.items()) == 6
    return store


@pytest.fixture
def expired(backend):
    """A store in which everything expired a second ago and is still stored."""
    return expire(backend)


@pytest.fixture(scope="module", params=TRANSACTING)
def read_only(request):
    """The same, shared by the tests that only read."""
    return expire(make_backend(request, request.param))


READS = {
    "get-thread": (lambda s: s.memory.get_thread_by_id("t"), None),
    "list-threads": (lambda s: s.memory.list_threads("ada").items, []),
    "list-active-threads": (lambda s: s.memory.list_threads("ada", order_by="updated_at").items, []),
    "count-threads": (lambda s: s.memory.list_threads("ada", include_total=True).total, 0),
    "more-threads": (lambda s: s.memory.list_threads("ada").has_more, False),
    "context-thread": (lambda s: s.memory.context("t").thread, None),
    "context-messages": (lambda s: s.memory.context("t").messages, []),
    "list-messages": (lambda s: s.memory.list_messages("t").items, []),
    "list-last": (lambda s: s.memory.list_messages("t", last=1).items, []),
    "list-all": (lambda s: s.memory.list_messages("t", per_page=None).items, []),
    "count-messages": (lambda s: s.memory.list_messages("t", include_total=True).total, 0),
    "more-messages": (lambda s: s.memory.list_messages("t", per_page=1).has_more, False),
    "by-id": (lambda s: s.memory.list_messages_by_id(["a", "b"]), []),
    "iterate": (lambda s: list(s.memory.iter_messages("t")), []),
    "get-resource": (lambda s: s.memory.get_resource_by_id("ada"), None),
    "table-get": (lambda s: s.table.get(Thread.Key(id="t")), None),
    "table-get-many": (lambda s: s.table.get_many([Thread.Key(id="t"), Message.ById(id="a")]), []),
    "table-lookup": (lambda s: s.table.get(Message.ById(id="a")), None),
    "table-query": (lambda s: s.table.query(Message.InThread(thread_id="t")).all(), []),
    "table-first": (lambda s: s.table.query(Message.InThread(thread_id="t")).first(), None),
    "table-count": (lambda s: s.table.query(Message.InThread(thread_id="t")).count(), 0),
    "table-page": (lambda s: s.table.query(Message.InThread(thread_id="t")).page(1).items, []),
    "table-index": (lambda s: s.table.query(Thread.ByResource(resource_id="ada")).all(), []),
}


@pytest.mark.parametrize(("read", "nothing"), READS.values(), ids=READS)
def test_p60_what_has_expired_is_not_read(read_only, read, nothing):
    assert read(read_only) == nothing


def test_p61_an_update_does_not_find_what_has_expired(expired, backend):
    before = backend.items()
    with pytest.raises(NotFoundError):
        expired.memory.update_thread("t", title="new")
    assert backend.items() == before


def test_p61_a_condition_does_not_find_what_has_expired(expired):
    with pytest.raises(NotFoundError):
        expired.table.update(Thread.Key(id="t"), Thread.Patch(title="new"), where=lambda t: t.title == "old")


def test_p61_create_goes_over_what_has_expired(expired):
    expired.table.create(thread(title="new"))
    assert expired.memory.get_thread_by_id("t").title == "new"


def test_p61_the_id_of_an_expired_message_is_free(expired):
    expired.memory.save_messages([message("a", "other", content="new")])
    (found,) = expired.memory.list_messages_by_id(["a"])
    assert (found.thread_id, found.content) == ("other", "new")
    assert ids(expired.memory.list_messages("t").items) == []


def test_p61_a_resource_that_has_expired_is_not_updated_but_made_anew(expired):
    expired.memory.update_resource("ada", metadata={"a": 1})
    found = expired.memory.get_resource_by_id("ada")
    assert (found.working_memory, found.metadata) == (None, {"a": 1})
