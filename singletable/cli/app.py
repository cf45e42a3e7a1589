"""The commands, put together."""

from __future__ import annotations

import typer

from .demo import demo
from .keys import keys
from .reindex import reindex
from .resume import resume

app = typer.Typer(
    help="A single-table store for chat memory on DynamoDB.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # it would print the values of local variables, stored content among them
)
app.command()(demo)
app.command()(keys)
app.command()(reindex)
app.command(hidden=True)(resume)
