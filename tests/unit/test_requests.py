"""What is sent for an update, a create, a put, a delete: requests are values, so they are compared."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    Entity,
    IncompleteKeyError,
    Index,
    InvalidValueError,
    ItemTooLargeError,
    JsonObject,
    Lookup,
    Map,
    Pk,
    PrimaryKey,
    RequestError,
    SkRange,
    add,
    append,
    default,
    discard,
    merge,
    prepend,
    remove,
    remove_at,
    set_at,
    subtract,
)
from singletable.moment import Moment
from singletable.requests import Requests
from singletable.settings import Settings
from singletable.ttl import Expiry
from singletable.writes import Writes

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
EPOCH = int(NOW.timestamp())
MOMENT = Moment(NOW, "w1")
SETTINGS = Settings("t", Expiry("ttl", {"task": 60}))
REQUESTS, WRITES = Requests(SETTINGS), Writes(SETTINGS)


class Task(Entity, entity="task", version=1):
    id: str
    status: str
    due: datetime | None = None
    owner: str | None = None
    size: int = 0
    tags: set[str] = Field(default_factory=set)
    log: list[str] = Field(default_factory=list)
    free: JsonObject = Field(default_factory=dict)
    metadata: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Task"]):
        id: Pk[str]

    class ByStatus(Index["Task"], on="gsi1"):
        status: Pk[str]
        size: SkRange[int] = None

    class ByOwner(Index["Task"], on="gsi2"):
        owner: Pk[str | None]
        due: SkRange[datetime | None] = None

    class Patch(Changes["Task"]):
        status: Change[str] = KEEP
        due: Change[datetime | None] = KEEP
        owner: Change[str | None] = KEEP
        size: Change[int] = KEEP
        tags: Change[set[str]] = KEEP
        log: Change[list[str]] = KEEP
        free: Change[JsonObject] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP


class User(Entity, entity="user", version=1):
    id: str
    email: str
    name: str = ""

    class Key(PrimaryKey["User"]):
        id: Pk[str]

    class ByEmail(Lookup["User"]):
        email: Pk[str]

    class Patch(Changes["User"]):
        name: Change[str] = KEEP


KEY = Task.Key(id="a")


def update(patch: Task.Patch) -> tuple[str, dict[str, str]]:
    """The update expression with the names in it, and the values by the names of their placeholders."""
    params = WRITES.update(KEY, patch, MOMENT).params
    text = params["UpdateExpression"]
    for alias, name in sorted(params["ExpressionAttributeNames"].items(), reverse=True):
        text = text.replace(alias, name)
    values = params.get("ExpressionAttributeValues", {})
    text = re.sub(r":\d+", lambda found: repr(*values[found[0]].values()), text)
    assert "_write = 'w1'" in text
    return re.sub("SET _write = 'w1' ?|, _write = 'w1'", "", text).strip()


def test_a_create_is_a_put_where_nothing_lives():
    (write,) = WRITES.create(Task(id="a", status="new"), MOMENT)
    assert write.request().operation == "PutItem"
    assert write.params == {
        "TableName": "t",
        "Item": {
            "pk": {"S": "task#a"},
            "sk": {"S": "task#"},
            "gsi1pk": {"S": "task#new"},
            "gsi1sk": {"S": "task#0" + "0" * 38},
            "_entity": {"S": "task"},
            "_version": {"N": "1"},
            "_write": {"S": "w1"},
            "id": {"S": "a"},
            "status": {"S": "new"},
            "size": {"N": "0"},
            "log": {"L": []},
            "free": {"S": "{}"},
            "metadata": {"M": {}},
            "ttl": {"N": str(EPOCH + 60)},
        },
        "ConditionExpression": "(attribute_not_exists(#0)) OR (#1 <= :0)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "ExpressionAttributeNames": {"#0": "pk", "#1": "ttl"},
        "ExpressionAttributeValues": {":0": {"N": str(EPOCH)}},
    }


def test_a_request_is_comparable_and_printable():
    one, other = (REQUESTS.get({"pk": {"S": "p"}, "sk": {"S": "s"}}, consistent=True) for _ in range(2))
    assert one == other
    assert "GetItem" in repr(one)


@pytest.mark.parametrize(
    ("patch", "expression"),
    [
        (Task.Patch(log=["x"]), "SET log = [{'S': 'x'}]"),
        (Task.Patch(due=None, owner=None), "REMOVE due, owner, gsi2pk, gsi2sk"),
        (Task.Patch(tags=set()), "REMOVE tags"),
        (Task.Patch(log=append(["x"])), "SET log = list_append(if_not_exists(log, []), [{'S': 'x'}])"),
        (Task.Patch(log=prepend(["x"])), "SET log = list_append([{'S': 'x'}], if_not_exists(log, []))"),
        (Task.Patch(tags=add({"x"})), "ADD tags ['x']"),
        (Task.Patch(tags=discard({"x"})), "DELETE tags ['x']"),
        (Task.Patch(log=default(["x"])), "SET log = if_not_exists(log, [{'S': 'x'}])"),
        (Task.Patch(metadata=merge({"a.b": 1, "c": None})), "SET metadata.a.b = '1', metadata.c = True"),
        (Task.Patch(metadata=set_at("a", 0, value="x")), "SET metadata.a[0] = 'x'"),
        (Task.Patch(metadata=remove_at("a")), "REMOVE metadata.a"),
        (Task.Patch(log=remove()), "REMOVE log"),
        (Task.Patch(free={"a": 1.0}), """SET free = '{"a":1.0}'"""),
        (
            Task.Patch(status="done", size=3),
            f"SET status = 'done', size = '3', gsi1pk = 'task#done', gsi1sk = 'task#0{3:038}'",
        ),
        (Task.Patch(status="done"), "SET status = 'done', gsi1pk = 'task#done'"),
        (Task.Patch(due=NOW, owner="o"), None),
    ],
    ids=repr,
)
def test_an_update_says_what_changes_and_index_keys_follow(patch, expression):
    if expression is None:
        text = "2026-11-30T12:00:00.000Z"
        expression = f"SET due = '{text}', owner = 'o', gsi2pk = 'task#o', gsi2sk = 'task#{text}'"
    assert update(patch) == expression


def test_one_name_is_one_placeholder_however_often_it_is_used():
    params = WRITES.update(KEY, Task.Patch(metadata=merge({"status": 1}), status="x"), MOMENT).params
    names = params["ExpressionAttributeNames"].values()
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("patch", "error", "problem"),
    [
        (Task.Patch(), RequestError, "changes nothing"),
        (Task.Patch(metadata=merge({})), RequestError, "changes nothing"),
        (Task.Patch(due=NOW), IncompleteKeyError, "gsi2, which also needs owner"),
        (Task.Patch(size=add(1)), RequestError, "task.size is part of gsi1"),
        (Task.Patch(size=subtract(1)), RequestError, "task.size is part of gsi1"),
        (Task.Patch(status=remove()), RequestError, "status is required"),
        (
            Task.Patch(free=merge({"a": 1})),
            RequestError,
            r"stored as JSON text: it can only be set; declare it Map\[...\]",
        ),
        (Task.Patch(tags=add(set())), InvalidValueError, "at least one member"),
        (Task.Patch(log=add(["x"])), RequestError, "add takes a number or a set"),
        (Task.Patch(tags=append({"x"})), RequestError, "append takes a list"),
        (Task.Patch(metadata=merge(["x"])), InvalidValueError, "metadata cannot be changed to that"),
        (Task.Patch(status=""), RequestError, "status is blank"),
    ],
    ids=repr,
)
def test_an_update_that_cannot_be_right_is_refused_before_it_is_sent(patch, error, problem):
    with pytest.raises(error, match=problem):
        WRITES.update(KEY, patch, MOMENT)


def test_an_update_demands_that_the_item_lives():
    write = WRITES.update(KEY, Task.Patch(log=["x"]), MOMENT, where=lambda task: task.status == "new")
    condition = write.params["ConditionExpression"]
    names = {alias: name for alias, name in write.params["ExpressionAttributeNames"].items()}
    for alias, name in names.items():
        condition = condition.replace(alias, name)
    alive = "(attribute_exists(pk)) AND ((attribute_not_exists(ttl)) OR (ttl > :2))"
    once = "(attribute_not_exists(_write)) OR (_write <> :3)"
    assert condition == f"(({alive}) AND ({once})) AND (status = :4)"


@pytest.mark.parametrize(("mode", "clause"), [("refresh", f"ttl = '{EPOCH + 60}'"), ("clear", "REMOVE ttl")])
def test_an_update_may_change_the_expiry(mode, clause):
    write = WRITES.update(KEY, Task.Patch(log=["x"]), MOMENT, expiry=mode)
    assert write.params["UpdateExpression"].count("#") == 3  # with the write id
    assert "ttl" in write.params["ExpressionAttributeNames"].values()
    assert ("REMOVE" in clause) == ("REMOVE" in write.params["UpdateExpression"])


def test_the_expiry_of_an_entity_with_lookups_changes_only_as_a_whole():
    with pytest.raises(RequestError, match="user has lookups"):
        WRITES.update(User.Key(id="a"), User.Patch(name="x"), MOMENT, expiry="refresh")


def test_a_create_with_a_lookup_writes_a_pointer_that_must_be_free():
    item, pointer = WRITES.create(User(id="a", email="a@b"), MOMENT)
    assert item.params["Item"]["pk"] == {"S": "user#a"}
    assert pointer.params["Item"] == {
        "pk": {"S": "user_by_email#a@b"},
        "sk": {"S": "user_by_email#"},
        "_entity": {"S": "user_by_email"},
        "targetPk": {"S": "user#a"},
        "targetSk": {"S": "user#"},
    }
    assert pointer.params["ConditionExpression"] == item.params["ConditionExpression"]


def test_an_item_that_is_too_large_is_told_with_its_largest_attributes():
    task = Task(id="a", status="SECRET", log=["x" * 300_000], free={"a": "y" * 110_000})
    with pytest.raises(
        ItemTooLargeError, match=r"task: the item has 410,\d+ bytes.*log 300,00\d, free 110,0\d\d"
    ) as caught:
        WRITES.create(task, MOMENT)
    assert "SECRET" not in str(caught.value)
    assert caught.value.key == {"pk": {"S": "task#a"}, "sk": {"S": "task#"}}


def test_a_transaction_over_a_limit_is_refused_before_it_is_sent():
    def creates(count: int, size: int = 1):
        return [w for i in range(count) for w in WRITES.create(Task(id=f"{i}", status="x", log=["x" * size]), MOMENT)]

    assert len(REQUESTS.transact_write(creates(100), "token").params["TransactItems"]) == 100
    with pytest.raises(RequestError, match="101 members, DynamoDB allows 100"):
        REQUESTS.transact_write(creates(101), "token")
    with pytest.raises(RequestError, match="DynamoDB allows 4,194,304"):
        REQUESTS.transact_write(creates(12, 390_000), "token")
    with pytest.raises(RequestError, match="changes one task twice"):
        REQUESTS.transact_write([*creates(1), *creates(1)], "token")
