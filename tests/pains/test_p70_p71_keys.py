"""P70: no two ids give one key.  P71: case is kept."""

from __future__ import annotations

from itertools import combinations

import pytest

from singletable import Entity, Index, Pk, PrimaryKey, RequestError, Sk, SkRange
from singletable.schemas import Resource
from tests.pains.support import ids, listed, message, thread

IDS = [
    "#",
    "%23",
    "%",
    "%2523",
    "\\",
    "\0",
    "a\nb",
    "!",
    '"',
    "$",
    "&",
    "é",
    "e\u0301",
    "😀",
    "a#",
    "#a",
    "a",
    "A",
    " a",
    "a ",
]
REFUSED = ["", " ", "\t\n", "\u3000", "\ud83d"]


class Member(Entity, entity="member", version=1):
    """An entity with two parts in each half of its key."""

    tenant: str
    user: str
    group: str = "g"
    role: str = "r"
    name: str = ""

    class Key(PrimaryKey["Member"]):
        tenant: Pk[str]
        user: Pk[str]
        group: Sk[str]
        role: Sk[str]

    class InGroup(Index["Member"]):
        tenant: Pk[str]
        user: Pk[str]
        group: SkRange[str] = None


PAIRS = [
    ("a#b", "c"),
    ("a", "b#c"),
    ("a#", "b"),
    ("a", "#b"),
    ("a%23b", "c"),
    ("a", "b%23c"),
    ("a\\", "b"),
    ("a", "\\b"),
]


def test_p70_the_delimiter_inside_of_a_partition_key(backend):
    table = backend.table(Member)
    members = [Member(tenant=tenant, user=user, name=f"{tenant}|{user}") for tenant, user in PAIRS]
    for member in members:
        table.create(member)
    assert table.get_many(Member.Key.of(member) for member in members) == members
    assert len(backend.items()) == len(PAIRS)


def test_p70_the_delimiter_inside_of_a_sort_key(backend):
    table = backend.table(Member)
    members = [Member(tenant="t", user="u", group=group, role=role) for group, role in PAIRS]
    for member in members:
        table.create(member)
    assert table.get_many(Member.Key.of(member) for member in members) == members


def test_p70_a_prefix_ends_with_its_part(backend):
    table = backend.table(Member)
    for group in ("1", "10", "1#0", "1 0"):
        table.create(Member(tenant="t", user="u", group=group))
    found = table.query(Member.InGroup(tenant="t", user="u", group="1")).all()
    assert [member.group for member in found] == ["1"]


def assert_comes_back(memory, one):
    memory.save_thread(thread(one))
    memory.save_messages([message(one, one)])
    memory.save_resource(Resource(id=one))
    context = memory.context(one)
    assert (context.thread.id, ids(context.messages)) == (one, [one])
    assert memory.get_resource_by_id(one).id == one
    assert ids(memory.list_messages_by_id([one])) == listed(memory, one) == [one]


@pytest.mark.parametrize("one", IDS, ids=ascii)
def test_p70_an_id_of_any_characters_comes_back(fake, one):
    assert_comes_back(fake.store().memory, one)


@pytest.mark.parametrize("one", ["#", "%23", "\\", "a\0b\n", "😀"], ids=ascii)
def test_p70_an_id_of_any_characters_comes_back_over_http(memory, one):
    assert_comes_back(memory, one)


def test_p70_no_two_ids_are_one(fake):
    memory = fake.store().memory
    for number, one in enumerate(IDS):
        memory.save_thread(thread(one, title=str(number)))
        memory.save_messages([message(one, one, content=str(number))])
        memory.save_resource(Resource(id=one, working_memory=str(number)))
    numbers = [str(number) for number in range(len(IDS))]
    assert [memory.get_thread_by_id(one).title for one in IDS] == numbers
    assert [memory.get_resource_by_id(one).working_memory for one in IDS] == numbers
    assert [memory.list_messages(one).items[0].content for one in IDS] == numbers
    assert [memory.list_messages_by_id([one])[0].content for one in IDS] == numbers


def test_p70_no_two_ids_share_a_key(fake):
    memory = fake.store().memory
    for one in IDS:
        memory.save_resource(Resource(id=one))
    keys = [item["pk"]["S"] for item in fake.items()]
    assert all(first != second for first, second in combinations(keys, 2))
    assert len(keys) == len(IDS)


@pytest.mark.parametrize("one", REFUSED, ids=ascii)
@pytest.mark.parametrize(
    "call",
    [
        lambda memory, one: memory.save_thread(thread(one)),
        lambda memory, one: memory.save_messages([message("m", one)]),
        lambda memory, one: memory.save_messages([message(one)]),
        lambda memory, one: memory.save_resource(Resource(id=one)),
    ],
    ids=["thread", "thread-of-message", "message", "resource"],
)
def test_p70_an_id_that_no_key_can_hold_is_refused(fake, call, one):
    with pytest.raises(RequestError, match="id"):
        call(fake.store().memory, one)
    assert [name for name in fake.sent.operations if name not in ("Query", "GetItem")] == []
    assert fake.items() == []


@pytest.mark.parametrize("one", ["AbC", "ABC", "abc"])
def test_p71_ids_that_differ_in_case_are_different(memory, one):
    for name in ("AbC", "ABC", "abc"):
        memory.save_thread(thread(name, title=name))
        memory.save_messages([message(f"m-{name}", name)])
        memory.save_resource(Resource(id=name, working_memory=name))
    assert memory.get_thread_by_id(one).title == memory.get_resource_by_id(one).working_memory == one
    assert listed(memory, one) == ids(memory.list_messages_by_id([f"m-{one}"])) == [f"m-{one}"]


def test_p71_threads_of_resources_that_differ_in_case(memory):
    memory.save_thread(thread("t"))
    assert memory.list_threads("ADA").items == []
    assert memory.get_thread_by_id("t", resource_id="ADA") is None
