"""Failures that users of such stores report, provoked: lost, reordered, half-saved and revived conversations.

The ids are those under which the kinds of failure are collected; each test names the right behaviour.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from singletable import (
    AccessDeniedError,
    AsyncDynamoDBStore,
    DynamoDBStore,
    ItemTooLargeError,
    PartialSaveError,
    Request,
    RequestError,
    StorageError,
    ThreadDeletedError,
    ThrottledError,
)
from singletable.schemas import Message, Thread
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport
from tests.contract.support import START, Clock


def message(thread: str = "t", content: str = "x", **fields: object) -> Message:
    return Message(thread_id=thread, role="user", content=content, **fields)


@pytest.fixture
def transport() -> MemoryTransport:
    return MemoryTransport()


@pytest.fixture
def memory(transport):
    store = DynamoDBStore("agents", transport=transport, clock=Clock())
    store.memory.save_thread(Thread(id="t", resource_id="ada"))
    return store.memory


def contents(messages: list[Message]) -> list[object]:
    return [one.content for one in messages]


def test_p01_a_thread_of_several_pages_is_whole(memory):
    written = [f"{number:03}" + "x" * 5_000 for number in range(400)]
    memory.save_messages([message(content=content) for content in written])
    assert memory.list_messages("t", include_total=True).total == 400
    assert contents(memory.list_messages("t", last=10).items) == written[-10:]
    assert contents(memory.list_messages("t", per_page=None).items) == written
    seen, cursor = [], None
    while True:
        page = memory.list_messages("t", per_page=50, cursor=cursor)
        seen += contents(page.items)
        assert page.has_more == (len(seen) < 400)
        if not page.has_more:
            break
        cursor = page.cursor
    assert seen == written
    assert memory.list_messages("t", page=7, per_page=50).has_more is False
    assert contents(memory.context("t", last=300).messages) == written[-300:]


READS = {
    "get_thread_by_id": lambda memory: memory.get_thread_by_id("t"),
    "list_threads": lambda memory: memory.list_threads("ada"),
    "context": lambda memory: memory.context("t"),
    "list_messages": lambda memory: memory.list_messages("t"),
    "list_messages by number": lambda memory: memory.list_messages("t", page=1, per_page=1),
    "last messages": lambda memory: memory.list_messages("t", last=3),
    "iter_messages": lambda memory: list(memory.iter_messages("t")),
    "list_messages_by_id": lambda memory: memory.list_messages_by_id(["m"]),
    "get_resource_by_id": lambda memory: memory.get_resource_by_id("ada"),
}


@pytest.mark.parametrize("error", [ThrottledError, AccessDeniedError])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_p03_a_failed_read_is_an_error_and_never_an_empty_conversation(memory, transport, read, error):
    memory.save_messages([message(id="m")])
    transport.faults.on_request = lambda request: error("refused", operation=request.operation, table="agents")
    with pytest.raises(error):
        read(memory)


def test_p03_a_read_that_fails_on_its_third_page_is_no_shorter_conversation(memory, transport):
    memory.save_messages([message(content="x" * 30_000) for _ in range(150)])
    queries = iter(range(100))

    def fail_late(request: Request) -> BaseException | None:
        late = request.operation == "Query" and next(queries) >= 2
        return ThrottledError("refused", operation="Query", table="agents") if late else None

    transport.faults.on_request = fail_late
    with pytest.raises(ThrottledError):
        memory.list_messages("t", per_page=None)


def test_p05_messages_of_many_workers_are_all_there_once():
    database = MemoryDatabase()
    DynamoDBStore("agents", transport=MemoryTransport(database)).memory.save_thread(Thread(id="t", resource_id="ada"))

    def work(worker: int) -> None:
        memory = DynamoDBStore("agents", transport=MemoryTransport(database)).memory
        for number in range(12):
            memory.save_messages([message(content=f"{worker}-{number}")])

    with ThreadPoolExecutor(8) as workers:
        list(workers.map(work, range(8)))
    memory = DynamoDBStore("agents", transport=MemoryTransport(database)).memory
    found = contents(memory.list_messages("t", per_page=None).items)
    assert sorted(found) == sorted(f"{worker}-{number}" for worker in range(8) for number in range(12))
    for worker in range(8):
        mine = [content for content in found if content.startswith(f"{worker}-")]
        assert mine == [f"{worker}-{number}" for number in range(12)]


def test_p05_messages_of_many_tasks_are_all_there_once():
    async def main() -> list[object]:
        store = AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport())
        await store.memory.save_thread(Thread(id="t", resource_id="ada"))
        await asyncio.gather(*(store.memory.save_messages([message(content=str(number))]) for number in range(20)))
        return contents((await store.memory.list_messages("t", per_page=None)).items)

    assert sorted(asyncio.run(main()), key=str) == sorted(map(str, range(20)))


def test_p08_a_save_that_fails_takes_nothing_away(memory, transport):
    first = memory.save_messages([message(id="m1", content="one"), message(id="m2", content="two")])
    before = transport.database.items("agents")
    changed = [one.model_copy(update={"content": "new"}) for one in first]
    with pytest.raises(ItemTooLargeError):
        memory.save_messages([*changed, message(id="m3", content="x" * 500_000)])
    assert transport.database.items("agents") == before
    transport.faults.throttle(times=None, operation="TransactWriteItems")
    with pytest.raises(ThrottledError):
        memory.save_messages(changed)
    assert transport.database.items("agents") == before


def test_p10_half_a_turn_is_never_stored(memory, transport):
    before = transport.database.items("agents")
    with pytest.raises(ItemTooLargeError):
        memory.save_messages([message(content="call"), message(content="x" * 500_000), message(content="result")])
    assert transport.database.items("agents") == before


def test_p10_above_one_transaction_a_prefix_is_stored_and_told(memory, transport):
    transactions = iter(range(100))

    def fail_third(request: Request) -> BaseException | None:
        if request.operation != "TransactWriteItems" or next(transactions) < 2:
            return None
        return ThrottledError("refused", operation="TransactWriteItems", table="agents")

    transport.faults.on_request = fail_third
    with pytest.raises(PartialSaveError, match="are stored") as caught:
        memory.save_messages([message(content=str(number)) for number in range(100)])
    transport.faults.on_request = None
    saved = contents(list(caught.value.saved))
    assert saved == [str(number) for number in range(len(saved))]
    assert 0 < len(saved) < 100
    assert contents(memory.list_messages("t", per_page=None).items) == saved


def test_p11_the_next_turn_sees_the_last_one_on_a_replica_that_lags(memory, transport):
    transport.faults.stale_reads(5)
    memory.save_thread(Thread(id="t2", resource_id="ada", title="new"))
    memory.save_messages([message("t2", id="m")])
    assert memory.get_thread_by_id("t2").title == "new"
    assert contents(memory.context("t2").messages) == ["x"]
    assert contents(memory.list_messages("t2").items) == ["x"]
    assert contents(memory.list_messages("t2", last=1).items) == ["x"]
    assert contents(memory.list_messages_by_id(["m"])) == ["x"]
    memory.update_resource("ada", working_memory="tea")
    assert memory.get_resource_by_id("ada").working_memory == "tea"


def test_p12_a_strong_read_of_an_index_is_refused_before_it_is_sent(memory, transport):
    sent = len(transport.requests)
    with pytest.raises(RequestError, match="gsi1 cannot be read consistently"):
        memory.table.query(Thread.ByResource(resource_id="ada")).consistent(True)
    assert len(transport.requests) == sent


@pytest.mark.parametrize("operation", ["Query", "TransactWriteItems"])
def test_p14_a_save_into_a_thread_that_is_deleted_meanwhile_brings_nothing_back(memory, transport, operation):
    other = DynamoDBStore("agents", transport=MemoryTransport(transport.database), clock=Clock()).memory
    memory.save_messages([message(content="old")])

    def delete_first(request: Request) -> None:
        if request.operation == operation:
            transport.faults.on_request = None
            other.delete_thread("t")

    transport.faults.on_request = delete_first
    with pytest.raises(ThreadDeletedError):
        memory.save_messages([message(content="late")])
    assert [item["_entity"]["S"] for item in transport.database.items("agents")] == ["tombstone"]


def test_p14_an_update_of_what_is_not_there_creates_nothing(memory, transport):
    before = transport.database.items("agents")
    with pytest.raises(StorageError):
        memory.update_thread("nobody", title="x")
    assert transport.database.items("agents") == before


def test_p20_the_last_messages_are_the_newest(memory):
    memory.save_messages([message(content=str(number)) for number in range(1, 11)])
    assert contents(memory.list_messages("t", last=3).items) == ["8", "9", "10"]
    assert contents(memory.list_messages("t", last=3, order="desc").items) == ["10", "9", "8"]


@pytest.mark.parametrize("together", [True, False], ids=["one call", "three calls"])
def test_p22_messages_of_one_instant_stay_as_they_were_saved(memory, together):
    turn = [message(id=id_, content=id_, created_at=START) for id_ in ("z-user", "m-call", "a-result")]
    for part in [turn] if together else [[one] for one in turn]:
        memory.save_messages(part)
    saved = ["z-user", "m-call", "a-result"]
    assert contents(memory.list_messages("t").items) == saved
    assert contents(memory.list_messages("t", order="desc").items) == saved[::-1]
    memory.save_messages([turn[1]])
    assert contents(memory.list_messages("t").items) == saved


def test_p23_many_messages_of_one_call_have_the_time_of_the_call(transport):
    clock = Clock()
    memory = DynamoDBStore("agents", transport=transport, clock=clock).memory
    clock.advance(hours=1)
    saved = memory.save_messages([message(content=str(number)) for number in range(500)])
    assert max(one.created_at for one in saved) - clock.now < timedelta(seconds=1)
    given = [message(content=str(number), created_at=START) for number in range(50)]
    assert {one.created_at for one in memory.save_messages(given)} == {START}
    assert contents(memory.list_messages("t", per_page=50).items) == [str(number) for number in range(50)]


@pytest.mark.parametrize("has_row", [True, False], ids=["saved thread", "thread without a row"])
def test_p25_a_reply_of_a_slow_clock_comes_after_what_it_answers(transport, has_row):
    here, there = (DynamoDBStore("agents", transport=MemoryTransport(transport.database), clock=clock).memory
                   for clock in (Clock(), Clock(START - timedelta(seconds=5))))  # fmt: skip
    if has_row:
        here.save_thread(Thread(id="t", resource_id="ada"))
    for number in range(6):
        (here, there)[number % 2].save_messages([message(content=str(number))])
    assert contents(there.list_messages("t").items) == ["0", "1", "2", "3", "4", "5"]


def test_p25_a_reply_comes_after_a_message_that_is_dated_in_the_future(memory):
    memory.save_messages([message(content="future", created_at=START + timedelta(days=1))])
    memory.save_messages([message(content="reply")])
    assert contents(memory.list_messages("t").items) == ["future", "reply"]


DAY = {"message": {"default_ttl_seconds": 86_400}, "thread": {"default_ttl_seconds": 86_400}}


@pytest.fixture
def expired(transport):
    clock = Clock()
    memory = DynamoDBStore(
        "agents", transport=transport, clock=clock, ttl=DAY | {"resource": {"default_ttl_seconds": 86_400}}
    ).memory
    memory.save_thread(Thread(id="t", resource_id="ada"))
    memory.save_messages([message(id="m")])
    memory.update_resource("ada", working_memory="tea")
    clock.advance(days=1, seconds=1)
    assert len(transport.database.items("agents")) == 4, "DynamoDB has not removed anything yet"
    return memory


def test_p60_what_has_expired_is_absent_on_every_read(expired):
    assert expired.get_thread_by_id("t") is None
    assert expired.get_resource_by_id("ada") is None
    assert expired.context("t").messages == []
    assert expired.context("t").thread is None
    assert expired.list_messages("t", include_total=True).total == 0
    assert expired.list_messages("t", last=5).items == []
    assert list(expired.iter_messages("t")) == []
    assert expired.list_messages_by_id(["m"]) == []
    assert expired.list_threads("ada", include_total=True).total == 0
    assert expired.list_threads("ada", order_by="updated_at").items == []


def test_p61_what_has_expired_is_absent_for_every_write(expired):
    with pytest.raises(StorageError):
        expired.update_thread("t", title="x")
    assert expired.update_resource("ada", metadata={"a": 1}).working_memory is None
    assert expired.save_thread(Thread(id="t", resource_id="bob")).created_at > START + timedelta(days=1)
    saved = expired.save_messages([message(id="m", content="again")])
    assert expired.list_messages_by_id(["m"]) == saved


ODD = [
    "a#b",
    "a",
    "b#c",
    "c",
    "#",
    "%23",
    "\\",
    "\0",
    "emoji 😀",
    "👩‍💻",
    "a/b",
    "A",
    "a ",
    " a",
    "\uff41",
    "\U0010ffff",
]


def test_p70_ids_with_delimiters_stay_apart(memory):
    for number, id_ in enumerate(ODD):
        memory.save_thread(Thread(id=id_, resource_id=id_, title=str(number)))
        memory.save_messages([message(id_, id=id_, content=str(number))])
        memory.update_resource(id_, working_memory=str(number))
    for number, id_ in enumerate(ODD):
        assert memory.get_thread_by_id(id_).title == str(number)
        assert [thread.id for thread in memory.list_threads(id_).items] == [id_]
        assert contents(memory.list_messages(id_).items) == [str(number)]
        assert contents(memory.list_messages_by_id([id_])) == [str(number)]
        assert memory.get_resource_by_id(id_).working_memory == str(number)


@pytest.mark.parametrize("id_", ["", " ", "\t\n", "\ud800", "x" * 2100])
def test_p70_ids_that_no_key_holds_are_refused_before_anything_is_sent(memory, transport, id_):
    sent = len(transport.requests)
    for call in (
        lambda: memory.save_thread(Thread(id=id_, resource_id="ada")),
        lambda: memory.save_messages([message(id_)]),
        lambda: memory.save_messages([message(id=id_)]),
        lambda: memory.context(id_),
        lambda: memory.delete_thread(id_),
        lambda: memory.list_threads(id_),
        lambda: memory.list_messages_by_id([id_]),
    ):
        with pytest.raises(RequestError):
            call()
    assert len(transport.requests) == sent


def test_p71_ids_that_differ_in_case_are_two(memory):
    for id_ in ("AbC", "abc"):
        memory.save_thread(Thread(id=id_, resource_id=id_))
        memory.save_messages([message(id_, id=id_, content=id_)])
    assert contents(memory.list_messages("AbC").items) == ["AbC"]
    assert contents(memory.list_messages_by_id(["abc"])) == ["abc"]
    assert [thread.id for thread in memory.list_threads("abc").items] == ["abc"]


def test_p2a_times_of_any_precision_and_zone_sort(memory):
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)
    for offset in (500_000, 0, 250_000):
        memory.save_messages([message(content=str(offset), created_at=noon + timedelta(microseconds=offset))])
    assert contents(memory.list_messages("t").items) == ["0", "250000", "500000"]
