"""`singletable demo`: plays transcripts into a store, and has a second process go on from there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from singletable.errors import SingleTableError
from singletable.schemas import Message, Thread
from singletable.store import DynamoDBStore

from .terminal import output, plain
from .transcripts import TranscriptError, conversations, from_openai, turns

DAY = 24 * 3600
TTL = {
    "message": {"enabled": True, "default_ttl_seconds": 30 * DAY},
    "thread": {"enabled": True, "default_ttl_seconds": 90 * DAY},
}


class SecondProcessError(SingleTableError):
    """The process that was to go on with the conversations failed."""


@dataclass(frozen=True)
class Transcript:
    """One conversation of a file, ready to be saved."""

    thread: Thread
    turns: list[list[Message]]


def demo(
    files: Annotated[list[Path], typer.Argument(metavar="FILE.jsonl...", help="Transcripts in OpenAI's chat format.")],
    resource: Annotated[str, typer.Option(help="The user whose conversations they are.")] = "ada",
) -> None:
    """Play chat transcripts into a store, resume them in a second process, and show what lies in the table.

    Nothing is needed but this: the DynamoDB runs inside the command, and its data goes with it."""
    # All of them first: a bad file must not be found halfway.
    transcripts = list(_transcripts(files, resource))
    console = output()
    with _starting(console) as store:
        _play(store, transcripts)
        for transcript in transcripts:
            count = sum(map(len, transcript.turns))
            saved = f"Saved {transcript.thread.id}: {count} messages in {len(transcript.turns)} turns."
            console.print(plain(saved))
        console.print("A second process goes on from there.\n")
        _go_on(store, resource)


def _transcripts(files: list[Path], resource: str) -> Iterator[Transcript]:
    taken: set[str] = set()
    for file in files:
        for chats in conversations(file.name, _content(file)):
            thread_id = _free(file.stem, taken)
            thread = Thread(id=thread_id, resource_id=resource, title=file.stem.replace("_", " ").capitalize())
            messages = [
                from_openai(chat, id=f"{thread_id}-{number:03}", thread_id=thread_id, resource_id=resource)
                for number, chat in enumerate(chats, 1)
            ]
            yield Transcript(thread, turns(messages))


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise TranscriptError(f"{file} cannot be read ({error.strerror}); name a file of JSON Lines") from error


def _free(stem: str, taken: set[str]) -> str:
    """The stem, or the first of stem-2, stem-3 … that no other conversation has."""
    number, name = 1, stem
    while name in taken:
        number += 1
        name = f"{stem}-{number}"
    taken.add(name)
    return name


def _starting(console: Console) -> DynamoDBStore:
    if not console.is_terminal:
        console.print("Starting a DynamoDB in this process …")
    with console.status("Starting a DynamoDB in this process …"):
        store = DynamoDBStore.local(ttl=TTL)
    console.print(plain(f"DynamoDB is at {store.endpoint_url}, its table is {store.table.name}."))
    return store


def _play(store: DynamoDBStore, transcripts: list[Transcript]) -> None:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TextColumn("turns"))
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        for transcript in transcripts:
            task = progress.add_task(plain(transcript.thread.id).plain, total=len(transcript.turns))
            store.memory.save_thread(transcript.thread)
            for turn in transcript.turns:
                _take_turn(store, transcript.thread.id, turn)
                progress.advance(task)


def _take_turn(store: DynamoDBStore, thread_id: str, turn: list[Message]) -> None:
    """What a chat application does: load what was said, ask the model, save both sides of it.

    The transcript stands in for the model, so that nothing is done with the context here."""
    store.memory.context(thread_id, last=20)
    store.memory.save_messages(turn)


def _go_on(store: DynamoDBStore, resource: str) -> None:
    # -P, so that nothing in the user's folder passes for a module.
    command = [sys.executable, "-P", "-m", "singletable.cli", "resume"]
    where = [f"--endpoint-url={store.endpoint_url}", f"--table={store.table.name}", f"--resource={resource}"]
    status = subprocess.run([*command, *where], check=False).returncode
    if status:
        raise SecondProcessError(f"the second process failed with exit status {status}; its own message says why")
