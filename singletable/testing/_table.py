"""The items of one table, and what an eventually consistent read may still see of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TypeAlias

from ._values import Item, Key

MAX_LAG = 100
_Partitions: TypeAlias = dict[str, dict[str, Item]]


class TableItems:
    """Stored items by key.  A stored item is never changed in place, only replaced."""

    def __init__(self) -> None:
        self._partitions: _Partitions = {}
        self._overwritten: deque[Mapping[Key, Item | None]] = deque(maxlen=MAX_LAG)

    def apply(self, changes: Mapping[Key, Item | None]) -> None:
        """Store these items at once; None deletes."""
        current = View(self._partitions)
        self._overwritten.append({key: current.get(key) for key in changes})
        _store(self._partitions, changes)

    def view(self, lag: int = 0) -> View:
        """The items as they were `lag` writes ago."""
        if not lag or not self._overwritten:
            return View(self._partitions)
        past = {partition: dict(items) for partition, items in self._partitions.items()}
        for overwritten in list(reversed(self._overwritten))[:lag]:
            _store(past, overwritten)
        return View(past)


class View:
    """The items of a table at one moment, to read."""

    def __init__(self, partitions: Mapping[str, Mapping[str, Item]]) -> None:
        self._partitions = partitions

    def get(self, key: Key) -> Item | None:
        """The item with this key."""
        return self._partitions.get(key[0], {}).get(key[1])

    def partition(self, partition: str) -> list[Item]:
        """The items of one partition of the table, in no order."""
        return list(self._partitions.get(partition, {}).values())

    def all(self) -> list[Item]:
        """Every item, in no order."""
        return [item for items in self._partitions.values() for item in items.values()]


def _store(partitions: _Partitions, changes: Mapping[Key, Item | None]) -> None:
    for (partition, sort), item in changes.items():
        if item is None:
            partitions.get(partition, {}).pop(sort, None)
        else:
            partitions.setdefault(partition, {})[sort] = item
