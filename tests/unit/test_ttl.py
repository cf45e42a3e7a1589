"""The `ttl` setting, and when an item has expired."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from singletable import ConfigurationError, DynamoDBStore
from singletable.testing import MemoryTransport
from singletable.ttl import Expiry, read_expiry

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENTITIES = {"message": None, "thread": None, "tombstone": 60}


@pytest.mark.parametrize(
    "entry",
    [
        {"enabled": True, "default_ttl_seconds": 30, "attribute_name": "expiresAt"},
        {"enabled": True, "defaultTtlSeconds": 30, "attributeName": "expiresAt"},
        {"defaultTtlSeconds": 30, "attribute_name": "expiresAt"},
    ],
)
def test_both_spellings_are_read(entry):
    assert read_expiry({"message": entry}, ENTITIES) == Expiry("expiresAt", {"message": 30, "tombstone": 60})


def test_an_entity_that_is_not_enabled_does_not_expire():
    assert read_expiry({"message": {"enabled": False, "default_ttl_seconds": 30}}, ENTITIES).seconds == {
        "tombstone": 60
    }
    assert read_expiry({"tombstone": {"enabled": False}}, ENTITIES).seconds == {}


def test_what_is_switched_off_names_an_attribute_only_where_it_says_one():
    message = {"default_ttl_seconds": 1, "attribute_name": "x"}
    assert read_expiry({"message": message, "thread": {"enabled": False}}, ENTITIES).attribute == "x"
    with pytest.raises(ConfigurationError, match="x and y are asked for"):
        read_expiry({"message": message, "thread": {"enabled": False, "attribute_name": "y"}}, ENTITIES)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"mesage": {"default_ttl_seconds": 1}}, "no entity 'mesage'; valid are message, thread, tombstone"),
        ({"message": {"seconds": 1}}, "valid keys are enabled, default_ttl_seconds, attribute_name"),
        ({"message": {"enabled": True}}, "enabled without default_ttl_seconds"),
        ({"message": {"enabled": "yes", "default_ttl_seconds": 1}}, "valid boolean"),
        ({"message": {"default_ttl_seconds": 0}}, "greater than 0"),
        ({"message": {"default_ttl_seconds": "60"}}, "valid integer"),
        ({"message": {"default_ttl_seconds": 1.5}}, "valid integer"),
        ({"message": {"default_ttl_seconds": 1, "attribute_name": ""}}, "at least 1 character"),
        ({"message": 60}, "valid dictionary"),
        (
            {"message": {"default_ttl_seconds": 1}, "thread": {"default_ttl_seconds": 1, "attribute_name": "x"}},
            "one TTL attribute, but ttl and x are asked for",
        ),
    ],
)
def test_a_setting_that_cannot_be_right_says_what_is_valid(config, problem):
    with pytest.raises(ConfigurationError, match=problem):
        read_expiry(config, ENTITIES)


@pytest.mark.parametrize("part", ["blob_entry", "blob_piece"])
def test_what_a_blob_is_made_of_has_no_life_of_its_own(part):
    with pytest.raises(ConfigurationError, match="goes with its blob"):
        DynamoDBStore("t", transport=MemoryTransport(), ttl={part: {"default_ttl_seconds": 1}})


def test_an_item_expires_in_the_second_that_it_carries():
    expiry = Expiry("ttl", {"message": 60})
    item = {"ttl": {"N": str(expiry.stamp("message", NOW))}}
    assert not expiry.is_past(item, NOW + timedelta(seconds=59, milliseconds=999))
    assert expiry.is_past(item, NOW + timedelta(seconds=60))
    assert not expiry.is_past({}, NOW)
    assert expiry.stamp("thread", NOW) is None
