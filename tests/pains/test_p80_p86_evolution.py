"""P80, P81, P83, P84, P86: old code and new code, old items and new items, and items of others, in one table."""

from __future__ import annotations

from typing import Literal

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    CorruptItemError,
    DeclarationError,
    Entity,
    IncompleteIndexWarning,
    Index,
    JsonObject,
    Map,
    Pk,
    PrimaryKey,
    Request,
    Sk,
    SkRange,
    merge,
)
from tests.contract.support import FakeBackend


class First(Entity, entity="job", version=1):
    queue: str
    id: str
    title: str = ""
    state: Literal["open", "done"] | str = "open"
    """A text on purpose, whose known values the checkers still complete: a later version may have others."""
    meta: JsonObject = Field(default_factory=dict)
    size: int = 0

    class Key(PrimaryKey["First"], collection="work"):
        queue: Pk[str]
        id: Sk[str]

    class In(Index["First"], collection="work"):
        queue: Pk[str]
        id: SkRange[str] = None

    class Patch(Changes["First"]):
        title: Change[str] = KEEP


def sized(stored):
    """Version 2 keeps the size as a text with its unit, and wants a region."""
    return {**stored, "size": f"{stored['size']} KB", "region": "eu"}


class Second(Entity, entity="job", version=2, upcasters={1: sized}):
    queue: str
    id: str
    title: str = ""
    state: Literal["open", "done", "paused"] | str = "open"
    meta: Map[JsonObject] = Field(default_factory=dict)
    size: str
    region: str
    priority: int = 5

    class Key(PrimaryKey["Second"], collection="work"):
        queue: Pk[str]
        id: Sk[str]

    class In(Index["Second"], collection="work"):
        queue: Pk[str]
        id: SkRange[str] = None

    class ByRegion(Index["Second"], on="gsi1"):
        region: Pk[str]
        priority: SkRange[int] = None

    class Patch(Changes["Second"]):
        title: Change[str] = KEEP
        meta: Change[Map[JsonObject]] = KEEP


class Careless(Entity, entity="job", version=2):
    """The same change without an upcaster or a default."""

    queue: str
    id: str
    region: str

    class Key(PrimaryKey["Careless"], collection="work"):
        queue: Pk[str]
        id: Sk[str]

    class In(Index["Careless"], collection="work"):
        queue: Pk[str]
        id: SkRange[str] = None


class Worker(Entity, entity="worker", version=1):
    queue: str
    type: str = "human"
    entity: str = "x"
    version: int = 3

    class Key(PrimaryKey["Worker"], collection="work"):
        queue: Pk[str]


def first(name="a", **fields):
    return First(queue="q", id=name, **fields)


def second(name="a", **fields):
    return Second(**{"queue": "q", "id": name, "size": "1 KB", "region": "us", **fields})


def key(model, name="a"):
    return model.Key(queue="q", id=name)


@pytest.fixture
def old(fake):
    return fake.table(First)


@pytest.fixture
def new(fake):
    return fake.table(Second)


# P80


def test_p80_old_items_are_read_listed_and_changed_by_the_version_that_wants_more(old, new):
    old.put_many([first(name, title=name, size=7) for name in "abc"])
    new.put(second("d", title="d"))
    assert (new.get(key(Second)).region, new.get(key(Second)).priority) == ("eu", 5)
    found = new.query(Second.In(queue="q")).all()
    assert [(one.id, one.size, one.region) for one in found] == [
        ("a", "7 KB", "eu"),
        ("b", "7 KB", "eu"),
        ("c", "7 KB", "eu"),
        ("d", "1 KB", "us"),
    ]
    assert new.update(key(Second, "b"), Second.Patch(title="new")).region == "eu"
    assert new.put(found[0]) == found[0]


def test_p80_without_an_upcaster_an_old_item_is_an_error_that_holds_it(old, fake):
    """Never an item with something made up, and never one that is left out in silence."""
    old.put(first(title="kept"))
    careless = fake.table(Careless)
    for read in (
        lambda: careless.get(key(Careless)),
        lambda: careless.get_many([key(Careless)]),
        lambda: careless.query(Careless.In(queue="q")).all(),
        lambda: careless.query(Careless.In(queue="q")).page(1),
    ):
        with pytest.raises(CorruptItemError, match="a stored job does not fit: region: missing") as caught:
            read()
        error = caught.value
        assert (error.entity, error.item) == ("job", fake.items()[0])
        assert error.key == {name: error.item[name] for name in ("pk", "sk")}
        assert old.load(First, error.item).title == "kept"


