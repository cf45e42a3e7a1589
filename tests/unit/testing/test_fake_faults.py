"""Every fault of the fake, and the transports themselves."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import pytest

from singletable.errors import (
    AccessDeniedError,
    ConditionFailedError,
    OutcomeUnknownError,
    StorageError,
    ThrottledError,
    TransactionConflictError,
    TransactionFailedError,
    UnreachableError,
)
from singletable.testing import AsyncMemoryTransport, Crash, MemoryTransport
from singletable.wire import Request


def key(sk):
    return {"pk": {"S": "p"}, "sk": {"S": str(sk)}}


def put(sk):
    return {"PutRequest": {"Item": key(sk)}}


def stored(database):
    return [item["sk"]["S"] for item in database.items("t")]


def test_stale_reads_lag_behind_and_consistent_ones_do_not(send, transport):
    for version in range(3):
        send("PutItem", Item={**key("s"), "version": {"N": str(version)}})
    transport.faults.stale_reads(1)
    assert send("GetItem", Key=key("s"))["Item"]["version"] == {"N": "1"}
    assert send("GetItem", Key=key("s"), ConsistentRead=True)["Item"]["version"] == {"N": "2"}
    transport.faults.stale_reads(3)
    assert send("GetItem", Key=key("s")) == {}
    transport.faults.stale_reads(0)
    assert send("GetItem", Key=key("s"))["Item"]["version"] == {"N": "2"}


def test_stale_reads_still_see_what_was_deleted(send, transport):
    send("PutItem", Item=key("s"))
    send("DeleteItem", Key=key("s"))
    transport.faults.stale_reads(1)
    assert send("GetItem", Key=key("s")) == {"Item": key("s")}
    assert send("Scan")["Count"] == 1
    assert send("Scan", ConsistentRead=True)["Count"] == 0


def test_a_transaction_is_one_write_for_stale_reads(send, transport):
    members = [{"Put": {"TableName": "t", "Item": key(number)}} for number in range(3)]
    send("TransactWriteItems", TransactItems=members)
    transport.faults.stale_reads(1)
    assert send("Scan")["Count"] == 0


def test_index_batch_and_query_are_stale_too(send, transport):
    send("PutItem", Item={**key("s"), "gsi1pk": {"S": "g"}, "gsi1sk": {"S": "1"}})
    transport.faults.stale_reads(1)
    by_index = {"KeyConditionExpression": "gsi1pk = :g", "ExpressionAttributeValues": {":g": {"S": "g"}}}
    by_key = {"KeyConditionExpression": "pk = :p", "ExpressionAttributeValues": {":p": {"S": "p"}}}
    assert send("Query", IndexName="gsi1", **by_index)["Count"] == 0
    assert send("Query", **by_key)["Count"] == 0
    assert send("Query", ConsistentRead=True, **by_key)["Count"] == 1
    assert send("BatchGetItem", RequestItems={"t": {"Keys": [key("s")]}})["Responses"] == {"t": []}
    strong = {"t": {"Keys": [key("s")], "ConsistentRead": True}}
    assert len(send("BatchGetItem", RequestItems=strong)["Responses"]["t"]) == 1
    found = send("TransactGetItems", TransactItems=[{"Get": {"TableName": "t", "Key": key("s")}}])
    assert "Item" in found["Responses"][0]


@pytest.mark.parametrize("writes", [-1, 101])
def test_lag_is_bounded(transport, writes):
    with pytest.raises(ValueError, match="0 to 100 writes behind"):
        transport.faults.stale_reads(writes)


def test_throttle(send, transport, database):
    transport.faults.throttle(2, operation="PutItem")
    assert send("GetItem", Key=key(1)) == {}
    for _ in range(2):
        with pytest.raises(ThrottledError, match=r"^ProvisionedThroughputExceededException: ") as caught:
            send("PutItem", Item=key(1))
    assert (caught.value.operation, caught.value.table, caught.value.key) == ("PutItem", "t", key(1))
    assert database.items("t") == []
    send("PutItem", Item=key(1))
    assert stored(database) == ["1"]
    assert [request.operation for request in transport.requests] == ["GetItem", "PutItem", "PutItem", "PutItem"]


def test_throttle_for_ever_until_cleared(send, transport):
    transport.faults.throttle(None)
    for _ in range(5):
        with pytest.raises(ThrottledError):
            send("GetItem", Key=key(1))
    transport.faults.clear()
    assert send("GetItem", Key=key(1)) == {}


def test_unprocessed_writes(send, transport, database):
    transport.faults.leave_unprocessed(2, times=2)
    left = send("BatchWriteItem", RequestItems={"t": [put(number) for number in range(3)]})["UnprocessedItems"]
    assert left == {"t": [put(1), put(2)]}
    assert stored(database) == ["0"]
    assert send("BatchWriteItem", RequestItems=left)["UnprocessedItems"] == left
    assert send("BatchWriteItem", RequestItems=left)["UnprocessedItems"] == {}
    assert stored(database) == ["0", "1", "2"]


def test_unprocessed_for_ever(send, transport, database):
    transport.faults.leave_unprocessed(25, times=None)
    for _ in range(5):
        left = send("BatchWriteItem", RequestItems={"t": [put(1)]})
        assert left["UnprocessedItems"] == {"t": [put(1)]}
    assert database.items("t") == []


def test_unprocessed_gets(send, transport):
    send("BatchWriteItem", RequestItems={"t": [put(1), put(2)]})
    transport.faults.leave_unprocessed(1, operation="BatchGetItem")
    send("BatchWriteItem", RequestItems={"t": [put(3)]})
    response = send("BatchGetItem", RequestItems={"t": {"Keys": [key(1), key(2)], "ProjectionExpression": "sk"}})
    assert response["Responses"] == {"t": [{"sk": {"S": "1"}}]}
    assert response["UnprocessedKeys"] == {"t": {"Keys": [key(2)], "ProjectionExpression": "sk"}}


def test_conflict(send, transport, database):
    transport.faults.conflict(1)
    members = [{"Put": {"TableName": "t", "Item": key(number)}} for number in range(3)]
    with pytest.raises(TransactionFailedError) as caught:
        send("TransactWriteItems", TransactItems=members)
    assert [reason.code for reason in caught.value.reasons] == ["None", "None", "TransactionConflict"]
    assert database.items("t") == []
    send("TransactWriteItems", TransactItems=members)
    assert len(database.items("t")) == 3


def test_conflict_concerns_only_transactions(send, transport):
    transport.faults.conflict(1, operation="TransactGetItems")
    send("PutItem", Item=key(1))
    send("TransactWriteItems", TransactItems=[{"Put": {"TableName": "t", "Item": key(1)}}])
    with pytest.raises(TransactionFailedError):
        send("TransactGetItems", TransactItems=[{"Get": {"TableName": "t", "Key": key(1)}}])


SINGLE_WRITES = {
    "PutItem": {"Item": key(1)},
    "UpdateItem": {"Key": key(1), "UpdateExpression": "REMOVE n"},
    "DeleteItem": {"Key": key(1)},
}


@pytest.mark.parametrize("operation", SINGLE_WRITES)
def test_conflict_of_a_single_write(send, transport, database, operation):
    stored_before = {**key(1), "n": {"N": "1"}}
    send("PutItem", Item=stored_before)
    transport.faults.conflict(2, operation=operation)
    for _ in range(2):
        with pytest.raises(TransactionConflictError, match=r"^TransactionConflictException: ") as caught:
            send(operation, **SINGLE_WRITES[operation])
        assert (caught.value.operation, caught.value.table, caught.value.key) == (operation, "t", key(1))
    assert database.items("t") == [stored_before]
    send("TransactWriteItems", TransactItems=[{"Put": {"TableName": "t", "Item": key(2)}}])
    send(operation, **SINGLE_WRITES[operation])
    assert stored_before not in database.items("t")


@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem", "BatchWriteItem", "Query", "Scan"])
def test_what_never_conflicts_is_refused(transport, operation):
    with pytest.raises(ValueError, match=f"{operation} never meets a conflict"):
        transport.faults.conflict(operation=operation)


def test_lost_answer_of_a_write(send, transport, database):
    transport.faults.lose_answer()
    assert send("GetItem", Key=key(1)) == {}
    with pytest.raises(OutcomeUnknownError) as caught:
        send("PutItem", Item=key(1))
    assert caught.value.key == key(1)
    assert stored(database) == ["1"]
    send("PutItem", Item=key(2))


def test_lost_answer_of_a_read(send, transport):
    transport.faults.lose_answer(operation="GetItem")
    with pytest.raises(UnreachableError):
        send("GetItem", Key=key(1))


def test_lost_answer_does_not_hide_a_refusal(send, transport):
    transport.faults.lose_answer()
    with pytest.raises(ConditionFailedError):
        send("DeleteItem", Key=key(1), ConditionExpression="attribute_exists(pk)")
    with pytest.raises(OutcomeUnknownError):
        send("PutItem", Item=key(1))


def test_resent_write_meets_its_own_first_try(send, transport, database):
    transport.faults.resend()
    item = {**key(1), "write_id": {"S": "w1"}}
    with pytest.raises(ConditionFailedError) as caught:
        send(
            "PutItem",
            Item=item,
            ConditionExpression="attribute_not_exists(pk)",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
    assert caught.value.item == item
    assert stored(database) == ["1"]
    assert len(transport.requests) == 1


def test_resent_transaction_with_a_token_is_applied_once(send, transport, database):
    transport.faults.resend(operation="TransactWriteItems")
    update = {"UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    send(
        "TransactWriteItems",
        TransactItems=[{"Update": {"TableName": "t", "Key": key(1), **update}}],
        ClientRequestToken="token",
    )
    assert database.items("t") == [{**key(1), "n": {"N": "1"}}]


def test_crash_before_the_kth_request(send, transport, database):
    transport.faults.crash_before(2)
    send("PutItem", Item=key(1))
    with pytest.raises(Crash) as caught:
        send("PutItem", Item=key(2))
    assert not isinstance(caught.value, StorageError | Exception)
    send("PutItem", Item=key(3))
    assert stored(database) == ["1", "3"]
    assert len(transport.requests) == 2


def test_crash_before_an_operation(send, transport):
    transport.faults.crash_before(1, operation="DeleteItem")
    send("PutItem", Item=key(1))
    with pytest.raises(Crash, match="DeleteItem"):
        send("DeleteItem", Key=key(1))


def test_hook_sees_every_request_and_may_refuse_it(send, transport, database):
    seen = []

    def deny_puts(request):
        seen.append(request.operation)
        return AccessDeniedError("no") if request.operation == "PutItem" else None

    transport.faults.on_request = deny_puts
    send("GetItem", Key=key(1))
    with pytest.raises(AccessDeniedError):
        send("PutItem", Item=key(1))
    assert (seen, database.items("t")) == (["GetItem", "PutItem"], [])
    transport.faults.clear()
    send("PutItem", Item=key(1))


@pytest.mark.parametrize(
    "plan",
    [
        lambda faults: faults.throttle(0),
        lambda faults: faults.crash_before(0),
        lambda faults: faults.leave_unprocessed(-1),
    ],
)
def test_fault_that_would_never_be_met_is_refused(transport, plan):
    with pytest.raises(ValueError, match="at least once"):
        plan(transport.faults)


def test_faults_belong_to_one_transport_and_items_to_the_database(send, transport, database):
    other = MemoryTransport(database)
    transport.faults.throttle(None)
    other.send(Request("PutItem", {"TableName": "t", "Item": key(1)}))
    assert (stored(database), transport.requests, len(other.requests)) == (["1"], [], 1)


def test_transports_have_their_own_database_unless_they_share_one():
    one, other = MemoryTransport(), MemoryTransport()
    one.send(Request("PutItem", {"TableName": "t", "Item": key(1)}))
    assert other.database.items("t") == []


def test_recorded_requests_do_not_change(transport):
    params = {"TableName": "t", "Item": {**key(1), "l": {"L": []}}}
    transport.send(Request("PutItem", params))
    params["Item"]["l"]["L"].append({"S": "x"})
    assert transport.requests == [Request("PutItem", {"TableName": "t", "Item": {**key(1), "l": {"L": []}}})]


def test_closed_transport_sends_nothing(transport):
    transport.close()
    with pytest.raises(RuntimeError, match="closed"):
        transport.send(Request("GetItem", {"TableName": "t", "Key": key(1)}))
    assert transport.requests == []


def test_concurrent_increments_are_all_counted(transport, database):
    update = {"UpdateExpression": "ADD n :n", "ExpressionAttributeValues": {":n": {"N": "1"}}}
    request = Request("UpdateItem", {"TableName": "t", "Key": key(1), **update})
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(transport.send, [request] * 200))
    assert database.items("t")[0]["n"] == {"N": "200"}


def test_async_transport_lets_other_tasks_run(database):
    transport = AsyncMemoryTransport(database)
    order = []

    async def write(number):
        for _ in range(2):
            await transport.send(Request("PutItem", {"TableName": "t", "Item": key(number)}))
            order.append(number)

    async def main():
        await asyncio.gather(write(1), write(2))
        await transport.aclose()
        with pytest.raises(RuntimeError, match="closed"):
            await transport.send(Request("GetItem", {"TableName": "t", "Key": key(1)}))

    asyncio.run(main())
    assert order == [1, 2, 1, 2]
    assert stored(database) == ["1", "2"]


def test_async_transport_meets_faults():
    transport = AsyncMemoryTransport()
    transport.faults.throttle()
    with pytest.raises(ThrottledError):
        asyncio.run(transport.send(Request("GetItem", {"TableName": "t", "Key": key(1)})))


def test_a_hook_is_asked_by_one_request_at_a_time():
    """So that what it does before a request comes before the requests of other threads as well."""
    transport, counted = MemoryTransport(), [0]

    def hook(_request: Request) -> None:
        before = counted[0]
        sleep(0)  # lets another thread run
        counted[0] = before + 1

    transport.faults.on_request = hook
    request = Request("PutItem", {"TableName": "t", "Item": key(0)})
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: transport.send(request), range(200)))
    assert counted == [200]
