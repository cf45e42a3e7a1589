"""What has expired and is still stored: it can be read, and removed, by who asks for it.  P68, P69."""

from __future__ import annotations

import pytest

from singletable import Entity, Index, InvalidCursorError, Pk, PrimaryKey, Request, RequestError, Table
from singletable.schemas import Resource, Thread
from singletable.testing import Crash, MemoryTransport
from tests.contract.entities import ENTITIES, Account, Box, Label, Note
from tests.contract.support import START
from tests.contract.users import ADA, all_expire, fill, message

TTL = {name: {"enabled": True, "default_ttl_seconds": 60} for name in ("note", "account")}


@pytest.fixture
def table(any_backend):
    """Three notes that have expired, among what has not."""
    return filled(any_backend)


def filled(backend, count=3):
    table = backend.table(*ENTITIES, ttl=TTL)
    table.put_many([Note(box_id="b", number=number, owner="ada", due=START) for number in range(count)])
    table.put_many([Box(id="b"), Label(box_id="b", name="l")])
    backend.clock.advance(seconds=60)
    table.put(Note(box_id="b", number=count, owner="ada", due=START))
    backend.sent.clear()
    return table


def purge(table, **options):
    *_, done = table.purge_expired(allow_scan=True, **options)
    return done


def numbers(found):
    return sorted(note.number for note in found)


# Read


def test_with_expired_reads_what_is_still_stored(table):
    for notes in (
        table.query(Note.InBox(box_id="b")),
        table.query(Note.ByOwner(owner="ada")),
        table.scan(Note, allow_scan=True, segments=2),
    ):
        assert numbers(notes.all()) == [3]
        assert numbers(notes.with_expired().all()) == [0, 1, 2, 3]
        assert (notes.count(), notes.with_expired().count()) == (1, 4)


def test_a_cursor_with_expired_items_is_one_of_its_own(table):
    notes = table.query(Note.InBox(box_id="b")).with_expired()
    page = notes.page(2)
    assert numbers(page.items) == [0, 1]
    assert numbers(notes.page(2, page.cursor).items) == [2, 3]
    with pytest.raises(InvalidCursorError):
        table.query(Note.InBox(box_id="b")).page(2, page.cursor)


def test_with_expired_reads_whole_items_behind_an_index_of_keys(any_backend):
    class Parcel(Entity, entity="parcel", version=1, ttl_seconds=60):
        id: str
        owner: str

        class Key(PrimaryKey["Parcel"]):
            id: Pk[str]

        class ByOwner(Index["Parcel"], on="gsi1", projection="keys_only"):
            owner: Pk[str]

    table = any_backend.table(Parcel)
    table.put(Parcel(id="p", owner="ada"))
    any_backend.clock.advance(seconds=60)
    parcels = table.query(Parcel.ByOwner(owner="ada"))
    assert parcels.all() == []
    assert [parcel.id for parcel in parcels.with_expired()] == ["p"]


# Deleted by key


def test_delete_expired_deletes_what_has_expired_and_nothing_else(table, any_backend):
    keys = [Note.Key(box_id="b", number=number) for number in (0, 1, 3, 9)]
    assert table.delete_expired([*keys, Box.Key(id="b")]) == 2
    assert numbers(table.query(Note.InBox(box_id="b")).with_expired()) == [2, 3]
    assert any_backend.sent.operations[:5] == ["DeleteItem"] * 5


def test_delete_expired_deletes_pointers(backend):
    table = backend.table(*ENTITIES, ttl=TTL)
    table.create(Account(id="a", email="a@x", handle="a"))
    assert table.delete_expired([Account.ByEmail(email="a@x")]) == 0
    backend.clock.advance(seconds=60)
    assert table.delete_expired([Account.ByEmail(email="a@x"), Account.ByHandle(handle="a")]) == 2
    assert [item["_entity"]["S"] for item in backend.items()] == ["account"]


# Purged


def test_p68_purge_deletes_what_has_expired_and_nothing_else(table, any_backend):
    before = any_backend.items()
    done = purge(table)
    assert (dict(done.deleted), done.read, done.cursor) == ({"note": 3}, 6, None)
    gone = [item for item in before if item not in any_backend.items()]
    assert [item["number"]["N"] for item in gone] == ["0", "1", "2"]
    assert len(any_backend.items()) == 3
    assert purge(table).deleted == {}


def test_p69_what_has_expired_is_still_stored_before(table, any_backend):
    assert numbers(table.query(Note.InBox(box_id="b"))) == [3]
    assert sum(item["_entity"] == {"S": "note"} for item in any_backend.items()) == 4


def test_it_says_that_it_scans(table, any_backend):
    with pytest.raises(RequestError, match="allow_scan=True"):
        list(table.purge_expired())
    assert any_backend.sent.requests == []


def test_an_item_without_expiry_or_with_one_that_is_no_number_stays(fake):
    """On the fake alone: moto fails where it compares values of two types."""

    class Odd(Entity, entity="note", version=1):
        id: str
        ttl: str | None = None

        class Key(PrimaryKey["Odd"]):
            id: Pk[str]

    other = {"box": {"enabled": False, "attribute_name": "expiry"}}
    fake.table(Odd, Box, ttl=other).put_many([Odd(id="a", ttl="0"), Odd(id="b")])
    assert purge(fake.table(*ENTITIES, ttl=TTL)).deleted == {}
    assert len(fake.items()) == 2


def test_what_is_none_of_the_tables_entities_is_left_alone(table, any_backend):
    before = any_backend.items()
    assert purge(any_backend.table(Box, Label)).deleted == {}
    assert any_backend.items() == before


