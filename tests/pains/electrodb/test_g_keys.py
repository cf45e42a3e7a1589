"""Identity: what ElectroDB's keys confuse, and these do not."""

from __future__ import annotations

import pytest

from singletable import KEEP, DeclarationError, Entity, InvalidKeyError, Pk, PrimaryKey, RequestError, Sk
from singletable.streams import parse
from tests.pains.electrodb.entities import Store, StoreTwo, Tag, TagA, User
from tests.pains.support import ids, listed, message


@pytest.fixture
def table(fake):
    return fake.table(Store, StoreTwo, Tag, TagA, User)


# Case


def test_g01_a_put_does_not_replace_an_item_whose_id_differs_in_case(table):
    table.put(Tag(a="aB", b="x", text="first"))
    table.put(Tag(a="Ab", b="x", text="second"))
    assert [table.get(Tag.Key(a=a, b="x")).text for a in ("aB", "Ab")] == ["first", "second"]
    assert table.get(Tag.Key(a="ab", b="x")) is None


def test_g02_a_create_is_not_refused_for_an_id_that_differs_in_case(table):
    table.create(User(id="aB", name="Ada"))
    table.create(User(id="Ab", name="ADA"))
    assert [table.get(User.ByName(name=name)).id for name in ("Ada", "ADA")] == ["aB", "Ab"]


def test_g40_one_batch_reads_and_writes_ids_that_differ_in_case(table):
    tags = [Tag(a=a, b="x", text=a) for a in ("ab", "aB", "AB")]
    table.put_many(tags)
    assert table.get_many(map(Tag.Key.of, tags)) == tags
    table.delete_many([Tag.Key(a="aB", b="x")])
    assert table.get_each(map(Tag.Key.of, tags)) == [tags[0], None, tags[2]]


def test_g57_two_messages_whose_ids_differ_in_case_are_two(fake):
    memory = fake.store().memory
    memory.save_messages([message("msg-aB"), message("msg-Ab")])
    assert listed(memory) == ids(memory.list_messages_by_id(["msg-aB", "msg-Ab"])) == ["msg-aB", "msg-Ab"]


# Delimiters

PAIRS = [("x#b_y", "z"), ("x", "y#b_z"), ("x#y", "z"), ("x", "y#z"), ("x%23y", "z"), ("x", "y%23z")]


def test_g03_delimiters_are_escaped(table, fake):
    tags = [Tag(a=a, b=b, text=f"{a}|{b}") for a, b in PAIRS]
    for tag in tags:
        table.create(tag)
    assert [table.get(Tag.Key.of(tag)) for tag in tags] == tags
    assert len({item["pk"]["S"] for item in fake.items()}) == len(PAIRS)


UNREADABLE = ["x#b_y", "#", "_", "a\nb", "MiXeD", "007", "true", " a ", "%41", "\u0130\u00df\u03a3"]


def keys_only(item):
    """A record of a stream that holds nothing but the key."""
    keys = {"pk": item["pk"], "sk": item["sk"]}
    return {"eventName": "REMOVE", "dynamodb": {"Keys": keys, "SequenceNumber": "1"}}


@pytest.mark.parametrize("text", UNREADABLE, ids=ascii)
def test_g30_g31_a_stored_key_gives_its_parts_back(table, fake, text):
    """ElectroDB reads keys by a greedy expression, to which delimiters, newlines and case are lost."""
    key = Store.Key(city=text, mall=text, unit=-7)
    table.create(Store(city=text, mall=text, unit=-7))
    (item,) = fake.items()
    assert parse(keys_only(item), Store).key == key


@pytest.mark.parametrize("text", ["", " ", "\n"], ids=ascii)
def test_g31_a_part_that_could_not_be_read_back_is_refused(table, fake, text):
    with pytest.raises(InvalidKeyError, match="mall is blank"):
        table.create(Store(city="x", mall=text))
    assert fake.sent.requests == []


