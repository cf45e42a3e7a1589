"""Upserts, deletes that give back, automatic fields, versions, and index keys that are read first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    AlreadyExistsError,
    Change,
    Changes,
    ConditionFailedError,
    CreatedAt,
    Entity,
    IncompleteKeyError,
    Index,
    Lookup,
    NotFoundError,
    Pk,
    PrimaryKey,
    RequestError,
    SkRange,
    Table,
    TransactionFailedError,
    UpdatedAt,
    Version,
    VersionConflictError,
    add,
    utc_now,
)
from singletable.testing import MemoryTransport
from tests.contract.support import START


class Doc(Entity, entity="doc", version=1):
    """An entity with all automatic fields, and with an index of three parts."""

    id: str
    author: str
    title: str = ""
    state: str = "draft"
    folder: str | None = None
    rank: int = 0
    created_at: CreatedAt = Field(default_factory=utc_now)
    updated_at: UpdatedAt = Field(default_factory=utc_now)
    etag: Version = ""

    class Key(PrimaryKey["Doc"]):
        id: Pk[str]

    class ByState(Index["Doc"], on="gsi1"):
        state: Pk[str]
        folder: SkRange[str | None] = None
        rank: SkRange[int] = None

    class ByActivity(Index["Doc"], on="gsi2"):
        author: Pk[str]
        updated_at: SkRange[datetime] = None

    class Patch(Changes["Doc"]):
        title: Change[str] = KEEP
        state: Change[str] = KEEP
        folder: Change[str | None] = KEEP
        rank: Change[int] = KEEP


class Account(Entity, entity="account", version=1):
    id: str
    email: str
    plan: str = "free"
    etag: Version = ""

    class Key(PrimaryKey["Account"]):
        id: Pk[str]

    class ByEmail(Lookup["Account"]):
        email: Pk[str]

    class Patch(Changes["Account"]):
        plan: Change[str] = KEEP


KEY = Doc.Key(id="a")


@pytest.fixture
def table(backend):
    return backend.table(Doc, Account, ttl={"doc": {"enabled": True, "default_ttl_seconds": 60}})


def in_state(table, state: str) -> list[str]:
    return [doc.id for doc in table.query(Doc.ByState(state=state)).all()]


# Automatic fields


def test_times_are_those_of_the_tables_clock(table, backend):
    created = table.create(Doc(id="a", author="ada"))
    assert (created.created_at, created.updated_at) == (START, START)
    later = backend.clock.advance(seconds=5)
    changed = table.update(KEY, Doc.Patch(title="x"))
    assert (changed.created_at, changed.updated_at) == (START, later)
    latest = backend.clock.advance(seconds=5)
    put = table.put(changed)
    assert (put.created_at, put.updated_at) == (START, latest)


def test_a_creation_time_that_is_given_stays(table):
    given = START - timedelta(days=9)
    assert table.create(Doc(id="a", author="ada", created_at=given)).created_at == given


def test_the_index_follows_the_automatic_time(table, backend):
    table.create(Doc(id="a", author="ada"))
    table.create(Doc(id="b", author="ada"))
    backend.clock.advance(seconds=5)
    table.update(KEY, Doc.Patch(title="x"))
    assert [doc.id for doc in table.query(Doc.ByActivity(author="ada")).reverse()] == ["a", "b"]


def test_the_entity_that_is_passed_in_is_left_as_it_is(table):
    doc = Doc(id="a", author="ada", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    before = doc.model_copy(deep=True)
    table.create(doc)
    table.upsert(doc)
    assert doc == before


def test_a_batch_fills_them_in_too(table):
    table.put_many([Doc(id="a", author="ada"), Doc(id="b", author="ada")])
    docs = table.get_many([Doc.Key(id="a"), Doc.Key(id="b")])
    assert [doc.created_at for doc in docs] == [START, START]
    assert all(doc.etag for doc in docs)


# Versions


def test_every_write_changes_the_version(table):
    versions = [table.create(Doc(id="a", author="ada")).etag]
    versions.append(table.update(KEY, Doc.Patch(title="blind")).etag)
    versions.append(table.put(table.get(KEY)).etag)
    with table.transaction() as tx:
        tx.update(KEY, Doc.Patch(title="again"))
    versions.append(table.get(KEY).etag)
    table.put_many([table.get(KEY)])
    versions.append(table.get(KEY).etag)
    assert len(set(versions)) == 5
    assert all(versions)


def test_a_put_replaces_only_what_was_read(table):
    mine = table.create(Doc(id="a", author="ada"))
    theirs = table.update(KEY, Doc.Patch(title="theirs"))
    with pytest.raises(VersionConflictError) as caught:
        table.put(mine.model_copy(update={"title": "mine"}))
    assert caught.value.current == theirs
    assert table.get(KEY) == theirs
    assert table.put(theirs.model_copy(update={"title": "mine"})).title == "mine"


def test_a_put_of_what_was_never_read_needs_a_free_place(table):
    first = table.put(Doc(id="a", author="ada"))
    with pytest.raises(VersionConflictError) as caught:
        table.put(Doc(id="a", author="bob"))
    assert caught.value.current == first


def test_a_put_of_what_is_gone_does_not_bring_it_back(table, backend):
    doc = table.create(Doc(id="a", author="ada"))
    table.delete(KEY)
    with pytest.raises(NotFoundError):
        table.put(doc)
    other = table.create(Doc(id="a", author="ada"))
    backend.clock.advance(seconds=61)
    with pytest.raises(NotFoundError):
        table.put(other)
    assert table.get(KEY) is None


def test_deleting_and_creating_does_not_revive_a_version(table):
    old = table.create(Doc(id="a", author="ada"))
    table.delete(KEY)
    new = table.create(Doc(id="a", author="ada"))
    with pytest.raises(VersionConflictError):
        table.update(KEY, Doc.Patch(title="x"), if_version=old.etag)
    assert table.update(KEY, Doc.Patch(title="x"), if_version=new.etag).title == "x"


def test_a_blind_update_is_seen_by_the_next_checked_one(table):
    seen = table.create(Doc(id="a", author="ada"))
    blind = table.update(KEY, Doc.Patch(title="blind"))
    with pytest.raises(VersionConflictError) as caught:
        table.update(KEY, Doc.Patch(title="x"), if_version=seen.etag)
    assert caught.value.current == blind
    with pytest.raises(VersionConflictError):
        table.delete(KEY, if_version=seen.etag)
    assert table.delete(KEY, if_version=blind.etag) == blind


def test_a_condition_may_name_the_version(table):
    seen = table.create(Doc(id="a", author="ada"))
    table.update(KEY, Doc.Patch(title="blind"))
    with pytest.raises(ConditionFailedError):
        table.update(KEY, Doc.Patch(title="x"), where=lambda doc: doc.etag == seen.etag)


def test_a_transaction_checks_versions_and_says_what_is_stored(table):
    seen = table.create(Doc(id="a", author="ada"))
    stored = table.update(KEY, Doc.Patch(title="blind"))

    def stale():
        with table.transaction() as tx:
            tx.create(Doc(id="b", author="ada"))
            tx.update(KEY, Doc.Patch(title="x"), if_version=seen.etag)

    with pytest.raises(TransactionFailedError) as caught:
        stale()
    free, conflict = caught.value.reasons
    assert (free.code, free.current) == ("None", None)
    assert (conflict.code, conflict.entity, conflict.current) == ("ConditionalCheckFailed", "doc", stored)
    with table.transaction() as tx:
        tx.put(stored.model_copy(update={"title": "y"}))
        tx.create(Doc(id="b", author="ada"))
    with pytest.raises(TransactionFailedError), table.transaction() as tx:
        tx.delete(KEY, if_version=stored.etag)
    assert table.get(KEY).title == "y"


def test_a_version_that_means_nothing_is_refused(backend):
    with pytest.raises(RequestError, match="Version field"):
        backend.table(Doc).update(KEY, Doc.Patch(title="x"), if_version="")
    with pytest.raises(RequestError, match="Version field"):
        backend.table(Plain).delete(Plain.Key(id="a"), if_version="x")


def test_an_entity_with_lookups_has_versions_too(table):
    seen = table.create(Account(id="1", email="a@x"))
    moved = table.put(seen.model_copy(update={"email": "b@x"}))
    assert table.get(Account.ByEmail(email="b@x")) == moved
    with pytest.raises(VersionConflictError):
        table.put(seen.model_copy(update={"email": "c@x"}))
    assert table.get(Account.ByEmail(email="c@x")) is None


# Upserts


def test_an_upsert_creates_with_defaults(table, backend):
    backend.sent.clear()
    assert table.upsert(Doc(id="a", author="ada", title="x")).state == "draft"
    assert backend.sent.operations == ["PutItem"]


def test_an_upsert_changes_what_was_given_and_keeps_the_rest(table, backend):
    first = table.create(Doc(id="a", author="ada", title="old", state="done", folder="f", rank=7))
    later = backend.clock.advance(seconds=5)
    backend.sent.clear()
    second = table.upsert(Doc(id="a", author="bob", title="new"))
    assert second.model_copy(update={"etag": first.etag}) == first.model_copy(
        update={"title": "new", "updated_at": later}
    )
    assert backend.sent.operations == ["PutItem", "UpdateItem"]


def test_an_upsert_rewrites_index_keys_from_what_is_stored(table):
    table.create(Doc(id="a", author="ada", state="draft", folder="f", rank=7))
    table.upsert(Doc(id="a", author="ada", state="done"))
    assert in_state(table, "draft") == []
    assert [doc.rank for doc in table.query(Doc.ByState(state="done", folder="f", rank=7))] == [7]


def test_an_upsert_over_what_has_expired_starts_anew(table, backend):
    table.create(Doc(id="a", author="ada", title="old"))
    later = backend.clock.advance(seconds=61)
    anew = table.upsert(Doc(id="a", author="bob"))
    assert (anew.author, anew.title, anew.created_at) == ("bob", "", later)


def test_an_upsert_does_not_take_a_lookup_from_another(table):
    table.create(Account(id="1", email="a@x"))
    with pytest.raises(AlreadyExistsError):
        table.upsert(Account(id="2", email="a@x"))
    assert table.get(Account.Key(id="2")) is None
    assert table.upsert(Account(id="1", email="a@x", plan="pro")).plan == "pro"


def test_an_upsert_that_changes_nothing_reads_what_is_there(table):
    first = table.create(Doc(id="a", author="ada"))
    assert table.upsert(Doc(id="a", author="bob")) == first


# Deletes


def test_a_delete_gives_back_what_it_took(table, backend):
    doc = table.create(Doc(id="a", author="ada"))
    assert table.delete(KEY) == doc
    assert table.delete(KEY) is None
    table.create(Doc(id="a", author="ada"))
    backend.clock.advance(seconds=61)
    assert table.delete(KEY) is None
    assert backend.items() == []


def test_a_delete_of_an_entity_with_lookups_gives_it_back(table, backend):
    account = table.create(Account(id="1", email="a@x"))
    assert table.delete(Account.Key(id="1")) == account
    assert table.delete(Account.Key(id="1")) is None
    assert backend.items() == []
    with pytest.raises(NotFoundError):
        table.delete(Account.Key(id="1"), where=lambda account: account.plan == "free")


# Index keys that are read first


def test_an_update_without_the_other_parts_is_refused_naming_them(table):
    table.create(Doc(id="a", author="ada", folder="f"))
    with pytest.raises(IncompleteKeyError, match=r"gsi1, which also needs folder, rank.*refresh=True"):
        table.update(KEY, Doc.Patch(state="done"))


def test_refresh_reads_the_other_parts(table, backend):
    table.create(Doc(id="a", author="ada", folder="f", rank=7))
    backend.sent.clear()
    assert table.update(KEY, Doc.Patch(state="done"), refresh=True).rank == 7
    assert backend.sent.operations == ["GetItem", "UpdateItem"]
    assert [doc.id for doc in table.query(Doc.ByState(state="done", folder="f", rank=7))] == ["a"]
    assert in_state(table, "draft") == []


def test_refresh_reads_nothing_where_nothing_is_needed(table, backend):
    table.create(Doc(id="a", author="ada", folder="f"))
    backend.sent.clear()
    table.update(KEY, Doc.Patch(title="x"), refresh=True)
    assert backend.sent.operations == ["UpdateItem"]


def test_refresh_leaves_an_item_out_of_a_sparse_index(table):
    table.create(Doc(id="a", author="ada"))
    table.update(KEY, Doc.Patch(state="done"), refresh=True)
    assert in_state(table, "done") == []
    table.update(KEY, Doc.Patch(folder="f"), refresh=True)
    assert in_state(table, "done") == ["a"]
    table.update(KEY, Doc.Patch(folder=None))
    assert in_state(table, "done") == []


def test_refresh_of_what_is_not_there_is_an_error(table):
    with pytest.raises(NotFoundError):
        table.update(KEY, Doc.Patch(state="done"), refresh=True)


def test_refresh_does_not_change_what_a_condition_refuses(table):
    table.create(Doc(id="a", author="ada", folder="f"))
    with pytest.raises(ConditionFailedError):
        table.update(KEY, Doc.Patch(state="done"), refresh=True, where=lambda doc: doc.title == "other")
    assert in_state(table, "draft") == ["a"]


def test_refresh_meets_a_change_of_the_other_parts(fake):
    table = fake.table(Doc)
    other = Table(fake.table_name, MemoryTransport(fake.database), entities=[Doc], clock=fake.clock)
    table.create(Doc(id="a", author="ada", folder="f", rank=7))
    changes = iter([Doc.Patch(folder="g", state="draft", rank=8)])

    def between(request):
        change = next(changes, None) if request.operation == "UpdateItem" else None
        if change:
            other.update(KEY, change)

    fake.faults.on_request = between
    assert table.update(KEY, Doc.Patch(state="done"), refresh=True).folder == "g"
    assert [doc.id for doc in table.query(Doc.ByState(state="done", folder="g", rank=8))] == ["a"]


def test_arithmetic_on_a_part_is_refused_even_with_refresh(table):
    table.create(Doc(id="a", author="ada", folder="f"))
    with pytest.raises(RequestError, match=r"doc.rank is part of gsi1"):
        table.update(KEY, Doc.Patch(rank=add(1)), refresh=True)


class Plain(Entity, entity="plain", version=1):
    id: str
    name: str = ""

    class Key(PrimaryKey["Plain"]):
        id: Pk[str]