def test_pointers_go_with_their_items_and_are_not_counted(backend):
    table = backend.table(*ENTITIES, ttl=TTL)
    table.create(Account(id="a", email="a@x", handle="a"))
    backend.clock.advance(seconds=60)
    assert purge(table).deleted == {"account": 1}
    assert backend.items() == []


def test_all_tenants_are_purged_or_one(any_backend):
    table = any_backend.table(*ENTITIES, ttl=TTL)
    for one in (table, table.scoped("a"), table.scoped("b")):
        one.put(Note(box_id="b", number=1))
    any_backend.clock.advance(seconds=60)
    assert purge(table.scoped("a")).deleted == {"note": 1}
    assert len(any_backend.items()) == 2
    assert purge(table).deleted == {"note": 2}
    assert any_backend.items() == []


def meanwhile(fake, write):
    """Let another process write just before the first deletion."""
    left = [write]

    def hook(request: Request) -> None:
        if left and request.operation == "DeleteItem":
            left.pop()()

    fake.faults.on_request = hook


def test_what_is_written_anew_meanwhile_stays(fake):
    table = filled(fake)
    other = Table(fake.table_name, MemoryTransport(fake.database), entities=ENTITIES, ttl=TTL, clock=fake.clock)
    meanwhile(fake, lambda: [other.put(Note(box_id="b", number=number, text="new")) for number in range(3)])
    assert purge(table).deleted == {}
    assert [note.text for note in other.query(Note.InBox(box_id="b"))] == ["new"] * 3 + [""]


def test_what_dynamodb_removes_meanwhile_is_not_counted(fake):
    table = filled(fake)
    other = Table(fake.table_name, MemoryTransport(fake.database), entities=ENTITIES, ttl=TTL, clock=fake.clock)
    meanwhile(fake, lambda: other.delete_many([Note.Key(box_id="b", number=number) for number in range(3)]))
    assert purge(table).deleted == {}


def test_it_keeps_to_a_rate(fake):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    filled(fake, count=20)
    table = fake.table(*ENTITIES, ttl=TTL, sleep=slept.append if fake.loop is None else sleep)
    assert purge(table, per_second=10).deleted == {"note": 20}
    assert sum(slept) == pytest.approx(2)


def large(fake):
    """Notes on more than two pages, all expired."""
    table = fake.table(*ENTITIES, ttl=TTL)
    table.put_many([Note(box_id=f"b{number}", number=number, text="x" * 300_000) for number in range(9)])
    fake.clock.advance(seconds=60)
    return table


def test_it_goes_on_where_it_stopped(fake):
    table = large(fake)
    first = next(iter(table.purge_expired(allow_scan=True)))
    assert 0 < first.deleted["note"] < 9
    last = purge(table, cursor=first.cursor)
    assert first.deleted["note"] + last.deleted["note"] == 9
    assert first.read + last.read == 9
    for cursor in ("x", first.cursor[:-4]):
        with pytest.raises(InvalidCursorError, match="damaged"):
            purge(table, cursor=cursor)
    with pytest.raises(InvalidCursorError, match="another query"):
        purge(table.scoped("a"), cursor=first.cursor)


# The store


def test_a_store_is_purged_of_all_entities(backend):
    store = backend.store(ttl=all_expire(60))
    fill(store, ADA, "x")
    backend.clock.advance(seconds=59)
    assert store.purge_expired(allow_scan=True).deleted == {}
    store.memory.save_thread(Thread(id="new", resource_id=ADA))
    backend.clock.advance(seconds=1)
    done = store.purge_expired(allow_scan=True)
    expected = {"thread": 2, "message": 3, "resource": 1, "thread_state": 1, "workflow_snapshot": 1, "trace": 3}
    assert done.deleted == {**expected, "score": 1, "evaluation": 1, "session": 1, "event": 2}
    assert [item["id"]["S"] for item in backend.items()] == ["new"]


def test_a_store_says_that_it_scans(backend):
    with pytest.raises(RequestError, match="allow_scan=True"):
        backend.store().purge_expired()
    assert backend.sent.requests == []


def test_the_id_of_an_expired_message_that_is_in_use_again_keeps_its_pointer(backend):
    store = backend.store(ttl={"message": {"enabled": True, "default_ttl_seconds": 60}})
    store.memory.save_messages([message(ADA, "m", "t")])
    backend.clock.advance(seconds=60)
    store.memory.save_messages([message(ADA, "m", "u", content="new")])
    assert store.purge_expired(allow_scan=True).deleted == {"message": 1}
    assert [one.content for one in store.memory.list_messages_by_id(["m"])] == ["new"]
    assert len(backend.items()) == 2


def expired_resources(fake):
    """A store with five resources on two pages, all expired."""
    store = fake.store(ttl={"resource": {"enabled": True, "default_ttl_seconds": 60}})
    store.table.put_many([Resource(id=f"r{number}", working_memory="x" * 300_000) for number in range(5)])
    fake.clock.advance(seconds=60)
    fake.sent.clear()
    return store


def test_the_requests_of_a_purge(fake):
    expired_resources(fake).purge_expired(allow_scan=True)
    assert fake.sent.operations == ["Scan", *["DeleteItem"] * 3, "Scan", *["DeleteItem"] * 2]


@pytest.mark.parametrize("number", range(1, 8))
def test_killed_before_any_request_it_goes_on_with_the_cursor(fake, number):
    store, seen = expired_resources(fake), []
    fake.faults.crash_before(number)
    with pytest.raises(Crash):
        store.purge_expired(allow_scan=True, on_progress=seen.append)
    store.purge_expired(allow_scan=True, cursor=seen[-1].cursor if seen else None)
    assert fake.items() == []
