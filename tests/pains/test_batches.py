"""P09: what DynamoDB leaves unprocessed is sent again, to the end or to an error that says what is left."""

from __future__ import annotations

import pytest

from singletable import PartialBatchError, Table, ThrottledError
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
    unwritten = {key["pk"]["S"] for key in caught.value.unwritten}
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


def test_p47_conflicts_between_transactions_are_tried_again(transport):
    pauses: list[float] = []
    table = Table("t", transport, entities=[Resource, Thread], sleep=pauses.append)
    transport.faults.conflict(times=3)
    with table.transaction() as tx:
        tx.create(Resource(id="a"))
        tx.create(Thread(id="t", resource_id="a"))
    assert len(transport.database.items("t")) == 2
    assert len(pauses) == 3
