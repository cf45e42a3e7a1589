"""`singletable erase`: removes everything that is stored of one resource."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from singletable.store import DynamoDBStore, Receipt
from singletable.store.entities import ttl_stored_as
from singletable.ttl import DEFAULT_ATTRIBUTE

from .terminal import grid, output, spinner


def erase(
    resource_id: Annotated[str, typer.Argument(metavar="RESOURCE_ID", help="Whose data go; usually a user.")],
    table: Annotated[str, typer.Option(help="The name of the table.")],
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose user it is, in a table of several tenants.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what is there, and remove nothing.")] = False,
    allow_scan: Annotated[bool, typer.Option("--allow-scan", help="Find messages in other threads too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    ttl_attribute: Annotated[str, typer.Option(help="The attribute that holds the expiry.")] = DEFAULT_ATTRIBUTE,
) -> None:
    """Remove all threads, messages, memory, runs, scores, evaluations and spans of a resource.

    Safe to stop, and to run again: it goes on with what is left.  With --allow-scan it reads the whole table.  Needs
    the rights to Query, GetItem, PutItem, DeleteItem, BatchWriteItem and ConditionCheckItem, and to Scan."""
    if not (yes or dry_run):
        typer.confirm(f"Remove everything that {table} stores of this resource, for good?", abort=True)
    with DynamoDBStore(table, region=region, endpoint_url=endpoint_url, ttl=ttl_stored_as(ttl_attribute)) as store:
        receipt = _run(store if tenant is None else store.scoped(tenant), resource_id, dry_run, allow_scan)
    console = output()
    counts = grid("entity", "would be removed" if receipt.dry_run else "removed")
    for entity, count in receipt.counts.items():
        counts.add_row(entity, f"{count:,}")
    console.print(counts)


def _run(store: DynamoDBStore, resource_id: str, dry_run: bool, allow_scan: bool) -> Receipt:
    errors = Console(stderr=True)
    so_far = Receipt({}, dry_run)
    with spinner(errors) as show:

        def keep(receipt: Receipt) -> None:
            nonlocal so_far
            so_far = receipt
            show(f"{receipt.total:,} found" if dry_run else f"{receipt.total:,} removed")

        try:
            return store.erase_resource(resource_id, dry_run=dry_run, allow_scan=allow_scan, on_progress=keep)
        except BaseException:
            if not dry_run:
                errors.print(f"stopped after {so_far.total:,} were removed; run it again to go on", soft_wrap=True)
            raise
