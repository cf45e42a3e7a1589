"""What a condition says, by what it selects of stored items."""

from __future__ import annotations

import pytest
from pydantic import Field

from singletable import Entity, Index, JsonObject, Map, Pk, PrimaryKey, RequestError, Sk, SkRange, Table
from singletable.conditions import at, begins_with, contains, exists, has_type, is_in, missing, negate, size
from singletable.testing import MemoryTransport


class Word(Entity, entity="word", version=1):
    """Its field names are reserved words of DynamoDB's expressions."""

    group: str
    name: str
    status: str | None = None
    year: int | None = 0
    data: list[str] = Field(default_factory=list)
    set_: set[str] = Field(default_factory=set)
    value: JsonObject = Field(default_factory=dict)
    attributes: Map[JsonObject] = Field(default_factory=dict)

    class Key(PrimaryKey["Word"]):
        group: Pk[str]
        name: Sk[str]

    class InGroup(Index["Word"]):
        group: Pk[str]
        name: SkRange[str] = None


WORDS = [
    Word(
        group="g", name="a", status="new", year=1, data=["x"], set_={"p"}, value={"k": 1}, attributes={"n": {"l": [7]}}
    ),
    Word(group="g", name="b", status=None, year=None, data=["x", "y", "z"], set_={"p", "q"}),
    Word(group="g", name="c", status="newer", year=3, value={"k": 1.0}, attributes={"n": "text"}),
]


@pytest.fixture(scope="module")
def table() -> Table:
    table = Table("t", MemoryTransport(), entities=[Word])
    table.put_many(WORDS)
    return table


@pytest.mark.parametrize(
    ("test", "names"),
    [
        (lambda w: w.status == "new", "a"),
        (lambda w: w.status != "new", "bc"),
        (lambda w: w.status == None, "b"),  # noqa: E711
        (lambda w: w.status != None, "ac"),  # noqa: E711
        (lambda w: w.year == None, "b"),  # noqa: E711
        (lambda w: w.year > 1, "c"),
        (lambda w: w.year >= 1, "ac"),
        (lambda w: w.year < 3, "a"),
        (lambda w: w.year <= 3, "ac"),
        (lambda w: (w.year == 1) | (w.year == 3) & (w.status == "new"), "a"),
        (lambda w: ((w.year == 1) | (w.year == 3)) & (w.status == "newer"), "c"),
        (lambda w: ~(w.year == 1), "bc"),
        (lambda w: negate((w.year == 1) | (w.year == 3)), "b"),
        (lambda w: w.group != w.name, "abc"),
        (lambda w: w.set_ == set(), "c"),
        (lambda w: w.set_ != set(), "ab"),
        (lambda w: w.set_ == {"q", "p"}, "b"),
        (lambda w: w.value == {"k": 1}, "a"),
        (lambda w: w.attributes == {"n": "text"}, "c"),
        (lambda w: exists(w.status), "ac"),
        (lambda w: missing(w.status), "b"),
        (lambda w: exists(w.year), "abc"),
        (lambda w: has_type(w.year, "NULL"), "b"),
        (lambda w: begins_with(w.status, "new"), "ac"),
        (lambda w: contains(w.status, "er"), "c"),
        (lambda w: contains(w.data, "y"), "b"),
        (lambda w: contains(w.set_, "p"), "ab"),
        (lambda w: is_in(w.year, [1, 3, 5]), "ac"),
        (lambda w: size(w.data) >= 1, "ab"),
        (lambda w: size(w.status) == 5, "c"),
        (lambda w: at(w.attributes, "n", "l", 0) == 7, "a"),
        (lambda w: at(w.attributes, "n") == "text", "c"),
        (lambda w: missing(at(w.attributes, "n")), "b"),
        (lambda w: exists(at(at(w.attributes, "n"), "l")), "a"),
    ],
)
def test_a_filter_selects(table, test, names):
    assert "".join(word.name for word in table.query(Word.InGroup(group="g")).filter(test)) == names


@pytest.mark.parametrize(
    ("test", "problem"),
    [
        (lambda w: w.status == "a" and w.year == 1, "combine conditions with &"),
        (lambda w: not (w.year > 1), "combine conditions with &"),
        (lambda w: w.status, "must compare a field"),
        (lambda w: True, "must compare a field"),
        (lambda w: w.nope == 1, "word has no field nope"),
        (lambda w: w.status.upper() == "A", r"status\.upper cannot be part of a condition"),
        (lambda w: w.value > {"k": 1}, "JSON text"),
        (lambda w: at(w.value, "k") == 1, r"stored as JSON text, so a path does not apply; declare it Map\[...\]"),
        (lambda w: contains(w.value, "k"), "JSON text"),
        (lambda w: is_in(w.year, []), "1 to 100 values"),
        (lambda w: is_in(w.year, range(101)), "1 to 100 values"),
        (lambda w: is_in(w.status, ["a", None]), "not None"),
        (lambda w: size(w.data) > "3", "whole number"),
        (lambda w: at(w.attributes) == 1, "a path has keys"),
        (lambda w: at(w.attributes, -1) == 1, "a path has keys"),
        (lambda w: begins_with("status", "new"), "takes a field of the entity first"),
        (lambda w: negate(True), "negate takes a condition"),
        (lambda w: w.year == object(), "which DynamoDB cannot hold"),
    ],
)
def test_what_is_no_condition_is_refused_with_advice(table, test, problem):
    with pytest.raises(RequestError, match=problem):
        table.query(Word.InGroup(group="g")).filter(test)


def test_filters_are_joined_with_and_whatever_is_in_them(table):
    query = table.query(Word.InGroup(group="g")).filter(lambda w: (w.year == 1) | (w.year == 3))
    assert [word.name for word in query.filter(lambda w: w.status == "newer")] == ["c"]
