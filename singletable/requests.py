"""Builders of requests: what would be sent to DynamoDB, before anything is.  Pure: the time is an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, cast

from .codec import AttributeValue, item_size_bytes
from .compile import EntitySpec
from .declare import Changes, Lookup, PrimaryKey
from .errors import ItemTooLargeError, RequestError
from .expressions import Condition, Placeholders, absent, all_of, compare, exists, record
from .items import TARGET, WRITE, encode_field, entity_key, key_item, pointer_key, pointers, table_key, to_item
from .ttl import Expiry
from .updates import Update
from .wire import Operation, Request, WireItem

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")
Verb: TypeAlias = Literal["Put", "Update", "Delete", "ConditionCheck"]
Intent: TypeAlias = Literal["create", "put", "replace", "update", "delete", "check"]
PutExpiry: TypeAlias = Literal["refresh", "clear"]
ExpiryMode: TypeAlias = PutExpiry | Literal["keep"]

ITEM_BYTES = 400 * 1024
TRANSACTION_MEMBERS = 100
TRANSACTION_BYTES = 4 * 1024 * 1024
BATCH_GET_KEYS = 100
BATCH_WRITE_ITEMS = 25
"""DynamoDB's limits.  25 items of 400 KB stay below the 16 MB of a batch, so a batch is cut by count alone."""
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
    """What the item carries once the write is applied; a transaction has a token instead."""

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
class Requests:
    """The requests of one table."""

    table: str
    expiry: Expiry

    def get(self, key: WireItem, *, consistent: bool) -> Request:
        """Read one item."""
        return Request("GetItem", {"TableName": self.table, "Key": key, "ConsistentRead": consistent})

    def batch_get(self, keys: Sequence[WireItem], *, consistent: bool) -> Request:
        """Read up to 100 items."""
        return Request("BatchGetItem", {"RequestItems": {self.table: {"Keys": keys, "ConsistentRead": consistent}}})

    def batch_write(self, members: Sequence[Mapping[str, Any]]) -> Request:
        """Put or delete up to 25 items, without conditions."""
        return Request("BatchWriteItem", {"RequestItems": {self.table: members}})

    def transact_get(self, keys: Iterable[WireItem]) -> Request:
        """Read up to 100 items as of one moment."""
        members = [{"Get": {"TableName": self.table, "Key": key}} for key in keys]
        return Request("TransactGetItems", {"TransactItems": members})

    def transact_write(self, writes: Sequence[Write], token: str) -> Request:
        """All of `writes` or none; raises RequestError over DynamoDB's limits."""
        keys = [tuple(half["S"] for half in write.key.values()) for write in writes]
        for position, key in enumerate(keys):
            if key in keys[:position]:
                raise RequestError(f"a transaction changes one {writes[position].what} twice; combine the changes")
        if len(writes) > TRANSACTION_MEMBERS:
            raise RequestError(f"a transaction has {len(writes)} members, DynamoDB allows {TRANSACTION_MEMBERS}")
        size = sum(transaction_bytes(write) for write in writes)
        if size > TRANSACTION_BYTES:
            raise RequestError(f"a transaction has {size:,} bytes, DynamoDB allows {TRANSACTION_BYTES:,}")
        members = [{write.verb: write.params} for write in writes]
        return Request("TransactWriteItems", {"TransactItems": members, "ClientRequestToken": token})

    def item(self, entity: Entity, now: datetime) -> dict[str, AttributeValue]:
        """The item of an entity with its expiry; raises ItemTooLargeError."""
        item = to_item(entity) | self._stamp(entity.spec, now)
        size = item_size_bytes(item)
        if size > ITEM_BYTES:
            sizes = {name: item_size_bytes({name: value}) for name, value in item.items()}
            largest = dict(sorted(sizes.items(), key=lambda entry: -entry[1])[:3])
            raise ItemTooLargeError(
                entity=entity.spec.name, key=table_key(item), size_bytes=size, limit_bytes=ITEM_BYTES, largest=largest
            )
        return item

    def create(self, entity: Entity, now: datetime, *, write_id: str | None = None) -> list[Write]:
        """Put an entity and its pointers where nothing is, or only what has expired."""
        item = self.item(entity, now) | _mark(write_id)
        first = self._put(type(entity), item, "create", condition=self._gone(now))
        writes = [replace(first, write_id=write_id)]
        for pointer in self._pointers(entity, now):
            writes.append(self._put(type(entity), pointer, "create", condition=self._gone(now), lookup=True))
        return writes

    def put(
        self,
        entity: E,
        now: datetime,
        *,
        old: E | None = None,
        where: Callable[[E], bool] | None = None,
        expiry: PutExpiry = "refresh",
    ) -> list[Write]:
        """Put an entity over what is there; with `old`, over an item of another key or with other lookups.

        Its pointers must be free, or those of the item that it replaces: no write takes a lookup from another item.
        With `where`, an item must be there for which it holds."""
        item = self.item(entity, now)
        if expiry == "clear":
            item.pop(self.expiry.attribute, None)
        key = table_key(item)
        old_key = entity_key(old) if old else key
        moved = key != old_key
        over = None if moved else self._over(old or entity, now)
        intent: Intent = "put"
        if where is not None:
            there = self._live(now) & record(where, entity.spec)
            over, intent = (there if over is None else over & there), "replace"
        writes = [self._put(type(entity), item, intent, condition=over)]
        dropped = {pointer["pk"]["S"]: pointer for pointer in pointers(old)} if old else {}
        for pointer in self._pointers(entity, now):
            owned = _points_to(old_key) if dropped.pop(pointer["pk"]["S"], None) else _points_to(key) | self._gone(now)
            writes.append(self._put(type(entity), pointer, "put", condition=owned, lookup=True))
        for pointer in dropped.values():
            writes.append(self._delete(type(entity), table_key(pointer), _points_to(old_key), "pointer"))
        if moved:
            writes.append(self._delete(type(entity), old_key, None, entity.spec.name))
        return writes

    def update(
        self,
        key: PrimaryKey[E],
        patch: Changes[E],
        now: datetime,
        *,
        where: Callable[[E], bool] | None = None,
        expiry: ExpiryMode = "keep",
        absent_maps: frozenset[str] = frozenset(),
        write_id: str | None = None,
    ) -> Write:
        """Change an item that is there and has not expired; index keys follow.

        `absent_maps` are stored names of maps that the item does not have yet: a merge into one makes it.  With a
        `write_id` the change is made once, however often a driver sends it."""
        spec = key.model.spec
        placeholders = Placeholders()
        update = Update(placeholders)
        needs = update.apply(key, patch, absent_maps)
        self._apply_expiry(update, spec, now, expiry)
        if not update.render():
            raise RequestError(f"{type(patch).__qualname__}: the patch changes nothing")
        condition = self._live(now)
        for attribute, mark in _mark(write_id).items():
            update.set(attribute, mark)
            condition &= absent(attribute) | compare(attribute, "<>", mark)
        if where is not None:
            condition &= record(where, spec)
        for guard in (*map(exists, sorted(needs)), *map(absent, sorted(absent_maps))):
            condition &= guard
        wire = key_item(key)
        expression = update.render()
        params = self._params(Key=wire, UpdateExpression=expression, condition=condition, placeholders=placeholders)
        return Write("Update", params, key.model, wire, "update", spec.name, needs, write_id)

    def delete(
        self,
        key: PrimaryKey[E],
        now: datetime,
        *,
        lookups: Iterable[Lookup[E]] = (),
        where: Callable[[E], bool] | None = None,
    ) -> list[Write]:
        """Delete an item and the pointers of its lookups, as long as they still belong together."""
        spec = key.model.spec
        wire = key_item(key)
        condition = None if where is None else self._live(now) & record(where, spec)
        writes: list[Write] = []
        for lookup in lookups:
            ours = absent("pk") | _points_to(wire)
            writes.append(self._delete(key.model, pointer_key(lookup), ours, type(lookup).__qualname__))
            same = absent("pk") | all_of(_equal(spec, lookup.given()))
            condition = same if condition is None else condition & same
        return [self._delete(key.model, wire, condition, spec.name), *writes]

    def check(self, key: PrimaryKey[E], now: datetime, *, where: Callable[[E], bool] | None) -> Write:
        """That an item is there and `where` holds; without `where`, that none is."""
        spec = key.model.spec
        condition = self._gone(now) if where is None else self._live(now) & record(where, spec)
        wire = key_item(key)
        return Write("ConditionCheck", self._params(Key=wire, condition=condition), key.model, wire, "check", spec.name)

    def live_filter(self, now: datetime) -> Condition:
        """That an item has not expired."""
        return absent(self.expiry.attribute) | compare(self.expiry.attribute, ">", _epoch(now))

    def _live(self, now: datetime) -> Condition:
        return exists("pk") & self.live_filter(now)

    def _gone(self, now: datetime) -> Condition:
        return absent("pk") | compare(self.expiry.attribute, "<=", _epoch(now))

    def _over(self, old: Entity, now: datetime) -> Condition | None:
        """That what is in the way has the lookups of `old`, so that replacing it leaves no pointer behind."""
        names = sorted({part.name for lookup in old.spec.lookups.values() for part in lookup.parts})
        if not names:
            return None
        return self._gone(now) | all_of(_equal(old.spec, {name: getattr(old, name) for name in names}))

    def _pointers(self, entity: Entity, now: datetime) -> list[dict[str, AttributeValue]]:
        return [pointer | self._stamp(entity.spec, now) for pointer in pointers(entity)]

    def _stamp(self, spec: EntitySpec, now: datetime) -> dict[str, AttributeValue]:
        stamp = self.expiry.stamp(spec.name, now)
        return {} if stamp is None else {self.expiry.attribute: {"N": str(stamp)}}

    def _apply_expiry(self, update: Update, spec: EntitySpec, now: datetime, mode: ExpiryMode) -> None:
        if mode == "keep":
            return
        if spec.lookups:
            raise RequestError(f"{spec.name} has lookups, whose pointers would keep the old expiry: put the whole item")
        stamp = self._stamp(spec, now).get(self.expiry.attribute)
        if mode == "clear" or stamp is not None:
            update.set(self.expiry.attribute, stamp if mode == "refresh" else None)

    def _put(
        self, model: type[Entity], item: WireItem, intent: Intent, *, condition: Condition | None, lookup: bool = False
    ) -> Write:
        what = f"lookup {item['pk']['S'].partition('#')[0]}" if lookup else model.spec.name
        return Write("Put", self._params(Item=item, condition=condition), model, table_key(item), intent, what)

    def _delete(self, model: type[Entity], key: WireItem, condition: Condition | None, what: str) -> Write:
        return Write("Delete", self._params(Key=key, condition=condition), model, key, "delete", what)

    def _params(
        self, *, condition: Condition | None, placeholders: Placeholders | None = None, **params: object
    ) -> dict[str, Any]:
        to = placeholders or Placeholders()
        built: dict[str, Any] = {"TableName": self.table, **params}
        if condition is not None:
            built["ConditionExpression"] = condition.render(to)
            built["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return built | to.params()


def transaction_bytes(write: Write) -> int:
    """What a member counts for the 4 MB of a transaction: the item it puts, or the values that it carries."""
    item = write.params.get("Item") or write.params.get("ExpressionAttributeValues", {})
    return item_size_bytes(cast("WireItem", item))


def _mark(write_id: str | None) -> dict[str, AttributeValue]:
    return {} if write_id is None else {WRITE: {"S": write_id}}


def _epoch(now: datetime) -> AttributeValue:
    return {"N": str(int(now.timestamp()))}


def _points_to(key: WireItem) -> Condition:
    return compare(TARGET[0], "=", key["pk"]) & compare(TARGET[1], "=", key["sk"])


def _equal(spec: EntitySpec, values: Mapping[str, object]) -> list[Condition]:
    stored = {spec.fields[name].stored: encode_field(spec.fields[name], value, spec) for name, value in values.items()}
    return [compare(name, "=", value) for name, value in stored.items() if value is not None]
