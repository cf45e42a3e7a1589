"""Lines of an export: what they look like, and what of another version becomes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from singletable import Entity, Pk, PrimaryKey
from singletable.schemas import Message, Resource, Span
from singletable.store import records
from singletable.store.records import RecordError, from_line, to_line

START = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)


def data_of(entity: Entity) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(to_line(entity))["data"]
    return data


def resource(metadata: object) -> bytes:
    data = {"id": "r", "metadata": metadata}
    return json.dumps({"entity": "resource", "version": 1, "data": data}).encode()


def test_a_line_is_as_it_is_documented() -> None:
    content = [{"type": "text", "text": "grüß\u2028dich"}]
    message = Message(id="m", thread_id="t", role="user", content=content, created_at=START, order="1")
    assert to_line(message).decode() == (
        '{"entity":"message","version":1,"data":{"id":"m","threadId":"t","role":"user","type":"text",'
        '"content":[{"type":"text","text":"grüß\u2028dich"}],"metadata":{},'
        '"createdAt":"2026-11-30T22:00:00.000Z","order":"1"}}\n'
    )
    assert from_line(to_line(message)) == message


def test_integers_and_floats_are_kept_apart_in_free_form_json() -> None:
    span = Span(trace_id="t", span_id="s", name="n", span_type="x", started_at=START, input=[1, 1.0, -0.0, 1e300])
    assert repr(data_of(span)["input"]) == repr(getattr(from_line(to_line(span)), "input")) == "[1, 1.0, -0.0, 1e+300]"  # noqa: B009


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (b"\xff", {"$bytes": "/w=="}),
        ({"a"}, {"$set": ["a"]}),
        ({b"a"}, {"$set": [{"$bytes": "YQ=="}]}),
        ({"$set": 1}, {"$map": {"$set": 1}}),
        ({"$map": {"$set": 1}}, {"$map": {"$map": {"$map": {"$set": 1}}}}),
        ({"$set": 1, "b": 2}, {"$set": 1, "b": 2}),
        ({"$ref": 1}, {"$ref": 1}),
        (10**37 + 1, 10**37 + 1),
    ],
)
def test_what_json_lacks_is_marked(value: object, plain: object) -> None:
    entity = Resource(id="r", metadata={"value": value}, created_at=START, updated_at=START)
    assert data_of(entity)["metadata"] == {"value": plain}
    assert from_line(to_line(entity)) == entity


@pytest.mark.parametrize(
    "value",
    [
        {"$bytes": "no base64"},
        {"$bytes": 1},
        {"$number": "x"},
        {"$number": "1E400"},
        {"$set": []},
        {"$set": [1, "a"]},
        {"$set": [[1]]},
        {"$map": 1},
        {"": 1},
        10**38 + 1,
        1e200,
        float("nan"),
        "\ud800",
        {"\ud800": 1},
    ],
    ids=repr,
)
def test_what_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises(RecordError, match=r"^resource\.metadata is nothing that can be stored$"):
        from_line(resource({"value": value}))


def test_what_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(RecordError):
        from_line(resource({"value": json.loads("[" * 900 + "]" * 900)}))


def in_two(item: dict[str, Any]) -> dict[str, Any]:
    given, _, family = item.pop("name").partition(" ")
    return {**item, "givenName": given, "familyName": family}


class Person(Entity, entity="person", version=2, upcasters={1: in_two}):
    """An entity in its second version."""

    id: str
    given_name: str
    family_name: str
    notes: Mapping[str, object]

    class Key(PrimaryKey["Person"]):
        id: Pk[str]


def test_a_line_of_an_earlier_version_is_cast_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(records.MODELS, "person", Person)
    data = {"id": "a", "name": "Ada Lovelace", "notes": {"a": 1.0}}
    found = from_line(json.dumps({"entity": "person", "version": 1, "data": data}).encode())
    assert found == Person(id="a", given_name="Ada", family_name="Lovelace", notes={"a": 1.0})
    assert json.loads(to_line(found))["version"] == 2
