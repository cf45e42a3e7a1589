"""Wrong calls and broken surroundings: typed errors that say what to do, quote nothing stored, and leave no half."""

from __future__ import annotations

import contextlib
import traceback
from datetime import UTC, datetime

import boto3
import pytest
from botocore.config import Config

from singletable import (
    AccessDeniedError,
    AsyncDynamoDBStore,
    ConfigurationError,
    DynamoDBStore,
    InvalidKeyError,
    InvalidValueError,
    ItemTooLargeError,
    Request,
    RequestError,
    SingleTableError,
    StorageError,
    TableNotFoundError,
    UnreachableError,
    between,
    gt,
)
from singletable.schemas import Message, Resource, Thread
from singletable.store.message_forms import Include, MessageUpdate
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests import servers
from tests.contract.entities import ENTITIES, Account, Note
from tests.contract.support import CREDENTIALS, REGION, START, Blocking

MARKER = "stored-content-7c1f"
NAIVE = datetime(2026, 11, 30, 22, 0)  # noqa: DTZ001 - what must be refused
HUGE = MARKER + "x" * 420_000


def thread(thread_id="t", **fields):
    return Thread(**{"id": thread_id, "resource_id": "ada", "title": MARKER, **fields})


def message(message_id="m", thread_id="t", **fields):
    return Message(**{"id": message_id, "thread_id": thread_id, "role": "user", "content": MARKER, **fields})


def assert_discreet(error):
    """Whatever ends in a log of the error: neither its text nor those of its causes quote what is stored."""
    assert MARKER not in "".join(traceback.format_exception(error))
    assert MARKER not in repr(error)


@pytest.fixture
def filled(fake):
    """A memory with a thread, a message and a resource."""
    memory = fake.store().memory
    memory.save_thread(thread())
    memory.save_messages([message()])
    memory.save_resource(Resource(id="ada", working_memory=MARKER, metadata={"x": MARKER}))
    return memory


def refused(fake, memory, call, kind, match=None):
    """The error of a call that is refused before anything is written."""
    before = fake.items()
    with pytest.raises(kind, match=match) as caught:
        call(memory)
    assert fake.items() == before
    assert_discreet(caught.value)
    return caught.value


# Ids.


