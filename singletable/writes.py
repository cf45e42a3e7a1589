"""Builders of writes: what would be sent to DynamoDB, before anything is.  Pure: the moment is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from .codec import AttributeValue, fits, item_size_bytes
from .declare import Changes, Lookup, PrimaryKey
from .errors import ItemTooLargeError, RequestError
from .expressions import Condition, Placeholders, absent, all_of, compare, record
from .fences import Fence
from .items import (
    entity_key,
    key_item,
    pointer_key,
    pointers,
    table_key,
    to_item,
)
from .moment import Moment, assigned, version_of
from .presence import expired, gone, holds, living
from .settings import Settings
from .specs import ENTITY, TARGET, VERSION, WRITE, EntitySpec
from .updates import UNSEEN, Seen, Update
from .wire import Operation, Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")
Verb: TypeAlias = Literal["Put", "Update", "Delete", "ConditionCheck"]
Intent: TypeAlias = Literal["create", "put", "replace", "update", "delete", "check"]
PutExpiry: TypeAlias = Literal["refresh", "clear"]
ExpiryMode: TypeAlias = PutExpiry | Literal["keep"]

ITEM_BYTES = 400 * 1024
"""DynamoDB's limit for an item."""
_OPERATIONS: Mapping[Verb, Operation] = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem"}


@dataclass(frozen=True)
class Write:
    """One write, to be sent alone or as a member of a transaction."""

    verb: Verb
    params: Mapping[str, Any]
    model: type[Entity]
    key: WireItem
    intent: Intent
    what: str
    """What an error is about: the entity, or one of its lookups."""
    needs: frozenset[str] = frozenset()
    """Attributes that an update takes for granted, and that an item of an older version may lack."""
    write_id: str | None = None
    """What the item carries once the write is applied."""
    expected: str | None = None
    """The version that must be stored; empty where nothing may be."""

    @property
    def spec(self) -> EntitySpec:
        """The entity that is written."""
        return self.model.spec

    def made(self, item: WireItem | None) -> bool:
        """Whether a stored item is as this write made it."""
        return item is not None and self.write_id is not None and item.get(WRITE) == {"S": self.write_id}

    def returning(self, values: Literal["ALL_NEW", "ALL_OLD"]) -> Write:
        """The write, answered with the item as it was or is; only outside a transaction."""
        return replace(self, params={**self.params, "ReturnValues": values})

    def request(self) -> Request:
        """The write as a request of its own."""
        return Request(_OPERATIONS[self.verb], self.params)