def test_g04_values_do_not_run_into_the_names_of_parts(table, fake):
    """ElectroDB writes `a_b_c` for the value `b_c` of `a`, and for the value `c` of `a_b`."""
    table.put_many([Tag(a="a", b="b"), Tag(a="a#b", b="c"), TagA(b="a#b"), TagA(b="b"), TagA(b="a")])
    partitions = [item["pk"]["S"] for item in fake.items()]
    assert len(set(partitions)) == 5
    assert table.query(TagA.Key(b="b")).all() == [TagA(b="b")]


def test_g05_the_name_of_an_entity_does_not_run_into_what_follows_it(table, fake):
    """ElectroDB's `task_1` of version 2 is its `task` of version `1_2`; here no version is in a key."""
    table.put_many([Store(city="x", mall="2", unit=2), StoreTwo(city="x", mall="2")])
    assert [item["sk"]["S"].partition("#")[0] for item in fake.items()] == ["store", "store_2"]
    assert table.query(Store.In(city="x")).all() == [Store(city="x", mall="2", unit=2)]
    assert table.query(StoreTwo.Key(city="x", mall="2")).all() == [StoreTwo(city="x", mall="2")]


class Later(Entity, entity="store", version=10):
    """The stores of a much later version."""

    city: str
    mall: str
    unit: int = 0
    floor: int = 0

    class Key(PrimaryKey["Later"], collection="place"):
        city: Pk[str]
        mall: Sk[str]
        unit: Sk[int]


def test_g41_g42_a_version_neither_hides_items_nor_mistakes_them(table, fake):
    """ElectroDB's version 2 does not see items of version 1, and its version 1 finds those of version 10 by prefix."""
    later = fake.table(Later)
    table.put(Store(city="x", mall="old", rent=7))
    later.put(Later(city="x", mall="new", floor=3))
    assert [one.mall for one in later.query(Later.Key(city="x", mall="old", unit=0))] == ["old"]
    found = table.get(Store.Key(city="x", mall="new", unit=0))
    table.put(found.model_copy(update={"rent": 5}))
    assert later.get(Later.Key(city="x", mall="new", unit=0)).floor == 3
    assert [item["_version"]["N"] for item in fake.items()] == ["10", "1"]


def test_g06_a_scope_does_not_run_into_what_follows_it(table):
    """ElectroDB's service `app` with the scope `x` is its service `app_x`; here a scope is a tenant."""
    tenants = ["app", "app#x", "app_x", "app@x", "@app", "app%23x"]
    for tenant in tenants:
        table.scoped(tenant).create(Tag(a="x", b="1", text=tenant))
    table.create(Tag(a="x", b="1", text="no scope"))
    assert [table.scoped(tenant).get(Tag.Key(a="x", b="1")).text for tenant in tenants] == tenants
    assert table.get(Tag.Key(a="x", b="1")).text == "no scope"


def test_g07_tenants_differ_in_case_and_names_of_entities_have_none(table, fake):
    table.scoped("Acme").create(User(id="1", name="Ada"))
    assert table.scoped("acme").get(User.Key(id="1")) is None
    with pytest.raises(DeclarationError, match="'Task' must be lower case"):

        class Task(Entity, entity="Task"):
            id: str


# Values of another type

WRONG = [None, 3, 1.5, True, {"a": 1}, ["x"], b"x", KEEP]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda table, key: table.get(key),
        lambda table, key: table.get_many([key]),
        lambda table, key: table.query(key).all(),
        lambda table, key: table.delete(key),
        lambda table, key: table.update(key, Store.Patch(rent=1)),
    ],
    ids=["get", "get-many", "query", "delete", "update"],
)
def test_g08_a_key_of_a_wrong_type_is_refused(table, fake, call, wrong):
    """The checkers refuse it as well: «key part of a wrong type» in tests/typing/refused.py.txt."""
    with pytest.raises(RequestError, match="mall"):
        call(table, Store.Key(city="x", mall=wrong, unit=1))
    assert fake.sent.requests == []
