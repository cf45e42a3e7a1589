"""`singletable import`: JSON Lines into a store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from singletable.store import DynamoDBStore
from singletable.store.entities import ttl_stored_as
from singletable.store.imported import Imported
from singletable.store.mastra_rows import TABLES
from singletable.store.records import MODELS, from_line
from singletable.ttl import DEFAULT_ATTRIBUTE

from .incoming import Lines, opened, row_of, transcript_entities
from .keeping import summary


class Format(StrEnum):
    """What the lines are."""

    singletable = "singletable"
    openai = "openai"
    mastra = "mastra"


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of JSON Lines; - is stdin.")],
    table: Annotated[str, typer.Option(help="The name of the table.")],
    format: Annotated[Format, typer.Option(help="What the lines are.")] = Format.singletable,
    replace: Annotated[bool, typer.Option("--replace", help="Replace what is there; it stays otherwise.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Tell of bad lines, and go on.")] = False,
    thread: Annotated[str | None, typer.Option(metavar="ID", help="openai: the thread to make.")] = None,
    resource: Annotated[str | None, typer.Option(metavar="ID", help="openai: whose thread it is.")] = None,
    mastra_table: Annotated[str | None, typer.Option(help="mastra: the table, where rows do not name it.")] = None,
    ttl: Annotated[
        list[str] | None, typer.Option(metavar="ENTITY=SECONDS", help="What of it is to expire, from now; repeat.")
    ] = None,
    region: Annotated[str | None, typer.Option(help="Its region, where the environment does not say.")] = None,
    endpoint_url: Annotated[str | None, typer.Option(help="Where it is, if not at AWS.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose data, in a table of several tenants.")] = None,
    ttl_attribute: Annotated[str, typer.Option(help="The attribute that holds the expiry.")] = DEFAULT_ATTRIBUTE,
) -> None:
    """Store the lines of an export, a chat transcript in OpenAI's format, or rows of Mastra's tables.

    Safe to stop, and to run again: what is there already stays.  The expiry begins anew, by --ttl.  Needs the rights
    to BatchGetItem, GetItem, PutItem, DeleteItem and ConditionCheckItem."""
    _check(format, skip_bad, thread, resource, mastra_table)
    setting = _ttl(ttl or [], ttl_attribute)
    errors = Console(stderr=True)
    with DynamoDBStore(table, region=region, endpoint_url=endpoint_url, ttl=setting) as whole, opened(file) as source:
        store = whole if tenant is None else whole.scoped(tenant)
        if thread is not None and resource is not None:
            given = transcript_entities(file.name, source, thread, resource, store.table.clock())
            _tell(errors, store.import_entities(given, replace=replace))
            return
        read = from_line if format is Format.singletable else row_of(mastra_table)
        with _bar(errors, source) as advance:
            lines = Lines(file.name, source, read, skip_bad, partial(_say, errors), advance)
            done = _run(errors, store, lines, replace)
        _tell(errors, done, lines.left_out)


def _run(errors: Console, store: DynamoDBStore, lines: Lines, replace: bool) -> Imported:
    so_far = Imported()

    def keep(done: Imported) -> None:
        nonlocal so_far
        so_far = done
        lines.numbers.clear()

    try:
        return store.import_entities(lines.entities(), replace=replace, on_refused=lines.refused, on_progress=keep)
    except BaseException:
        _say(errors, f"stopped after {so_far.total:,}; run it again to go on")
        raise


def _tell(errors: Console, done: Imported, left_out: int = 0) -> None:
    _say(errors, f"written: {summary(done.written)}; there already: {summary(done.kept)}; left out: {left_out:,}")


def _say(errors: Console, text: str) -> None:
    errors.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _bar(errors: Console, source: BinaryIO) -> Generator[Callable[[int], None]]:
    """What shows how far the file is read; of a pipe, how much."""
    size = os.fstat(source.fileno()).st_size if source is not sys.stdin.buffer else None
    columns = (TextColumn("importing"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("", total=size)
        yield lambda count: progress.advance(task, count)


def _check(format: Format, skip_bad: bool, thread: str | None, resource: str | None, mastra_table: str | None) -> None:
    """Raise BadParameter for options that do not go together."""
    is_openai = format is Format.openai
    if is_openai != (thread is not None) or is_openai != (resource is not None):
        raise typer.BadParameter("--thread and --resource go with --format openai, and are needed there")
    if is_openai and skip_bad:
        raise typer.BadParameter("--skip-bad would leave a hole in a conversation: mend the transcript")
    if mastra_table is not None and (format is not Format.mastra or mastra_table not in TABLES):
        raise typer.BadParameter(f"--mastra-table goes with --format mastra, and is one of {', '.join(TABLES)}")


def _ttl(entries: Sequence[str], attribute: str) -> dict[str, object]:
    """The `ttl` setting that the options make; raises BadParameter."""
    setting = ttl_stored_as(attribute)
    for entry in entries:
        entity, _, seconds = entry.partition("=")
        if entity not in MODELS or not seconds.isdecimal() or int(seconds) == 0:
            raise typer.BadParameter(f"--ttl is like message=2592000, for one of {', '.join(MODELS)}")
        setting[entity] = {"enabled": True, "default_ttl_seconds": int(seconds), "attribute_name": attribute}
    return setting