# P81


@pytest.mark.parametrize("write", ["put", "update"])
def test_p81_what_only_the_new_version_knows_survives_the_old_one(old, new, fake, write):
    new.put(second(title="new", priority=9, state="paused", meta={"x": 1}))
    before = fake.items()[0]
    seen = old_reader(fake).get(OldReader.Key(queue="q", id="a"))
    if write == "put":
        old_reader(fake).put(seen.model_copy(update={"title": "old"}))
    else:
        old_reader(fake).update(OldReader.Key(queue="q", id="a"), OldReader.Patch(title="old"))
    after = fake.items()[0]
    assert {**after, "_write": None} == {**before, "title": {"S": "old"}, "_write": None}
    assert new.get(key(Second)) == second(title="old", priority=9, state="paused", meta={"x": 1})
    assert [one.id for one in new.query(Second.ByRegion(region="us"))] == ["a"]


class OldReader(Entity, entity="job", version=1):
    """The fields that both versions store alike."""

    queue: str
    id: str
    title: str = ""
    state: Literal["open", "done"] | str = "open"

    class Key(PrimaryKey["OldReader"], collection="work"):
        queue: Pk[str]
        id: Sk[str]

    class Patch(Changes["OldReader"]):
        title: Change[str] = KEEP


def old_reader(fake):
    return fake.table(OldReader)


def test_p81_a_value_that_only_the_new_version_knows_is_kept_as_it_is(new, fake):
    new.put(second(state="paused"))
    table = old_reader(fake)
    found = table.get(OldReader.Key(queue="q", id="a"))
    assert found.state == "paused"
    table.put(found)
    assert new.get(key(Second)).state == "paused"


# P83


def test_p83_json_text_becomes_a_map_item_by_item(old, new, fake):
    old.put_many([first("a", meta={"n": 1, "deep": [None]}), first("b", meta={"n": 2})])
    assert [one.meta for one in new.query(Second.In(queue="q"))] == [{"n": 1, "deep": [None]}, {"n": 2}]
    assert "S" in fake.items()[0]["meta"]
    new.put(new.get(key(Second)))
    kinds = [list(item["meta"]) for item in fake.items()]
    assert kinds == [["M"], ["S"]]
    assert [one.meta for one in new.query(Second.In(queue="q"))] == [{"n": 1, "deep": [None]}, {"n": 2}]
    assert new.update(key(Second), Second.Patch(meta=merge({"x": 3}))).meta == {"n": 1, "deep": [None], "x": 3}


def test_p83_a_number_that_became_a_text_is_cast_up_and_never_mistaken(old, new, fake):
    old.put(first(size=7))
    assert new.get(key(Second)).size == "7 KB"
    new.put(second(size="12 MB"))
    with pytest.raises(CorruptItemError, match="size: int_parsing") as caught:
        old.get(key(First))
    assert caught.value.item["size"] == {"S": "12 MB"}


# P84


def put_raw(backend, **item):
    backend.sent.inner.send(Request("PutItem", {"TableName": backend.table_name, "Item": item}))


@pytest.fixture
def shared():
    """A table in which others had items before: a counter in the partition, and two among the jobs."""
    backend = FakeBackend()
    table = backend.table(First, Worker)
    table.put_many([first("a"), first("c"), Worker(queue="q")])
    put_raw(backend, pk={"S": "work#q"}, sk={"S": "counter"}, n={"N": "3"})
    put_raw(backend, pk={"S": "work#q"}, sk={"S": "job#b"}, type={"S": "job"}, queue={"S": "q"}, id={"S": "b"})
    put_raw(backend, pk={"S": "work#q"}, sk={"S": "job#bb"}, _entity={"S": "jobs"}, _version={"N": "1"})
    return table


def test_p84_a_collection_leaves_foreign_items_out(shared):
    found = shared.query(First.In(queue="q"), Worker.Key(queue="q"))
    assert [type(one).__name__ for one in found] == ["First", "First", "Worker"]
    assert [one.id for one in found if isinstance(one, First)] == ["a", "c"]