BY_ID = {
    "get-thread": lambda m, one: m.get_thread_by_id(one),
    "save-thread": lambda m, one: m.save_thread(thread(one)),
    "save-thread-of-resource": lambda m, one: m.save_thread(thread(resource_id=one)),
    "update-thread": lambda m, one: m.update_thread(one, title="new"),
    "delete-thread": lambda m, one: m.delete_thread(one),
    "list-threads": lambda m, one: m.list_threads(one),
    "list-active-threads": lambda m, one: m.list_threads(one, order_by="updated_at"),
    "save-message": lambda m, one: m.save_messages([message(one)]),
    "save-message-of-thread": lambda m, one: m.save_messages([message("m", one)]),
    "save-many-messages": lambda m, one: m.save_messages([*(message(f"m{n}") for n in range(40)), message(one)]),
    "save-into-threads": lambda m, one: m.save_messages([message("a", "fine"), message("b", one)]),
    "update-metadata": lambda m, one: m.update_thread_metadata(one, resource_id="ada", update=dict),
    "transfer-thread": lambda m, one: m.transfer_thread(one, to_resource_id="bob"),
    "transfer-to": lambda m, one: m.transfer_thread("t", to_resource_id=one),
    "clone-thread": lambda m, one: m.clone_thread(one),
    "copy-thread": lambda m, one: m.copy_thread(one),
    "get-state": lambda m, one: m.get_thread_state(one, type="x"),
    "set-state": lambda m, one: m.set_thread_state(one, type="x", value=1),
    "list-states": lambda m, one: m.list_thread_states(one),
    "delete-state": lambda m, one: m.delete_thread_state(one, type="x"),
    "list-messages": lambda m, one: m.list_messages(one),
    "list-last-messages": lambda m, one: m.list_messages(one, last=5),
    "list-messages-of-threads": lambda m, one: m.list_messages(["t", one]),
    "list-messages-of-resource": lambda m, one: m.list_messages_by_resource_id(one),
    "include-message": lambda m, one: m.list_messages("t", include=[Include(one)]),
    "update-message": lambda m, one: m.update_messages([MessageUpdate(id=one, role="tool")]),
    "move-message": lambda m, one: m.update_messages([MessageUpdate(id="m", thread_id=one)]),
    "delete-message": lambda m, one: m.delete_messages(["none", one]),
    "stats": lambda m, one: m.stats(one),
    "diagnose": lambda m, one: m.diagnose(one),
    "messages-by-id": lambda m, one: m.list_messages_by_id(["m", one]),
    "context": lambda m, one: m.context(one),
    "iterate": lambda m, one: list(m.iter_messages(one)),
    "get-resource": lambda m, one: m.get_resource_by_id(one),
    "save-resource": lambda m, one: m.save_resource(Resource(id=one)),
    "update-resource": lambda m, one: m.update_resource(one, working_memory="new"),
    "working-memory": lambda m, one: m.update_working_memory(one, "new", expected=None),
}
TAKES_ID = {name: call for name, call in BY_ID.items() if not name.startswith("save")}


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
@pytest.mark.parametrize("one", ["", "   ", "\t\n\u3000"], ids=["empty", "spaces", "whitespace"])
def test_a_blank_id_is_refused(fake, filled, call, one):
    refused(fake, filled, lambda memory: call(memory, one), InvalidKeyError, "blank")


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
def test_an_over_long_id_is_refused(fake, filled, call):
    refused(fake, filled, lambda memory: call(memory, "x" * 2100), InvalidKeyError, r"2,?1\d\d bytes.*2,048")


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
def test_an_id_that_utf8_cannot_hold_is_refused(fake, filled, call):
    refused(fake, filled, lambda memory: call(memory, "\ud83d"), RequestError, "surrogate")


@pytest.mark.parametrize("call", BY_ID.values(), ids=BY_ID)
@pytest.mark.parametrize("one", ["", "x" * 2100, "\ud83d"], ids=["blank", "long", "surrogate"])
def test_a_refused_id_sends_no_write(fake, call, one):
    refused(fake, fake.store().memory, lambda memory: call(memory, one), RequestError)
    assert set(fake.sent.operations) <= {"Query", "GetItem"}


@pytest.mark.parametrize("call", TAKES_ID.values(), ids=TAKES_ID)
@pytest.mark.parametrize("one", [None, 5, b"t", [["t"]]], ids=["none", "int", "bytes", "list"])
def test_an_id_of_the_wrong_type_is_refused(fake, filled, call, one):
    refused(fake, filled, lambda memory: call(memory, one), RequestError, "id")


@pytest.mark.parametrize("one", ["", None, 5], ids=repr)
def test_a_wrong_owner_widens_nothing(filled, one):
    found = filled.get_thread_by_id("t", resource_id=one)
    assert (found is None) == (one is not None)


def test_an_error_names_the_field(fake, filled):
    error = refused(fake, filled, lambda memory: memory.save_thread(thread(resource_id="")), InvalidKeyError)
    assert "resource_id" in str(error)


# Times.


TIMES = {
    "save-thread": lambda m: m.save_thread(thread(created_at=NAIVE)),
    "save-thread-updated": lambda m: m.save_thread(thread(updated_at=NAIVE)),
    "save-message": lambda m: m.save_messages([message(created_at=NAIVE)]),
    "save-last-message": lambda m: m.save_messages([message("new"), message("b", created_at=NAIVE)]),
    "save-many-messages": lambda m: m.save_messages(
        [*(message(f"m{n}") for n in range(40)), message("b", created_at=NAIVE)]
    ),
    "save-resource": lambda m: m.save_resource(Resource(id="ada", created_at=NAIVE)),
    "list-messages": lambda m: m.list_messages("t", created_at=gt(NAIVE)),
    "list-last-messages": lambda m: m.list_messages("t", created_at=gt(NAIVE), last=5),
    "list-messages-between": lambda m: m.list_messages("t", created_at=between(START, NAIVE)),
    "iterate": lambda m: list(m.iter_messages("t", created_at=gt(NAIVE))),
}


