"""P2c: `> p1` is not `>= p2`.  The law is in tests/property/test_ranges.py, the reported cases are here."""

from __future__ import annotations

import pytest

from singletable import Entity, Index, Pk, PrimaryKey, Sk, SkRange, between, gt, gte, lt, lte, starting


class Release(Entity, entity="release", version=1):
    project: str
    name: str
    build: int

    class Key(PrimaryKey["Release"]):
        project: Pk[str]
        name: Sk[str]
        build: Sk[int]

    class Of(Index["Release"]):
        project: Pk[str]
        name: SkRange[str] = None
        build: SkRange[int] = None


class Releases(Entity, entity="release_s", version=1):
    """Its name begins like that of the other, and sorts after it."""

    project: str

    class Key(PrimaryKey["Releases"]):
        project: Pk[str]


NAMES = ["p1", "p1a", "p2"]
BUILDS = [-11, -2, 3, 20]


@pytest.fixture
def releases(backend):
    table = backend.table(Release, Releases)
    table.put_many([Release(project="x", name=name, build=3) for name in NAMES])
    table.put_many([Release(project="y", name="p1", build=build) for build in BUILDS])
    table.put_many([Releases(project="x"), Releases(project="y")])
    return table


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (gt("p1"), ["p1a", "p2"]),
        (gte("p1"), ["p1", "p1a", "p2"]),
        (gt("p1a"), ["p2"]),
        (lt("p2"), ["p1", "p1a"]),
        (lt("p1a"), ["p1"]),
        (lte("p1"), ["p1"]),
        (lte("p1a"), ["p1", "p1a"]),
        (between("p1", "p1a"), ["p1", "p1a"]),
        (starting("p1"), ["p1", "p1a"]),
        ("p1", ["p1"]),
    ],
    ids=repr,
)
def test_p2c_a_range_of_texts(releases, condition, expected):
    query = releases.query(Release.Of(project="x", name=condition))
    assert [one.name for one in query] == expected
    assert [one.name for one in query.reverse()] == expected[::-1]
    assert query.count() == len(expected)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (gt(-11), [-2, 3, 20]),
        (gte(-2), [-2, 3, 20]),
        (gt(3), [20]),
        (lt(3), [-11, -2]),
        (lte(-2), [-11, -2]),
        (lt(-11), []),
        (between(-2, 3), [-2, 3]),
        (20, [20]),
    ],
    ids=repr,
)
def test_p2c_a_range_of_numbers_behind_a_text(releases, condition, expected):
    query = releases.query(Release.Of(project="y", name="p1", build=condition))
    assert [one.build for one in query] == expected
    assert [one.build for one in query.reverse()] == expected[::-1]


@pytest.mark.parametrize("condition", [gt("p1a"), gte("p2"), starting("p")], ids=repr)
def test_p2c_a_range_does_not_leave_its_entity(releases, backend, condition):
    backend.sent.clear()
    releases.query(Release.Of(project="x", name=condition)).all()
    assert {item["_entity"]["S"] for item in backend.sent.responses[0]["Items"]} == {"release"}
    assert backend.sent.scanned_counts == [len(backend.sent.responses[0]["Items"])]
