"""P40, P41, P42, P4a, P4c, P4d: a stale writer is told, with what is stored; nobody else is."""

from __future__ import annotations

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    Entity,
    Lookup,
    NotFoundError,
    Pk,
    PrimaryKey,
    TransactionFailedError,
    UpdatedAt,
    Version,
    VersionConflictError,
    add,
    append,
    utc_now,
)
from tests.pains.support import another, listed, message, thread, turn


class Session(Entity, entity="session", version=1):
    """A state with a version."""

    id: str
    state: str = ""
    turns: int = 0
    log: list[str] = Field(default_factory=list)
    updated_at: UpdatedAt = Field(default_factory=utc_now)
    etag: Version = ""

    class Key(PrimaryKey["Session"]):
        id: Pk[str]

    class Patch(Changes["Session"]):
        state: Change[str] = KEEP
        turns: Change[int] = KEEP
        log: Change[list[str]] = KEEP


class Page(Entity, entity="page", version=1):
    """A second way to an item."""

    id: str
    slug: str
    first: str = ""
    second: str = ""

    class Key(PrimaryKey["Page"]):
        id: Pk[str]

    class BySlug(Lookup["Page"]):
        slug: Pk[str]


KEY = Session.Key(id="s")


def stale_writes(table, seen):
    """Every way in which the holder of `seen` may write."""
    changed = seen.model_copy(update={"state": "stale"})

    def transact(write):
        with table.transaction() as tx:
            write(tx)

    return {
        "put": lambda: table.put(changed),
        "put-where": lambda: table.put(changed, where=lambda one: one.turns >= 0),
        "update": lambda: table.update(KEY, Session.Patch(state="stale"), if_version=seen.etag),
        "append": lambda: table.update(KEY, Session.Patch(log=append(["stale"])), if_version=seen.etag),
        "delete": lambda: table.delete(KEY, if_version=seen.etag),
        "tx-put": lambda: transact(lambda tx: tx.put(changed)),
        "tx-update": lambda: transact(lambda tx: tx.update(KEY, Session.Patch(state="stale"), if_version=seen.etag)),
        "tx-delete": lambda: transact(lambda tx: tx.delete(KEY, if_version=seen.etag)),
    }


WAYS = ["put", "put-where", "update", "append", "delete", "tx-put", "tx-update", "tx-delete"]


@pytest.fixture
def table(backend):
    return backend.table(Session, Page)


# P40


@pytest.mark.parametrize("way", WAYS)
def test_p40_a_stale_handle_is_told_and_writes_nothing(table, backend, way):
    table.create(Session(id="s"))
    mine, theirs = table.get(KEY), table.get(KEY)
    newest = table.update(KEY, Session.Patch(state="theirs", log=append(["theirs"])), if_version=theirs.etag)
    before = backend.items()
    with pytest.raises((VersionConflictError, TransactionFailedError)) as caught:
        stale_writes(table, mine)[way]()
    error = caught.value
    (told,) = error.reasons if isinstance(error, TransactionFailedError) else [error]
    assert told.current == newest
    assert backend.items() == before


def test_p40_what_the_caller_merges_is_written(table):
    """Merging is the caller's: on what the error brings along, without another read."""
    mine = table.create(Session(id="s", log=["both"]))
    table.update(KEY, Session.Patch(log=append(["theirs"])))
    with pytest.raises(VersionConflictError) as caught:
        table.put(mine.model_copy(update={"log": [*mine.log, "mine"]}))
    current = caught.value.current
    merged = table.put(current.model_copy(update={"log": [*current.log, "mine"]}))
    assert merged.log == ["both", "theirs", "mine"]


# P41


def test_p41_writes_of_one_moment_are_no_conflict(table):
    """The clock stands still: what is compared is no time."""
    session = table.create(Session(id="s"))
    for number in range(5):
        session = table.put(session.model_copy(update={"turns": number}))
        session = table.update(KEY, Session.Patch(state=str(number)), if_version=session.etag)
    assert (session.turns, session.state) == (4, "4")


def test_p41_a_change_of_the_same_moment_is_a_conflict(table):
    session = table.create(Session(id="s"))
    other = table.update(KEY, Session.Patch(state="x"))
    assert other.updated_at == session.updated_at
    with pytest.raises(VersionConflictError):
        table.put(session)


def test_p41_a_change_that_changes_nothing_is_a_change(table):
    session = table.create(Session(id="s", state="x"))
    table.update(KEY, Session.Patch(state="x"))
    with pytest.raises(VersionConflictError):
        table.put(session)


def test_p41_a_clock_that_goes_back_is_no_conflict(table, backend):
    session = table.create(Session(id="s"))
    backend.clock.advance(hours=-1)
    assert table.put(session.model_copy(update={"state": "x"})).state == "x"


# P42


