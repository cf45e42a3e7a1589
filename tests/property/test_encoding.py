"""What `encode_fields` gives for all fields at once is what `encode_field` gives for each, errors included."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from singletable.encoding import encode_fields
from singletable.errors import InvalidValueError
from singletable.items import encode_field
from singletable.specs import FieldSpec
from tests.property.kinds import ANY, KINDS, ODD, VALUES, Kinds, Tree, deep

FIELDS = Kinds.spec.fields


def plain(field: FieldSpec, value: object):
    return encode_field(field, value, Kinds.spec)


def quickly(values: Mapping[str, object]):
    """The stored attributes, in their order, or the refusal."""
    try:
        # As ASCII, because a lone surrogate cannot be printed where a test fails.
        return ascii(encode_fields([FIELDS[name] for name in values], values, plain))
    except InvalidValueError as error:
        return ascii(error)


def plainly(values: Mapping[str, object]):
    try:
        stored = {FIELDS[name].stored: plain(FIELDS[name], value) for name, value in values.items()}
    except InvalidValueError as error:
        return ascii(error)
    return ascii({name: value for name, value in stored.items() if value is not None})


def test_there_is_a_value_for_every_field():
    assert VALUES.keys() == FIELDS.keys()
    assert len(FIELDS) >= 35


@settings(max_examples=30)
@given(KINDS)
def test_an_entity_is_stored_alike(entity):
    values = dict(entity)
    assert quickly(values) == plainly(values)


@settings(max_examples=300)
@given(st.sampled_from(sorted(FIELDS)), ANY)
def test_whatever_a_field_holds_is_stored_or_refused_alike(name, value):
    assert quickly({name: value}) == plainly({name: value})


@given(st.sampled_from(["text", "tags", "free", "labels"]), ODD, ODD)
def test_an_odd_value_is_stored_or_refused_alike_at_any_depth(name, one, other):
    for value in (one, [one, other], {"a": one, "b": {"c": other}}, (one,), [[other]], Tree.model_construct(name=one)):
        assert quickly({name: value}) == plainly({name: value})


@pytest.mark.parametrize("name", ["words", "free", "labels"])
@pytest.mark.parametrize("wrap", [list, dict, Tree])
@pytest.mark.parametrize("levels", [31, 32, 33, 300, 2000])
def test_nesting_ends_at_the_same_depth(name, wrap, levels):
    value = deep(levels, wrap)
    assert quickly({name: value}) == plainly({name: value})


def test_nothing_simple_takes_the_long_way():
    def never(field: FieldSpec, _: object):
        raise AssertionError(field.name)

    simple = {"text": "ö", "whole": -7, "real": 0.25, "flag": True, "time": None, "home": None, "tags": {"a"}}
    entity = Kinds.model_construct(**simple)
    encode_fields([FIELDS[name] for name in simple], dict(entity), never)
