"""What the quick ways of reading give is what `decode_field` and pydantic give, types and errors included."""

from __future__ import annotations

import base64
from collections.abc import Callable
from contextlib import suppress
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable import decoding
from singletable.decoding import decode, decode_field, decode_fields
from singletable.errors import CorruptItemError
from singletable.items import from_item, to_item
from tests.property.kinds import KINDS, NAME, TEXT, Kinds, shape, takes_wire_form

FIELDS = Kinds.spec.fields
NEVER = AssertionError("the long way") if takes_wire_form() else decode_fields
STORED = st.sampled_from([field.stored for field in FIELDS.values()])
NUMBERS = ["0", "-7", "1.5", "-0.25", "1E+2", "1.5E-7", "1.0", "-0", "9007199254740993.5", "0." + "3" * 38, "1" * 38]
DAMAGED = st.sampled_from(
    [
        {},
        {"S": "x", "N": "1"},
        {"Q": []},
        {"N": "x"},
        {"N": "NaN"},
        {"N": 7},
        {"L": [{}]},
        {"BS": ["x"]},
        {"M": {"a": {}}},
    ]
)
TYPED = st.recursive(
    st.builds(lambda text: {"S": text}, TEXT | st.sampled_from(["{}", "[1.0]", "null", "2026-01-01"]))
    | st.builds(lambda text: {"N": text}, st.sampled_from(NUMBERS))
    | st.builds(lambda value: {"BOOL": value}, st.booleans())
    | st.builds(lambda raw: {"B": raw}, st.binary(max_size=5))
    | st.builds(lambda raw: {"B": base64.b64encode(raw).decode()}, st.binary(max_size=5))
    | st.just({"NULL": True})
    | st.builds(lambda texts: {"SS": texts}, st.lists(TEXT, min_size=1, max_size=3))
    | st.builds(lambda texts: {"NS": texts}, st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=3))
    | st.builds(lambda raws: {"BS": raws}, st.lists(st.binary(max_size=5), min_size=1, max_size=3))
    | DAMAGED,
    lambda inner: (
        st.builds(lambda values: {"L": values}, st.lists(inner, max_size=3))
        | st.builds(lambda values: {"M": values}, st.dictionaries(NAME, inner, max_size=3))
    ),
    max_leaves=6,
)


def quickly(item):
    try:
        return shape(decode_fields(FIELDS.values(), item))
    except Exception as error:
        return repr(error)


def plainly(item):
    try:
        values = {
            name: decode_field(field, item) for name, field in FIELDS.items() if field.stored in item or field.is_set
        }
    except Exception as error:
        return repr(error)
    return shape(values)


def through_json(item):
    """An item as it comes from JSON: bytes as base64 text."""
    return orjson.loads(orjson.dumps(item, default=lambda raw: base64.b64encode(raw).decode()))


@settings(max_examples=30)
@given(KINDS)
def test_an_entity_comes_back_with_its_types(entity):
    item = to_item(entity)
    for stored in (item, through_json(item)):
        assert quickly(stored) == plainly(stored)
        with patch.object(decoding, "decode_fields", side_effect=NEVER):
            loaded = from_item(Kinds, stored, "ttl")
        assert loaded == entity
        assert shape(dict(loaded)) == shape(dict(entity))
        assert loaded.model_fields_set == {n for n, f in FIELDS.items() if f.stored in stored or f.is_set}


@settings(max_examples=150)
@given(st.dictionaries(STORED, TYPED, max_size=3))
def test_whatever_is_stored_is_read_or_refused_alike(item):
    assert quickly(item) == plainly(item)


def outcome(read: Callable[[], Kinds]):
    """What a way of reading gives, with the fields that it found set; or its error."""
    try:
        entity = read()
    except Exception as error:
        return repr(error)
    return shape(dict(entity)), entity.model_fields_set


@settings(max_examples=60)
@given(KINDS, st.dictionaries(STORED, st.none() | TYPED.filter(lambda typed: len(typed) == 1), max_size=8))
def test_an_entity_is_read_or_refused_as_by_the_plain_way(entity, changes):
    item = to_item(entity) | changes
    item = {name: value for name, value in item.items() if value is not None}
    fields = FIELDS.values()
    assert outcome(lambda: decode(Kinds, Kinds.spec, fields, item)) == outcome(
        lambda: Kinds.model_validate({f.name: decode_field(f, item) for f in fields if f.stored in item or f.is_set})
    )


@settings(max_examples=20)
@given(KINDS, STORED, DAMAGED)
def test_a_damaged_item_raises_nothing_but_what_says_so(entity, stored, damage):
    item = to_item(entity) | {stored: damage}
    with suppress(CorruptItemError):
        from_item(Kinds, item, "ttl")


@pytest.mark.parametrize("text", NUMBERS)
@pytest.mark.parametrize("field", ["whole", "exact", "labels", "numbers"])
def test_a_number_is_of_the_same_type(field, text):
    for typed in ({"N": text}, {"NS": [text]}, {"M": {"a": {"L": [{"N": text}]}}}):
        assert quickly({FIELDS[field].stored: typed}) == plainly({FIELDS[field].stored: typed})
