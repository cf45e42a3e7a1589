"""`singletable purge`: removes what has expired, before DynamoDB does."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from singletable.purging import Purged
from singletable.store import DynamoDBStore
from singletable.store.entities import ttl_stored_as
from singletable.ttl import DEFAULT_ATTRIBUTE

from .terminal import output, spinner


def purge(
    table: Annotated[str, typer.Option(help="The name of the table.")],
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    per_second: Annotated[float | None, typer.Option(min=0.1, help="Delete at most this many items a second.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Go on where an earlier run stopped.")] = None,
    ttl_attribute: Annotated[str, typer.Option(help="The attribute that holds the expiry.")] = DEFAULT_ATTRIBUTE,
) -> None:
    """Delete what has expired and is still stored: DynamoDB does so for nothing, but days late.

    Scans the whole table, over all tenants; safe to run while others write.  Needs the rights to Scan and
    DeleteItem."""
    with DynamoDBStore(table, region=region, endpoint_url=endpoint_url, ttl=ttl_stored_as(ttl_attribute)) as store:
        done = _run(store, per_second, cursor)
    deleted = ", ".join(f"{count:,} {entity}" for entity, count in sorted(done.deleted.items()))
    output().print(f"{done.read:,} items read; deleted: {deleted or 'nothing'}.", markup=False, soft_wrap=True)


def _run(store: DynamoDBStore, per_second: float | None, cursor: str | None) -> Purged:
    errors = Console(stderr=True)
    done = Purged(cursor=cursor)
    with spinner(errors) as show:

        def keep(so_far: Purged) -> None:
            nonlocal done
            done = so_far
            show(f"{done.read:,} items read, {sum(done.deleted.values()):,} deleted")

        try:
            return store.purge_expired(allow_scan=True, per_second=per_second, cursor=cursor, on_progress=keep)
        except BaseException:
            if done.cursor:
                errors.print(f"stopped; go on with --cursor {done.cursor}", markup=False, soft_wrap=True)
            raise
