"""Keys: which attributes they are made of, and what DynamoDB checks of them and of whole items.  Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ._refusal import MissingResource, Refusal
from ._sizes import item_size_bytes
from ._syntax import Path
from ._values import Item, Key, normalise_item, type_of
from .indexes import IndexKeys

MAX_ITEM_BYTES = 400 * 1024
MAX_PARTITION_KEY_BYTES = 2048
MAX_SORT_KEY_BYTES = 1024
TABLE_KEY = ("pk", "sk")
_NO_EMPTY_KEY = "The AttributeValue for a key attribute cannot contain an empty string value."


@dataclass(frozen=True, slots=True)
class AccessPath:
    """A table, or one of its secondary indexes, as something to query."""

    partition: str
    sort: str
    index: str | None = None
    included: frozenset[str] | None = None
    """What an index holds besides keys; None where it holds everything."""

    @property
    def key_attributes(self) -> tuple[str, ...]:
        """The attributes of a start key: those of the index, and those of the table."""
        return tuple(dict.fromkeys((self.partition, self.sort, *TABLE_KEY)))

    def holds(self, item: Item) -> bool:
        """Whether `item` is on this path: an index is sparse."""
        return self.partition in item and self.sort in item

    def shows(self, attribute: str) -> bool:
        """Whether this path knows of `attribute`."""
        return self.included is None or attribute in self.included or attribute in self.key_attributes

    def entries(self, items: Iterable[Item]) -> list[Item]:
        """What this path holds of those `items` that are on it."""
        held = filter(self.holds, items)
        if self.included is None:
            return list(held)
        return [{name: value for name, value in item.items() if self.shows(name)} for item in held]

    def order(self, item: Item) -> tuple[bytes, ...]:
        """The place of `item` within its partition; ties in an index are broken by the key of the table."""
        return tuple(item[name]["S"].encode() for name in (self.sort, *TABLE_KEY))

    def scan_order(self, item: Item) -> tuple[bytes, ...]:
        """The place of `item` in a scan: partitions follow each other by hash, so that nobody relies on their order."""
        return (partition_hash(item[self.partition]["S"]), *self.order(item))


class Schema:
    """The key attributes of the tables and of their indexes."""

    def __init__(self, indexes: Mapping[str, IndexKeys]) -> None:
        self._table = AccessPath(*TABLE_KEY)
        self._indexes = {name: _index_path(name, keys) for name, keys in indexes.items()}

    @property
    def indexes(self) -> Collection[AccessPath]:
        """The paths through the secondary indexes."""
        return self._indexes.values()

    def path(self, index: str | None) -> AccessPath:
        """The table, or its index of this name."""
        if index is None:
            return self._table
        if index not in self._indexes:
            raise MissingResource(f"The table does not have the specified index: {index}")
        return self._indexes[index]

    def check_item(self, item: Item) -> None:
        """Refuse an item that cannot be stored because of its keys, its index keys or its size."""
        for name, limit in zip(TABLE_KEY, (MAX_PARTITION_KEY_BYTES, MAX_SORT_KEY_BYTES), strict=True):
            if name not in item:
                raise Refusal(f"One or more parameter values were invalid: Missing the key {name} in the item")
            _check_key_value(item, name, limit, place=f"Type mismatch for key {name}")
        for path in self.indexes:
            place = f"Type mismatch for Index Key of IndexName: {path.index}"
            for name, limit in ((path.partition, MAX_PARTITION_KEY_BYTES), (path.sort, MAX_SORT_KEY_BYTES)):
                if name in item:
                    _check_key_value(item, name, limit, place=place)
        if item_size_bytes(item) > MAX_ITEM_BYTES:
            raise Refusal("Item size has exceeded the maximum allowed size")


def _index_path(name: str, keys: IndexKeys) -> AccessPath:
    if keys.projection == "ALL":
        return AccessPath(keys.pk, keys.sk, name)
    return AccessPath(keys.pk, keys.sk, name, frozenset(() if keys.projection == "KEYS_ONLY" else keys.projection))


def partition_hash(partition: str) -> bytes:
    """Where the partition lies among all partitions."""
    return sha256(partition.encode()).digest()


def parse_key(key: Any) -> Key:
    """The key of an item, checked."""
    attributes = normalise_item(key)
    if set(attributes) != set(TABLE_KEY):
        raise Refusal("The provided key element does not match the schema")
    for name, limit in zip(TABLE_KEY, (MAX_PARTITION_KEY_BYTES, MAX_SORT_KEY_BYTES), strict=True):
        _check_key_value(attributes, name, limit, place="The provided key element does not match the schema")
    return key_of(attributes)


def key_of(item: Item) -> Key:
    """The key of a checked item."""
    return item["pk"]["S"], item["sk"]["S"]


def key_bytes(item: Item) -> tuple[bytes, bytes]:
    """The key of a checked item, as DynamoDB orders it."""
    partition, sort = key_of(item)
    return partition.encode(), sort.encode()


def key_item(key: Key) -> Item:
    """The item that consists of its key only."""
    return {"pk": {"S": key[0]}, "sk": {"S": key[1]}}


def check_not_key(path: Path) -> None:
    """Refuse to update an attribute of the key."""
    if path.attribute in TABLE_KEY:
        text = f"Cannot update attribute {path.attribute}. This attribute is part of the key"
        raise Refusal(f"One or more parameter values were invalid: {text}")


def check_key_text(name: str, text: str, limit_bytes: int) -> None:
    """Refuse a key attribute that is empty or too long."""
    if not text:
        raise Refusal(f"One or more parameter values are not valid. {_NO_EMPTY_KEY} Key: {name}")
    if len(text.encode()) > limit_bytes:
        text = f"Size of key {name} has exceeded the maximum size limit of {limit_bytes} bytes"
        raise Refusal(f"One or more parameter values were invalid: {text}")


def _check_key_value(item: Item, name: str, limit_bytes: int, *, place: str) -> None:
    value = item[name]
    if type_of(value) != "S":
        raise Refusal(f"One or more parameter values were invalid: {place} Expected: S Actual: {type_of(value)}")
    check_key_text(name, value["S"], limit_bytes)
