"""Stream records become events of entities."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from singletable import CorruptItemError
from singletable.items import pointers, to_item
from singletable.schemas import Message, Thread
from singletable.streams import Inserted, Modified, Removed, parse

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MESSAGE = Message(id="m1", thread_id="t#1", role="user", content="hi", created_at=NOON, order="7")
KEY = Message.Key(thread_id="t#1", created_at=NOON, order="7")
IMAGE = to_item(MESSAGE)
KEYS = {name: IMAGE[name] for name in ("pk", "sk")}
BY_TTL = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


def record(kind: str, *, identity: object = None, **change: object) -> dict[str, object]:
    changed = {"Keys": KEYS, "SequenceNumber": "111", "ApproximateCreationDateTime": NOON.timestamp(), **change}
    return {"eventName": kind, "dynamodb": changed, "userIdentity": identity}


def test_an_insert():
    assert parse(record("INSERT", NewImage=IMAGE), Thread, Message) == Inserted(KEY, "111", NOON, None, new=MESSAGE)


def test_a_change_has_both_images():
    changed = to_item(MESSAGE.model_copy(update={"content": "bye"}))
    event = parse(record("MODIFY", OldImage=IMAGE, NewImage=changed), Message)
    assert isinstance(event, Modified)
    assert event.old == MESSAGE
    assert event.new is not None
    assert event.new.content == "bye"


@pytest.mark.parametrize(
    ("identity", "by_ttl"),
    [
        (None, False),
        (BY_TTL, True),
        ({"Type": "Service", "PrincipalId": "dynamodb.amazonaws.com"}, True),
        ({"type": "User", "principalId": "somebody"}, False),
    ],
    ids=["deleted", "lambda", "api", "user"],
)
def test_a_removal_says_whether_the_item_had_expired(identity, by_ttl):
    event = parse(record("REMOVE", OldImage=IMAGE, identity=identity), Message)
    assert event == Removed(KEY, "111", NOON, None, old=MESSAGE, expired_by_ttl=by_ttl)


def test_the_form_of_the_streams_api():
    change = record("INSERT", NewImage=IMAGE, ApproximateCreationDateTime=NOON)
    assert parse(change, Message) == Inserted(KEY, "111", NOON, None, new=MESSAGE)


@pytest.mark.parametrize(("kind", "images"), [("INSERT", 1), ("MODIFY", 2), ("REMOVE", 1)])
def test_a_stream_of_keys_alone_gives_the_key(kind, images):
    event = parse(record(kind), Thread, Message)
    assert event is not None
    assert event.key == KEY
    assert [getattr(event, name, None) for name in ("old", "new")] == [None, None]


def test_pointers_and_other_entities_give_no_event():
    (pointer,) = pointers(MESSAGE)
    keys = {name: pointer[name] for name in ("pk", "sk")}
    assert parse(record("INSERT", Keys=keys, NewImage=pointer), Message, Thread) is None
    assert parse(record("INSERT", Keys=keys), Message, Thread) is None
    assert parse(record("INSERT", NewImage=IMAGE), Thread) is None


def test_binary_of_a_lambda_event_is_read():
    unknown = {"raw": {"B": base64.b64encode(b"x").decode()}}
    event = parse(record("INSERT", NewImage=IMAGE | unknown), Message)
    assert isinstance(event, Inserted)
    assert event.new is not None
    assert to_item(event.new)["raw"] == unknown["raw"]


def test_what_is_no_record_is_refused():
    with pytest.raises(CorruptItemError, match="no record"):
        parse({"Records": []}, Message)
    with pytest.raises(CorruptItemError, match="does not fit"):
        parse(record("INSERT", NewImage=IMAGE | {"role": {"S": "SECRET"}}), Message)
