"""A table keeps its contract on every DynamoDB, sync and async."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel

from singletable import (
    AlreadyExistsError,
    ConditionFailedError,
    IncompleteKeyError,
    InvalidCursorError,
    NotFoundError,
    RequestError,
    TransactionFailedError,
    add,
    append,
    between,
    gt,
    gte,
    lt,
    lte,
    merge,
    remove,
    starting,
)
from tests.contract.entities import Account, Box, Label, LaterNote, Note
from tests.contract.support import START, TRANSACTING, Backend, make_backend

pytestmark = pytest.mark.every_engine

DAY = timedelta(days=1)
EXPIRING = {"note": {"enabled": True, "default_ttl_seconds": 60}}


def note(number=1, **fields):
    return Note(box_id=fields.pop("box_id", "b"), number=number, **fields)


def key(number=1, box_id="b"):
    return Note.Key(box_id=box_id, number=number)


def in_box(**parts):
    return Note.InBox(box_id="b", **parts)


def fill(table, *numbers, **fields):
    table.put_many([note(number, **fields) for number in numbers])


def numbers(found):
    return [one.number for one in found]


@pytest.fixture(params=[*TRANSACTING, "moto-async"])
def backend(request) -> Backend:
    """The fake and moto, with both drivers."""
    return make_backend(request, request.param)


@pytest.fixture
def expiring(any_backend):
    """A table whose notes expire after a minute."""
    return any_backend.table(Box, Label, Note, ttl=EXPIRING)


# One item.


def test_what_was_created_is_got(table):
    full = note(
        text="é😀",
        owner="ada",
        due=datetime(2026, 12, 24, 18, 30, 0, 500_000, tzinfo=UTC),
        ratio=0.1,
        tags={"b", "a"},
        lines=["x", ""],
        extra={"n": 1, "deep": {"list": [True, None, 1.5]}},
        body={"n": 1.0, "": "blank key"},
    )
    table.create(full)
    assert table.get(key()) == full


def test_create_and_put_give_the_entity_back(table):
    one = note()
    assert (table.create(one), table.put(one)) == (one, one)


def test_get_of_nothing_is_none(table):
    assert table.get(key()) is None


def test_eventually_consistent_get(table):
    table.create(note())
    assert table.get(key(), consistent=False) == note()


def test_create_never_overwrites(table):
    table.create(note(text="first"))
    with pytest.raises(AlreadyExistsError):
        table.create(note(text="second"))
    assert table.get(key()).text == "first"


def test_put_replaces_the_whole_item(table):
    table.put(note(text="first", owner="ada", extra={"a": 1}))
    table.put(note(text="second"))
    assert table.get(key()) == note(text="second")


def test_negative_and_large_numbers_are_keys(table):
    table.put_many([note(-5), note(0), note(10**20)])
    assert numbers(table.query(in_box())) == [-5, 0, 10**20]


# Update.


def test_update_gives_the_entity_after_the_change(table):
    table.create(note(text="old", count=3))
    assert table.update(key(), Note.Patch(text="new")) == note(text="new", count=3)


def test_update_leaves_fields_that_it_does_not_name(table):
    table.create(note(text="old", lines=["a"], body={"x": 1}))
    table.update(key(), Note.Patch(count=1))
    assert table.get(key()) == note(text="old", lines=["a"], body={"x": 1}, count=1)


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        (Note.Patch(count=add(2)), {"count": 5}),
        (Note.Patch(tags=add({"c"})), {"tags": {"a", "c"}}),
        (Note.Patch(lines=append(["z"])), {"lines": ["y", "z"]}),
        (Note.Patch(extra=merge({"b": {"c": 2}})), {"extra": {"a": 1, "b": {"c": 2}}}),
        (Note.Patch(ratio=remove()), {"ratio": None}),
        (Note.Patch(ratio=None), {"ratio": None}),
        (Note.Patch(tags=set()), {"tags": set()}),
        (Note.Patch(text=""), {"text": ""}),
        (Note.Patch(body={"x": [1.0]}), {"body": {"x": [1.0]}}),
    ],
    ids=["add", "add-set", "append", "merge", "remove", "none", "empty-set", "empty-text", "json"],
)
def test_update_changes_a_field(table, patch, expected):
    before = note(text="t", count=3, ratio=0.5, tags={"a"}, lines=["y"], extra={"a": 1})
    table.create(before)
    table.update(key(), patch)
    assert table.get(key()) == before.model_copy(update=expected)


def test_update_of_nothing_is_an_error_and_creates_nothing(table, any_backend):
    with pytest.raises(NotFoundError):
        table.update(key(), Note.Patch(text="new"))
    assert any_backend.items() == []


def test_update_where_it_holds(table):
    table.create(note(state="open"))
    assert table.update(key(), Note.Patch(state="done"), where=lambda n: n.state == "open").state == "done"


def test_update_where_it_does_not_hold_changes_nothing(table):
    table.create(note(state="done", text="old"))
    with pytest.raises(ConditionFailedError):
        table.update(key(), Note.Patch(text="new"), where=lambda n: n.state == "open")
    assert table.get(key()).text == "old"


@pytest.mark.parametrize(
    "where",
    [
        lambda n: (n.count > 2) & (n.count < 4),
        lambda n: (n.count == 9) | (n.text == "t"),
        lambda n: ~(n.count == 9),
        lambda n: n.owner == None,  # noqa: E711 - a condition, not a comparison
        lambda n: n.text != None,  # noqa: E711
        lambda n: n.body == {"x": 1},
        lambda n: n.tags == {"a"},
    ],
    ids=["and", "or", "not", "none", "not-none", "json", "set"],
)
def test_conditions_that_hold(table, where):
    table.create(note(text="t", count=3, tags={"a"}, body={"x": 1}))
    assert table.update(key(), Note.Patch(count=add(1)), where=where).count == 4


def test_a_condition_on_a_whole_map(tx_table):
    # Not on dynalite, for which no two maps are equal.
    tx_table.create(note(extra={"a": 1, "b": [2]}))
    changed = tx_table.update(key(), Note.Patch(count=add(1)), where=lambda n: n.extra == {"a": 1, "b": [2]})
    assert changed.count == 1


def test_a_patch_without_changes_is_refused(table):
    with pytest.raises(RequestError, match="changes nothing"):
        table.update(key(), Note.Patch())


# Delete.


def test_delete_removes_and_may_be_repeated(table):
    table.create(note())
    table.delete(key())
    table.delete(key())
    assert table.get(key()) is None


def test_delete_where_it_does_not_hold_keeps(table):
    table.create(note(state="open"))
    with pytest.raises(ConditionFailedError):
        table.delete(key(), where=lambda n: n.state == "done")
    assert table.get(key()) == note(state="open")


def test_delete_where_it_holds(table):
    table.create(note(state="done"))
    table.delete(key(), where=lambda n: n.state == "done")
    assert table.get(key()) is None


def test_delete_of_nothing_where_is_an_error(table):
    with pytest.raises(NotFoundError):
        table.delete(key(), where=lambda n: n.state == "done")


# What an error knows; dynalite does not tell what is stored.


def test_already_exists_has_the_current_entity(tx_table):
    tx_table.create(note(text="first"))
    with pytest.raises(AlreadyExistsError) as caught:
        tx_table.create(note(text="second"))
    assert caught.value.current == note(text="first")


def test_a_failed_condition_has_the_current_entity(tx_table):
    tx_table.create(note(state="done"))
    with pytest.raises(ConditionFailedError) as caught:
        tx_table.update(key(), Note.Patch(text="new"), where=lambda n: n.state == "open")
    assert not isinstance(caught.value, NotFoundError)
    assert caught.value.current == note(state="done")


def test_a_failed_delete_has_the_current_entity(tx_table):
    tx_table.create(note(state="open"))
    with pytest.raises(ConditionFailedError) as caught:
        tx_table.delete(key(), where=lambda n: n.state == "done")
    assert not isinstance(caught.value, NotFoundError)
    assert caught.value.current == note(state="open")


def test_not_found_has_no_current_entity(tx_table):
    with pytest.raises(NotFoundError) as caught:
        tx_table.update(key(), Note.Patch(text="new"))
    assert caught.value.current is None


def test_an_error_names_operation_table_entity_and_key(table, any_backend):
    table.create(note())
    with pytest.raises(AlreadyExistsError) as caught:
        table.create(note())
    error = caught.value
    assert (error.operation, error.table, error.entity) == ("PutItem", any_backend.table_name, "note")
    assert error.key == {name: any_backend.items()[0][name] for name in ("pk", "sk")}


# Queries.


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (None, [-1, 1, 2, 10, 11]),
        (2, [2]),
        (3, []),
        (gt(1), [2, 10, 11]),
        (gte(1), [1, 2, 10, 11]),
        (lt(2), [-1, 1]),
        (lte(2), [-1, 1, 2]),
        (between(1, 10), [1, 2, 10]),
        (between(3, 9), []),
    ],
    ids=repr,
)
def test_query_of_a_range(table, part, expected):
    fill(table, 10, 2, -1, 1, 11)
    table.put(note(5, box_id="b2"))
    assert numbers(table.query(in_box(number=part))) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("p1", ["p1"]),
        (starting("p1"), ["p1", "p1a", "p1é"]),
        (gt("p1"), ["p1a", "p1é", "p2"]),
        (lt("p1a"), ["o", "p1"]),
        (lte("p1a"), ["o", "p1", "p1a"]),
        (between("p1", "p1a"), ["p1", "p1a"]),
    ],
    ids=repr,
)
def test_query_of_a_range_of_texts(table, part, expected):
    table.put_many([Label(box_id="b", name=name) for name in ("p2", "p1é", "p1a", "o", "p1")])
    assert [label.name for label in table.query(Label.InBox(box_id="b", name=part))] == expected


def test_query_by_primary_key(table):
    fill(table, 1, 2)
    assert table.query(key(2)).all() == [note(2)]


def test_reverse(table):
    fill(table, 1, 2, 3)
    assert numbers(table.query(in_box()).reverse()) == [3, 2, 1]


def test_reverse_twice_is_forwards(table):
    fill(table, 1, 2)
    assert numbers(table.query(in_box()).reverse().reverse()) == [1, 2]


@pytest.mark.parametrize(("most", "expected"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (9, [1, 2, 3])])
def test_limit(table, most, expected):
    fill(table, 1, 2, 3)
    assert numbers(table.query(in_box()).limit(most)) == expected


def test_reverse_with_limit_gives_the_last(table):
    fill(table, 1, 2, 3)
    assert numbers(table.query(in_box()).reverse().limit(2)) == [3, 2]


def test_first(table):
    fill(table, 2, 1)
    assert table.query(in_box()).first() == note(1)


def test_first_of_nothing_is_none(table):
    assert table.query(in_box()).first() is None


def test_a_query_is_not_used_up(table):
    fill(table, 1, 2)
    query = table.query(in_box())
    assert numbers(query) == numbers(query) == [1, 2]


def test_nothing_is_sent_before_iteration(table, any_backend):
    table.query(in_box()).reverse().limit(2).filter(lambda n: n.count > 1).request()
    assert any_backend.sent.requests == []


def test_filter(table):
    table.put_many([note(number, count=number % 3) for number in range(1, 7)])
    assert numbers(table.query(in_box()).filter(lambda n: n.count == 1)) == [1, 4]


def test_filters_add_up(table):
    table.put_many([note(number, count=number % 3) for number in range(1, 7)])
    query = table.query(in_box()).filter(lambda n: n.count >= 1).filter(lambda n: n.count < 2)
    assert numbers(query) == [1, 4]


def test_limit_counts_what_a_filter_lets_through(table):
    table.put_many([note(number, count=number % 3) for number in range(1, 10)])
    assert numbers(table.query(in_box()).filter(lambda n: n.count == 0).limit(2)) == [3, 6]


class Short(BaseModel):
    number: int
    text: str


def test_select(table):
    fill(table, 1, text="t", owner="ada")
    assert table.query(in_box()).select(Short).all() == [Short(number=1, text="t")]


def test_select_of_a_field_that_there_is_not_is_refused(table):
    class Wrong(BaseModel):
        colour: str

    with pytest.raises(RequestError, match="colour"):
        table.query(in_box()).select(Wrong)


def test_count(table):
    table.put_many([note(number, count=number % 2) for number in range(5)])
    query = table.query(in_box())
    assert (query.count(), query.filter(lambda n: n.count == 1).count(), query.limit(3).count()) == (5, 2, 3)


def test_count_of_nothing(table):
    assert table.query(in_box()).count() == 0


def all_pages(query, size):
    pages = [query.page(size)]
    while pages[-1].cursor:
        pages.append(query.page(size, pages[-1].cursor))
    return pages


@pytest.mark.parametrize(
    ("stored", "size", "expected"),
    [(0, 2, [0]), (1, 2, [1]), (2, 2, [2]), (3, 2, [2, 1]), (4, 2, [2, 2]), (5, 1, [1] * 5), (5, 5, [5]), (5, 9, [5])],
)
@pytest.mark.parametrize("reverse", [False, True], ids=["forwards", "backwards"])
def test_pages_are_the_whole_list(table, stored, size, expected, reverse):
    fill(table, *range(stored))
    query = table.query(in_box())
    query = query.reverse() if reverse else query
    pages = all_pages(query, size)
    assert [len(page.items) for page in pages] == expected
    assert [item for page in pages for item in page.items] == query.all()
    assert [page.has_more for page in pages] == [True] * (len(expected) - 1) + [False]


def test_pages_of_an_index(table):
    table.put_many([note(number, owner="ada", due=START + DAY * (number % 2)) for number in range(5)])
    query = table.query(Note.ByOwner(owner="ada"))
    pages = all_pages(query, 2)
    assert sorted(numbers(item for page in pages for item in page.items)) == [0, 1, 2, 3, 4]
    assert [len(page.items) for page in pages] == [2, 2, 1]


def test_pages_of_a_filter(table):
    table.put_many([note(number, count=number % 2) for number in range(7)])
    pages = all_pages(table.query(in_box()).filter(lambda n: n.count == 0), 2)
    assert [numbers(page.items) for page in pages] == [[0, 2], [4, 6]]


def test_pages_of_a_projection(table):
    fill(table, 1, 2, 3)
    pages = all_pages(table.query(in_box()).select(Short), 2)
    assert [numbers(page.items) for page in pages] == [[1, 2], [3]]


def test_a_cursor_is_stable_under_inserts_and_deletes(table):
    fill(table, 2, 4, 6)
    first = table.query(in_box()).page(2)
    fill(table, 1, 5)
    table.delete(key(4))
    assert numbers(table.query(in_box()).page(9, first.cursor).items) == [5, 6]


def test_a_cursor_of_another_query_is_refused(table):
    fill(table, 1, 2)
    cursor = table.query(in_box()).page(1).cursor
    with pytest.raises(InvalidCursorError):
        table.query(in_box()).reverse().page(1, cursor)


@pytest.mark.parametrize("cursor", ["", "x", "e30", "bnVsbA", "😀"], ids=repr)
def test_a_damaged_cursor_is_refused(table, cursor):
    with pytest.raises(InvalidCursorError):
        table.query(in_box()).page(1, cursor)


# Indexes.


def test_an_index_is_sorted_by_its_own_key(table):
    table.put_many([note(1, owner="ada", due=START + DAY), note(2, owner="ada", due=START), note(3, owner="bob")])
    assert numbers(table.query(Note.ByOwner(owner="ada"))) == [2, 1]


def test_an_item_without_all_parts_is_not_in_the_index(table):
    table.put_many([note(1, owner="ada"), note(2, due=START), note(3, owner="ada", due=START)])
    assert numbers(table.query(Note.ByOwner(owner="ada"))) == [3]


def test_an_update_brings_an_item_into_the_index(table):
    table.put(note(1))
    table.update(key(), Note.Patch(owner="ada", due=START))
    assert numbers(table.query(Note.ByOwner(owner="ada"))) == [1]


@pytest.mark.parametrize("patch", [Note.Patch(owner=None), Note.Patch(due=None)], ids=["partition", "sort"])
def test_an_update_takes_an_item_out_of_the_index(table, any_backend, patch):
    table.put(note(1, owner="ada", due=START))
    table.update(key(), patch)
    assert table.query(Note.ByOwner(owner="ada")).all() == []
    assert not {"gsi1pk", "gsi1sk"} & any_backend.items()[0].keys()


def test_an_update_moves_an_item_in_the_index(table):
    table.put(note(1, state="open"))
    table.update(key(), Note.Patch(state="done"))
    assert numbers(table.query(Note.ByState(state="done"))) == [1]
    assert table.query(Note.ByState(state="open")).all() == []


def test_an_update_of_half_a_sparse_key_is_refused(table):
    table.put(note(1, owner="ada", due=START))
    with pytest.raises(IncompleteKeyError, match="owner"):
        table.update(key(), Note.Patch(due=START + DAY))
    assert table.get(key()).due == START


def test_a_put_takes_an_item_out_of_the_index(table):
    table.put(note(1, owner="ada", due=START))
    table.put(note(1))
    assert table.query(Note.ByOwner(owner="ada")).all() == []


def test_a_range_of_an_index(table):
    table.put_many([note(number, owner="ada", due=START + DAY * number) for number in range(4)])
    query = table.query(Note.ByOwner(owner="ada", due=between(START + DAY, START + 2 * DAY)))
    assert numbers(query) == [1, 2]


# Collections.


def shelf(table):
    table.put_many([Box(id="b"), Label(box_id="b", name="x"), Label(box_id="b", name="y"), note(1), note(2)])
    table.put_many([Box(id="b2"), note(9, box_id="b2")])


def kinds(found):
    return [type(item).__name__ for item in found]


def test_a_collection_of_two_entities(table):
    shelf(table)
    assert kinds(table.query(Label.InBox(box_id="b"), in_box())) == ["Label", "Label", "Note", "Note"]


def test_a_collection_of_three_entities(table):
    shelf(table)
    found = table.query(Box.Key(id="b"), Label.InBox(box_id="b"), in_box()).all()
    assert kinds(found) == ["Box", "Label", "Label", "Note", "Note"]
    assert found[0] == Box(id="b")


def test_a_collection_leaves_out_what_lies_between(table):
    shelf(table)
    assert kinds(table.query(Box.Key(id="b"), in_box())) == ["Box", "Note", "Note"]


def test_a_collection_of_ranges(table):
    shelf(table)
    found = table.query(Label.InBox(box_id="b", name=gt("x")), in_box(number=lt(2))).all()
    assert found == [Label(box_id="b", name="y"), note(1)]


@pytest.mark.parametrize(("most", "expected"), [(1, ["Note"]), (3, ["Note", "Note", "Box"])])
def test_a_collection_backwards_with_limit(table, most, expected):
    shelf(table)
    assert kinds(table.query(Box.Key(id="b"), in_box()).reverse().limit(most)) == expected


def test_pages_of_a_collection(table):
    shelf(table)
    pages = all_pages(table.query(Box.Key(id="b"), in_box()), 2)
    assert [kinds(page.items) for page in pages] == [["Box", "Note"], ["Note"]]


def test_a_query_over_two_partitions_is_refused(table):
    with pytest.raises(RequestError, match="partition"):
        table.query(Box.Key(id="b2"), in_box())


# Many.


def test_get_many_keeps_the_order_of_the_keys(table):
    fill(table, 1, 2, 3)
    assert numbers(table.get_many([key(3), key(1), key(2)])) == [3, 1, 2]


def test_get_many_leaves_out_what_is_missing(table):
    fill(table, 1)
    assert numbers(table.get_many([key(9), key(1)])) == [1]


def test_get_many_gives_a_duplicate_twice(table):
    fill(table, 1, 2)
    assert numbers(table.get_many([key(1), key(2), key(1)])) == [1, 2, 1]


def test_get_many_of_nothing_sends_nothing(table, any_backend):
    assert table.get_many([]) == []
    assert any_backend.sent.requests == []


def test_get_many_of_over_100_keys(table, any_backend):
    fill(table, *range(0, 130, 2))
    any_backend.sent.clear()
    assert numbers(table.get_many(key(number) for number in range(130))) == list(range(0, 130, 2))
    assert any_backend.sent.operations == ["BatchGetItem"] * 2


def test_get_many_of_several_entities(table):
    shelf(table)
    found = table.get_many([key(1), Box.Key(id="b"), Label.Key(box_id="b", name="x")])
    assert kinds(found) == ["Note", "Box", "Label"]


def test_put_many_of_over_25_items(table, any_backend):
    fill(table, *range(30))
    assert table.query(in_box()).count() == 30
    assert any_backend.sent.operations[:2] == ["BatchWriteItem"] * 2


def test_put_many_of_one_item_twice_is_refused_before_sending(table, any_backend):
    with pytest.raises(RequestError, match="twice"):
        table.put_many([note(1), note(2), note(1)])
    assert any_backend.sent.requests == []


def test_delete_many(table):
    fill(table, *range(30))
    table.delete_many([*map(key, range(28)), key(0), key(99)])
    assert numbers(table.query(in_box())) == [28, 29]


def test_size_bytes_is_what_is_stored(table):
    assert table.size_bytes(note(text="x" * 1000)) - table.size_bytes(note()) == 1000


# Expiry.


def test_an_item_carries_the_second_of_its_expiry(expiring, any_backend):
    expiring.put(note())
    assert any_backend.items()[0]["ttl"] == {"N": str(int(START.timestamp()) + 60)}


def test_an_item_is_there_until_the_second_of_its_expiry(expiring, any_backend):
    expiring.put(note())
    any_backend.clock.advance(seconds=59)
    assert expiring.get(key()) == note()


@pytest.fixture
def expired(expiring, any_backend):
    """A table with an expired note 1, still stored, and a box that stays."""
    expiring.put_many([note(1, owner="ada", due=START), Box(id="b")])
    any_backend.clock.advance(seconds=60)
    assert len(any_backend.items()) == 2
    return expiring


@pytest.mark.parametrize(
    ("read", "nothing"),
    [
        (lambda t: t.get(key()), None),
        (lambda t: t.get_many([key()]), []),
        (lambda t: t.query(in_box()).all(), []),
        (lambda t: t.query(key()).all(), []),
        (lambda t: t.query(Note.ByOwner(owner="ada")).all(), []),
        (lambda t: t.query(in_box()).first(), None),
        (lambda t: t.query(in_box()).count(), 0),
        (lambda t: t.query(in_box()).page(1).items, []),
        (lambda t: t.query(in_box()).select(Short).all(), []),
        (lambda t: kinds(t.query(Box.Key(id="b"), in_box())), ["Box"]),
    ],
    ids=["get", "get-many", "query", "key", "index", "first", "count", "page", "select", "collection"],
)
def test_an_expired_item_is_not_read(expired, read, nothing):
    assert read(expired) == nothing


def test_a_page_before_an_expired_item_has_no_more(expiring, any_backend):
    fill(expiring, 2)
    any_backend.clock.advance(seconds=30)
    fill(expiring, 1)
    any_backend.clock.advance(seconds=30)
    page = expiring.query(in_box()).page(1)
    assert (numbers(page.items), page.has_more) == ([1], False)


def test_update_of_an_expired_item_does_not_find_it(expired, any_backend):
    before = any_backend.items()
    with pytest.raises(NotFoundError):
        expired.update(key(), Note.Patch(text="new"))
    assert any_backend.items() == before


def test_delete_where_of_an_expired_item_does_not_find_it(expired):
    with pytest.raises(NotFoundError):
        expired.delete(key(), where=lambda n: n.text == "")


def test_delete_of_an_expired_item_removes_it(expired, any_backend):
    expired.delete(key())
    assert len(any_backend.items()) == 1


def test_create_over_an_expired_item(expired):
    expired.create(note(text="new"))
    assert expired.get(key()).text == "new"


@pytest.mark.parametrize(
    ("mode", "expiry"), [("keep", 60), ("refresh", 90), ("clear", None)], ids=["keep", "refresh", "clear"]
)
def test_update_and_expiry(expiring, any_backend, mode, expiry):
    expiring.put(note())
    any_backend.clock.advance(seconds=30)
    expiring.update(key(), Note.Patch(text="new"), expiry=mode)
    expected = None if expiry is None else {"N": str(int(START.timestamp()) + expiry)}
    assert any_backend.items()[0].get("ttl") == expected


def test_put_starts_the_expiry_again(expiring, any_backend):
    expiring.put(note())
    any_backend.clock.advance(seconds=30)
    expiring.put(note())
    assert any_backend.items()[0]["ttl"] == {"N": str(int(START.timestamp()) + 90)}


def test_an_entity_without_ttl_carries_none(expiring, any_backend):
    expiring.put(Box(id="b"))
    assert "ttl" not in any_backend.items()[0]


@pytest.mark.parametrize("spelling", ["attribute_name", "attributeName"])
def test_the_ttl_attribute_has_the_name_that_was_asked_for(any_backend, spelling):
    table = any_backend.table(Note, ttl={"note": {"default_ttl_seconds": 60, spelling: "expiresAt"}})
    table.put(note())
    any_backend.clock.advance(seconds=60)
    assert "expiresAt" in any_backend.items()[0]
    assert table.get(key()) is None


# Versions.


def test_unknown_attributes_survive_a_put(table, any_backend):
    later = any_backend.table(LaterNote)
    later.put(LaterNote(box_id="b", number=1, text="old", colour="red"))
    table.put(table.get(key()).model_copy(update={"text": "new"}))
    found = later.get(LaterNote.Key(box_id="b", number=1))
    assert (found.text, found.colour) == ("new", "red")


def test_unknown_attributes_survive_an_update(table, any_backend):
    later = any_backend.table(LaterNote)
    later.put(LaterNote(box_id="b", number=1, text="old", colour="red"))
    table.update(key(), Note.Patch(text="new"))
    assert later.get(LaterNote.Key(box_id="b", number=1)).colour == "red"


def test_unknown_attributes_are_not_equal_to_none(table, any_backend):
    any_backend.table(LaterNote).put(LaterNote(box_id="b", number=1, colour="red"))
    assert table.get(key()).text == ""


# Lookups: fake and moto.


def account(id="1", email="a@x", handle="ada", **fields):
    return Account(id=id, email=email, handle=handle, **fields)


def by_email(email="a@x"):
    return Account.ByEmail(email=email)


def test_a_lookup_finds_what_was_created(tx_table):
    tx_table.create(account())
    assert tx_table.get(by_email()) == tx_table.get(Account.ByHandle(handle="ada")) == account()


def test_a_lookup_of_nothing(tx_table):
    assert tx_table.get(by_email()) is None


def test_create_with_a_lookup_that_is_taken_writes_nothing(tx_table, backend):
    tx_table.create(account("1"))
    before = backend.items()
    with pytest.raises(AlreadyExistsError):
        tx_table.create(account("2", handle="bob"))
    assert backend.items() == before


def test_create_over_the_same_key_writes_nothing(tx_table, backend):
    tx_table.create(account())
    before = backend.items()
    with pytest.raises(AlreadyExistsError) as caught:
        tx_table.create(account(email="b@x", handle="bob"))
    assert backend.items() == before
    assert caught.value.current == account()


def test_put_with_a_lookup_of_another_item_writes_nothing(tx_table, backend):
    tx_table.create(account("1"))
    tx_table.create(account("2", "b@x", "bob"))
    before = backend.items()
    with pytest.raises(AlreadyExistsError):
        tx_table.put(account("2", "a@x", "bob"))
    assert backend.items() == before


def test_put_that_changes_a_lookup_moves_the_pointer(tx_table, backend):
    tx_table.create(account())
    tx_table.put(account(email="new@x"))
    assert tx_table.get(by_email("new@x")) == account(email="new@x")
    assert tx_table.get(by_email("a@x")) is None
    assert len(backend.items()) == 3


def test_a_lookup_that_was_given_up_is_free(tx_table):
    tx_table.create(account())
    tx_table.put(account(email="new@x"))
    tx_table.create(account("2", "a@x", "bob"))
    assert tx_table.get(by_email("a@x")).id == "2"


def test_put_where_it_holds_moves_the_pointer_of_a_changed_lookup(tx_table, backend):
    tx_table.create(account(name="Ada"))
    tx_table.put(account(email="new@x"), where=lambda a: a.name == "Ada")
    assert tx_table.get(by_email("new@x")) == account(email="new@x")
    assert tx_table.get(by_email("a@x")) is None
    assert len(backend.items()) == 3


@pytest.mark.parametrize("email", ["a@x", "new@x"])
def test_put_where_it_does_not_hold_writes_nothing(tx_table, backend, email):
    tx_table.create(account(name="Ada"))
    before = backend.items()
    with pytest.raises(ConditionFailedError):
        tx_table.put(account(email=email, name="Eve"), where=lambda a: a.name == "Bob")
    assert backend.items() == before


def test_put_of_the_same_lookups_replaces(tx_table, backend):
    tx_table.create(account())
    tx_table.put(account(name="Ada"))
    assert tx_table.get(by_email()) == account(name="Ada")
    assert len(backend.items()) == 3


def test_delete_removes_the_pointers(tx_table, backend):
    tx_table.create(account())
    tx_table.delete(Account.Key(id="1"))
    assert backend.items() == []


def test_delete_where_it_does_not_hold_keeps_the_pointers(tx_table, backend):
    tx_table.create(account(name="Ada"))
    before = backend.items()
    with pytest.raises(ConditionFailedError):
        tx_table.delete(Account.Key(id="1"), where=lambda a: a.name == "Bob")
    assert backend.items() == before


def test_get_many_by_lookups_and_keys(tx_table):
    tx_table.create(account("1"))
    tx_table.create(account("2", "b@x", "bob"))
    found = tx_table.get_many(
        [by_email("b@x"), by_email("none@x"), Account.Key(id="1"), Account.ByHandle(handle="bob")]
    )
    assert [one.id for one in found] == ["2", "1", "2"]


def test_an_update_keeps_the_pointers(tx_table):
    tx_table.create(account())
    tx_table.update(Account.Key(id="1"), Account.Patch(name="Ada"))
    assert tx_table.get(by_email()).name == "Ada"


def test_put_many_of_an_entity_with_lookups_is_refused(tx_table, backend):
    with pytest.raises(RequestError, match="lookups"):
        tx_table.put_many([account()])
    with pytest.raises(RequestError, match="lookups"):
        tx_table.delete_many([Account.Key(id="1")])
    assert backend.sent.requests == []


@pytest.fixture
def fleeting(backend):
    """A table whose accounts expire after a minute."""
    return backend.table(Account, ttl={"account": {"default_ttl_seconds": 60}})


def test_an_expired_item_is_not_looked_up(fleeting, backend):
    fleeting.create(account())
    backend.clock.advance(seconds=60)
    assert fleeting.get(by_email()) is None
    assert fleeting.get_many([by_email()]) == []


def test_the_lookups_of_an_expired_item_are_free(fleeting, backend):
    fleeting.create(account("1"))
    backend.clock.advance(seconds=60)
    fleeting.create(account("2"))
    assert fleeting.get(by_email()).id == "2"


def test_create_over_an_expired_item_with_lookups(fleeting, backend):
    fleeting.create(account(name="old"))
    backend.clock.advance(seconds=60)
    fleeting.create(account(name="new"))
    assert fleeting.get(by_email()).name == "new"


def test_put_over_an_expired_item_leaves_no_working_pointer_behind(fleeting, backend):
    fleeting.create(account(email="old@x"))
    backend.clock.advance(seconds=60)
    fleeting.put(account(email="new@x"))
    assert fleeting.get(by_email("old@x")) is None
    assert fleeting.get(by_email("new@x")) == account(email="new@x")


def test_delete_of_an_expired_item_removes_its_pointers(fleeting, backend):
    fleeting.create(account())
    backend.clock.advance(seconds=60)
    fleeting.delete(Account.Key(id="1"))
    assert backend.items() == []


# Transactions: fake and moto.


def transact(table, *writes):
    with table.transaction() as tx:
        for write in writes:
            write(tx)


def test_a_transaction_writes_all_in_one_request(tx_table, backend):
    tx_table.put_many([note(1), note(2)])
    backend.sent.clear()
    with tx_table.transaction() as tx:
        tx.create(note(3))
        tx.put(note(4))
        tx.update(key(1), Note.Patch(text="new"))
        tx.delete(key(2))
    assert backend.sent.operations == ["TransactWriteItems"]
    assert tx_table.query(in_box()).all() == [note(1, text="new"), note(3), note(4)]


def test_a_transaction_sends_nothing_before_its_end(tx_table, backend):
    with tx_table.transaction() as tx:
        tx.create(note())
        assert backend.sent.requests == []
    assert len(backend.sent.requests) == 1


def test_a_block_that_is_left_by_an_exception_sends_nothing(tx_table, backend):
    with pytest.raises(ZeroDivisionError):
        transact(tx_table, lambda tx: tx.create(note()), lambda tx: 1 / 0)
    assert backend.sent.requests == []


def test_a_transaction_without_writes_sends_nothing(tx_table, backend):
    with tx_table.transaction():
        pass
    assert backend.sent.requests == []


def test_a_transaction_has_a_reason_per_member(tx_table, backend):
    tx_table.put_many([note(1), note(2, state="done")])
    before = backend.items()
    with pytest.raises(TransactionFailedError) as caught:
        transact(
            tx_table,
            lambda tx: tx.create(note(1)),
            lambda tx: tx.put(note(3)),
            lambda tx: tx.delete(key(2), where=lambda n: n.state == "open"),
        )
    reasons = caught.value.reasons
    assert [reason.code for reason in reasons] == ["ConditionalCheckFailed", "None", "ConditionalCheckFailed"]
    assert [reason.entity for reason in reasons] == ["note"] * 3
    assert [tx_table.load(Note, reason.item) for reason in reasons if reason.item] == [note(1), note(2, state="done")]
    assert backend.items() == before


def test_a_reason_names_the_key_of_its_member(tx_table, backend):
    tx_table.put(note(1))
    with pytest.raises(TransactionFailedError) as caught:
        transact(tx_table, lambda tx: tx.create(note(1)), lambda tx: tx.create(note(2)))
    assert caught.value.reasons[0].key == {name: backend.items()[0][name] for name in ("pk", "sk")}


def test_a_check_that_holds(tx_table):
    tx_table.put(note(1, state="open"))
    with tx_table.transaction() as tx:
        tx.check(key(1), lambda n: n.state == "open")
        tx.create(note(2))
    assert tx_table.get(key(2)) == note(2)


def test_a_check_that_does_not_hold(tx_table):
    tx_table.put(note(1, state="done"))
    with pytest.raises(TransactionFailedError):
        transact(tx_table, lambda tx: tx.check(key(1), lambda n: n.state == "open"), lambda tx: tx.create(note(2)))
    assert tx_table.get(key(2)) is None


def test_a_check_of_absence(tx_table):
    with tx_table.transaction() as tx:
        tx.check_absent(key(1))
        tx.create(note(2))
    with pytest.raises(TransactionFailedError):
        transact(tx_table, lambda tx: tx.check_absent(key(2)), lambda tx: tx.create(note(3)))
    assert numbers(tx_table.query(in_box())) == [2]


def test_one_item_twice_in_a_transaction_is_refused_before_sending(tx_table, backend):
    with pytest.raises(RequestError, match="twice"):
        transact(tx_table, lambda tx: tx.create(note(1)), lambda tx: tx.delete(key(1)))
    assert backend.sent.requests == []


def test_over_100_members_are_refused_before_sending(tx_table, backend):
    with pytest.raises(RequestError, match="100"):
        transact(tx_table, lambda tx: [tx.create(note(number)) for number in range(101)])
    assert backend.sent.requests == []


def test_a_transaction_of_over_4_mb_is_refused_before_sending(tx_table, backend):
    with pytest.raises(RequestError, match="bytes"):
        transact(tx_table, lambda tx: [tx.create(note(number, text="x" * 390_000)) for number in range(11)])
    assert backend.sent.requests == []


def test_a_transaction_keeps_lookups(tx_table):
    with tx_table.transaction() as tx:
        tx.create(account("1"))
        tx.create(account("2", "b@x", "bob"))
    assert tx_table.get(by_email("b@x")).id == "2"


def test_a_transaction_deletes_lookups_that_it_is_given(tx_table, backend):
    tx_table.create(account())
    with tx_table.transaction() as tx:
        tx.delete(Account.Key(id="1"), by_email(), Account.ByHandle(handle="ada"))
    assert backend.items() == []


def test_a_delete_without_the_lookups_is_refused(tx_table, backend):
    tx_table.create(account())
    before = backend.items()
    with pytest.raises(RequestError, match="ByHandle"), tx_table.transaction() as tx:
        tx.delete(Account.Key(id="1"), by_email())
    assert backend.items() == before


def test_a_delete_with_a_lookup_of_another_item_keeps_both(tx_table, backend):
    tx_table.create(account("1"))
    tx_table.create(account("2", "b@x", "bob"))
    before = backend.items()
    with pytest.raises(TransactionFailedError), tx_table.transaction() as tx:
        tx.delete(Account.Key(id="1"), by_email("b@x"), Account.ByHandle(handle="bob"))
    assert backend.items() == before


def test_a_transaction_moves_an_item(tx_table, backend):
    tx_table.create(account("1"))
    with tx_table.transaction() as tx:
        tx.put(account("2"), old=account("1"))
    assert tx_table.get(Account.Key(id="1")) is None
    assert tx_table.get(by_email()).id == "2"
    assert len(backend.items()) == 3
