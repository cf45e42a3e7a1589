# Generated from ../_async/reindexing.py by scripts/generate_sync.py; edit that file.
"""Filling an index with items that were stored before their entity had it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from ..concurrency import AT_ONCE, gather_in_threads
from ..declare import TABLE, Index
from ..entity import Entity
from ..errors import ConditionFailedError, CorruptItemError, RequestError
from ..items import table_key
from ..reindexing import Reindexed, position, resumed
from ..retry import ATTEMPTS, pause_seconds
from ..upkeep import rekey
from ..wire import WireItem
from ..writes import Write
from .base import TableBase


class Reindexing(TableBase):
    """Maintenance of indexes."""

    def reindex(
        self,
        index: type[Index[Any]],
        *,
        per_second: float | None = None,
        cursor: str | None = None,
        on_corrupt: Callable[[CorruptItemError], None] | None = None,
    ) -> Iterator[Reindexed]:
        """Give every stored item of an entity the key of one of its indexes; says after each page how far that came.

        Scans the whole table, and writes to the items whose key differs from what their fields say, each under the
        condition that those have not changed; items of an earlier version are cast up.  Goes over the items of all
        tenants, unless the table has a scope.  At most `per_second` items are written a second.  To go on after an
        interruption, pass the last `cursor`.  An item that does not fit its entity ends it with CorruptItemError,
        unless `on_corrupt` takes the error."""
        model: type[Entity] = index.declared_for
        self._require_models([model])
        if index.declared_on == TABLE:
            raise RequestError(f"{index.__qualname__} is on the table itself, where every item has its key")
        start = None if cursor is None else resumed(cursor, model.spec, index.declared_on)
        read = written = 0
        while True:
            response = self._sender.send(self._sender.requests.scan(model.spec, start), entity=model.spec.name)
            items = [item for item in response["Items"] if not self._is_past(item)]
            read += len(items)
            behind = self._behind(model, index.declared_on, items, on_corrupt)
            self._rekey_all(model, index.declared_on, behind, per_second)
            written += len(behind)
            start = response.get("LastEvaluatedKey")
            yield Reindexed(read, written, None if start is None else position(start, model.spec, index.declared_on))
            if start is None:
                return

    def _behind(
        self,
        model: type[Entity],
        index: str,
        items: Sequence[WireItem],
        on_corrupt: Callable[[CorruptItemError], None] | None,
    ) -> list[WireItem]:
        """The items whose key is not what their fields say."""
        behind: list[WireItem] = []
        for item in items:
            try:
                if rekey(self._sender.settings, model, item, index, self._sender.moment()):
                    behind.append(item)
            except CorruptItemError as error:
                if on_corrupt is None:
                    raise
                on_corrupt(error)
        return behind

    def _rekey_all(self, model: type[Entity], index: str, behind: Sequence[WireItem], per_second: float | None) -> None:
        for begin in range(0, len(behind), AT_ONCE):
            some = behind[begin : begin + AT_ONCE]
            gather_in_threads([partial(self._rekey, model, index, item) for item in some])
            if per_second is not None:
                self.sleep(len(some) / per_second)

    def _rekey(self, model: type[Entity], index: str, found: WireItem) -> None:
        """Write the key of one item; one that has changed since it was read is read again."""
        item: WireItem | None = found
        attempt = 0
        while item is not None:
            write: Write | None = rekey(self._sender.settings, model, item, index, self._sender.moment())
            if write is None:
                return
            try:
                self._sender.write([write])
            except ConditionFailedError:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
                self.sleep(pause_seconds(attempt))
                item = self._read(table_key(item), model, consistent=True)
            else:
                return
