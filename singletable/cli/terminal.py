"""What the commands share to write to a terminal, or to whatever stands in for it."""

from __future__ import annotations

import io
import os
import sys
import unicodedata
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

LOG_WIDTH = 100
"""The columns of what is no terminal, where nobody asks for others: the longest key of the demo fits."""


def output() -> Console:
    """A console on stdout that replaces what its encoding lacks, and colours nothing by guessing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    console = Console(highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = LOG_WIDTH
    return console


def grid(*columns: str, title: Text | None = None) -> Table:
    """A table with a line under its header; what is too long for a column goes on in the next line."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), title=title, title_style="", title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def plain(text: str, *, style: str = "") -> Text:
    """Text of a user on one line: no markup, no control characters that a terminal would obey."""
    printable = "".join(" " if unicodedata.category(char) == "Cc" else char for char in text)
    return Text(" ".join(printable.split()), style=style)


@contextmanager
def spinner(console: Console) -> Generator[Callable[[str], None]]:
    """What a long command shows of how far it has come, while it runs and a person may look on."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda text: progress.update(task, description=text)
