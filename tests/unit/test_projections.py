"""Projections of indexes: how they are declared, and which index they make together."""

from __future__ import annotations

import pytest

from singletable import DeclarationError, Entity, Index, Pk, PrimaryKey, SkRange, Version
from singletable.declare import TABLE
from singletable.provision import create_table_params
from tests.unit.test_compile import GOOD, declare, inside


class Bare(Entity, entity="bare", version=1):
    id: str

    class Key(PrimaryKey["Bare"]):
        id: Pk[str]


class Plain(Entity, entity="plain", version=1):
    id: str
    kind: str

    class Key(PrimaryKey["Plain"]):
        id: Pk[str]

    class ByKind(Index["Plain"], on="gsi1"):
        kind: Pk[str]


class Keys(Entity, entity="keys", version=1):
    id: str
    kind: str

    class Key(PrimaryKey["Keys"]):
        id: Pk[str]

    class ByKind(Index["Keys"], on="gsi1", projection="keys_only"):
        kind: Pk[str]

    class ById(Index["Keys"], on="gsi2", projection="keys_only"):
        id: Pk[str]


class Some(Entity, entity="some", version=1):
    id: str
    kind: str
    short_title: str = ""
    revision: Version = ""

    class Key(PrimaryKey["Some"]):
        id: Pk[str]

    class ByKind(Index["Some"], on="gsi1", projection=("short_title", "kind", "short_title")):
        kind: Pk[str]

    class ByKindAndId(Index["Some"], on="gsi1", projection=("kind", "short_title")):
        kind: Pk[str]
        id: SkRange[str] = None


class Other(Entity, entity="other", version=1):
    id: str
    kind: str
    revision: Version = ""

    class Key(PrimaryKey["Other"]):
        id: Pk[str]

    class ByKind(Index["Other"], on="gsi1", projection=("revision",)):
        kind: Pk[str]


def projection(*entities, **settings):
    params = create_table_params("t", [entity.spec for entity in entities], **settings)
    return params["GlobalSecondaryIndexes"][0]["Projection"]


def included(*names):
    return {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(names)}


@pytest.mark.parametrize(
    ("entities", "expected"),
    [
        ([Plain], {"ProjectionType": "ALL"}),
        ([Keys], {"ProjectionType": "KEYS_ONLY"}),
        ([Some], included("kind", "shortTitle", "ttl")),
        ([Some, Keys], included("kind", "shortTitle", "ttl")),
        ([Other, Some], included("_write", "kind", "shortTitle", "ttl")),
        ([Plain, Some, Keys], {"ProjectionType": "ALL"}),
    ],
    ids=["all", "keys", "fields", "fields-and-keys", "fields-of-two", "all-and-fields"],
)
def test_an_index_holds_what_any_of_its_entities_wants(entities, expected):
    assert projection(*entities) == projection(*entities[::-1]) == expected


def test_an_index_of_fields_holds_the_expiry_of_the_table():
    assert projection(Some, ttl_attribute="expires") == included("expires", "kind", "shortTitle")
    assert projection(Keys, ttl_attribute="expires") == {"ProjectionType": "KEYS_ONLY"}


def test_a_table_without_indexes_has_none():
    assert "GlobalSecondaryIndexes" not in create_table_params("t", [Bare.spec])


def test_an_entity_has_no_say_in_an_index_that_it_is_not_in():
    params = create_table_params("t", [Plain.spec, Keys.spec])
    kinds = [index["Projection"]["ProjectionType"] for index in params["GlobalSecondaryIndexes"]]
    assert kinds == ["ALL", "KEYS_ONLY"]


def test_the_spec_says_what_is_needed_of_the_index():
    specs = [entity.spec.indexes["gsi1"].projection for entity in (Plain, Keys, Some)]
    assert specs == ["all", "keys_only", ("kind", "short_title")]
    assert Some.spec.indexes[TABLE].projection == "all"


@pytest.mark.parametrize(
    ("paths", "problem"),
    [
        ('class By(Index["Thing"], on="gsi1", projection=("body",)):\n    id: Pk[str]', "By: Thing has no field body"),
        (
            'class By(Index["Thing"], on="gsi1", projection=()):\n    id: Pk[str]',
            'By: projection is "all", "keys_only"',
        ),
        ('class By(Index["Thing"], on="gsi1", projection="size"):\n    id: Pk[str]', "or a tuple of fields"),
        ('class By(Index["Thing"], on="gsi1", projection=["size"]):\n    id: Pk[str]', "or a tuple of fields"),
        ('class By(Index["Thing"], projection="keys_only"):\n    id: Pk[str]', "By: only an index has a projection"),
        (
            'class By(Index["Thing"], on="gsi1"):\n    id: Pk[str]\n'
            'class Or(Index["Thing"], on="gsi1", projection="keys_only"):\n    id: Pk[str]',
            "Or and another class disagree on the projection of the gsi1",
        ),
    ],
    ids=["unknown-field", "no-field", "bare-name", "list", "table", "two-classes"],
)
def test_a_projection_that_cannot_be_meant_is_refused_at_import(paths, problem):
    with pytest.raises(DeclarationError, match=problem):
        declare(inside(paths))


def test_a_key_takes_no_projection():
    with pytest.raises(TypeError, match="keyword"):
        declare(GOOD.replace('PrimaryKey["Thing"]', 'PrimaryKey["Thing"], projection="keys_only"'))


def wide(name, on, count):
    """An entity of which an index holds so many fields."""
    fields = [f"f{number}" for number in range(count)]
    lines = "".join(f"    {field}: str\n" for field in fields)
    path = f'    class By(Index["{name}"], on="{on}", projection={tuple(fields)}):\n        id: Pk[str]\n'
    body = f'class {name}(Entity, entity="{name.lower()}"):\n    id: str\n{lines}'
    return declare(body + f'    class Key(PrimaryKey["{name}"]):\n        id: Pk[str]\n{path}')[name].spec


def test_an_index_holds_no_more_attributes_than_dynamodb_allows():
    assert create_table_params("t", [wide("Wide", "gsi1", 19)])
    with pytest.raises(DeclarationError, match="gsi1: the projections of its entities name 21 attributes"):
        create_table_params("t", [wide("Wide", "gsi1", 20)])


def test_all_indexes_hold_no_more_attributes_than_dynamodb_allows():
    specs = [wide(f"Wide{number}", f"gsi{number}", 19) for number in range(1, 7)]
    assert create_table_params("t", specs[:5])
    with pytest.raises(DeclarationError, match=r"gsi6: .* those of all indexes up to it 120"):
        create_table_params("t", specs)
