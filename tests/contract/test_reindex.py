"""A new index, filled with the items that were stored before it."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from singletable import (
    KEEP,
    Change,
    Changes,
    CorruptItemError,
    Entity,
    Index,
    InvalidCursorError,
    Pk,
    PrimaryKey,
    Request,
    RequestError,
    SkRange,
    Table,
)
from singletable.cli.app import app
from singletable.testing import MemoryTransport
from tests.contract.entities import Box


class Before(Entity, entity="job", version=1):
    id: str
    state: str
    size: int | None = None

    class Key(PrimaryKey["Before"]):
        id: Pk[str]


class Job(Entity, entity="job", version=2, upcasters={1: lambda stored: {**stored, "queue": "old"}}):
    id: str
    state: str
    queue: str
    size: int | None = None

    class Key(PrimaryKey["Job"]):
        id: Pk[str]

    class ByQueue(Index["Job"], on="gsi1"):
        queue: Pk[str]
        state: SkRange[str] = None

    class BySize(Index["Job"], on="gsi2"):
        state: Pk[str]
        size: SkRange[int | None] = None

    class Patch(Changes["Job"]):
        state: Change[str] = KEEP


class Elsewhere(Entity, entity="job", version=2):
    """The same, when its index had another key."""

    id: str
    state: str
    queue: str
    size: int | None = None

    class Key(PrimaryKey["Elsewhere"]):
        id: Pk[str]

    class ById(Index["Elsewhere"], on="gsi2"):
        id: Pk[str]
        queue: SkRange[str] = None


def test_every_item_gets_its_key(any_backend):
    before = any_backend.table(Before, Box)
    before.put_many([Before(id=f"{number}", state="new", size=number or None) for number in range(30)])
    before.put(Box(id="b"))
    before.scoped("a").put(Before(id="1", state="new", size=1))
    table = any_backend.table(Job)
    assert table.query(Job.BySize(state="new")).all() == []
    *_, done = table.reindex(Job.BySize)
    assert (done.read, done.written, done.cursor) == (31, 31, None)
    assert [job.size for job in table.query(Job.BySize(state="new"))] == list(range(1, 30))
    assert [job.size for job in table.scoped("a").query(Job.BySize(state="new"))] == [1]
    assert table.query(Job.ByQueue(queue="old")).count() == 30


def test_what_has_its_key_is_left_alone(any_backend):
    table = any_backend.table(Job)
    table.put_many([Job(id=f"{number}", state="new", queue="q", size=number) for number in range(3)])
    before = any_backend.items()
    assert [done.written for done in table.reindex(Job.BySize)] == [0]
    assert any_backend.items() == before


def test_a_stale_key_is_put_right_and_one_too_many_removed(any_backend):
    jobs = [Job(id="a", state="new", queue="q", size=1), Job(id="b", state="new", queue="q")]
    any_backend.table(Elsewhere).put_many([Elsewhere(**job.model_dump()) for job in jobs])
    table = any_backend.table(Job)
    assert sum(done.written for done in table.reindex(Job.BySize)) == 2
    assert sum(done.written for done in table.reindex(Job.ByQueue)) == 2
    keys = [{name: item.get(name) for name in ("gsi2pk", "gsi2sk")} for item in any_backend.items()]
    size = f"job#0{1:038}"
    assert keys == [{"gsi2pk": {"S": "job#new"}, "gsi2sk": {"S": size}}, {"gsi2pk": None, "gsi2sk": None}]


def test_a_scope_sees_to_its_own_items(any_backend):
    before = any_backend.table(Before)
    before.put(Before(id="1", state="new", size=1))
    before.scoped("a").put(Before(id="1", state="new", size=1))
    table = any_backend.table(Job)
    *_, done = table.scoped("a").reindex(Job.BySize)
    assert (done.read, done.written) == (1, 1)
    assert table.query(Job.BySize(state="new")).all() == []


@pytest.fixture
def filled(fake):
    """A table of more than two pages, on the fake."""
    before = fake.table(Before)
    before.put_many([Before(id=f"{number:03}", state="x" * 300_000, size=number) for number in range(9)])
    return fake.table(Job)


class Jobs(Entity, entity="job", version=1):
    id: str
    state: str
    size: int | None = None

    class Key(PrimaryKey["Jobs"]):
        id: Pk[str]

    class BySize(Index["Jobs"], on="gsi2"):
        id: Pk[str]
        size: SkRange[int | None] = None


def test_it_goes_on_where_it_stopped(filled, fake):
    table = fake.table(Jobs)
    first = next(iter(table.reindex(Jobs.BySize)))
    assert 0 < first.written < 9
    *_, last = table.reindex(Jobs.BySize, cursor=first.cursor)
    assert first.written + last.written == 9
    assert last.cursor is None
    for cursor in ("x", first.cursor[:-4]):
        with pytest.raises(InvalidCursorError, match="damaged"):
            next(iter(table.reindex(Jobs.BySize, cursor=cursor)))
    with pytest.raises(InvalidCursorError, match="another entity or index"):
        next(iter(filled.reindex(Job.ByQueue, cursor=first.cursor)))


def test_it_keeps_to_a_rate(fake):
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    fake.table(Before).put_many([Before(id=f"{number}", state="new", size=number) for number in range(20)])
    table = fake.table(Jobs, sleep=slept.append if fake.loop is None else sleep)
    assert [done.written for done in table.reindex(Jobs.BySize, per_second=10)] == [20]
    assert sum(slept) == pytest.approx(2)


def test_a_change_meanwhile_is_not_overwritten(fake):
    fake.table(Before).put(Before(id="a", state="new", size=1))
    other = Table(fake.table_name, MemoryTransport(fake.database), entities=[Before], clock=fake.clock)
    changes = iter([Before(id="a", state="done", size=2)])

    def between(request: Request) -> None:
        change = next(changes, None) if request.operation == "UpdateItem" else None
        if change:
            other.put(change)

    fake.faults.on_request = between
    table = fake.table(Jobs)
    assert [done.written for done in table.reindex(Jobs.BySize)] == [1]
    assert [job.state for job in table.query(Jobs.BySize(id="a", size=2))] == ["done"]


def test_a_bad_item_stops_it_or_is_set_aside(fake):
    class Loose(Entity, entity="job", version=1):
        id: str
        state: int

        class Key(PrimaryKey["Loose"]):
            id: Pk[str]

    fake.table(Loose).put(Loose(id="bad", state=1))
    fake.table(Before).put(Before(id="good", state="new", size=1))
    table = fake.table(Jobs)
    with pytest.raises(CorruptItemError):
        list(table.reindex(Jobs.BySize))
    aside: list[CorruptItemError] = []
    assert [done.written for done in table.reindex(Jobs.BySize, on_corrupt=aside.append)] == [1]
    assert [error.key for error in aside] == [{"pk": {"S": "job#bad"}, "sk": {"S": "job#"}}]


def test_the_table_itself_needs_none(fake):
    class Listed(Entity, entity="listed", version=1):
        id: str
        name: str

        class Key(PrimaryKey["Listed"]):
            id: Pk[str]

        class Names(Index["Listed"]):
            id: Pk[str]

    with pytest.raises(RequestError, match="on the table itself"):
        next(iter(fake.table(Listed).reindex(Listed.Names)))


# The command


@pytest.fixture
def moto_table(moto, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    return moto.backend(is_async=False)


def invoke(backend, *more: str):
    where = ["--table", backend.table_name, "--endpoint-url", backend.url, "--region", "us-east-1"]
    return CliRunner().invoke(app, ["reindex", *more, *where])


def test_the_command_fills_an_index(moto_table):
    moto_table.table(Before).put_many([Before(id=f"{number}", state="new", size=number) for number in range(12)])
    result = invoke(moto_table, "tests.contract.test_reindex:Jobs.BySize", "--per-second", "1000")
    assert result.exit_code == 0
    assert result.stdout == "Jobs.BySize: 12 items read, 12 given a new key.\n"
    assert moto_table.table(Jobs).query(Jobs.BySize(id="7")).count() == 1


@pytest.mark.parametrize(
    ("index", "problem"),
    [
        ("nothing", "names no index"),
        ("nothing.at.all:Job.BySize", "cannot be found"),
        ("tests.contract.test_reindex:Job.Nothing", "cannot be found"),
        ("tests.contract.test_reindex:Job.Key", "is no Index of an entity"),
    ],
)
def test_the_command_says_what_it_wants(moto_table, index, problem):
    result = invoke(moto_table, index)
    assert result.exit_code == 1
    assert problem in str(result.exception)
    assert "app.models:Note.ByOwner" in str(result.exception)


def test_the_command_says_how_to_go_on(moto_table):
    result = invoke(moto_table, "tests.contract.test_reindex:Jobs.BySize", "--cursor", "x")
    assert "damaged" in str(result.exception)
    assert "go on with --cursor x" in result.stderr
