"""Mistakes in declarations are found at import, by class and field."""

from __future__ import annotations

import json
import sys
import types
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from singletable import (
    KEEP,
    Change,
    Changes,
    CreatedAt,
    DeclarationError,
    Entity,
    Index,
    Lookup,
    Pk,
    PrimaryKey,
    Sk,
    SkRange,
    Table,
    UpdatedAt,
    Version,
)
from singletable.items import to_item
from singletable.schemas import (
    Blob,
    BlobEntry,
    BlobFolder,
    BlobPiece,
    BlobUpload,
    Evaluation,
    Event,
    Lease,
    Message,
    Resource,
    Score,
    Session,
    Span,
    Thread,
    ThreadState,
    Tombstone,
    WorkflowSnapshot,
)
from singletable.testing import MemoryTransport

GOLDEN = Path(__file__).parents[1] / "golden" / "keys.json"
NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEAD = "from __future__ import annotations\n"
GOOD = """
class Thing(Entity, entity="thing"):
    id: str
    size: int
    name: str | None = None
    class Key(PrimaryKey["Thing"]):
        id: Pk[str]
"""


def declare(body: str) -> dict[str, Any]:
    """Run declarations as a module of their own does."""
    module = types.ModuleType("declared")
    scope = module.__dict__
    names = (Entity, PrimaryKey, Index, Lookup, Changes, Pk, Sk, SkRange, Change, datetime, Field)
    scope.update({getattr(name, "__name__", ""): name for name in names})
    scope.update({"Pk": Pk, "Sk": Sk, "SkRange": SkRange, "Change": Change, "KEEP": KEEP, "Literal": Literal})
    scope.update({"CreatedAt": CreatedAt, "UpdatedAt": UpdatedAt, "Version": Version, "NOON": NOON})
    sys.modules["declared"] = module
    try:
        exec(HEAD + body, scope)
    finally:
        del sys.modules["declared"]
    return scope


