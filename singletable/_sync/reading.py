# Generated from ../_async/reading.py by scripts/generate_sync.py; edit that file.
"""Reading items by their keys and lookups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast, overload

from ..declare import Lookup, PrimaryKey
from ..entity import Entity
from ..errors import RequestError
from ..items import key_item, pointer_key, target_key
from ..requests import TRANSACTION_MEMBERS
from ..wire import WireItem
from .base import TableBase, key_text
from .batch import batch_get

E = TypeVar("E", bound=Entity)
E2 = TypeVar("E2", bound=Entity)
E3 = TypeVar("E3", bound=Entity)
AnyKey: TypeAlias = PrimaryKey[Any] | Lookup[Any]


class Reading(TableBase):
    """Reads of items, strongly consistent unless it is said otherwise."""

    def get(self, key: PrimaryKey[E] | Lookup[E], *, consistent: bool = True) -> E | None:
        """The entity with this key, or None; a lookup costs a second read."""
        if isinstance(key, Lookup):
            item = self._follow(key, consistent=consistent)
        else:
            item = self._read(key_item(key, self.scope), key.declared_for, consistent=consistent)
        return None if item is None else self.load(cast("type[E]", key.declared_for), item)

    @overload
    def get_many(self, keys: Iterable[PrimaryKey[E] | Lookup[E]], *, consistent: bool = True) -> list[E]: ...
    @overload
    def get_many(self, keys: Iterable[AnyKey], *, consistent: bool = True) -> Sequence[Entity]: ...
    def get_many(self, keys: Iterable[AnyKey], *, consistent: bool = True) -> Any:
        """The entities of `keys` that exist, in the order of the keys; 100 keys a request, lookups twice that.

        The keys may be of several entities."""
        return [entity for entity in self.get_each(keys, consistent=consistent) if entity is not None]

    @overload
    def get_each(self, keys: Iterable[PrimaryKey[E] | Lookup[E]], *, consistent: bool = True) -> list[E | None]: ...
    @overload
    def get_each(self, keys: Iterable[AnyKey], *, consistent: bool = True) -> Sequence[Entity | None]: ...
    def get_each(self, keys: Iterable[AnyKey], *, consistent: bool = True) -> Any:
        """For each of `keys` its entity or None, in their order; a key that comes twice is read once."""
        wanted = list(keys)
        self._require_models(key.declared_for for key in wanted)
        lookups = [pointer_key(key, self.scope) for key in wanted if isinstance(key, Lookup)]
        found = self._batch(lookups, consistent=consistent)
        places = [self._place(key, found) for key in wanted]
        items = self._batch([place for place in places if place], consistent=consistent)
        entities: list[Entity | None] = []
        for key, place in zip(wanted, places, strict=True):
            item = items.get(key_text(place)) if place else None
            if place and item is None and isinstance(key, Lookup):
                item = self._follow(key, consistent=consistent)  # it may have moved between the two reads
            entities.append(None if item is None else self.load(key.declared_for, item))
        return entities

    @overload
    def get_all(self, a: PrimaryKey[E], b: PrimaryKey[E2], /) -> tuple[E | None, E2 | None]: ...
    @overload
    def get_all(
        self, a: PrimaryKey[E], b: PrimaryKey[E2], c: PrimaryKey[E3], /
    ) -> tuple[E | None, E2 | None, E3 | None]: ...
    @overload
    def get_all(self, *keys: PrimaryKey[E]) -> tuple[E | None, ...]: ...
    def get_all(self, *keys: PrimaryKey[Any]) -> tuple[Entity | None, ...]:
        """The entities of up to 100 keys as of one moment; costs two read units per 4 KB and item."""
        self._require_models(key.declared_for for key in keys)
        wire = [key_item(key, self.scope) for key in keys]
        if not 1 <= len(keys) <= TRANSACTION_MEMBERS or len({key_text(key) for key in wire}) < len(keys):
            raise RequestError(f"get_all takes 1 to {TRANSACTION_MEMBERS} different keys; get_each takes any")
        response = self._sender.send(self._sender.requests.transact_get(wire))
        items = [answer.get("Item") for answer in response["Responses"]]
        return tuple(
            None if item is None or self._is_past(item) else self.load(key.declared_for, item)
            for key, item in zip(keys, items, strict=True)
        )

    def _follow(self, lookup: Lookup[Any], *, consistent: bool) -> WireItem | None:
        """The item that a pointer points to; an item that moves between the two reads is followed."""
        seen: WireItem | None = None
        while True:
            pointer = self._read(pointer_key(lookup, self.scope), lookup.declared_for, consistent=consistent)
            if pointer is None or target_key(pointer) == seen:
                return None
            seen = target_key(pointer)
            item = self._read(seen, lookup.declared_for, consistent=consistent)
            if item is not None:
                return item

    def _batch(self, keys: Iterable[WireItem], *, consistent: bool) -> dict[str, WireItem]:
        distinct = {key_text(key): key for key in keys}
        items = batch_get(self._sender, list(distinct.values()), consistent=consistent)
        return {key_text(item): item for item in items if not self._is_past(item)}

    def _place(self, key: PrimaryKey[Any] | Lookup[Any], pointers: Mapping[str, WireItem]) -> WireItem | None:
        if isinstance(key, Lookup):
            pointer = pointers.get(key_text(pointer_key(key, self.scope)))
            return None if pointer is None else target_key(pointer)
        return key_item(key, self.scope)
