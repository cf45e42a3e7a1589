"""P77: the layout of keys is a contract that is written down.  P78: what an owner is told of the ids of another."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from singletable import AlreadyExistsError
from singletable.schemas import Resource, Thread
from singletable.store.entities import ENTITIES
from tests.pains.support import ids, listed, message, thread, turn

FROZEN = Path(__file__).parents[1] / "golden"
KEYS = json.loads((FROZEN / "keys.json").read_text("utf-8"))["keys"]
ITEMS = json.loads((FROZEN / "items.json").read_text("utf-8"))["items"]
STORED = [item for items in ITEMS.values() for group in items.values() for item in group]


# P77


def attributes(entity):
    return {half.attribute for index in entity.spec.indexes.values() for half in (index.pk, index.sk)}


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.spec.name)
def test_p77_the_golden_files_hold_every_key_of_every_entity(entity):
    assert set(KEYS[entity.spec.name]) == attributes(entity)
    assert any(attributes(entity) <= item.keys() for item in STORED if item["_entity"] == {"S": entity.spec.name})


def test_p77_the_golden_files_hold_no_other_entity():
    assert set(KEYS) == {entity.spec.name for entity in ENTITIES}


@pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.spec.name)
def test_p77_the_golden_files_hold_the_pointer_of_every_lookup(entity):
    pointers = {item["_entity"]["S"] for item in STORED} - set(KEYS)
    assert pointers >= {lookup.pk.prefix for lookup in entity.spec.lookups.values()}


def test_p77_all_names_in_keys_are_of_one_casing():
    """`multi_agent` in one language and `multiAgent` in another are two sessions."""
    tags = {text.partition("#")[0] for keys in KEYS.values() for text in keys.values()}
    assert all(re.fullmatch("[a-z][a-z0-9_]*", tag) for tag in tags)
    names = {name for item in STORED for name in item if name not in KEYS and not name.startswith("_")}
    assert all(re.fullmatch("[a-z][a-zA-Z0-9]*", name) for name in names)


# P78


@pytest.fixture
def owners(fake):
    """The memories of two owners, each in a scope of its own."""
    store = fake.store()
    return store.scoped("ada").memory, store.scoped("bob").memory


def test_p78_two_owners_may_each_have_a_thread_of_one_id(owners):
    for memory, name in zip(owners, ("ada", "bob"), strict=True):
        memory.save_thread(Thread(id="t", resource_id=name, title=name))
        memory.save_messages([message("m", content=name)])
        memory.save_resource(Resource(id="r", working_memory=name))
    for memory, name in zip(owners, ("ada", "bob"), strict=True):
        assert memory.get_thread_by_id("t").title == memory.get_resource_by_id("r").working_memory == name
        assert [one.content for one in memory.list_messages("t").items] == [name]
        assert ids(memory.list_threads(name).items) == ["t"]


def test_p78_what_one_owner_deletes_another_keeps(owners):
    ada, bob = owners
    for memory in owners:
        memory.save_thread(thread())
        memory.save_messages(turn("m"))
    ada.delete_thread("t")
    assert (ada.get_thread_by_id("t"), bob.get_thread_by_id("t").id, listed(bob)) == (None, "t", ["m"])
    bob.save_messages(turn("n"))
    assert listed(bob) == ["m", "n"]


def test_p78_a_thread_of_another_resource_is_as_absent_as_one_that_is_not_there(fake):
    memory = fake.store().memory
    memory.save_thread(thread())
    assert memory.get_thread_by_id("t", resource_id="bob") is memory.get_thread_by_id("none", resource_id="bob") is None


def test_p78_a_refused_creation_does_not_say_whose_the_id_is(backend):
    """The error's attributes hold what is stored, for code that may see it; its text, which ends in logs, does not."""
    table = backend.table(*ENTITIES)
    table.create(Thread(id="secret-id", resource_id="secret-owner", title="secret-title"))
    with pytest.raises(AlreadyExistsError) as caught:
        table.create(Thread(id="secret-id", resource_id="bob"))
    assert "secret" not in str(caught.value) + repr(caught.value)
    assert table.get(Thread.Key(id="secret-id")).resource_id == "secret-owner"
