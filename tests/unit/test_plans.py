"""Cursors and key ranges of queries."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import orjson
import pytest

from singletable import InvalidCursorError, RequestError, Table, gte
from singletable.plans import Lane
from singletable.queries import Place
from singletable.schemas import Message, Resource, Thread, Tombstone
from singletable.testing import MemoryTransport

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
TABLE = Table("t", MemoryTransport(), entities=[Thread, Message, Resource, Tombstone], clock=lambda: NOON)
MESSAGES = TABLE.query(Message.InThread(thread_id="t1"))
THREADS = TABLE.query(Thread.ByResource(resource_id="ada"))
ITEM = {
    "pk": {"S": "conversation#t1"},
    "sk": {"S": "message#x"},
    "gsi1pk": {"S": "thread#ada"},
    "gsi1sk": {"S": "thread#y"},
}


def decoded(cursor):
    return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()


def forged(cursor, place):
    """The cursor with another place."""
    version, digest, _ = orjson.loads(decoded(cursor))
    return base64.urlsafe_b64encode(orjson.dumps([version, digest, place])).decode().rstrip("=")


def test_the_request_of_a_query_can_be_read_before_it_is_sent():
    assert TABLE.query(Message.InThread(thread_id="t1", created_at=gte(NOON))).reverse().limit(3).request().params == {
        "TableName": "t",
        "KeyConditionExpression": "#0 = :0 AND #1 BETWEEN :1 AND :2",
        "FilterExpression": "(attribute_not_exists(#2)) OR (#2 > :3)",
        "ScanIndexForward": False,
        "ConsistentRead": True,
        "Limit": 3,
        "ExpressionAttributeNames": {"#0": "pk", "#1": "sk", "#2": "ttl"},
        "ExpressionAttributeValues": {
            ":0": {"S": "conversation#t1"},
            ":1": {"S": "message#2026-11-30T12:00:00.000Z"},
            ":2": {"S": "message$"},
            ":3": {"N": str(int(NOON.timestamp()))},
        },
    }


def test_a_query_over_several_entities_reaches_from_the_first_to_the_last():
    request = TABLE.query(Message.InThread(thread_id="t1"), Thread.Key(id="t1")).request()
    values = request.params["ExpressionAttributeValues"]
    assert (values[":1"], values[":2"]) == ({"S": "message#"}, {"S": "thread#"})


def test_entities_of_two_partitions_are_not_one_query():
    with pytest.raises(RequestError, match=r"Message\.InThread and Thread\.Key do not lie in one partition"):
        TABLE.query(Message.InThread(thread_id="t1"), Thread.Key(id="t2"))


@pytest.mark.parametrize("backward", [False, True], ids=["after", "before"])
def test_a_cursor_holds_the_place_of_its_item(backward):
    cursor = MESSAGES.plan.cursor(Place(ITEM, backward))
    key = {"pk": {"S": "conversation#t1"}, "sk": {"S": "message#x"}}
    assert MESSAGES.plan.place(cursor) == Place(key, backward)
    cursor = THREADS.plan.cursor(Place(ITEM, backward))
    assert THREADS.plan.place(cursor) == Place(ITEM, backward)


@pytest.mark.parametrize("backward", [False, True], ids=["first", "last"])
def test_a_cursor_may_be_that_of_an_end(backward):
    assert MESSAGES.plan.place(MESSAGES.plan.cursor(Place(None, backward))) == Place(None, backward)


def test_no_cursor_is_the_beginning():
    assert MESSAGES.plan.place(None) == Place()


@pytest.mark.parametrize("query", [MESSAGES, THREADS], ids=["table", "index"])
def test_a_cursor_does_not_hold_the_partition_that_is_read(query):
    cursor = query.plan.cursor(Place(ITEM))
    assert query.plan.partition not in decoded(cursor)


@pytest.mark.parametrize(
    "other",
    [
        TABLE.query(Message.InThread(thread_id="t2")),
        TABLE.query(Message.InThread(thread_id="t1", created_at=gte(NOON))),
        MESSAGES.reverse(),
        MESSAGES.filter(lambda m: m.role == "user"),
        TABLE.query(Message.InThread(thread_id="t1"), Thread.Key(id="t1")),
        THREADS,
    ],
    ids=["partition", "range", "direction", "filter", "entities", "index"],
)
def test_a_cursor_of_another_query_is_refused(other):
    with pytest.raises(InvalidCursorError):
        other.plan.place(MESSAGES.plan.cursor(Place(ITEM)))


@pytest.mark.parametrize(
    "cursor", ["", "x", "####", "e30", base64.urlsafe_b64encode(orjson.dumps([1, 2])).decode(), "é"]
)
def test_a_damaged_cursor_is_refused(cursor):
    with pytest.raises(InvalidCursorError, match="damaged"):
        MESSAGES.page(3, cursor)


def test_a_cursor_of_another_version_is_refused():
    cursor = base64.urlsafe_b64encode(orjson.dumps([99, "x", {"sk": "y"}])).decode().rstrip("=")
    with pytest.raises(InvalidCursorError, match="another query"):
        MESSAGES.page(3, cursor)


@pytest.mark.parametrize("place", [None, [], [0], [0, "x"], [0, {}], {"sk": "y"}, "xy"], ids=repr)
def test_a_cursor_whose_place_is_none_is_refused(place):
    with pytest.raises(InvalidCursorError, match="damaged"):
        MESSAGES.page(3, forged(MESSAGES.plan.cursor(Place(ITEM)), place))


@pytest.mark.parametrize("place", [None, 3, ["x"], [["x"]], [3]], ids=repr)
def test_a_cursor_of_a_scan_whose_places_are_none_is_refused(place):
    scan = TABLE.scan(Message, allow_scan=True)
    with pytest.raises(InvalidCursorError, match="damaged"):
        scan.page(3, forged(scan.plan.onward([Lane(ITEM)]), place))


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: THREADS.consistent(True), "gsi1 cannot be read consistently"),
        (lambda: MESSAGES.limit(0), "limit must be 1 or more"),
        (lambda: MESSAGES.page(0), "a size of 1 or more"),
        (lambda: MESSAGES.limit(3).page(2), "without limit"),
        (lambda: MESSAGES.select(Resource), "which message does not have"),
        (lambda: TABLE.query(Message.InThread(thread_id="t"), Thread.Key(id="t")).select(Thread), "one entity"),
        (lambda: TABLE.query(), "no access patterns"),
    ],
)
def test_a_query_that_cannot_be_right_is_refused_before_it_is_sent(build, problem):
    with pytest.raises(RequestError, match=problem):
        build()