@pytest.mark.parametrize("call", TIMES.values(), ids=TIMES)
def test_a_naive_time_is_refused(fake, filled, call):
    refused(fake, filled, call, RequestError, "time zone")


def test_an_inverted_range_is_refused(fake, filled):
    earlier = START.replace(year=2000)
    refused(fake, filled, lambda m: m.list_messages("t", created_at=between(START, earlier)), RequestError, "between")


# Types and numbers.


WRONG = {
    "created-at-text": lambda m: m.list_messages("t", created_at=gt("2026-11-30")),
    "created-at-no-range": lambda m: m.list_messages("t", created_at="2026-11-30"),
    "page": lambda m: m.list_messages("t", page=-1),
    "per-page": lambda m: m.list_messages("t", per_page=-5),
    "page-of-all": lambda m: m.list_messages("t", page=1, per_page=None),
    "page-and-cursor": lambda m: m.list_messages("t", page=1, cursor="x"),
    "cursor": lambda m: m.list_messages("t", cursor="x"),
    "last-0": lambda m: m.list_messages("t", last=0),
    "last-negative": lambda m: m.list_messages("t", last=-1),
    "last-text": lambda m: m.list_messages("t", last="5"),
    "per-page-text": lambda m: m.list_messages("t", per_page="5"),
    "per-page-float": lambda m: m.list_messages("t", per_page=1.5),
    "ids-in-one-text": lambda m: m.list_messages_by_id("m"),
    "last-and-page": lambda m: m.list_messages("t", last=5, page=1),
    "context-0": lambda m: m.context("t", last=0),
    "threads-page": lambda m: m.list_threads("ada", page=-1),
    "threads-per-page": lambda m: m.list_threads("ada", per_page=-1),
    "threads-cursor": lambda m: m.list_threads("ada", cursor="x"),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_a_wrong_argument_of_a_read_is_refused(fake, filled, call):
    refused(fake, filled, call, RequestError)


WRONG_ORDERS = {
    "messages": lambda m: m.list_messages("t", order="newest"),
    "iterate": lambda m: list(m.iter_messages("t", order="DESC")),
    "threads": lambda m: m.list_threads("ada", order="DESC"),
    "threads-by": lambda m: m.list_threads("ada", order_by="title"),
}


@pytest.mark.parametrize("call", WRONG_ORDERS.values(), ids=WRONG_ORDERS)
def test_an_order_that_there_is_not_is_refused(fake, filled, call):
    refused(fake, filled, call, RequestError, "order")


def nested(depth):
    value = {}
    for _ in range(depth):
        value = {"a": value}
    return value


WRONG_VALUES = {
    "title": lambda m: m.update_thread("t", title=5),
    "made-metadata": lambda m: m.update_thread_metadata("t", resource_id="ada", update=lambda _: [MARKER]),
    "clone-title": lambda m: m.clone_thread("t", title=5),
    "clone-metadata": lambda m: m.clone_thread("t", metadata=[MARKER]),
    "state-value": lambda m: m.set_thread_state("t", type="x", value=object()),
    "expected-memory": lambda m: m.update_working_memory("ada", {"a": MARKER}, expected=MARKER),
    "metadata": lambda m: m.update_thread("t", metadata=[MARKER]),
    "metadata-value": lambda m: m.update_thread("t", metadata={"a": object()}),
    "metadata-nan": lambda m: m.update_thread("t", metadata={"a": float("nan")}),
    "working-memory": lambda m: m.update_resource("ada", working_memory={"a": MARKER}),
    "working-memory-of-new": lambda m: m.update_resource("new", working_memory={"a": MARKER}),
    "resource-metadata": lambda m: m.update_resource("ada", metadata=[MARKER]),
    "thread-title": lambda m: m.save_thread(thread().model_copy(update={"title": 5})),
    "message-role": lambda m: m.save_messages([message("n").model_copy(update={"role": 5})]),
    "message-content": lambda m: m.save_messages([message("n").model_copy(update={"content": object()})]),
    "message-json": lambda m: m.save_messages([message("n", content={"a": {1, 2}})]),
    "message-surrogate": lambda m: m.save_messages([message("n", content=MARKER + "\ud83d")]),
    "message-depth": lambda m: m.save_messages([message("n", content=nested(5_000))]),
    "metadata-depth": lambda m: m.update_thread("t", metadata=nested(40)),
    "metadata-blank-key": lambda m: m.update_thread("t", metadata={"": 1}),
    "metadata-digits": lambda m: m.update_thread("t", metadata={"a": 10**40 + 1}),
    "one-message": lambda m: m.save_messages(message("n")),
    "message-nan": lambda m: m.save_messages([message("n", content={"a": float("nan")})]),
    "no-message": lambda m: m.save_messages([{"id": "m", "content": MARKER}]),
    "no-thread": lambda m: m.save_thread({"id": "t", "title": MARKER}),
}


@pytest.mark.parametrize("call", WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_value_that_does_not_fit_is_refused(fake, filled, call):
    refused(fake, filled, call, RequestError)


@pytest.mark.parametrize("call", WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_nothing_is_unreadable_after_a_value_that_does_not_fit(fake, filled, call):
    before = filled.get_thread_by_id("t"), filled.list_messages("t").items, filled.get_resource_by_id("ada")
    with contextlib.suppress(Exception):  # which one it must be, says the test above
        call(filled)
    assert (filled.get_thread_by_id("t"), filled.list_messages("t").items, filled.get_resource_by_id("ada")) == before


LARGEST_LIMIT = 2**31 - 1
"""DynamoDB's Limit is a number of 32 bits."""


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.list_messages("t", page=10**9, per_page=100).items,
        lambda m: m.list_messages("t", per_page=10**10, cursor=m.list_messages("t", per_page=1).cursor).items[1:],
        lambda m: m.list_threads("bob", page=10**9, per_page=100).items,
        lambda m: m.context("none", last=10**10).messages,
        lambda m: m.list_messages("none", last=10**10).items,
    ],
    ids=["page", "per-page", "page-of-threads", "context", "last"],
)
def test_a_number_that_dynamodb_cannot_hold_is_not_sent(fake, filled, call):
    with contextlib.suppress(RequestError):
        assert call(filled) == []
    assert all(request.params.get("Limit", 1) <= LARGEST_LIMIT for request in fake.sent.requests)


def test_a_message_at_the_end_of_time_does_not_break_its_thread(fake, filled):
    """The next message cannot come after it, but that is a typed error, or the end of time once more."""
    last = datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC)
    filled.save_messages([message("last", created_at=last)])
    with contextlib.suppress(SingleTableError):
        filled.save_messages([message("next")])
    assert [one.id for one in filled.list_messages("t").items][:2] == ["m", "last"]


