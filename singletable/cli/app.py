"""The commands, put together."""

from __future__ import annotations

import typer

from .demo import demo
from .erase import erase
from .export import export
from .gc import gc
from .import_ import import_
from .keys import keys
from .purge import purge
from .reindex import reindex
from .resume import resume

app = typer.Typer(
    help="A single-table store for chat memory on DynamoDB.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # it would print the values of local variables, stored content among them
)
app.command()(demo)
app.command()(erase)
app.command()(export)
app.command()(gc)
app.command("import")(import_)
app.command()(keys)
app.command()(purge)
app.command()(reindex)
app.command(hidden=True)(resume)