@pytest.mark.parametrize("name", ["b", "bb"])
def test_p84_a_foreign_item_is_never_read_as_ours(shared, name):
    with pytest.raises(CorruptItemError, match=r"has no _version|says that it is jobs"):
        shared.get(First.Key(queue="q", id=name))
    with pytest.raises(CorruptItemError):
        shared.query(First.In(queue="q", id=name)).all()


def test_p84_fields_may_have_the_names_of_marks(shared):
    worker = Worker(queue="q", type="job", entity="job", version=7)
    shared.put(worker)
    assert shared.get(Worker.Key(queue="q")) == worker
    assert shared.query(First.In(queue="q"), Worker.Key(queue="q")).all()[-1] == worker


@pytest.mark.parametrize("name", ["pk", "sk", "target_pk", "target_sk"])
def test_p84_a_field_that_would_overwrite_a_mark_is_refused(name):
    with pytest.raises(DeclarationError, match="is an attribute of the table's own"):
        type("Wrong", (Entity,), {"__module__": __name__, "__annotations__": {name: str}}, entity="wrong")


# P86


def test_p86_a_new_index_is_filled_with_old_items(old, new, fake):
    old.put_many([first(f"{number:03}", size=number) for number in range(120)])
    new.put(second("new"))
    assert new.query(Second.ByRegion(region="eu")).all() == []
    *_, last = new.reindex(Second.ByRegion)
    assert (last.read, last.written, last.cursor) == (121, 120, None)
    assert new.query(Second.ByRegion(region="eu")).count() == 120
    assert [one.id for one in new.query(Second.ByRegion(region="us"))] == ["new"]
    *_, again = new.reindex(Second.ByRegion)
    assert again.written == 0


def test_p86_until_the_new_index_is_filled_a_query_warns(fake):
    class Third(Second, entity="third"):
        class Key(PrimaryKey["Third"]):
            queue: Pk[str]
            id: Sk[str]

        class ByRegion(Index["Third"], on="gsi1", filling=True):
            region: Pk[str]

    table = fake.table(Third)
    with pytest.warns(
        IncompleteIndexWarning, match=r"lacks items that were written before it: run table\.reindex"
    ) as seen:
        assert table.query(Third.ByRegion(region="eu")).all() == []
    assert len(seen) == 1
    table.query(Third.Key(queue="q", id="1")).all()


def test_p86_the_table_itself_has_every_item():
    with pytest.raises(DeclarationError, match="only an index has a projection or is being filled"):

        class Whole(Second, entity="whole"):
            class Key(PrimaryKey["Whole"]):
                queue: Pk[str]
                id: Sk[str]

            class In(Index["Whole"], filling=True):
                queue: Pk[str]
                id: SkRange[str] = None


def test_p86_a_filling_goes_on_where_it_stopped_and_takes_its_time():
    pauses: list[float] = []
    backend = FakeBackend()
    table = backend.table(Second, sleep=pauses.append)
    backend.table(First).put_many([first(f"{number:02}", title="x" * 90_000) for number in range(40)])
    begun = next(iter(table.reindex(Second.ByRegion)))
    assert 0 < begun.written < 40
    assert table.query(Second.ByRegion(region="eu")).count() == begun.written
    assert pauses == []
    *_, last = table.reindex(Second.ByRegion, cursor=begun.cursor, per_second=20)
    assert last.written == 40 - begun.written
    assert table.query(Second.ByRegion(region="eu")).count() == 40
    assert sum(pauses) == pytest.approx(last.written / 20)


def test_p86_a_change_during_the_filling_is_kept(old, new, fake):
    old.put_many([first("a"), first("b")])
    writer = FakeBackend(database=fake.database)
    writer.clock = fake.clock
    changes = iter([second("a", region="us", title="meanwhile")])

    def between(request):
        if request.operation in ("PutItem", "UpdateItem"):
            for change in changes:
                writer.table(Second).put(change)

    fake.faults.on_request = between
    list(new.reindex(Second.ByRegion))
    assert new.get(key(Second)).title == "meanwhile"
    assert [[one.id for one in new.query(Second.ByRegion(region=region))] for region in ("us", "eu")] == [["a"], ["b"]]