@dataclass(frozen=True)
class Writes:
    """The writes of one table.  Every item carries the id of the write that made it what it is."""

    settings: Settings

    def item(self, entity: Entity, moment: Moment) -> dict[str, AttributeValue]:
        """The item of an entity with its expiry; raises ItemTooLargeError."""
        item = to_item(entity, self.settings.scope, assigned(entity, moment)) | self._stamp(entity.spec, moment)
        item[WRITE] = {"S": moment.write_id}
        if not fits([item], ITEM_BYTES):
            raise _too_large(entity.spec, item)
        return item

    def create(self, entity: Entity, moment: Moment) -> list[Write]:
        """Put an entity and its pointers where nothing is, or only what has expired."""
        writes = [self._put(type(entity), self.item(entity, moment), "create", condition=self._gone(moment))]
        for pointer in self._pointers(entity, moment):
            writes.append(self._put(type(entity), pointer, "create", condition=self._gone(moment), lookup=True))
        return writes

    def put(
        self,
        entity: E,
        moment: Moment,
        *,
        old: E | None = None,
        where: Callable[[E], bool] | None = None,
        or_absent: bool = False,
        expiry: PutExpiry = "refresh",
    ) -> list[Write]:
        """Put an entity over what is there; with `old`, over an item of another key or with other lookups.

        Its pointers must be free, or those of the item that it replaces: no write takes a lookup from another item.
        With `where`, an item must be there for which it holds, or none with `or_absent`; an entity with a version must
        be as it was read."""
        item = self.item(entity, moment)
        if expiry == "clear":
            item.pop(self.settings.expiry.attribute, None)
        key = table_key(item)
        old_key = entity_key(old, self.settings.scope) if old else key
        moved = key != old_key
        expected = version_of(entity) if moved else version_of(old or entity)
        demands = [] if moved else self._over(old or entity, moment)
        demands += self._version(expected, moment)
        if where is not None:
            holding = record(where, entity.spec)
            demands.append(self._gone(moment) | holding if or_absent else self._living(moment) & holding)
        first = self._put(type(entity), item, "replace" if where or expected else "put", condition=_all(demands))
        writes = [replace(first, expected=expected)]
        dropped = {pointer["pk"]["S"]: pointer for pointer in pointers(old, self.settings.scope)} if old else {}
        for pointer in self._pointers(entity, moment):
            free = _points_to(key) | self._gone(moment)
            owned = _points_to(old_key) if dropped.pop(pointer["pk"]["S"], None) else free
            writes.append(self._put(type(entity), pointer, "put", condition=owned, lookup=True))
        for pointer in dropped.values():
            writes.append(self._delete(type(entity), table_key(pointer), _points_to(old_key), "pointer"))
        if old and moved:
            left = version_of(old)
            stays = _all(self._version(left, moment)) if left else None
            writes.append(replace(self._delete(type(entity), old_key, stays, entity.spec.name), expected=left))
        return writes

    def update(
        self,
        key: PrimaryKey[E],
        patch: Changes[E],
        moment: Moment,
        *,
        where: Callable[[E], bool] | None = None,
        if_version: str | None = None,
        expiry: ExpiryMode = "keep",
        seen: Seen = UNSEEN,
    ) -> Write:
        """Change an item that is there and has not expired; index keys follow.

        The change is made once, however often a driver sends it."""
        spec = key.declared_for.spec
        update = Update(Placeholders())
        update.apply(key, patch, moment, seen, self.settings.scope)
        self._apply_expiry(update, spec, moment, expiry)
        if not update.render():
            raise RequestError(f"{type(patch).__qualname__}: the patch changes nothing")
        mark: AttributeValue = {"S": moment.write_id}
        update.set(WRITE, mark)
        demands = [self._living(moment), absent(WRITE) | compare(WRITE, "<>", mark)]
        demands += _current(spec, if_version)
        if where is not None:
            demands.append(record(where, spec))
        if spec.upcasters:
            demands.append(compare(VERSION, ">=", {"N": str(spec.version)}))
        condition = all_of([*demands, *update.required(), *seen.condition(spec)])
        wire = key_item(key, self.settings.scope)
        expression = update.render()
        to = update.placeholders
        params = write_params(self.settings.table, condition, to, Key=wire, UpdateExpression=expression)
        needs = frozenset(update.needs)
        return Write("Update", params, key.declared_for, wire, "update", spec.name, needs, moment.write_id, if_version)

    def delete(
        self,
        key: PrimaryKey[E],
        moment: Moment,
        *,
        lookups: Iterable[Lookup[E]] = (),
        where: Callable[[E], bool] | None = None,
        if_version: str | None = None,
        must_exist: bool = False,
    ) -> list[Write]:
        """Delete an item and the pointers of its lookups, as long as they still belong together."""
        spec = key.declared_for.spec
        wire = key_item(key, self.settings.scope)
        demands: list[Condition] = _current(spec, if_version)
        if where is not None:
            demands.append(record(where, spec))
        if demands:
            demands.insert(0, self._living(moment))
        writes: list[Write] = []
        for lookup in lookups:
            ours = absent("pk") | _points_to(wire)
            key_of_pointer = pointer_key(lookup, self.settings.scope)
            writes.append(self._delete(key.declared_for, key_of_pointer, ours, type(lookup).__qualname__))
            belongs = holds(spec, lookup.declared_values())
            demands.append(belongs if must_exist else absent("pk") | belongs)
        first = self._delete(key.declared_for, wire, _all(demands), spec.name)
        return [replace(first, expected=if_version), *writes]

    def purge(self, model: type[Entity], key: WireItem, moment: Moment) -> Write:
        """Delete an item, or a pointer, that has expired, as long as nobody writes it anew."""
        return self._delete(model, key, expired(self.settings.expiry, moment.now), model.spec.name)

    def check(self, key: PrimaryKey[E], moment: Moment, *, where: Callable[[E], bool] | None) -> Write:
        """That an item is there and `where` holds; without `where`, that none is."""
        spec = key.declared_for.spec
        condition = self._gone(moment) if where is None else self._living(moment) & record(where, spec)
        wire = key_item(key, self.settings.scope)
        return Write(
            "ConditionCheck", self._params(Key=wire, condition=condition), key.declared_for, wire, "check", spec.name
        )

    def fence(self, fence: Fence, moment: Moment) -> Write:
        """That a fence stands."""
        spec = fence.key.declared_for.spec
        wire = key_item(fence.key, self.settings.scope)
        params = self._params(Key=wire, condition=self._living(moment) & holds(spec, fence.holds))
        return Write("ConditionCheck", params, fence.key.declared_for, wire, "check", spec.name)

    def _living(self, moment: Moment) -> Condition:
        return living(self.settings.expiry, moment.now)

    def _gone(self, moment: Moment) -> Condition:
        return gone(self.settings.expiry, moment.now)

    def _over(self, old: Entity, moment: Moment) -> list[Condition]:
        """That what is in the way has the lookups of `old`, so that replacing it leaves no pointer behind."""
        names = sorted({part.name for lookup in old.spec.lookups.values() for part in lookup.parts})
        if not names:
            return []
        return [self._gone(moment) | holds(old.spec, {name: getattr(old, name) for name in names})]

    def _version(self, expected: str | None, moment: Moment) -> list[Condition]:
        """That the item is of the version that was read; for the empty one, that none is there."""
        if expected is None:
            return []
        return [self._living(moment) & _is_version(expected) if expected else self._gone(moment)]

    def _pointers(self, entity: Entity, moment: Moment) -> list[dict[str, AttributeValue]]:
        stamp = self._stamp(entity.spec, moment)
        return [pointer | stamp for pointer in pointers(entity, self.settings.scope, assigned(entity, moment))]

    def _stamp(self, spec: EntitySpec, moment: Moment) -> dict[str, AttributeValue]:
        stamp = self.settings.expiry.stamp(spec.name, moment.now)
        return {} if stamp is None else {self.settings.expiry.attribute: {"N": str(stamp)}}

    def _apply_expiry(self, update: Update, spec: EntitySpec, moment: Moment, mode: ExpiryMode) -> None:
        if mode == "keep":
            return
        if spec.lookups:
            raise RequestError(f"{spec.name} has lookups, whose pointers would keep the old expiry: put the whole item")
        stamp = self._stamp(spec, moment).get(self.settings.expiry.attribute)
        if mode == "clear" or stamp is not None:
            update.set(self.settings.expiry.attribute, stamp if mode == "refresh" else None)

    def _put(
        self, model: type[Entity], item: WireItem, intent: Intent, *, condition: Condition | None, lookup: bool = False
    ) -> Write:
        what = f"lookup {item[ENTITY]['S']}" if lookup else model.spec.name
        write_id = item.get(WRITE, {}).get("S")
        params = self._params(Item=item, condition=condition)
        return Write("Put", params, model, table_key(item), intent, what, write_id=write_id)

    def _delete(self, model: type[Entity], key: WireItem, condition: Condition | None, what: str) -> Write:
        return Write("Delete", self._params(Key=key, condition=condition), model, key, "delete", what)

    def _params(self, *, condition: Condition | None, **params: object) -> dict[str, Any]:
        return write_params(self.settings.table, condition, Placeholders(), **params)