# Sizes.


HUGE_VALUES = {
    "save-thread": lambda m: m.save_thread(thread(title=HUGE)),
    "save-new-thread": lambda m: m.save_thread(thread("new", metadata={"x": HUGE})),
    "save-message": lambda m: m.save_messages([message("a"), message("b", content=HUGE)]),
    "save-many-messages": lambda m: m.save_messages(
        [*(message(f"m{n}") for n in range(40)), message("b", content=HUGE)]
    ),
    "save-resource": lambda m: m.save_resource(Resource(id="ada", working_memory=HUGE)),
}
HUGE_CHANGES = {
    "update-thread": lambda m: m.update_thread("t", title=HUGE),
    "update-thread-metadata": lambda m: m.update_thread("t", metadata={"x": HUGE}),
    "update-resource": lambda m: m.update_resource("ada", working_memory=HUGE),
    "update-new-resource": lambda m: m.update_resource("new", working_memory=HUGE),
}


@pytest.mark.parametrize("call", HUGE_VALUES.values(), ids=HUGE_VALUES)
def test_an_item_over_400_kb_is_refused_before_sending(fake, filled, call):
    fake.sent.clear()
    error = refused(fake, filled, call, ItemTooLargeError, "409,600.*[Ss]horten")
    assert error.size_bytes > 409_600
    assert fake.sent.requests == []


