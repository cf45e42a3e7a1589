"""`singletable keys`: how the store's entities become keys of the table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from singletable.compile import nested_in
from singletable.declare import AccessPath
from singletable.entity import Entity
from singletable.keys import KeyTemplate
from singletable.specs import IndexSpec
from singletable.store.entities import ENTITIES

from .terminal import grid, output


@dataclass(frozen=True)
class KeyHalf:
    """One attribute of a key, and what is in it."""

    attribute: str
    template: str


@dataclass(frozen=True)
class KeyRow:
    """The key of one entity on the table or on one of its indexes, or of one of its pointer items."""

    entity: str
    index: str
    """`table`, `gsi1` …, or `pointer`."""
    classes: list[str]
    """The classes of the entity that are declared on this key."""
    pk: KeyHalf
    sk: KeyHalf
    collection: str | None


def keys(as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for tools.")] = False) -> None:
    """Show the key templates of all entities of the store."""
    rows = [row for model in ENTITIES for row in key_rows(model)]
    if as_json:
        typer.echo(json.dumps([asdict(row) for row in rows], indent=2))
    else:
        output().print(_as_table(rows))


def key_rows(model: type[Entity]) -> Iterator[KeyRow]:
    """The keys of an entity: of the table, of each index, of each pointer item."""
    paths = nested_in(model, AccessPath)
    for name, index in model.spec.indexes.items():
        on_index = [path for path in paths if path.declared_on == name]
        yield _row(model, name, index, [path.__name__ for path in on_index], on_index[0].declared_collection)
    for name, lookup in model.spec.lookups.items():
        yield _row(model, "pointer", lookup, [name], None)


def _row(model: type[Entity], index: str, spec: IndexSpec, classes: list[str], collection: str | None) -> KeyRow:
    return KeyRow(model.spec.name, index, classes, _half(spec.pk), _half(spec.sk), collection)


def _half(template: KeyTemplate) -> KeyHalf:
    return KeyHalf(template.attribute, str(template))


def _as_table(rows: list[KeyRow]) -> Table:
    table = grid("entity and class", "in", "template")
    for entity, group in groupby(rows, lambda row: row.entity):
        table.add_section()
        table.add_row(Text(entity, style="bold"))
        for row in group:
            table.add_row(
                "\n".join(f"  {name} (pointer)" if row.index == "pointer" else f"  {name}" for name in row.classes),
                Text(f"{row.pk.attribute}\n{row.sk.attribute}", style="dim"),
                Text(f"{row.pk.template}\n{row.sk.template}", style="cyan"),
            )
    return table