def write_params(table: str, condition: Condition | None, to: Placeholders, **params: object) -> dict[str, Any]:
    """The parameters of a write: where its condition fails, the answer says what is stored."""
    built: dict[str, Any] = {"TableName": table, **params}
    if condition is not None:
        built["ConditionExpression"] = condition.render(to)
        built["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return built | to.params()


def _too_large(spec: EntitySpec, item: WireItem) -> ItemTooLargeError:
    sizes = {name: item_size_bytes({name: value}) for name, value in item.items()}
    largest = dict(sorted(sizes.items(), key=lambda entry: -entry[1])[:3])
    size = sum(sizes.values())
    return ItemTooLargeError(
        entity=spec.name, key=table_key(item), size_bytes=size, limit_bytes=ITEM_BYTES, largest=largest
    )


def _all(demands: Sequence[Condition]) -> Condition | None:
    return all_of(demands) if demands else None


def _current(spec: EntitySpec, if_version: str | None) -> list[Condition]:
    if if_version is None:
        return []
    if not if_version or "version" not in spec.automatic:
        raise RequestError(f"if_version takes the version of a {spec.name} that was read, from its Version field")
    return [_is_version(if_version)]


def _is_version(version: str) -> Condition:
    return compare(WRITE, "=", {"S": version})


def _points_to(key: WireItem) -> Condition:
    return compare(TARGET[0], "=", key["pk"]) & compare(TARGET[1], "=", key["sk"])