@pytest.mark.parametrize("call", HUGE_CHANGES.values(), ids=HUGE_CHANGES)
def test_an_update_to_over_400_kb_is_refused(fake, filled, call):
    refused(fake, filled, call, SingleTableError, "(?i)size|bytes|large")


def test_an_item_that_grows_over_400_kb_is_refused(fake, filled):
    filled.update_thread("t", metadata={"a": "x" * 250_000})
    refused(fake, filled, lambda m: m.update_thread("t", metadata={"b": "x" * 250_000}), SingleTableError, "(?i)size")


# Settings.


@pytest.mark.parametrize(
    ("ttl", "match"),
    [
        ({"massage": {"default_ttl_seconds": 60}}, "message"),
        ({"message": {"default_ttl_second": 60}}, "default_ttl_seconds"),
        ({"message": {"enabled": True}}, "default_ttl_seconds"),
        ({"message": {"default_ttl_seconds": 0}}, "greater than 0"),
        ({"message": {"default_ttl_seconds": -1}}, "greater than 0"),
        ({"message": {"default_ttl_seconds": "60"}}, "integer"),
        ({"message": {"default_ttl_seconds": 1.5}}, "integer"),
        ({"message": {"enabled": "yes", "default_ttl_seconds": 60}}, "bool"),
        ({"message": {"default_ttl_seconds": 60, "attribute_name": ""}}, "at least 1"),
        ({"message": 60}, "message"),
        (
            {"message": {"default_ttl_seconds": 1, "attribute_name": "a"}, "thread": {"default_ttl_seconds": 1}},
            "one TTL",
        ),
        ({"message": {"default_ttl_seconds": 60, "attribute_name": "pk"}}, "pk"),
        ({"blob_piece": {"default_ttl_seconds": 60}}, "blob"),
        ({"eval": {"enabled": False}, "evaluation": {"default_ttl_seconds": 60}}, "two names"),
    ],
    ids=repr,
)
def test_a_wrong_ttl_setting_is_refused(fake, ttl, match):
    with pytest.raises(ConfigurationError, match=match):
        fake.store(ttl=ttl)


@pytest.mark.parametrize("ttl", [{"workflow_snapshot": {"enabled": False}}, {"message": {"enabled": False}}, {}, None])
def test_a_setting_that_is_switched_off_is_accepted(fake, ttl):
    memory = fake.store(ttl=ttl).memory
    memory.save_messages([message()])
    assert all("ttl" not in item for item in fake.items())


@pytest.mark.parametrize("kind", [DynamoDBStore, AsyncDynamoDBStore])
@pytest.mark.parametrize(
    "settings",
    [
        {"table_name": ""},
        {"table_name": "  "},
        {"table_name": "t", "endpoint_url": "localhost:8000"},
        {"table_name": "t", "client": object(), "region": "us-east-1"},
        {"table_name": "t", "session": object(), "credentials": CREDENTIALS, "region": "us-east-1"},
    ],
    ids=["no-name", "blank-name", "no-url", "client-and-region", "session-and-credentials"],
)
def test_a_wrong_setting_of_a_store_is_refused(kind, settings):
    with pytest.raises(ConfigurationError):
        kind(**settings)


# The table below the store.


