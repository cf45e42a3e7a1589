"""The second process of the demo: it knows where the table is, and nothing else of what the first one did."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from singletable.adapters.local import CREDENTIALS, REGION
from singletable.schemas import Message, Thread
from singletable.store import Context, DynamoDBStore
from singletable.values import JsonObject

from .contents import read_raw_items, show_items
from .demo import TTL
from .terminal import grid, output, plain
from .transcripts import to_openai

LAST = 20
SHOWN = 4
"""How many of the newest messages of a conversation are printed."""


def resume(
    endpoint_url: Annotated[str, typer.Option()],
    table: Annotated[str, typer.Option()],
    resource: Annotated[str, typer.Option()],
) -> None:
    """Go on with the conversations of a user, from another process."""
    console = output()
    console.rule(f"second process, {os.getpid()}", align="left", style="dim")
    with DynamoDBStore(table, endpoint_url=endpoint_url, region=REGION, credentials=CREDENTIALS, ttl=TTL) as store:
        threads = store.memory.list_threads(resource, per_page=None).items
        console.print(_thread_table(resource, threads))
        for thread in threads:
            _show_end(console, store.memory.context(thread.id, last=LAST))
        _remember(console, store, resource, threads)
    show_items(console, table, read_raw_items(table, endpoint_url))


def _thread_table(resource: str, threads: Iterable[Thread]) -> Table:
    title = plain(f"Threads of {resource}, newest first", style="bold")
    table = grid("id", "title", "created", "last message", title=title)
    for thread in threads:
        times = [f"{time:%Y-%m-%d %H:%M:%S}" for time in (thread.created_at, thread.updated_at)]
        table.add_row(plain(thread.id), plain(thread.title or ""), *times)
    return table


def _show_end(console: Console, context: Context) -> None:
    if context.thread is None:
        return
    head = f"{context.thread.title}: resumed from its newest {len(context.messages)} messages, which end with"
    console.print(plain(head, style="bold"))
    for message in context.messages[-SHOWN:]:
        line = Text(f"  {message.role:<10}", style="cyan")
        line.append_text(plain(_said(message), style="default"))
        line.truncate(console.width, overflow="ellipsis")
        console.print(line)
    console.print()


def _said(message: Message) -> str:
    """What a message says, on one line, whatever its form."""
    chat = to_openai(message)
    calls = cast("Iterable[Mapping[str, JsonObject]]", chat.get("tool_calls") or [])
    called = ", ".join(str(call.get("function", {}).get("name", "a tool")) for call in calls)
    content = chat.get("content")
    if isinstance(content, list):
        parts = cast("list[JsonObject]", content)
        content = " ".join(str(part.get("text", f"[{part.get('type')}]")) for part in parts)
    said = content or chat.get("refusal") or ""
    return " ".join(filter(None, (str(said), called and f"→ {called}")))


def _remember(console: Console, store: DynamoDBStore, resource: str, threads: Iterable[Thread]) -> None:
    topics = ", ".join(thread.title or thread.id for thread in threads)
    updated = store.memory.update_resource(resource, working_memory=f"Has talked about: {topics}.")
    console.print(plain(f"The working memory of {updated.id} was updated", style="bold"))
    console.print(plain(f"{updated.working_memory}"))
    console.print()