def inside(addition: str) -> str:
    return GOOD + "".join(f"    {line}\n" for line in addition.splitlines())


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('class Thing(Entity, entity="thing"):\n    id: str\n', r"Thing needs exactly one class Key"),
        (GOOD.replace('"thing"', '"Thing"'), r"entity 'Thing' must be lower case"),
        (GOOD.replace('entity="thing"', 'entity="thing", version=0'), r"version and ttl_seconds must be 1 or more"),
        (GOOD.replace('entity="thing"', 'entity="thing", ttl_seconds=0'), r"version and ttl_seconds must be 1 or more"),
        (GOOD.replace("id: Pk[str]", "idd: Pk[str]"), r"Thing\.Key\.idd: Thing has no such field"),
        (GOOD.replace("id: Pk[str]", "id: Pk[int]"), r"Thing\.Key\.id and Thing\.id have different types"),
        (GOOD.replace("id: Pk[str]", "id: str"), r"Thing\.Key\.id must be Pk\[...\], Sk\[...\] or SkRange"),
        (GOOD.replace("id: Pk[str]", "id: Sk[str]"), r"Thing\.Key needs a Pk part"),
        (
            GOOD.replace("id: str", 'id: Literal["all"]').replace("id: Pk[str]", 'id: Pk[Literal["all"]]'),
            r"Thing\.Key: all its items would be in one partition",
        ),
        (GOOD.replace("id: Pk[str]", "name: Pk[str]"), r"Thing\.Key\.name may be None"),
        (
            GOOD.replace('PrimaryKey["Thing"]', 'PrimaryKey["Other"]'),
            r'Thing\.Key must derive from PrimaryKey\["Thing"\]',
        ),
        (
            GOOD.replace("size: int", "size: float").replace("id: Pk[str]", "size: Pk[float]"),
            r"size: a key part must be",
        ),
        (GOOD.replace("size: int", "pk: int"), r"Thing\.pk: pk is an attribute of the table's own"),
        (GOOD.replace("size: int", "a_b: int\n    aB: int"), r"Thing\.aB and a_b are both stored as aB"),
        (GOOD.replace("size: int", 'size: int = Field(alias="s")'), r"Thing\.size: fields of an entity have no alias"),
        (GOOD.replace('PrimaryKey["Thing"]', 'PrimaryKey["Thing"], on="gsi1"'), r"Thing\.Key: on=\"gsi1\""),
        (
            GOOD.replace('PrimaryKey["Thing"]', 'PrimaryKey["Thing"], collection="A-b"'),
            r"collection 'A-b' must be lower case",
        ),
        (
            inside('class By(Index["Thing"], on="index1"):\n    id: Pk[str]'),
            r"Thing\.By: on=\"index1\" must be an index like gsi1",
        ),
        (
            inside('class By(Index["Thing"]):\n    size: Pk[int]'),
            r"Thing\.By and another class disagree on the key of the table",
        ),
        (
            inside(
                'class A(Index["Thing"], on="gsi1"):\n    id: Pk[str]\n'
                'class B(Index["Thing"], on="gsi1"):\n    size: Pk[int]'
            ),
            r"Thing\.B and another class disagree on the key of the gsi1",
        ),
        (inside('class By(Lookup["Thing"]):\n    name: Pk[str]'), r"Thing\.By\.name may be None"),
        (
            inside('class By(Index["Thing"], on="gsi1"):\n    id: Pk[Missing]'),
            r"Thing\.By: name 'Missing' is not defined",
        ),
        (inside('class P(Changes["Thing"]):\n    id: Change[str] = KEEP'), r"Thing\.P\.id is part of the key"),
        (
            inside('class P(Changes["Thing"]):\n    size: Change[str] = KEEP'),
            r"Thing\.P\.size and Thing\.size have different types",
        ),
        (inside('class P(Changes["Thing"]):\n    size: Change[int]'), r"Thing\.P\.size must have the default KEEP"),
        (
            inside('class P(Changes["Thing"]):\n    sise: Change[int] = KEEP'),
            r"Thing\.P\.sise: Thing has no such field",
        ),
        (
            inside(
                'class L(Lookup["Thing"]):\n    size: Pk[int]\nclass P(Changes["Thing"]):\n    size: Change[int] = KEEP'
            ),
            r"Thing\.P\.size is part of the key or of a lookup",
        ),
        (
            GOOD.replace("size: int", "of: int").replace("id: Pk[str]", "id: Pk[str]\n        of: Sk[int]"),
            r"Thing\.Key\.of is a name of the library's own",
        ),
        (
            GOOD.replace("size: int", "declared_on: int").replace("id: Pk[str]", "declared_on: Pk[int]"),
            r"Thing\.Key\.declared_on is a name of the library's own",
        ),
        (GOOD.replace("size: int", "made: CreatedAt"), r"Thing\.made is filled in by the library: give it a default"),
        (GOOD.replace("size: int", 'v: Version = "x"'), r'Thing\.v is filled in by the library: give it "" as its'),
        (
            GOOD.replace("size: int", 'v: Version = ""\n    w: Version = ""'),
            r"Thing\.v and w are both the version",
        ),
        (
            inside('v: Version = ""\nclass By(Index["Thing"], on="gsi1"):\n    v: Pk[str]'),
            r"Thing\.v changes with every write: it is no part of gsi1",
        ),
        (
            inside('at: UpdatedAt = NOON\nclass By(Lookup["Thing"]):\n    at: Pk[datetime]'),
            r"Thing\.at changes with every write: it is no part of By",
        ),
        (
            inside('at: CreatedAt = NOON\nclass P(Changes["Thing"]):\n    at: Change[datetime] = KEEP'),
            r"Thing\.P\.at is filled in by the library, so it cannot be patched",
        ),
        ('class Thing(Entity, entty="x"):\n    id: str\n', r"Thing: there is no class keyword entty"),
    ],
)
def test_a_mistake_is_named(body, problem):
    with pytest.raises(DeclarationError, match=problem):
        declare(body)


def test_what_is_right_is_accepted():
    spec = declare(
        inside('class By(Index["Thing"], on="gsi1"):\n    name: Pk[str | None]\n    size: SkRange[int] = None')
    )["Thing"].spec
    assert str(spec.table.pk) == "thing#{id}"
    assert str(spec.indexes["gsi1"].sk) == "thing#{size}"
    assert not spec.indexes["gsi1"].always


def test_a_class_without_a_name_is_an_abstract_base():
    scope = declare("class Base(Entity):\n    id: str\n" + GOOD.replace("(Entity,", "(Base,"))
    assert not hasattr(scope["Base"], "spec")
    assert set(scope["Thing"].spec.fields) == {"id", "size", "name"}


