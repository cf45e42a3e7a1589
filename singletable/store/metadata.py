"""Filters on metadata, as conditions that DynamoDB checks.  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from typing import cast

from ..codec import encode_json
from ..conditions import at, has_type
from ..errors import RequestError
from ..values import JsonObject

KEY = re.compile("[a-zA-Z_][a-zA-Z0-9_]*")
RESERVED_KEYS = frozenset({"__proto__", "prototype", "constructor"})
"""Mastra refuses them, because they mean something to JavaScript."""
LONGEST_KEY = 128
MOST_KEYS = 50
"""An expression of DynamoDB has up to 4 KB and 300 operators; so many keys stay well below."""


def check_filter(metadata: object) -> bool:
    """Whether a filter filters; raises RequestError for a key that Mastra refuses, and for a value that is no JSON."""
    wanted = require_object("metadata", metadata)
    if len(wanted) > MOST_KEYS:
        raise RequestError(f"a metadata filter has at most {MOST_KEYS} keys, not {len(wanted)}")
    for key in wanted:
        if not KEY.fullmatch(key) or key in RESERVED_KEYS or len(key) > LONGEST_KEY:
            raise RequestError(
                f"a key of a metadata filter has 1 to {LONGEST_KEY} letters, digits and _, begins with no digit, and "
                f"is not one of {', '.join(sorted(RESERVED_KEYS))}"
            )
    encode_json(wanted, "the metadata filter")
    return bool(wanted)


def has_metadata(field: object, wanted: JsonObject) -> bool:
    """That a map has each of `wanted`, of which there must be at least one, with a deeply equal value.

    To a checker it returns a bool, as the functions of `singletable.conditions` do."""
    conditions = [_has(field, key, value) for key, value in wanted.items()]
    return reduce(lambda both, one: both & one, conditions)


def require_object(name: str, value: object) -> JsonObject:
    """The value; raises RequestError unless it is a JSON object."""
    if isinstance(value, Mapping):
        found = cast("Mapping[object, object]", value)
        if all(isinstance(key, str) for key in found):
            return cast("JsonObject", found)
    raise RequestError(f"{name} must be a JSON object: a mapping whose keys are texts")


def _has(field: object, key: str, value: object) -> bool:
    stored = at(field, key)
    # A comparison with None would take a key that is not there for one that holds null.
    return has_type(stored, "NULL") if value is None else stored == value
