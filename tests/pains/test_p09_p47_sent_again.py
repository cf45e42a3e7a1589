"""P09, P44, P45, P47: what DynamoDB leaves unprocessed is sent again, to the end or to an error that says what is left;
what was applied without an answer is neither lost nor done twice."""

from __future__ import annotations

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    AlreadyExistsError,
    Change,
    Changes,
    Entity,
    OutcomeUnknownError,
    PartialBatchError,
    Pk,
    PrimaryKey,
    Request,
    Table,
    ThrottledError,
    add,
    append,
)
from singletable.schemas import Resource, Thread
from singletable.testing import MemoryTransport

RESOURCES = [Resource(id=f"r{number:02}") for number in range(40)]


@pytest.fixture
def transport() -> MemoryTransport:
    return MemoryTransport()


@pytest.fixture
def table(transport) -> Table:
    return Table("t", transport, entities=[Resource, Thread], sleep=lambda _: None)


def test_p09_a_batch_is_written_to_its_end(table, transport):
    transport.faults.leave_unprocessed(7, times=3)
    table.put_many(RESOURCES)
    assert len(transport.database.items("t")) == 40


def test_p09_a_batch_that_is_never_done_says_what_is_left(table, transport):
    transport.faults.leave_unprocessed(7, times=None)
    with pytest.raises(PartialBatchError) as caught:
        table.put_many(RESOURCES)
    stored = {item["pk"]["S"] for item in transport.database.items("t")}
    unwritten = {f"resource#{resource.id}" for resource in caught.value.unwritten}
    assert stored | unwritten == {f"resource#r{number:02}" for number in range(40)}
    assert not stored & unwritten


def test_p09_a_batch_that_is_refused_midway_says_what_is_left(table, transport):
    batches = iter(range(9))
    transport.faults.on_request = lambda _: None if next(batches) == 0 else ThrottledError("refused")
    with pytest.raises(PartialBatchError) as caught:
        table.put_many(RESOURCES)
    assert len(transport.database.items("t")) == 25
    assert len(caught.value.unwritten) == 15
    assert isinstance(caught.value.__cause__, ThrottledError)


def test_p09_keys_that_are_not_processed_are_read_again(table, transport):
    table.put_many(RESOURCES)
    transport.faults.leave_unprocessed(7, times=3)
    assert [one.id for one in table.get_many(Resource.Key(id=one.id) for one in RESOURCES)] == [
        one.id for one in RESOURCES
    ]


def test_p09_keys_that_are_never_processed_are_an_error(table, transport):
    table.put_many(RESOURCES)
    transport.faults.leave_unprocessed(40, times=None)
    with pytest.raises(ThrottledError, match="40 keys were not read"):
        table.get_many(Resource.Key(id=one.id) for one in RESOURCES)


def test_p44_a_transaction_whose_answer_is_lost_is_settled_by_its_token(transport):
    table = Table("t", transport, entities=[Resource, Thread], sleep=lambda _: None)
    transport.faults.lose_answer(times=2)
    with table.transaction() as tx:
        tx.create(Resource(id="a"))
        tx.create(Thread(id="t", resource_id="a"))
    assert len(transport.database.items("t")) == 2


class Counter(Entity, entity="counter", version=1):
    id: str
    count: int = 0
    log: list[str] = Field(default_factory=list)

    class Key(PrimaryKey["Counter"]):
        id: Pk[str]

    class Patch(Changes["Counter"]):
        count: Change[int] = KEEP
        log: Change[list[str]] = KEEP


@pytest.fixture
def counters(transport) -> Table:
    return Table("t", transport, entities=[Counter], sleep=lambda _: None)


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p44_a_create_whose_answer_is_lost_succeeds(counters, transport, fault):
    getattr(transport.faults, fault)()
    assert counters.create(Counter(id="a")) == Counter(id="a")
    with pytest.raises(AlreadyExistsError):
        counters.create(Counter(id="a"))


@pytest.mark.parametrize("fault", ["lose_answer", "resend"])
def test_p45_an_increment_whose_answer_is_lost_counts_once(counters, transport, fault):
    counters.create(Counter(id="a"))
    getattr(transport.faults, fault)(operation="UpdateItem")
    counted = counters.update(Counter.Key(id="a"), Counter.Patch(count=add(1), log=append(["x"])))
    assert (counted.count, counted.log) == (1, ["x"])
    assert counters.get(Counter.Key(id="a")) == counted


def test_p44_a_delete_whose_answer_is_lost_succeeds(counters, transport):
    counters.create(Counter(id="a"))
    transport.faults.lose_answer(operation="DeleteItem")
    counters.delete(Counter.Key(id="a"), where=lambda counter: counter.count == 0)
    assert counters.get(Counter.Key(id="a")) is None


@pytest.mark.parametrize("reading", ["throttle", "lose_answer"])
def test_p45_a_lost_answer_that_cannot_be_asked_for_is_told_as_unknown(counters, transport, reading):
    counters.create(Counter(id="a"))
    transport.faults.lose_answer(operation="UpdateItem")
    getattr(transport.faults, reading)(operation="GetItem")
    with pytest.raises(OutcomeUnknownError) as caught:
        counters.update(Counter.Key(id="a"), Counter.Patch(count=add(1)))
    assert (caught.value.operation, caught.value.entity) == ("UpdateItem", "counter")
    assert counters.get(Counter.Key(id="a")) == Counter(id="a", count=1)


def test_p44_a_write_that_did_not_arrive_is_told_as_unknown(counters, transport):
    counters.create(Counter(id="a"))

    def drop(request: Request) -> BaseException | None:
        return OutcomeUnknownError("no answer") if request.operation == "UpdateItem" else None

    transport.faults.on_request = drop
    with pytest.raises(OutcomeUnknownError):
        counters.update(Counter.Key(id="a"), Counter.Patch(count=add(1)))
    assert counters.get(Counter.Key(id="a")).count == 0


def test_p47_conflicts_between_transactions_are_tried_again(transport):
    pauses: list[float] = []
    table = Table("t", transport, entities=[Resource, Thread], sleep=pauses.append)
    transport.faults.conflict(times=3)
    with table.transaction() as tx:
        tx.create(Resource(id="a"))
        tx.create(Thread(id="t", resource_id="a"))
    assert len(transport.database.items("t")) == 2
    assert len(pauses) == 3