def test_p42_an_append_of_a_side_task_makes_nobody_stale(fake):
    """Messages are items of their own: appending needs no version, and changes none."""
    memory, side = fake.store().memory, another(fake).store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("question"))
    side.save_messages(turn("summary"))
    memory.save_messages(turn("answer"))
    assert memory.update_thread("t", title="Trip").title == "Trip"
    assert listed(memory) == ["question", "summary", "answer"]


def test_p42_an_append_meets_another_one_midway(fake):
    memory, side = fake.store().memory, another(fake).store().memory
    memory.save_thread(thread())
    saves = iter(["summary"])

    def between(request):
        if request.operation == "TransactWriteItems":
            for name in saves:
                side.save_messages([message(name)])

    fake.faults.on_request = between
    memory.save_messages(turn("question", "answer"))
    assert sorted(listed(memory)) == ["answer", "question", "summary"]
    assert listed(memory).index("question") + 1 == listed(memory).index("answer")


def test_p42_a_handle_learns_its_version_from_its_own_writes(table):
    session = table.create(Session(id="s"))
    for number in range(3):
        session = table.update(KEY, Session.Patch(log=append([str(number)])), if_version=session.etag)
    assert table.put(session.model_copy(update={"state": "done"})).log == ["0", "1", "2"]
    assert table.update(KEY, Session.Patch(turns=add(1))).turns == 1


# P4a


def change_blindly(table):
    def transact():
        with table.transaction() as tx:
            tx.update(KEY, Session.Patch(turns=add(1)))

    return {
        "update": lambda: table.update(KEY, Session.Patch(turns=add(1))),
        "touch": lambda: table.update(KEY, Session.Patch(turns=1), expiry="refresh"),
        "upsert": lambda: table.upsert(Session(id="s", turns=1)),
        "transaction": transact,
        "batch": lambda: table.put_many([Session(id="s", turns=1)]),
        "anew": lambda: (table.delete(KEY), table.create(Session(id="s", turns=1))),
    }


@pytest.mark.parametrize("way", ["update", "touch", "upsert", "transaction", "batch", "anew"])
def test_p4a_a_write_that_compares_no_version_still_changes_it(table, way):
    seen = table.create(Session(id="s"))
    change_blindly(table)[way]()
    stored = table.get(KEY)
    assert (stored.turns, stored.etag == seen.etag, bool(stored.etag)) == (1, False, True)
    with pytest.raises(VersionConflictError):
        table.put(seen)
    with pytest.raises(VersionConflictError):
        table.delete(KEY, if_version=seen.etag)
    assert table.put(stored).turns == 1


# P4c


@pytest.mark.parametrize("request_number", [1, 2])
def test_p4c_a_deletion_during_a_read_gives_all_or_nothing(fake, request_number):
    """By a lookup, which is two requests."""
    table, other = fake.table(Session, Page), another(fake).table(Session, Page)
    page = table.create(Page(id="p", slug="a", first="old", second="old"))
    numbers = iter(range(1, 9))

    def between(_):
        if next(numbers) == request_number:
            other.delete(Page.Key(id="p"))

    fake.faults.on_request = between
    assert table.get(Page.BySlug(slug="a")) is None
    other.put(page)
    numbers = iter(range(1, 9))
    assert table.get_many([Page.BySlug(slug="a")]) == []


def test_p4c_two_writers_of_one_key_leave_one_of_their_values(fake):
    first, second = fake.table(Page), another(fake).table(Page)
    first.create(Page(id="p", slug="a", first="0", second="0"))
    writes = iter([Page(id="p", slug="a", first="2", second="2")])

    def between(_):
        for page in writes:
            second.put(page)

    fake.faults.on_request = between
    first.put(Page(id="p", slug="a", first="1", second="1"))
    assert first.get(Page.BySlug(slug="a")) == Page(id="p", slug="a", first="1", second="1")


def test_p4c_a_deletion_during_the_read_of_a_turn(fake):
    """A turn is one request: it is read whole, or not at all."""
    memory, other = fake.store().memory, another(fake).store().memory
    memory.save_thread(thread())
    memory.save_messages(turn("question", "answer"))
    fake.faults.on_request = lambda request: other.delete_thread("t")
    context = memory.context("t")
    assert (context.thread, context.messages) == (None, [])


# P4d


def test_p4d_a_conflict_brings_the_current_item_without_another_request(table, backend):
    seen = table.create(Session(id="s"))
    newest = table.update(KEY, Session.Patch(state="newest"))
    backend.sent.clear()
    with pytest.raises(VersionConflictError) as caught:
        table.put(seen)
    assert backend.sent.operations == ["PutItem"]
    error = caught.value
    assert (error.current, error.current.etag) == (newest, newest.etag)
    assert (error.entity, error.operation, table.load(Session, error.item)) == ("session", "PutItem", newest)


def test_p4d_a_conflict_with_nothing_brings_nothing(table):
    seen = table.create(Session(id="s"))
    table.delete(KEY)
    with pytest.raises(NotFoundError) as caught:
        table.put(seen)
    assert (caught.value.current, caught.value.item) == (None, None)
