"""`singletable reindex`: fills an index with the items that were stored before their entity had it."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from singletable._sync.table import Table
from singletable.adapters.pynamo import PynamoTransport
from singletable.declare import Index
from singletable.errors import ConfigurationError, CorruptItemError
from singletable.reindexing import Reindexed
from singletable.ttl import DEFAULT_ATTRIBUTE

from .terminal import output


def reindex(
    index: Annotated[str, typer.Argument(metavar="MODULE:ENTITY.INDEX", help="For example app.models:Note.ByOwner.")],
    table: Annotated[str, typer.Option(help="The name of the table.")],
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    per_second: Annotated[float | None, typer.Option(min=0.1, help="Write at most this many items a second.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Go on where an earlier run stopped.")] = None,
    ttl_attribute: Annotated[str, typer.Option(help="The attribute that holds the expiry.")] = DEFAULT_ATTRIBUTE,
) -> None:
    """Give every stored item of an entity the key of one of its indexes.

    Scans the whole table, over all tenants, and writes to the items whose key differs; safe to run while others write.
    Needs the rights to Scan, GetItem, PutItem and UpdateItem."""
    path = _index(index)
    name: str = path.declared_for.spec.name
    ttl = {name: {"enabled": False, "attribute_name": ttl_attribute}}
    transport = PynamoTransport(region=region, endpoint_url=endpoint_url)
    try:
        _run(Table(table, transport, entities=[path.declared_for], ttl=ttl), path, per_second, cursor)
    finally:
        transport.close()


def _run(table: Table, path: type[Index[Any]], per_second: float | None, cursor: str | None) -> None:
    console, errors = output(), Console(stderr=True)
    corrupt: list[CorruptItemError] = []
    done = Reindexed(0, 0, cursor)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task(_so_far(done), total=None)
        try:
            for done in table.reindex(path, per_second=per_second, cursor=cursor, on_corrupt=corrupt.append):
                progress.update(task, description=_so_far(done))
        finally:
            if done.cursor:
                progress.stop()
                errors.print(f"{_so_far(done)}; go on with --cursor {done.cursor}", markup=False, soft_wrap=True)
    console.print(f"{path.__qualname__}: {_so_far(done)}.", markup=False)
    if corrupt:
        raise CorruptItemError(f"{len(corrupt)} items were left out; the first one: {corrupt[0]}") from corrupt[0]


def _so_far(done: Reindexed) -> str:
    return f"{done.read:,} items read, {done.written:,} given a new key"


def _index(text: str) -> type[Index[Any]]:
    """The class that a text names; raises ConfigurationError that says what is wrong with it."""
    module, colon, path = text.partition(":")
    if not colon:
        raise ConfigurationError(f"{text} names no index; write it like app.models:Note.ByOwner")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"{text} cannot be found ({error}); write it like app.models:Note.ByOwner") from error
    if not (isinstance(found, type) and issubclass(found, Index)):
        raise ConfigurationError(f"{text} is no Index of an entity; write it like app.models:Note.ByOwner")
    return found  # pyright: ignore[reportUnknownVariableType]
