"""Lines that both checkers must accept, with the types that they must see.  Never run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import assert_type

from pydantic import BaseModel, Field

from singletable import (
    KEEP,
    AsyncDynamoDBStore,
    AsyncQuery,
    AsyncScan,
    AsyncTable,
    Change,
    Changes,
    Context,
    CreatedAt,
    DynamoDBStore,
    Entity,
    Grouped,
    Index,
    Lookup,
    Map,
    Page,
    Pk,
    PrimaryKey,
    Query,
    Scan,
    SkRange,
    Table,
    UpdatedAt,
    Version,
    add,
    append,
    between,
    default,
    discard,
    gt,
    gte,
    merge,
    prepend,
    remove,
    remove_at,
    set_at,
    starting,
    subtract,
    utc_now,
)
from singletable.conditions import at, begins_with, contains, exists, has_type, is_in, missing, negate, size
from singletable.schemas import Message, Resource, Session, Thread, Tombstone
from singletable.store import BlobHead, Collected, Commit, HeldLease
from singletable.streams import Inserted, Modified, Removed, parse
from singletable.values import JsonObject


class Line(BaseModel):
    role: str
    content: object


class User(Entity, entity="user", version=1):
    id: str
    email: str
    age: int | None = None
    visits: int = 0
    tags: set[str] = Field(default_factory=set)
    log: list[str] = Field(default_factory=list)
    metadata: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["User"]):
        id: Pk[str]

    class ByAge(Index["User"], on="gsi1"):
        email: Pk[str]
        age: SkRange[int | None] = None

    class ByEmail(Lookup["User"]):
        email: Pk[str]

    class Patch(Changes["User"]):
        age: Change[int | None] = KEEP
        visits: Change[int] = KEEP
        tags: Change[set[str]] = KEEP
        log: Change[list[str]] = KEEP
        metadata: Change[Map[JsonObject]] = KEEP


def reads(table: Table, monday: datetime) -> None:
    assert_type(table.get(Thread.Key(id="t")), Thread | None)
    assert_type(table.get(Message.ById(id="m"), consistent=False), Message | None)
    assert_type(table.get_many([Thread.Key(id="a"), Thread.Key(id="b")]), list[Thread])
    assert_type(table.get_many(Message.ById(id=i) for i in "ab"), list[Message])
    assert_type(table.get_all(Thread.Key(id="t"), Resource.Key(id="r")), tuple[Thread | None, Resource | None])
    messages = table.query(Message.InThread(thread_id="t", created_at=gte(monday)))
    assert_type(messages, Query[Message, Message])
    assert_type(messages.reverse().limit(3).consistent(False).all(), list[Message])
    assert_type(messages.first(), Message | None)
    assert_type(messages.page(10), Page[Message])
    assert_type(messages.select(Line), Query[Message, Line])
    assert_type(messages.select(Line).filter(lambda m: m.role == "user").page(3, None).items, list[Line])
    assert_type(messages.count(), int)
    table.query(Message.InThread(thread_id="t", created_at=between(monday, monday)))
    table.query(Message.InThread(thread_id="t"))
    table.query(Thread.ByResource(resource_id="r", created_at=gt(monday)))
    table.query(User.ByAge(email="a", age=gte(3)))
    assert_type(starting("x").low, str)
    both = table.query(Message.InThread(thread_id="t"), Thread.Key(id="t"))
    assert_type(both, Query[Message | Thread, Message | Thread])
    three = table.query(Message.InThread(thread_id="t"), Thread.Key(id="t"), Tombstone.Key(thread_id="t"))
    for item in three:
        assert_type(item, Message | Thread | Tombstone)


def writes(table: Table, user: User, thread: Thread) -> None:
    assert_type(table.create(thread), Thread)
    assert_type(table.put(user), User)
    key = User.Key(id="u")
    assert_type(key, User.Key)
    assert_type(User.Key.of(user), User.Key)
    assert_type(table.update(key, User.Patch(age=3), where=lambda u: (u.age == 2) & (u.visits > 1)), User)
    table.update(key, User.Patch(age=None), expiry="refresh")
    table.update(key, User.Patch(visits=add(1), tags=add({"a"}), log=append(["x"])))
    table.update(key, User.Patch(visits=subtract(1), tags=discard({"a"}), log=prepend(["x"]), age=default(3)))
    table.update(key, User.Patch(metadata=merge({"a": 1}), age=remove()))
    table.update(key, User.Patch(metadata=set_at("a", "b", 0, value=1), log=remove_at(0)))
    table.delete(key, where=lambda u: u.age == None)  # noqa: E711
    table.put_many([user, thread])
    table.delete_many([Thread.Key(id="t"), Resource.Key(id="r")])
    with table.transaction() as tx:
        tx.create(user)
        tx.put(thread)
        tx.update(Thread.Key(id="t"), Thread.Patch(title="x"))
        tx.delete(key, User.ByEmail(email="e"))
        tx.check(Thread.Key(id="t"), lambda t: t.title == "x")
        tx.check_absent(Resource.Key(id="r"))


def conditions(table: Table) -> None:
    users = table.query(User.ByAge(email="a"))
    users.filter(lambda u: begins_with(u.email, "a") & exists(u.age) | missing(u.age))
    users.filter(lambda u: is_in(u.age, [1, 2]) & contains(u.tags, "x") & has_type(u.age, "N"))
    users.filter(lambda u: (size(u.log) > 3) & (at(u.metadata, "a", 0) == 1) & negate(u.visits == 0))


def streams(record: dict[str, object]) -> None:
    event = parse(record, Message)
    if isinstance(event, Inserted):
        assert_type(event.new, Message | None)
    elif isinstance(event, Modified):
        assert_type(event.old, Message | None)
    elif isinstance(event, Removed):
        assert_type(event.expired_by_ttl, bool)


def store(store: DynamoDBStore, thread: Thread, message: Message) -> None:
    assert_type(store.memory.save_thread(thread), Thread)
    assert_type(store.memory.save_messages([message]), list[Message])
    assert_type(store.memory.save_messages([message], durability="batch"), list[Message])
    assert_type(store.memory.context("t", last=20), Context)
    assert_type(store.blobs.write("a/b", b"bytes", if_absent=True), str)
    assert_type(store.blobs.write("a/b", (bytes(1) for _ in range(3))), str)
    assert_type(store.blobs.namespace("a", ttl_seconds=60).read("b"), bytes | None)
    assert_type(store.blobs.read_range("a/b", 1, 2), bytes | None)
    assert_type(store.blobs.head("a/b"), BlobHead | None)
    assert_type(store.blobs.list("a/"), list[str])
    assert_type(store.blobs.gc(dry_run=True), Collected)
    assert_type(store.memory.list_messages("t", per_page=None), Page[Message])
    assert_type(store.memory.list_threads("r", order_by="updated_at"), Page[Thread])
    assert_type(store.memory.update_resource("r", metadata={"a": 1}), Resource)
    with DynamoDBStore.local(ttl={"message": {"enabled": False}}) as local:
        assert_type(local, DynamoDBStore)


def leases(table: Table, store: DynamoDBStore, thread: Thread) -> None:
    with store.leases.acquire("t", ttl=30, wait=1.5) as lease:
        assert_type(lease, HeldLease)
        assert_type(lease.token, int)
        assert_type(store.memory.save_thread(thread, fence=lease), Thread)
        assert_type(table.put(thread, fence=lease), Thread)


def sessions(store: DynamoDBStore) -> None:
    @store.sessions.turn_handler
    def handle(session: Session, request: list[str]) -> int:
        session.state = {"n": len(request)}
        return len(request)

    assert_type(handle(["x"], actor_id="a", session_id="s", turn_id="t"), int)
    done = store.sessions.commit(
        store.sessions.load("a", "s"), turn_id="t", merge=lambda theirs, mine: {**theirs, **mine}
    )
    assert_type(done, Commit)
    assert_type(done.session.state, JsonObject)


async def asynchronous_sessions(store: AsyncDynamoDBStore) -> None:
    @store.sessions.turn_handler
    async def handle(session: Session, request: str) -> str:
        return request

    assert_type(await handle("x", actor_id="a", session_id="s", turn_id="t"), str)
    async with store.leases.acquire("t", ttl=30) as lease:
        assert_type(lease, HeldLease)


async def asynchronous(table: AsyncTable, store: AsyncDynamoDBStore, user: User) -> None:
    assert_type(await table.get(Thread.Key(id="t")), Thread | None)
    assert_type(table.query(Message.InThread(thread_id="t")), AsyncQuery[Message, Message])
    async for message in table.query(Message.InThread(thread_id="t")):
        assert_type(message, Message)
    async with table.transaction() as tx:
        tx.create(user)
    assert_type(await store.memory.context("t"), Context)
    async for message in store.memory.iter_messages("t"):
        assert_type(message, Message)


class Doc(Entity, entity="doc", version=2, upcasters={1: lambda stored: {**stored, "state": "draft"}}):
    id: str
    state: str
    folder: str | None = None
    created_at: CreatedAt = Field(default_factory=utc_now)
    updated_at: UpdatedAt = Field(default_factory=utc_now)
    etag: Version = ""

    class Key(PrimaryKey["Doc"]):
        id: Pk[str]

    class ByState(Index["Doc"], on="gsi1"):
        state: Pk[str]
        folder: SkRange[str | None] = None

    class Patch(Changes["Doc"]):
        state: Change[str] = KEEP
        folder: Change[str | None] = KEEP


def later_writes(table: Table, store: DynamoDBStore, doc: Doc) -> None:
    key = Doc.Key(id="d")
    assert_type(doc.etag, str)
    assert_type(doc.created_at, datetime)
    assert_type(table.upsert(Doc(id="d", state="done")), Doc)
    assert_type(table.delete(key, if_version=doc.etag), Doc | None)
    assert_type(table.update(key, Doc.Patch(state="done"), refresh=True, if_version=doc.etag), Doc)
    assert_type(table.get_each([key, Doc.Key(id="e")]), list[Doc | None])
    assert_type(table.get_many([key, Thread.Key(id="t"), Message.ById(id="m")]), Sequence[Entity])
    assert_type(table.get_all(*[Doc.Key(id=name) for name in "abcd"]), tuple[Doc | None, ...])
    assert_type(table.scoped("acme"), Table)
    assert_type(store.scoped("acme"), DynamoDBStore)
    table.put_many([doc, Doc(id="e", state="new")], ordered=True)
    for done in table.reindex(Doc.ByState, per_second=10):
        assert_type(done.cursor, str | None)
    with table.transaction() as tx:
        tx.update(key, Doc.Patch(folder=None), if_version=doc.etag)
        tx.delete(key, where=lambda d: d.etag == doc.etag)


class Row(Entity, entity="row", version=1):
    id: str
    kind: str
    title: str = ""

    class Key(PrimaryKey["Row"]):
        id: Pk[str]

    class ByKind(Index["Row"], on="gsi1", projection=("title", "kind")):
        kind: Pk[str]

    class ByTitle(Index["Row"], on="gsi2", projection="keys_only"):
        title: Pk[str]


def readings(table: Table, report: list[Exception]) -> None:
    three = table.query(Message.InThread(thread_id="t"), Thread.Key(id="t"), Tombstone.Key(thread_id="t"))
    groups = three.grouped()
    assert_type(groups, Grouped)
    assert_type(groups[Message], list[Message])
    assert_type(groups[Thread], list[Thread])
    assert_type(three.count(), int)
    page = table.query(Row.ByKind(kind="x")).within(max_rcu=0.5, max_items=100).page(3)
    assert_type(page.previous, str | None)
    rows = table.query(Row.ByTitle(title="x")).on_corrupt(report.append).consistent(False)
    assert_type(rows, Query[Row, Row])
    assert_type(table.scan(Row, allow_scan=True), Scan[Row, Row])
    assert_type(table.scan(Row, Thread, allow_scan=True, segments=4).all(), list[Row | Thread])
    assert_type(table.scan(Row, Thread, Message, allow_scan=True).page(3), Page[Row | Thread | Message])
    scan = table.scan(Row, allow_scan=True).filter(lambda row: row.kind == "x").limit(3).within(max_items=9)
    assert_type(scan.on_corrupt(report.append), Scan[Row, Row])
    for line in table.scan(Message, allow_scan=True).select(Line):
        assert_type(line, Line)


async def asynchronous_readings(table: AsyncTable) -> None:
    assert_type(table.scan(Row, allow_scan=True), AsyncScan[Row, Row])
    async for row in table.scan(Row, allow_scan=True).within(max_rcu=10):
        assert_type(row, Row)
    groups = await table.query(Message.InThread(thread_id="t"), Thread.Key(id="t")).grouped()
    assert_type(groups[Thread], list[Thread])
