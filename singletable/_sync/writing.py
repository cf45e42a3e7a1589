# Generated from ../_async/writing.py by scripts/generate_sync.py; edit that file.
"""Writing one entity, alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from ..codec import item_size_bytes
from ..declare import Changes, PrimaryKey
from ..entity import Entity
from ..errors import AlreadyExistsError, ConditionFailedError, CorruptItemError, NotFoundError, VersionConflictError
from ..fences import Fence
from ..items import key_item, key_of, lookups_of
from ..moment import version_of
from ..retry import ATTEMPTS, pause_seconds
from ..upcasting import is_behind
from ..updates import UNSEEN, Seen, patch_of, unknown_parts
from ..upkeep import upcast
from ..wire import WireItem
from ..writes import ExpiryMode, Write
from .base import TableBase

E = TypeVar("E", bound=Entity)


class Writing(TableBase):
    """Writes of single entities, each of which happens once or not at all."""

    def create(self, entity: E, *, fence: Fence | None = None) -> E:
        """Store a new entity; raises AlreadyExistsError if its key or one of its lookups is taken.

        With `fence`, a lease, only while that is held: LeaseLostError otherwise."""
        self._require_models([type(entity)])
        sender = self._sender.under(fence)
        writes = sender.writes.create(entity, sender.moment())
        sender.write(writes)
        return self._as_stored(entity, writes)

    def put(self, entity: E, *, where: Callable[[E], bool] | None = None, fence: Fence | None = None) -> E:
        """Store an entity over what is there; raises AlreadyExistsError if a lookup belongs to another item.

        With `where`, an item must be there for which it holds: NotFoundError or ConditionFailedError otherwise.  An
        entity with a `Version` replaces only what it was read as: VersionConflictError otherwise.  With `fence`, a
        lease, only while that is held: LeaseLostError otherwise."""
        self._require_models([type(entity)])
        sender = self._sender.under(fence)
        writes = sender.writes.put(entity, sender.moment(), where=where)
        try:
            sender.write(writes)
        except VersionConflictError:
            raise
        except ConditionFailedError as error:
            # Where the item in the way has other lookups, it is replaced together with its pointers.
            old = error.current
            if not isinstance(old, type(entity)) or lookups_of(old) == lookups_of(entity):
                raise
            writes = sender.writes.put(entity, sender.moment(), old=old, where=where)
            sender.write(writes)
        return self._as_stored(entity, writes)

    def upsert(self, entity: E) -> E:
        """The stored entity: a new one where there was none, otherwise with the fields that were given and may change.

        Over an entity that is there, the fields of its `Patch` that were given to the constructor are set; all others,
        defaults among them, stay as they are stored.  One request for a new entity, two otherwise."""
        patch = patch_of(entity)
        attempt = 0
        while True:
            try:
                return self.create(entity)
            except AlreadyExistsError as error:
                current = error.current
                attempt += 1
                if attempt == ATTEMPTS or not isinstance(current, type(entity)):
                    raise
            if patch is None:
                return current
            try:
                return self.update(key_of(current), patch, refresh=True)
            except NotFoundError:
                self.sleep(pause_seconds(attempt))  # deleted, or expired, since it stood in the way

    def update(
        self,
        key: PrimaryKey[E],
        patch: Changes[E],
        *,
        where: Callable[[E], bool] | None = None,
        if_version: str | None = None,
        expiry: ExpiryMode = "keep",
        refresh: bool = False,
    ) -> E:
        """The entity after the change; raises NotFoundError if it is absent, ConditionFailedError if `where` fails.

        An update never creates.  With `if_version` the entity must be as it was read: VersionConflictError otherwise.
        Its expiry stays (`keep`), starts again (`refresh`) or goes (`clear`).  With `refresh=True`, what an index key
        needs and the patch does not give is read first: a second request, where that is so.  Raises CorruptItemError
        where the item does not fit its entity after the change, and says that the change was made."""
        self._require_models([key.declared_for])
        seen = self._see(key, patch) if refresh else UNSEEN
        attempt = 0
        while True:
            moment = self._sender.moment()
            write = self._sender.writes.update(
                key, patch, moment, where=where, if_version=if_version, expiry=expiry, seen=seen
            )
            try:
                response = self._sender.write([write.returning("ALL_NEW")])
                return self._load_after("the update was made", key, response["Attributes"])
            except (NotFoundError, VersionConflictError):
                raise
            except ConditionFailedError as error:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
                seen = self._see_again(key, patch, seen, error)

    def delete(
        self, key: PrimaryKey[E], *, where: Callable[[E], bool] | None = None, if_version: str | None = None
    ) -> E | None:
        """The entity that was deleted, with its pointers; None where there was none, which is fine without a condition.

        Of several callers at once, one gets the entity; after a lost answer, none.  An entity with lookups is read
        first, to know them: a second request.  Raises CorruptItemError for an item that does not fit its entity: one
        without lookups was deleted, as the error says, one with lookups was not."""
        self._require_models([key.declared_for])
        if key.declared_for.spec.lookups:
            return self._delete_read(key, where=where, if_version=if_version)
        (write,) = self._sender.writes.delete(key, self._sender.moment(), where=where, if_version=if_version)
        response = self._sender.write([write.returning("ALL_OLD")])
        item = response.get("Attributes")
        return None if not item or self._is_past(item) else self._load_after("it was deleted", key, item)

    def size_bytes(self, entity: Entity) -> int:
        """The bytes that DynamoDB counts for an entity with its pointers; raises RequestError if it does not fit."""
        writes = self._sender.writes.put(entity, self._sender.moment())
        return sum(item_size_bytes(write.params["Item"]) for write in writes)

    def _see(self, key: PrimaryKey[E], patch: Changes[E]) -> Seen:
        """What the index keys need of the stored item."""
        names = unknown_parts(key, patch, self._sender.moment())
        if not names:
            return UNSEEN
        wire = key_item(key, self.scope)
        item = self._read(wire, key.declared_for, consistent=True)
        if item is None:
            raise self._not_found(key, "update")
        entity = self.load(key.declared_for, item)
        return Seen({name: getattr(entity, name) for name in names})

    def _see_again(self, key: PrimaryKey[E], patch: Changes[E], seen: Seen, error: ConditionFailedError) -> Seen:
        """What is to be known for another attempt; raises `error` where that would fail as well."""
        spec, item = key.declared_for.spec, error.item
        if item is not None and is_behind(spec, item):
            self._upcast(key.declared_for, item)
            return seen
        again = seen.anew(spec, patch, item or {}, error.current)
        if again == seen:
            raise error
        return again

    def _upcast(self, model: type[Entity], item: WireItem) -> None:
        """Store an item of an earlier version as this one does, unless somebody else changes it first."""
        try:
            self._sender.write([upcast(self._sender.settings, model, item, self._sender.moment())])
        except ConditionFailedError:
            return  # then the next attempt meets what is stored now

    def _delete_read(
        self, key: PrimaryKey[E], *, where: Callable[[E], bool] | None, if_version: str | None
    ) -> E | None:
        attempt = 0
        while True:
            item = self._read(key_item(key, self.scope), key.declared_for, consistent=True, expired=True)
            if item is None:
                if where is None and if_version is None:
                    return None
                raise self._not_found(key, "delete")
            old = self.load(cast("type[E]", key.declared_for), item)
            writes = self._sender.writes.delete(
                key,
                self._sender.moment(),
                lookups=lookups_of(old),
                where=where,
                if_version=if_version or version_of(old),
                must_exist=True,
            )
            try:
                self._sender.write(writes)
                return None if self._is_past(item) else old
            except ConditionFailedError:
                # Without a condition only a change since it was read stands in the way.
                attempt += 1
                if where is not None or if_version is not None or attempt == ATTEMPTS:
                    raise
            self.sleep(pause_seconds(attempt))

    def _load_after(self, done: str, key: PrimaryKey[E], item: WireItem) -> E:
        """The entity of what a write gave back; where that does not fit, the error says that the write was made."""
        try:
            return self.load(cast("type[E]", key.declared_for), item)
        except CorruptItemError as error:
            raise CorruptItemError(f"{done}, but {error}", entity=error.entity, key=error.key, item=item) from error

    def _not_found(self, key: PrimaryKey[E], intent: str) -> NotFoundError:
        name, wire = key.declared_for.spec.name, key_item(key, self.scope)
        return NotFoundError(
            f"{intent}: there is no {name} with this key, or it has expired", table=self.name, entity=name, key=wire
        )

    def _as_stored(self, entity: E, writes: Sequence[Write]) -> E:
        """The entity as it would be read now: times are cut to milliseconds."""
        return self.load(type(entity), writes[0].params["Item"])
