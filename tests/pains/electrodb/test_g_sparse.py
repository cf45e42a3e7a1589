"""Indexes that hold some items only: in ElectroDB by a callback on what one operation names, here by an optional part.

An item is in such an index while all parts of its key are there, whichever write put them there."""

from __future__ import annotations

import pytest

from singletable import IncompleteKeyError, InvalidKeyError
from tests.pains.electrodb.entities import KEY, Store, Task, task
from tests.pains.support import another


@pytest.fixture
def table(fake):
    return fake.table(Task, Store)


def team(table, name="ops", **parts):
    return [(one.id, one.state, one.rank) for one in table.query(Task.ByTeam(team=name, **parts))]


def by_team(fake):
    (item,) = fake.items()
    return {"gsi2pk", "gsi2sk"} & item.keys()


def test_g26_what_is_read_does_not_win_over_what_is_changed(table, fake):
    """In ElectroDB the values of `composite()` win over those of `set()` when a condition of an index is asked."""
    table.create(task(team="ops", state="open", rank=1))
    table.update(KEY, Task.Patch(team="qa", state="done"), refresh=True)
    assert (team(table), team(table, "qa")) == ([], [("a", "done", 1)])
    table.update(KEY, Task.Patch(team=None), refresh=True)
    assert (team(table, "qa"), by_team(fake)) == ([], set())


def test_g51_an_update_of_one_part_sees_the_others_as_they_are_stored(table):
    table.create(task(state="open", rank=1))
    table.update(KEY, Task.Patch(team="ops"), refresh=True)
    assert team(table) == [("a", "open", 1)]
    table.update(KEY, Task.Patch(rank=2), refresh=True)
    assert team(table) == [("a", "open", 2)]


def test_g51_the_parts_that_are_read_must_still_hold(fake):
    table, other = fake.table(Task), another(fake).table(Task)
    table.create(task(team="ops", state="open", rank=1))
    changes = iter([Task.Patch(team=None), Task.Patch(team="qa", state="open", rank=9)])

    def between(request):
        if request.operation == "UpdateItem":
            for change in changes:
                other.update(KEY, change)

    fake.faults.on_request = between
    table.update(KEY, Task.Patch(state="done"), refresh=True)
    assert (team(table), team(table, "qa")) == ([], [("a", "done", 9)])


def test_g52_no_other_field_decides_whether_an_item_is_in_an_index(table, fake):
    table.create(task(team="ops", points=1))
    held = by_team(fake)
    table.update(KEY, Task.Patch(points=99, title="x"))
    assert (by_team(fake), team(table)) == (held, [("a", "open", 0)])


def test_g53_an_item_leaves_an_index_by_the_loss_of_one_part(table, fake):
    """ElectroDB asks for all the others first."""
    table.create(task(team="ops", state="open", rank=1))
    table.update(KEY, Task.Patch(team=None))
    assert (team(table), by_team(fake)) == ([], set())
    assert [one.id for one in table.query(Task.ByState(state="open"))] == ["a"]


def test_g54_an_absent_part_is_no_error_and_no_heap_under_a_filler(table, fake):
    """ElectroDB throws; with the filler `""` all such items come to lie in one partition."""
    table.create(task(state="open", rank=1))
    assert by_team(fake) == set()
    with pytest.raises(InvalidKeyError, match="team is blank"):
        table.put(task(team="", state="open"))
    with pytest.raises(InvalidKeyError, match="team is blank"):
        table.update(KEY, Task.Patch(team=""), refresh=True)
    assert by_team(fake) == set()


def test_g55_a_removed_part_takes_both_halves_of_the_key_along(table, fake):
    """ElectroDB leaves the other half."""
    table.put(Store(city="x", mall="m", owner="ada", since=3))
    key = Store.Key(city="x", mall="m", unit=0)
    for patch, anew in ((Store.Patch(since=None), {"since": 3}), (Store.Patch(owner=None), {"owner": "ada"})):
        table.update(key, patch)
        (item,) = fake.items()
        assert not {"gsi1pk", "gsi1sk"} & item.keys()
        table.update(key, Store.Patch(**anew), refresh=True)
        assert table.query(Store.ByOwner(owner="ada", since=3)).count() == 1


def test_g56_a_part_is_removed_without_naming_the_others_of_its_half(table):
    """ElectroDB wants all parts of a half removed together."""
    table.put(task(team="ops", state="open", rank=1))
    table.update(KEY, Task.Patch(team=None))
    assert (table.get(KEY).state, table.get(KEY).rank, team(table)) == ("open", 1, [])


def test_g16_g51_without_the_other_parts_an_update_is_refused(table):
    table.create(task(team="ops"))
    with pytest.raises(IncompleteKeyError, match=r"gsi2, which also needs state, rank.*refresh=True"):
        table.update(KEY, Task.Patch(team="qa"))
    assert team(table, "qa") == []
