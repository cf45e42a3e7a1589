"""A table against its model: random calls under random faults, and after each of them every item is looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from singletable import PartialBatchError, SingleTableError, Table
from singletable.declare import AccessPath
from singletable.testing import MemoryTransport
from singletable.testing.faults import Crash
from tests.contract.support import Clock
from tests.property import table_calls as calls
from tests.property.table_calls import FAULTS, Stale, alike, leaves_open
from tests.property.table_model import TTL_SECONDS, Call, Changes, Model, Where
from tests.property.table_rows import Account, Doc, Place, Row, Task, contents, dumped, index_of, place, pointer_of

NAME = "model"
TTL = {name: {"enabled": True, "default_ttl_seconds": seconds} for name, seconds in TTL_SECONDS.items()}
WAYS = {"reverse": st.booleans(), "size": st.integers(1, 3), "owned": st.booleans()}


class TableMachine(RuleBasedStateMachine):
    """One table without a scope and with one: what a call did must be what the model says, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.transport = MemoryTransport()
        table = Table(
            NAME, self.transport, entities=[Task, Doc, Account], ttl=TTL, clock=self.clock, sleep=lambda _: None
        )
        self.tables = {"": table, "t1": table.scoped("t1")}
        self.model = Model(self.clock)
        self.lag = 0
        self.returned: dict[str, list[Any]] = {"": [], "t1": []}
        self.history: dict[Place, list[Row]] = defaultdict(list)

    # Writes

    @initialize()
    def begin(self) -> None:
        for tenant in self.tables:
            self.fill(tenant)

    @rule(tenant=calls.TENANT)
    def fill(self, tenant: str) -> None:
        for entity in calls.FIRST:
            if place(tenant, entity) not in self.model.living():
                self.write_one(tenant, Call("create", (entity,)), "none")

    def write_one(self, tenant: str, call: Call, fault: str) -> None:
        """A write of one entity, which gives back what is stored from now on, or, deleted, until now."""
        ready = self.resolved(tenant, call)
        if ready is None:
            return
        target = place(tenant, ready.args[0])
        before = self.model.living().get(target)
        found = self.write(tenant, fault, ready)
        if isinstance(found, BaseException):
            return
        if ready.verb != "delete":
            assert dumped(found) == self.model.rows[target].view
            self.returned[tenant].insert(0, found)
        elif found or not FAULTS[fault].loses:
            assert dumped(found) == (before.view if before else None)

    writing = partial(rule, tenant=calls.TENANT, fault=calls.WRITE_FAULT)
    create = writing(call=calls.CREATE)(write_one)
    put = writing(call=calls.PUT)(write_one)
    update = writing(call=calls.UPDATE)(write_one)
    edit = writing(call=calls.EDIT)(write_one)
    upsert = writing(call=calls.UPSERT)(write_one)
    delete = writing(call=calls.DELETE)(write_one)

    @rule(tenant=calls.TENANT, call=calls.PUT_MANY | calls.DELETE_MANY, fault=calls.WRITE_FAULT)
    def batch(self, tenant: str, call: Call, fault: str) -> None:
        self.write(tenant, fault, call, as_one=False)

    @rule(tenant=calls.TENANT, members=calls.MEMBERS, fault=calls.WRITE_FAULT)
    def transaction(self, tenant: str, members: Sequence[Call], fault: str) -> None:
        ready = [call for member in members if (call := self.resolved(tenant, member))]
        self.write(tenant, fault, Call("transact", (ready,)))

    # Reads

    @rule(tenant=calls.TENANT, keys=calls.KEYS, fault=calls.READ_FAULT)
    def read(self, tenant: str, keys: Sequence[Any], fault: str) -> None:
        table, expected = self.tables[tenant], [self.view(tenant, key) for key in keys]
        own = {place(tenant, key): key for key in keys if not isinstance(key, Account.ByEmail)}
        self.compare(fault, lambda: [table.get(key) for key in keys], expected)
        self.compare(fault, lambda: table.get_each(keys), expected)
        self.compare(fault, lambda: table.get_many(keys), [view for view in expected if view])
        if own:
            self.compare(fault, lambda: table.get_all(*own.values()), [self.view(tenant, key) for key in own.values()])

    def ask(
        self, tenant: str, paths: Sequence[AccessPath[Any]], fault: str, reverse: bool, size: int, owned: bool
    ) -> None:
        query = self.tables[tenant].query(*paths)
        plain = len(paths) == 1 and not isinstance(paths[0], Account.OfPlan)
        where = Where("owner", "eq", "o") if owned and plain else None
        query = query.filter(where) if where else query
        query = query.reverse() if reverse else query
        found = self.attempt(fault, query.all)
        if isinstance(found, BaseException):
            assert isinstance(found, FAULTS[fault].raises), found
            return
        self.check_found(tenant, paths, found, where, reverse=reverse)
        assert query.count() == len(found)
        assert query.limit(size).all() == found[:size]
        check_pages(query, found, size)

    asking = partial(rule, tenant=calls.TENANT, fault=calls.READ_FAULT, **WAYS)
    partition = asking(paths=calls.PARTITIONS)(ask)
    ranges = asking(paths=calls.RANGES)(ask)

    # What happens meanwhile

    @rule(seconds=st.sampled_from([0.4, 1, 5, 5, 30, 60, 60, 90, 150]))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)

    @rule(writes=st.sampled_from([0, 0, 1, 3]))
    def lag_behind(self, writes: int) -> None:
        self.lag = writes
        self.transport.faults.stale_reads(writes)

    # What holds at any time

    @invariant()
    def stored_is_what_the_model_says(self) -> None:
        """Every item in all its attributes; of each living account one pointer, and no other one that is alive."""
        items, pointers = self.stored()
        assert items == {where: row.item for where, row in self.model.rows.items()}
        accounts = {where: row for where, row in self.model.living().items() if row.model is Account}
        wanted = {pointer_of(row.tenant, row.values["email"]): (where, row.expires) for where, row in accounts.items()}
        assert {where: target for where, target in pointers.items() if self.model.is_alive(target[1])} == wanted

    # How it is compared

    def write(self, tenant: str, fault: str, call: Call, *, as_one: bool = True) -> Any:
        """What a call returned or raised, after it has done what it should and nothing else."""
        expected, changes = None, dict[Place, Row | None]()
        try:
            changes |= call.on(self.model, tenant)
        except SingleTableError as error:
            expected = error
        outcome = self.attempt(fault, lambda: call.on(self.tables[tenant]))
        if not isinstance(outcome, BaseException):
            assert expected is None, f"{expected!r} should have been raised"
            self.settle(changes)
            return outcome
        is_open = leaves_open(call, outcome, fault)
        assert is_open or alike(outcome, expected) or isinstance(outcome, FAULTS[fault].raises), repr(outcome)
        if isinstance(outcome, PartialBatchError):
            left = {place(tenant, thing) for thing in outcome.unwritten}
            lost = left if FAULTS[fault].loses else set[Place]()
            self.settle({where: row for where, row in changes.items() if where in lost or where not in left}, lost)
        elif is_open:
            self.settle(changes, changes.keys(), as_one=as_one)
        else:
            self.settle({})
        current = getattr(outcome, "current", None)
        assert current is None or dumped(current) in [row.view for row in self.model.living().values()]
        return outcome

    def settle(self, changes: Changes, unsure: Collection[Place] = (), *, as_one: bool = False) -> None:
        """Take over what was changed, if it is stored: all of it, or all but what nobody can be sure of."""
        items, self.model.pointers = self.stored()
        unsure = {where for where in unsure if where in self.model.rows or changes[where]}
        undone = {where for where in unsure if items.get(where) == item_of(self.model.rows.get(where))}
        assert not as_one or len(undone) in (0, len(unsure)), "one half of what belongs together was done"
        rows = dict(self.model.rows)
        for where in changes.keys() - undone:
            rows.pop(where, None)
            row = changes[where]
            if row is not None:
                assert where in items, f"{row} is lost"
                written = replace(row, write=items[where]["_write"]["S"])
                assert written.write not in [row.write for row in self.history[where]], "a version came back"
                self.history[where].append(written)
                rows[where] = written
        self.model.rows = rows

    def attempt(self, fault: str, call: Callable[[], Any]) -> Any:
        """What a call returns or raises under a fault."""
        FAULTS[fault].plan(self.transport.faults)
        try:
            return call()
        except (SingleTableError, Crash) as error:
            return error
        finally:
            self.transport.faults.clear()
            self.transport.faults.stale_reads(self.lag)

    def stored(self) -> tuple[dict[Place, Any], dict[Place, Any]]:
        return contents(self.transport.database.items(NAME))

    def resolved(self, tenant: str, call: Call) -> Call | None:
        """The call with what was returned earlier and with real versions; None where nothing was returned yet."""
        options, returned, (first, *rest) = dict(call.options), self.returned[tenant], call.args
        if isinstance(first, Stale):
            if not returned:
                return None
            old = returned[first.back % len(returned)]
            known = {name: value for name, value in first.changes.items() if name in type(old).model_fields}
            options |= {"old": old} if call.verb == "replace" else {}
            first = old.model_copy(update=known)
        if "if_version" in options:
            past = [row.write for row in self.history[place(tenant, first)]]
            options["if_version"] = ["never", *past][-1 if options["if_version"] == "current" else -2 if past else 0]
        ready = Call("put" if call.verb == "replace" else call.verb, (first, *rest), options)
        return None if self.is_known_to_fail(tenant, ready) else ready

    def is_known_to_fail(self, tenant: str, call: Call) -> bool:
        """Two bugs that are known: take this away once they are mended."""
        thing, *rest = call.args
        where, old = place(tenant, thing), call.options.get("old")
        row, found = self.model.rows.get(where), self.model.living().get(where)
        if call.verb == "delete" and not rest and row and not found and row.model is Account:
            return self.model.holder(tenant, row.values["email"]) is not None  # deletes nothing, and raises
        if isinstance(old, Account) and found and place(tenant, old) != where:
            return found.values["email"] != thing.email  # leaves a pointer to an item of another address
        return False

    def view(self, tenant: str, key: Any) -> dict[str, Any] | None:
        """What a key, or a lookup, leads to."""
        if isinstance(key, Account.ByEmail):
            row = self.model.holder(tenant, key.email)
        else:
            row = self.model.living().get(place(tenant, key))
        return row.view if row else None

    def compare(self, fault: str, call: Callable[[], Iterable[Any]], expected: Sequence[Any]) -> None:
        found = self.attempt(fault, call)
        if isinstance(found, BaseException):
            assert isinstance(found, FAULTS[fault].raises), repr(found)
        else:
            assert [dumped(entity) for entity in found] == expected

    def check_found(
        self, tenant: str, paths: Sequence[AccessPath[Any]], found: Sequence[Any], where: Where | None, *, reverse: bool
    ) -> None:
        """All that is to be found in the right order, or, while the index lags behind, what once was."""
        on = index_of(paths[0])
        stale = self.lag > 0 and on != "table"
        rows = [row for past in self.history.values() for row in past] if stale else [*self.model.rows.values()]
        fitting = [
            row
            for row in rows
            if row.tenant == tenant and self.model.is_alive(row.expires) and any(row.fits(path) for path in paths)
            if where is None or where.holds(row)
        ]
        views = [row.view for row in fitting]
        at = [views.index(dumped(entity)) for entity in found]
        keys = [fitting[position].key_in(on) for position in at]
        assert keys == sorted(keys, reverse=reverse)
        assert len({fitting[position].place for position in at}) == len(found)
        assert stale or len(found) == len(fitting)


def check_pages(query: Any, found: Sequence[Any], size: int) -> None:
    """Page by page to the end of a query, and back."""
    pages = [query.page(size)]
    while pages[-1].cursor:
        pages.append(query.page(size, pages[-1].cursor))
    assert [entity for page in pages for entity in page.items] == found
    back = [pages.pop()]
    while back[-1].previous:
        back.append(query.page(size, back[-1].previous))
        assert back[-1].items == pages.pop().items
    assert not pages


def item_of(row: Row | None) -> dict[str, Any] | None:
    return row.item if row else None


TableMachine.TestCase.settings = settings(
    max_examples=200,
    stateful_step_count=35,
    derandomize=True,
    database=None,
)
TestTable = pytest.mark.no_cover(TableMachine.TestCase)  # long, and it takes three times as long where it is measured
