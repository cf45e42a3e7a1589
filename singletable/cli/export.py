"""`singletable export`: what a store keeps, as JSON Lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console

from singletable.entity import Entity
from singletable.errors import CorruptItemError
from singletable.page import Page
from singletable.store import DynamoDBStore
from singletable.store.entities import ttl_stored_as
from singletable.ttl import DEFAULT_ATTRIBUTE

from .keeping import Keeper, keeper, summary
from .terminal import spinner

Pages: TypeAlias = Callable[..., Iterator[Page[Entity]]]


def export(
    table: Annotated[str, typer.Option(help="The name of the table.")],
    resource: Annotated[str | None, typer.Option(metavar="ID", help="Everything of this resource.")] = None,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="This thread with its messages.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole table, which is scanned.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new file; stdout without it.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with FILE where an earlier run was stopped.")] = False,
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose data, in a table of several tenants.")] = None,
    ttl_attribute: Annotated[str, typer.Option(help="The attribute that holds the expiry.")] = DEFAULT_ATTRIBUTE,
) -> None:
    """Write what a store keeps as JSON Lines, one line for each thread, message, run, score and so on.

    Left out is what has expired, and what is of deleted threads.  While FILE is written, FILE.progress beside it says
    how far it is whole.  Needs the rights to Query, GetItem and BatchGetItem, and to Scan with --all."""
    if (resource is not None) + (thread is not None) + everything != 1:
        raise typer.BadParameter("say what to export: one of --resource, --thread and --all")
    if resume and out is None:
        raise typer.BadParameter("--resume goes on with a file: name it by --out")
    with DynamoDBStore(table, region=region, endpoint_url=endpoint_url, ttl=ttl_stored_as(ttl_attribute)) as store:
        pages = _pages(store if tenant is None else store.scoped(tenant), resource, thread)
        with keeper(out, resume=resume) as target:
            _run(pages, target)


def _pages(store: DynamoDBStore, resource: str | None, thread: str | None) -> Pages:
    def pages(**options: Any) -> Iterator[Page[Entity]]:
        if resource is not None:
            return store.export_resource(resource, **options)
        if thread is not None:
            return store.export_thread(thread, **options)
        return store.export_all(allow_scan=True, **options)

    return pages


def _run(pages: Pages, target: Keeper) -> None:
    errors = Console(stderr=True)
    corrupt: list[CorruptItemError] = []
    with spinner(errors) as show:
        try:
            for page in pages(cursor=target.kept.cursor, on_corrupt=corrupt.append):
                target.write(page)
                show(f"{target.kept.total:,} exported")
        except BaseException:
            if target.note is not None and target.kept.is_begun:
                errors.print(f"stopped after {target.kept.total:,}; go on with --resume", soft_wrap=True)
            raise
    # Not on stdout, which is the lines.
    errors.print(f"exported: {summary(target.kept.counts)}", markup=False, highlight=False, soft_wrap=True)
    if corrupt:
        raise CorruptItemError(f"{len(corrupt)} items were left out; the first one: {corrupt[0]}") from corrupt[0]