def account(**fields):
    return Account(**{"id": "1", "email": "a@x", "handle": "ada", "name": MARKER, **fields})


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.get(Note.Key(box_id="", number=1)),
        lambda t: t.get(Note.Key(box_id="b", number="1")),
        lambda t: t.get(Note.Key(box_id="b", number=True)),
        lambda t: t.get(Note.Key(box_id="b", number=10**38)),
        lambda t: t.get(Account.ByEmail(email=" ")),
        lambda t: t.get_many([Note.Key(box_id="b", number=1), Note.Key(box_id="", number=1)]),
        lambda t: t.get(Thread.Key(id="t")),
        lambda t: t.create(thread()),
        lambda t: t.create(account(email="")),
        lambda t: t.put(account(handle="x" * 2100)),
        lambda t: t.put(Note(box_id="b", number=1, owner="", due=START)),
        lambda t: t.put(Note(box_id="b", number=1, ratio=float("inf"))),
        lambda t: t.put_many([Note(box_id="b", number=1), Note(box_id="", number=2)]),
        lambda t: t.delete_many([Note.Key(box_id="b", number=1), Note.Key(box_id="", number=1)]),
        lambda t: t.query(Note.InBox(box_id=" ")),
        lambda t: t.query(Note.InBox(box_id="b", number="1")).all(),
        lambda t: t.query(Note.InBox(box_id="b")).limit(0),
        lambda t: t.query(Note.InBox(box_id="b")).page(0),
        lambda t: t.query(Note.InBox(box_id="b")).filter(lambda n: n.colour == "red"),
        lambda t: t.query(Note.InBox(box_id="b")).filter(lambda n: n.count),
        lambda t: t.query(Note.InBox(box_id="b")).filter(lambda n: n.count == 1 and n.text == "x"),
        lambda t: t.update(Note.Key(box_id="b", number=1), Note.Patch(owner="", due=START)),
        lambda t: t.update(Note.Key(box_id="b", number=1), Note.Patch(due=NAIVE, owner="ada")),
        lambda t: t.update(Note.Key(box_id="b", number=1), Note.Patch(text=object())),
        lambda t: t.update(Note.Key(box_id="b", number=1), Note.Patch(text=5)),
        lambda t: t.put(Note(box_id="b", number=2).model_copy(update={"text": 5})),
    ],
    ids=range(26),
)
def test_a_wrong_call_of_a_table_is_refused_before_sending(fake, call):
    table = fake.table(*ENTITIES)
    table.put(Note(box_id="b", number=1, text=MARKER))
    fake.sent.clear()
    refused(fake, table, call, RequestError)
    assert fake.sent.requests == []


# The surroundings.


