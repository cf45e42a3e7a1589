"""`singletable gc`: removes what writings of blobs left that died."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from singletable.adapters.s3 import S3Blobs
from singletable.store import Collected, DynamoDBStore

from .terminal import output, spinner


def gc(
    table: Annotated[str, typer.Option(help="The name of the table.")],
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose blobs, in a table of several tenants.")] = None,
    bucket: Annotated[str | None, typer.Option(help="The bucket of S3 that has their pieces.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what is there, and remove nothing.")] = False,
) -> None:
    """Remove the pieces of blobs that nobody reads: their writing died, a day ago or earlier.

    Scans nothing; safe to run while others write, to stop, and to run again.  Needs the rights to Query, GetItem,
    UpdateItem, DeleteItem and BatchWriteItem."""
    blobs = None if bucket is None else S3Blobs(bucket)
    with DynamoDBStore(table, region=region, endpoint_url=endpoint_url, blobs=blobs) as store:
        done = _run(store if tenant is None else store.scoped(tenant), dry_run)
    verb = "would be removed" if dry_run else "removed"
    output().print(f"{_text(done)} {verb}.", markup=False, soft_wrap=True)


def _run(store: DynamoDBStore, dry_run: bool) -> Collected:
    with spinner(Console(stderr=True)) as show:
        return store.blobs.gc(dry_run=dry_run, on_progress=lambda done: show(_text(done)))


def _text(done: Collected) -> str:
    return f"{done.pieces:,} pieces of {done.uploads:,} writings, and {done.folders:,} empty folders"
