# Generated from ../_async/table.py by scripts/generate_sync.py; edit that file.
"""One DynamoDB table and the entities in it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast, overload

from ..catalog import Catalog
from ..clock import Clock, utc_now
from ..codec import item_size_bytes
from ..declare import AccessPath, Changes, Index, Lookup, PrimaryKey
from ..entity import Entity
from ..errors import ConditionFailedError, OutdatedItemError, RequestError
from ..items import from_item, key_item, lookups_of, pointer_key, target_key
from ..plans import plan
from ..requests import ExpiryMode, Requests, Write
from ..retry import ATTEMPTS, pause_seconds
from ..transport import Transport
from ..ttl import read_expiry
from ..updates import merged
from ..wire import WireItem
from .batch import batch_get, batch_write
from .query import Query
from .sender import Sender, Sleep
from .transaction import Transaction

E = TypeVar("E", bound=Entity)
E2 = TypeVar("E2", bound=Entity)
E3 = TypeVar("E3", bound=Entity)


class Table:
    """Reads and writes the entities of one table; the constructor sends nothing.

    Reads of items are strongly consistent.  An item that has expired counts as absent, removed by DynamoDB or not."""

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        entities: Iterable[type[Entity]],
        ttl: Mapping[str, object] | None = None,
        clock: Clock = utc_now,
        sleep: Sleep = time.sleep,
    ) -> None:
        self.name = name
        self.catalog = Catalog(entities)
        expiry = read_expiry(ttl or {}, self.catalog.ttl_seconds())
        self.catalog.check_ttl(expiry.attribute)
        self.clock = clock
        self.sleep = sleep
        self._sender = Sender(transport, Requests(name, expiry), clock, sleep)

    def get(self, key: PrimaryKey[E] | Lookup[E], *, consistent: bool = True) -> E | None:
        """The entity with this key, or None; a lookup costs a second read."""
        if isinstance(key, Lookup):
            item = self._follow(key, consistent=consistent)
        else:
            item = self._read(key_item(key), key.model, consistent=consistent)
        return None if item is None else self.load(cast("type[E]", key.model), item)

    def get_many(self, keys: Iterable[PrimaryKey[E] | Lookup[E]], *, consistent: bool = True) -> list[E]:
        """The entities of `keys` that exist, in the order of the keys; 100 keys a request, lookups twice that."""
        wanted = list(keys)
        self._require_models(key.model for key in wanted)
        found = self._batch([pointer_key(key) for key in wanted if isinstance(key, Lookup)], consistent=consistent)
        places = [self._place(key, found) for key in wanted]
        items = self._batch([place for place in places if place], consistent=consistent)
        entities: list[E] = []
        for key, place in zip(wanted, places, strict=True):
            item = items.get(_text(place)) if place else None
            if place and item is None and isinstance(key, Lookup):
                item = self._follow(key, consistent=consistent)  # it may have moved between the two reads
            if item is not None:
                entities.append(self.load(cast("type[E]", key.model), item))
        return entities

    @overload
    def get_all(self, a: PrimaryKey[E], b: PrimaryKey[E2], /) -> tuple[E | None, E2 | None]: ...
    @overload
    def get_all(
        self, a: PrimaryKey[E], b: PrimaryKey[E2], c: PrimaryKey[E3], /
    ) -> tuple[E | None, E2 | None, E3 | None]: ...
    def get_all(self, *keys: PrimaryKey[Any]) -> tuple[Entity | None, ...]:
        """The entities of two or three keys as of one moment; costs two read units per 4 KB and item."""
        self._require_models(key.model for key in keys)
        response = self._sender.send(self._sender.requests.transact_get([key_item(key) for key in keys]))
        items = [answer.get("Item") for answer in response["Responses"]]
        return tuple(
            None if item is None or self._is_past(item) else self.load(key.model, item)
            for key, item in zip(keys, items, strict=True)
        )

    def create(self, entity: E) -> E:
        """Store a new entity; raises AlreadyExistsError if its key or one of its lookups is taken."""
        self._require_models([type(entity)])
        writes = self._sender.requests.create(entity, self.clock(), write_id=_new_write_id())
        self._sender.write(writes)
        return self._as_stored(entity, writes)

    def put(self, entity: E, *, where: Callable[[E], bool] | None = None) -> E:
        """Store an entity over what is there; raises AlreadyExistsError if a lookup belongs to another item.

        With `where`, an item must be there for which it holds: NotFoundError or ConditionFailedError otherwise."""
        self._require_models([type(entity)])
        writes = self._sender.requests.put(entity, self.clock(), where=where)
        try:
            self._sender.write(writes)
        except ConditionFailedError as error:
            # Where the item in the way has other lookups, it is replaced together with its pointers.
            old = error.current
            if not isinstance(old, type(entity)) or lookups_of(old) == lookups_of(entity):
                raise
            self._sender.write(self._sender.requests.put(entity, self.clock(), old=old, where=where))
        return self._as_stored(entity, writes)

    def update(
        self,
        key: PrimaryKey[E],
        patch: Changes[E],
        *,
        where: Callable[[E], bool] | None = None,
        expiry: ExpiryMode = "keep",
    ) -> E:
        """The entity after the change; raises NotFoundError if it is absent, ConditionFailedError if `where` fails.

        An update never creates.  Its expiry stays (`keep`), starts again (`refresh`) or goes (`clear`)."""
        self._require_models([key.model])
        absent_maps: frozenset[str] = frozenset()
        while True:
            write = self._sender.requests.update(
                key,
                patch,
                self.clock(),
                where=where,
                expiry=expiry,
                absent_maps=absent_maps,
                write_id=_new_write_id(),
            )
            try:
                response = self._sender.write([write.returning("ALL_NEW")])
                break
            except OutdatedItemError as error:
                lacking = write.needs - (error.item or {}).keys()
                if absent_maps or not lacking <= merged(key.model.spec, patch):
                    raise
                absent_maps = lacking
        return self.load(cast("type[E]", key.model), response["Attributes"])

    def delete(self, key: PrimaryKey[E], *, where: Callable[[E], bool] | None = None) -> None:
        """Delete an entity with its pointers; absent is fine, unless `where` is given.

        An entity with lookups is read first, to know them: a second request."""
        self._require_models([key.model])
        attempt = 0
        while True:
            lookups = self._stored_lookups(key)
            try:
                self._sender.write(self._sender.requests.delete(key, self.clock(), lookups=lookups, where=where))
            except ConditionFailedError:
                # Without `where` only a change of the lookups since they were read stands in the way.
                attempt += 1
                if where is not None or attempt == ATTEMPTS:
                    raise
            else:
                return
            self.sleep(pause_seconds(attempt))

    @overload
    def query(self, path: PrimaryKey[E] | Index[E], /) -> Query[E, E]: ...
    @overload
    def query(self, path: PrimaryKey[E] | Index[E], second: PrimaryKey[E2] | Index[E2], /) -> Query[E | E2, E | E2]: ...
    @overload
    def query(
        self, path: PrimaryKey[E] | Index[E], second: PrimaryKey[E2] | Index[E2], third: PrimaryKey[E3] | Index[E3], /
    ) -> Query[E | E2 | E3, E | E2 | E3]: ...
    def query(self, *paths: AccessPath[Any]) -> Query[Any, Any]:
        """A query over one access pattern, or over several that share a partition: one request reads a collection."""
        self._require_models(path.model for path in paths)
        return Query(self._sender, plan(self._sender.requests, paths))

    def put_many(self, entities: Iterable[Entity]) -> None:
        """Store entities, 25 a request, not as one: raises PartialBatchError with what is not written.

        Raises RequestError, before anything is sent, for an entity with lookups and for one that comes twice."""
        items = [self._sender.requests.item(entity, self.clock()) for entity in self._without_lookups(entities)]
        _require_distinct(items)
        batch_write(self._sender, [{"PutRequest": {"Item": item}} for item in items])

    def delete_many(self, keys: Iterable[PrimaryKey[Any]]) -> None:
        """Delete by key, 25 a request, not as one: raises PartialBatchError with what is not deleted."""
        wanted = list(keys)
        self._require_models(key.model for key in wanted)
        for key in wanted:
            _require_no_lookups(key.model)
        distinct = {_text(key_item(key)): key_item(key) for key in wanted}
        batch_write(self._sender, [{"DeleteRequest": {"Key": key}} for key in distinct.values()])

    def size_bytes(self, entity: Entity) -> int:
        """The bytes that DynamoDB counts for an entity with its pointers; raises RequestError if it does not fit."""
        writes = self._sender.requests.put(entity, self.clock())
        return sum(item_size_bytes(write.params["Item"]) for write in writes)

    def transaction(self) -> Transaction:
        """A block whose writes happen together or not at all."""
        return Transaction(self._sender)

    def _read(self, wire: WireItem, model: type[Entity], *, consistent: bool, expired: bool = False) -> WireItem | None:
        self._require_models([model])
        request = self._sender.requests.get(wire, consistent=consistent)
        response = self._sender.send(request, entity=model.spec.name, key=wire)
        item = response.get("Item")
        return None if item is None or (self._is_past(item) and not expired) else item

    def _stored_lookups(self, key: PrimaryKey[E]) -> list[Lookup[E]]:
        if not key.model.spec.lookups:
            return []
        item = self._read(key_item(key), key.model, consistent=True, expired=True)
        return [] if item is None else lookups_of(self.load(cast("type[E]", key.model), item))

    def _follow(self, lookup: Lookup[Any], *, consistent: bool) -> WireItem | None:
        """The item that a pointer points to; an item that moves between the two reads is followed."""
        seen: WireItem | None = None
        while True:
            pointer = self._read(pointer_key(lookup), lookup.model, consistent=consistent)
            if pointer is None or target_key(pointer) == seen:
                return None
            seen = target_key(pointer)
            item = self._read(seen, lookup.model, consistent=consistent)
            if item is not None:
                return item

    def _batch(self, keys: Iterable[WireItem], *, consistent: bool) -> dict[str, WireItem]:
        distinct = {_text(key): key for key in keys}
        items = batch_get(self._sender, list(distinct.values()), consistent=consistent)
        return {_text(item): item for item in items if not self._is_past(item)}

    def _place(self, key: PrimaryKey[Any] | Lookup[Any], pointers: Mapping[str, WireItem]) -> WireItem | None:
        if isinstance(key, Lookup):
            pointer = pointers.get(_text(pointer_key(key)))
            return None if pointer is None else target_key(pointer)
        return key_item(key)

    def _as_stored(self, entity: E, writes: Sequence[Write]) -> E:
        """The entity as it would be read now: times are cut to milliseconds."""
        return self.load(type(entity), writes[0].params["Item"])

    def _is_past(self, item: WireItem) -> bool:
        return self._sender.requests.expiry.is_past(item, self.clock())

    def load(self, model: type[E], item: WireItem) -> E:
        """The entity of an item in typed JSON, for example of an error's `.item`; raises CorruptItemError."""
        return from_item(model, item, self._sender.requests.expiry.attribute)

    def _without_lookups(self, entities: Iterable[Entity]) -> list[Entity]:
        wanted = list(entities)
        self._require_models(type(entity) for entity in wanted)
        for entity in wanted:
            _require_no_lookups(type(entity))
        return wanted

    def _require_models(self, models: Iterable[type[Entity]]) -> None:
        for model in models:
            if model not in self.catalog.values():
                raise RequestError(f"{model.__name__} is not an entity of table {self.name}; name it in entities=")


def _new_write_id() -> str:
    return secrets.token_hex(6)


def _text(item: WireItem) -> str:
    """The key of an item, for use in a dict; no key text holds a NUL."""
    return f"{item['pk']['S']}\0{item['sk']['S']}"


def _require_no_lookups(model: type[Entity]) -> None:
    if model.spec.lookups:
        raise RequestError(
            f"{model.spec.name} has lookups, which a batch cannot keep; use create, delete or a transaction"
        )


def _require_distinct(items: Iterable[WireItem]) -> None:
    seen: set[str] = set()
    for item in items:
        if _text(item) in seen:
            raise RequestError("a batch puts one item twice; keep the one that is meant")
        seen.add(_text(item))