OTHER = """
class Other(Entity, entity="other"):
    id: str
    size: int
    class Key(PrimaryKey["Other"]{collection}):
        id: Pk[str]
"""


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        (GOOD, OTHER.format(collection="").replace('"other"', '"thing"'), "two entities are called thing"),
        (GOOD, OTHER.format(collection=', collection="thing"'), "thing and other share the partitions thing#"),
        (
            GOOD.replace('"Thing"]', '"Thing"], collection="c"'),
            OTHER.format(collection=', collection="c"').replace("id: Pk[str]", "size: Pk[int]"),
            "partition keys have different parts",
        ),
        (
            inside('class BBy(Lookup["Thing"]):\n    id: Pk[str]').replace('"thing"', '"a"'),
            OTHER.format(collection="").replace('"other"', '"a_b_by"'),
            "share the partitions a_b_by#",
        ),
        (
            inside('class BBy(Lookup["Thing"]):\n    id: Pk[str]').replace('"thing"', '"a"'),
            (OTHER.format(collection="") + '    class By(Lookup["Other"]):\n        id: Pk[str]\n').replace(
                '"other"', '"a_b"'
            ),
            "share the partitions a_b_by#",
        ),
    ],
)
def test_entities_that_would_misread_each_other_are_refused(first, second, problem):
    models = [declare(first)["Thing"], declare(second)["Other"]]
    with pytest.raises(DeclarationError, match=problem):
        Table("t", MemoryTransport(), entities=models)


def test_a_field_stored_as_the_ttl_attribute_is_refused():
    thing = declare(GOOD)["Thing"]
    ttl = {"thing": {"default_ttl_seconds": 1, "attribute_name": "size"}}
    with pytest.raises(DeclarationError, match=r"Thing\.size is stored as size, the TTL attribute"):
        Table("t", MemoryTransport(), entities=[thing], ttl=ttl)


def examples() -> list[Entity]:
    order = "01796089440213413-0000-2fe24d"
    return [
        Thread(id="t#1", resource_id="Ada Å", title="x", created_at=NOON, updated_at=NOON),
        Message(id="m%1", thread_id="t#1", role="user", content="x", created_at=NOON, order=order),
        Resource(id="Ada Å", created_at=NOON, updated_at=NOON),
        Tombstone(thread_id="t#1", deleted_at=NOON),
        ThreadState(thread_id="t#1", type="plan", value=1),
        WorkflowSnapshot(workflow_name="book", run_id="r#1", resource_id="Ada Å", snapshot={}, created_at=NOON),
        Score(
            **{"id": "s#1", "scorer_id": "tone", "run_id": "r#1", "scorer": {}, "score": 1, "output": "", "source": ""},
            **{"entity_type": "AGENT", "entity_id": "guide", "trace_id": "tr", "span_id": "sp"},
            **{"resource_id": "Ada Å", "created_at": NOON},
        ),
        Evaluation(
            **{"id": "e#1", "agent_name": "guide", "metric_name": "toxicity", "input": "", "output": ""},
            **{"result": {"score": 1}, "run_id": "r#1", "resource_id": "Ada Å", "created_at": NOON},
        ),
        Span(
            **{"trace_id": "tr#1", "span_id": "sp#1", "name": "", "span_type": "", "started_at": NOON},
            **{"resource_id": "Ada Å", "listing": "root_anchor", "shard": "0", "arrival": order},
        ),
        Blob(path="users/Ada Å/a#b.txt", etag="5f0c", size=0, digest="", content=b""),
        BlobEntry(folder="/users/Ada Å", path="users/Ada Å/a#b.txt"),
        BlobFolder(folder="/users/Ada Å"),
        BlobPiece(payload="9f2c", number=12, content=b""),
        BlobUpload(shelf="07", started_at=NOON, payload="9f2c", path="users/Ada Å/a#b.txt"),
        Lease(name="session/Ada Å/1", token=1, ttl_seconds=30, ends_at=NOON),
        Session(actor_id="Ada Å", session_id="s#1"),
        Event(actor_id="Ada Å", session_id="s#1", order=order, data=None),
    ]


def test_the_keys_of_the_shipped_entities_are_frozen():
    frozen = json.loads(GOLDEN.read_text("utf-8"))
    keys = {
        entity.spec.name: {name: value["S"] for name, value in to_item(entity).items() if name.endswith(("pk", "sk"))}
        for entity in examples()
    }
    assert keys == frozen["keys"]


def test_parts_may_have_any_name():
    class Score(Entity, entity="score", version=1):
        id: str
        model: str
        on: str
        collection: str
        projection: str
        names: str
        given: str

        class Key(PrimaryKey["Score"]):
            id: Pk[str]

        class ByModel(Index["Score"], on="gsi1"):
            model: Pk[str]
            on: SkRange[str] = None
            collection: SkRange[str] = None
            projection: SkRange[str] = None
            names: SkRange[str] = None
            given: SkRange[str] = None

    table = Table("t", MemoryTransport(), entities=[Score])
    score = table.create(Score(id="1", model="m", on="o", collection="c", projection="p", names="n", given="g"))
    assert table.query(Score.ByModel.of(score)).all() == [score]
