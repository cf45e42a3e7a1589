"""What lies in a table, item by item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from singletable.adapters.local import CREDENTIALS, REGION
from singletable.adapters.pynamo import PynamoTransport
from singletable.codec import item_size_bytes
from singletable.specs import ENTITY
from singletable.ttl import DEFAULT_ATTRIBUTE
from singletable.wire import Request, WireItem

from .terminal import grid, plain


def read_raw_items(table: str, endpoint_url: str) -> list[WireItem]:
    """All items of a table of the demo as they are stored, sorted by key: a Scan, which the library never does."""
    transport = PynamoTransport(endpoint_url=endpoint_url, region=REGION, credentials=CREDENTIALS)
    items: list[WireItem] = []
    start: Mapping[str, Any] = {}
    while True:
        response = transport.send(Request("Scan", {"TableName": table, **start}))
        items += response["Items"]
        if "LastEvaluatedKey" not in response:
            break
        start = {"ExclusiveStartKey": response["LastEvaluatedKey"]}
    transport.close()
    return sorted(items, key=lambda item: (_pk(item), _sk(item)))


def show_items(console: Console, name: str, items: list[WireItem]) -> None:
    """Print items by partition, those that are alone in theirs together."""
    total = sum(map(item_size_bytes, items))
    console.print(plain(f"What lies in table {name}: {len(items)} items, {total:,} bytes", style="bold"))
    console.print()
    partitions = [list(group) for _, group in groupby(items, key=_pk)]
    for partition in partitions:
        if len(partition) > 1:
            console.print(_partition_table(partition))
    alone = [partition[0] for partition in partitions if len(partition) == 1]
    if alone:
        console.print(_alone_table(alone))


def _partition_table(items: list[WireItem]) -> Table:
    title = Text.assemble("partition ", plain(f"pk = {_pk(items[0])}", style="bold cyan"))
    table = _table(title, "sk, and index keys")
    for item in items:
        key = Text("\n").join([plain(_sk(item)), *_index_keys(item)])
        table.add_row(_entity(item), key, *_size_and_expiry(item))
    return table


def _alone_table(items: list[WireItem]) -> Table:
    table = _table(Text("items that have a partition to themselves"), "pk", "sk")
    for item in items:
        pk = Text("\n").join([plain(_pk(item)), *_index_keys(item)])
        table.add_row(_entity(item), pk, plain(_sk(item)), *_size_and_expiry(item))
    return table


def _table(title: Text, *keys: str) -> Table:
    table = grid("entity", *keys, title=title)
    table.columns[0].no_wrap = True
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("expires", no_wrap=True)
    return table


def _pk(item: WireItem) -> str:
    return str(item["pk"]["S"])


def _sk(item: WireItem) -> str:
    return str(item["sk"]["S"])


def _entity(item: WireItem) -> Text:
    return plain(item.get(ENTITY, {}).get("S", "–"), style="green")


def _index_keys(item: WireItem) -> Iterable[Text]:
    for attribute in sorted(item):
        index = attribute.removesuffix("pk")
        if index.startswith("gsi") and index != attribute:
            keys = f"{item[attribute]['S']} / {item[index + 'sk']['S']}"
            yield plain(f"{index}: {keys}", style="dim")


def _size_and_expiry(item: WireItem) -> tuple[str, str]:
    expiry = item.get(DEFAULT_ATTRIBUTE)
    date = f"{datetime.fromtimestamp(int(expiry['N']), UTC):%Y-%m-%d}" if expiry else "never"
    return f"{item_size_bytes(item):,}", date
