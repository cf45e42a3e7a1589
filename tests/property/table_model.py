"""What a table has to do, in plain Python: what each write makes of its rows, or which error it is refused with."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from singletable import (
    KEEP,
    AlreadyExistsError,
    ConditionFailedError,
    Entity,
    Lookup,
    NotFoundError,
    OutdatedItemError,
    PrimaryKey,
    RequestError,
    StorageError,
    TransactionFailedError,
    VersionConflictError,
)
from singletable.values import Edit
from tests.contract.support import Clock
from tests.property.table_rows import TEMPLATES, Account, Place, Row, kind_of, place, pointer_of

TTL_SECONDS = {"task": 60, "doc": 150, "account": 90}
Rows = Mapping[Place, Row]
Changes = Mapping[Place, Row | None]
"""The rows that a write leaves; None for one that it deletes."""
VERBS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, new: (old or set()) | new if isinstance(new, set) else (old or 0) + new,
    "subtract": lambda old, new: (old or 0) - new,
    "append": lambda old, new: [*(old or []), *new],
    "prepend": lambda old, new: [*new, *(old or [])],
    "discard": lambda old, new: (old or set()) - new,
    "default": lambda old, new: new if old is None else old,
    "merge": lambda old, new: {**(old or {}), **new},
    "remove": lambda _old, _new: None,
}
"""What an edit makes of a stored value, None where there is none."""


@dataclass(frozen=True)
class Where:
    """A condition for the library as for the model."""

    field: str
    operator: str
    value: Any

    def __call__(self, entity: Any) -> Any:
        return getattr(operator, self.operator)(getattr(entity, self.field), self.value)

    def holds(self, row: Row) -> bool:
        if self.value is None:
            return self.field not in row.values
        return self.field in row.values and getattr(operator, self.operator)(row.values[self.field], self.value)


@dataclass(frozen=True)
class Call:
    """A call of a method that a table, or a transaction, and the model both have."""

    verb: str
    args: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def on(self, target: Any, *before: Any, **more: Any) -> Any:
        if self.verb == "transact" and not before:
            return _transact(target, *self.args)
        return getattr(target, self.verb)(*before, *self.args, **self.options, **more)

    def places(self, tenant: str) -> set[Place]:
        """The items that it writes or checks as a member of a transaction."""
        return {found for thing in (*self.args, self.options.get("old")) for found in _places(tenant, thing)}


@dataclass
class Model:
    """The rows of one table, those that have expired too.  Each write says what it changes, or raises."""

    clock: Clock
    rows: Rows = field(default_factory=dict)
    pointers: Mapping[Place, tuple[Place, int | None]] = field(default_factory=dict)
    """Where the pointer items point and when they expire.  As they are stored: some may outlive their use."""

    def is_alive(self, expires: int | None) -> bool:
        return expires is None or expires > self.clock.now.timestamp()

    def living(self) -> dict[Place, Row]:
        return {where: row for where, row in self.rows.items() if self.is_alive(row.expires)}

    def holder(self, tenant: str, email: str) -> Row | None:
        """Who has this e-mail address."""
        rows = (row for row in self.living().values() if row.tenant == tenant)
        return next((row for row in rows if row.values.get("email") == email), None)

    def create(self, tenant: str, entity: Any, *, alone: bool = True) -> Changes:
        row = self._fresh(tenant, entity)
        if row.place in self.living() or (row.model is Account and self.holder(tenant, entity.email)):
            raise AlreadyExistsError("")
        return {row.place: row}

    def put(
        self,
        tenant: str,
        entity: Any,
        *,
        old: Any = None,
        where: Where | None = None,
        expiry: str = "refresh",
        alone: bool = True,
    ) -> Changes:
        row, left = self._fresh(tenant, entity, expiry), place(tenant, old or entity)
        replaced = entity if left != row.place else old or entity
        version, found = getattr(replaced, "etag", None), self.living().get(row.place)
        if found and version is not None and found.write != version:
            raise VersionConflictError("")
        if where or version:
            _required(found, where)
        if row.model is Account:
            if found and not alone and found.values["email"] != replaced.email:
                raise AlreadyExistsError("")  # its pointer would be left behind
            self._claim(row, old, left)
        if left != row.place and getattr(old, "etag", ""):
            _required(self.living().get(left), version=old.etag)
        return {left: None, row.place: row}

    def put_many(self, tenant: str, entities: Iterable[Entity]) -> Changes:
        rows = [self._fresh(tenant, entity) for entity in entities]
        if any(row.model is Account for row in rows) or len({row.place for row in rows}) < len(rows):
            raise RequestError("")
        return {row.place: row for row in rows}

    def update(
        self,
        tenant: str,
        key: Any,
        patch: Any,
        *,
        where: Where | None = None,
        if_version: str | None = None,
        expiry: str = "keep",
        refresh: bool = False,
        alone: bool = True,
    ) -> Changes:
        name, target = kind_of(key).spec.name, place(tenant, key)
        changes = {field: change for field, change in vars(patch).items() if change is not KEEP}
        found, lacks = self.living().get(target), _is_incomplete(name, changes)
        if lacks and refresh:
            _required(found)
        elif lacks or (not changes and expiry == "keep") or (kind_of(key) is Account and expiry != "keep"):
            raise RequestError("")
        row = _required(found, version=if_version)
        _require_map(row, changes.get("extra"), alone=alone)
        _required(row, where)
        values = {**row.values, **{field: _changed(row, field, change) for field, change in changes.items()}}
        if changes and "updated_at" in values:
            values["updated_at"] = self.clock.now
        expires = row.expires if expiry == "keep" else self._stamp(name, expiry)
        return {target: replace(row, values=_stored(values), expires=expires, write=None)}

    def upsert(self, tenant: str, entity: Any) -> Changes:
        kind = type(entity)
        if place(tenant, entity) not in self.living():
            return self.create(tenant, entity)
        given = {field: getattr(entity, field) for field in entity.model_fields_set & vars(kind.Patch()).keys()}
        return self.update(tenant, kind.Key.of(entity), kind.Patch(**given), refresh=True) if given else {}

    def delete(
        self,
        tenant: str,
        key: Any,
        *lookups: Any,
        where: Where | None = None,
        if_version: str | None = None,
        alone: bool = True,
    ) -> Changes:
        target = place(tenant, key)
        if where or if_version:
            _required(self.living().get(target), where, if_version)
        for lookup in lookups:
            row, (pointed, _) = self.rows.get(target), self.pointers.get(pointer_of(tenant, lookup.email), (target, 0))
            if pointed != target or (row and row.values["email"] != lookup.email):
                raise ConditionFailedError("")
        return {target: None}

    def delete_many(self, tenant: str, keys: Iterable[Any]) -> Changes:
        if any(kind_of(key) is Account for key in keys):
            raise RequestError("")
        return {place(tenant, key): None for key in keys}

    def check(self, tenant: str, key: Any, where: Where, *, alone: bool = False) -> Changes:
        _required(self.living().get(place(tenant, key)), where)
        return {}

    def check_absent(self, tenant: str, key: Any, *, alone: bool = False) -> Changes:
        if place(tenant, key) in self.living():
            raise ConditionFailedError("")
        return {}

    def transact(self, tenant: str, calls: Iterable[Call]) -> Changes:
        changes: dict[Place, Row | None] = {}
        refused = False
        for call in calls:
            try:
                changes |= call.on(self, tenant, alone=False)
            except StorageError:
                refused = True
        reached = [where for call in calls for where in call.places(tenant)]
        if len(set(reached)) < len(reached):
            raise RequestError("")
        if refused:
            raise TransactionFailedError("")
        return changes

    def _fresh(self, tenant: str, entity: Any, expiry: str = "refresh") -> Row:
        values = entity.model_dump(exclude={"etag"})
        if "updated_at" in values:
            values["updated_at"] = self.clock.now
        if "created_at" in values and "created_at" not in entity.model_fields_set:
            values["created_at"] = self.clock.now
        return Row(tenant, type(entity), _stored(values), self._stamp(entity.spec.name, expiry))

    def _stamp(self, name: str, expiry: str) -> int | None:
        return None if expiry == "clear" else int(self.clock.now.timestamp()) + TTL_SECONDS[name]

    def _claim(self, row: Row, old: Any, left: Place) -> None:
        """Refuse an account that would take the e-mail address of another one, or whose old one is not its own."""
        holder = self.holder(row.tenant, row.values["email"])
        if old and self.pointers.get(pointer_of(row.tenant, old.email), (None, 0))[0] != left:
            raise AlreadyExistsError("")
        if holder and holder.place not in (row.place, left if old and old.email == row.values["email"] else None):
            raise AlreadyExistsError("")


def _transact(table: Any, calls: Iterable[Call]) -> None:
    with table.transaction() as tx:
        for call in calls:
            call.on(tx)


def _places(tenant: str, thing: Any) -> list[Place]:
    if isinstance(thing, Lookup):
        return [pointer_of(tenant, thing.email)]
    if not isinstance(thing, Entity | PrimaryKey):
        return []
    pointers = [pointer_of(tenant, thing.email)] if isinstance(thing, Account) else []
    return [place(tenant, thing), *pointers]


def _required(row: Row | None, where: Where | None = None, version: str | None = None) -> Row:
    if row is None:
        raise NotFoundError("")
    if version is not None and row.write != version:
        raise VersionConflictError("")
    if where and not where.holds(row):
        raise ConditionFailedError("")
    return row


def _require_map(row: Row, change: Any, *, alone: bool) -> None:
    """Alone, a merge makes the map that it needs."""
    if "extra" not in row.values and getattr(change, "verb", "") in ({"set_at"} if alone else {"set_at", "merge"}):
        raise OutdatedItemError("")


def _is_incomplete(name: str, changes: Mapping[str, Any]) -> bool:
    """Whether a patch gives some parts of a sparse index, and leaves others open."""
    _, partition, sort = TEMPLATES[name].get("gsi1", ("", [], []))
    given = changes.keys() & {*partition, *sort}
    return 0 < len(given) < len(partition) + len(sort) and all(changes[part] is not None for part in given)


def _changed(row: Row, name: str, change: Any) -> Any:
    old = row.values.get(name)
    if not isinstance(change, Edit):
        return change
    if change.verb not in ("set_at", "remove_at"):
        return VERBS[change.verb](old, change.operand)
    (step,) = change.path
    if old is None:
        raise StorageError("")
    if isinstance(old, list):
        return [inner for position, inner in enumerate(old) if position != step]
    rest = {inner: value for inner, value in old.items() if inner != step}
    return rest | {step: change.operand} if change.verb == "set_at" else rest


def _stored(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without what is stored by being absent."""
    return {name: value for name, value in values.items() if value is not None and value != set()}
