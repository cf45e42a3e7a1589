# Generated from ../_async/purging.py by scripts/generate_sync.py; edit that file.
"""What has expired, removed from a store before DynamoDB does."""

from __future__ import annotations

from collections.abc import Callable

from ..._sync.table import Table
from ...purging import Purged


class Purge:
    """The removal of what has expired."""

    table: Table

    def purge_expired(
        self,
        *,
        allow_scan: bool = False,
        per_second: float | None = None,
        cursor: str | None = None,
        on_progress: Callable[[Purged], None] | None = None,
    ) -> Purged:
        """Delete everything that has expired, and say how much of each entity that was.

        What has expired is invisible anyway, and DynamoDB removes it for nothing, some days later: this is for those
        who need it gone.  Reads, and bills, the whole table: raises RequestError without `allow_scan=True`.  Then a
        request and its write units for each item, at most `per_second`.  What is written anew meanwhile stays.  A
        store without a scope goes over all tenants.  `on_progress` gets what has been done so far, page by page: to go
        on after an interruption, pass the last `.cursor`."""
        done = Purged(cursor=cursor)
        for done in self.table.purge_expired(allow_scan=allow_scan, per_second=per_second, cursor=cursor):
            if on_progress is not None:
                on_progress(done)
        return done