CALLS = {
    "update-metadata": lambda m: m.update_thread_metadata("t", resource_id="ada", update=lambda _: {"a": MARKER}),
    "transfer-thread": lambda m: m.transfer_thread("t", to_resource_id="bob"),
    "clone-thread": lambda m: m.clone_thread("t", title=MARKER),
    "get-state": lambda m: m.get_thread_state("t", type="x"),
    "set-state": lambda m: m.set_thread_state("t", type="x", value=MARKER),
    "list-states": lambda m: m.list_thread_states("t"),
    "delete-state": lambda m: m.delete_thread_state("t", type="x"),
    "working-memory": lambda m: m.update_working_memory("ada", MARKER, expected=None),
    "get-thread": lambda m: m.get_thread_by_id("t"),
    "save-thread": lambda m: m.save_thread(thread()),
    "update-thread": lambda m: m.update_thread("t", title=MARKER),
    "delete-thread": lambda m: m.delete_thread("t"),
    "list-threads": lambda m: m.list_threads("ada"),
    "save-messages": lambda m: m.save_messages([message()]),
    "list-messages": lambda m: m.list_messages("t"),
    "list-last-messages": lambda m: m.list_messages("t", last=5),
    "messages-by-id": lambda m: m.list_messages_by_id(["m"]),
    "context": lambda m: m.context("t"),
    "iterate": lambda m: list(m.iter_messages("t")),
    "get-resource": lambda m: m.get_resource_by_id("ada"),
    "save-resource": lambda m: m.save_resource(Resource(id="ada", working_memory=MARKER)),
    "update-resource": lambda m: m.update_resource("ada", working_memory=MARKER),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
each_way = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


def failed(memory, call, kind, match):
    with pytest.raises(kind, match=match) as caught:
        call(memory)
    assert isinstance(caught.value, StorageError)
    assert caught.value.operation
    assert_discreet(caught.value)


@each_call
@each_way
def test_a_missing_table_of_the_fake(loop, is_async, call):
    database = MemoryDatabase(missing_tables={"nowhere"})
    if is_async:
        store = Blocking(AsyncDynamoDBStore("nowhere", transport=AsyncMemoryTransport(database)), loop)
    else:
        store = DynamoDBStore("nowhere", transport=MemoryTransport(database))
    failed(store.memory, call, TableNotFoundError, None)


@pytest.fixture(scope="module")
def missing(moto):
    return moto.backend(is_async=False).store(table_name="nowhere").memory


@each_call
def test_a_missing_table_over_http(missing, call):
    failed(missing, call, TableNotFoundError, "create it")


@pytest.fixture(scope="module")
def denying():
    """A DynamoDB that denies everything."""
    text = (
        "User: arn:aws:iam::1:user/x is not authorized to perform this on resource: arn:aws:dynamodb:us-east-1:1:table"
    )
    body = {"__type": "com.amazon.coral.service#AccessDeniedException", "message": text}
    with servers.Stub(lambda operation, parameters: servers.Answer(body, status=400)) as stub:
        yield stub.url


@pytest.fixture(scope="module")
def silence():
    """An endpoint at which nothing listens."""
    return f"http://127.0.0.1:{servers.free_port()}"


def store_at(url, loop, *, is_async, client=None):
    where = {"client": client} if client else {"endpoint_url": url, "region": REGION, "credentials": CREDENTIALS}
    if is_async:
        return Blocking(AsyncDynamoDBStore("agents", **where), loop)
    return DynamoDBStore("agents", **where)


def close(store):
    if isinstance(store, Blocking):
        store.aclose()
    else:
        store.close()


@pytest.fixture(scope="module", params=[False, True], ids=["sync", "async"])
def denied(request, denying, loop):
    store = store_at(denying, loop, is_async=request.param)
    yield store.memory
    close(store)


@pytest.fixture(scope="module", params=[False, True], ids=["sync", "async"])
def unreachable(request, silence, loop):
    """A store whose client tries once, because botocore's retries sleep."""
    client = boto3.client(
        "dynamodb",
        endpoint_url=silence,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, connect_timeout=3),
    )
    store = store_at(silence, loop, is_async=request.param, client=client)
    yield store.memory
    close(store)
    client.close()


@each_call
def test_denied_credentials(denied, call):
    failed(denied, call, AccessDeniedError, "check that the credentials")


@each_call
def test_an_unreachable_endpoint(unreachable, call):
    failed(unreachable, call, UnreachableError, "check endpoint_url=")


def test_an_error_of_a_validation_quotes_nothing(fake, filled):
    filled.save_messages([message("n", content="x")])
    (item,) = [item for item in fake.items() if item.get("id") == {"S": "n"}]
    fake.database.execute(broken(fake, item))
    with pytest.raises(SingleTableError) as caught:
        filled.list_messages("t")
    assert_discreet(caught.value)
    assert "role" in str(caught.value)


def broken(fake, item):
    return Request("PutItem", {"TableName": fake.table_name, "Item": {**item, "role": {"S": MARKER}}})


def test_a_value_that_is_not_json_is_named_by_its_path(fake, filled):
    content = {"a": [{"b": object()}]}
    error = refused(fake, filled, lambda m: m.save_messages([message("n", content=content)]), InvalidValueError)
    assert "content.a[0].b" in str(error)
