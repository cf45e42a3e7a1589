# Generated from ../_async/purging.py by scripts/generate_sync.py; edit that file.
"""Removing what has expired, before DynamoDB does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ..concurrency import AT_ONCE, gather_in_threads
from ..declare import Lookup
from ..entity import Entity
from ..errors import ConditionFailedError, RequestError
from ..items import key_item, pointer_key, table_key
from ..purging import Purged, owners, position, resumed
from ..specs import ENTITY
from ..wire import WireItem
from .base import TableBase
from .reading import AnyKey


class Purging(TableBase):
    """Deletion of items that count as absent already."""

    def delete_expired(self, keys: Iterable[AnyKey]) -> int:
        """How many of the items, or pointers of lookups, with these keys had expired, and are deleted now.

        What has not expired, or is written anew meanwhile, stays.  A request for each key, eight at once."""
        wanted = list(keys)
        self._require_models(key.declared_for for key in wanted)
        places = [pointer_key(k, self.scope) if isinstance(k, Lookup) else key_item(k, self.scope) for k in wanted]
        models: list[type[Entity]] = [key.declared_for for key in wanted]
        return sum(self._purge_all(list(zip(models, places, strict=True))))

    def purge_expired(
        self, *, allow_scan: bool = False, per_second: float | None = None, cursor: str | None = None
    ) -> Iterator[Purged]:
        """Delete everything that has expired, pointers of lookups too; says after each page how far that came.

        Reads, and bills, the whole table: raises RequestError without `allow_scan=True`.  Then a request and its write
        units for each item, eight at once, at most `per_second`; DynamoDB's own removal is free, and days late.
        What is written anew meanwhile stays.  Goes over the items of all tenants, unless the table has a scope, and
        leaves alone what is none of the table's entities.  To go on after an interruption, pass the last `cursor`."""
        if not allow_scan:
            raise RequestError("this reads, and bills, the whole table: say allow_scan=True if it is meant")
        start = None if cursor is None else resumed(cursor, self.scope)
        known, read, deleted = owners(self.catalog.models), 0, Counter[str]()
        while True:
            response = self._sender.send(self._sender.requests.scan_expired(self.clock(), start))
            found = [item for item in response["Items"] if item[ENTITY]["S"] in known]
            for begin in range(0, len(found), AT_ONCE):
                some = found[begin : begin + AT_ONCE]
                done = self._purge_all([(known[item[ENTITY]["S"]], table_key(item)) for item in some])
                deleted.update(item[ENTITY]["S"] for item, is_done in zip(some, done, strict=True) if is_done)
                if per_second is not None:
                    self.sleep(len(some) / per_second)
            read += response["ScannedCount"]
            start = response.get("LastEvaluatedKey")
            cursor = None if start is None else position(start, self.scope)
            yield Purged(read, {name: count for name, count in deleted.items() if name in self.catalog}, cursor)
            if start is None:
                return

    def _purge_all(self, found: Sequence[tuple[type[Entity], WireItem]]) -> list[bool]:
        return gather_in_threads([partial(self._purge, model, key) for model, key in found])

    def _purge(self, model: type[Entity], key: WireItem) -> bool:
        try:
            self._sender.write([self._sender.writes.purge(model, key, self._sender.moment())])
        except ConditionFailedError:
            return False
        return True
