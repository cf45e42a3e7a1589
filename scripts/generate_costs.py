"""Writes the tables of `docs/COSTS.md`: what calls of a store consume, beside the same calls of @mastra/dynamodb 1.0.0;
`--check` compares only."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scripts.costs_mastra import Mastra
from scripts.costs_meter import (
    OWNER,
    RESULT,
    RUN,
    STEP,
    TABLE,
    THREAD,
    WORKFLOW,
    Bill,
    Metered,
    content_of,
    ident,
    snapshot_of,
)
from singletable import DynamoDBStore
from singletable.provision import create_table_params
from singletable.schemas import Message, Thread
from singletable.store.entities import ENTITIES
from singletable.testing import Clock, MemoryDatabase

PAGE = Path(__file__).parents[1] / "docs" / "COSTS.md"
SECTION = re.compile(r"^(## Items of (\d+) KB\n).*?(?=^## )", re.MULTILINE | re.DOTALL)
MESSAGE_BYTES, THREAD_BYTES, RUN_BYTES = 560, 480, 840
"""An item without its text: keys, names, ids and times; as long as the longer one of both stores, or a little more."""
MESSAGES, THREADS, DELETED = 2_000, 5_000, 100
NEWEST, LISTED = 40, 20
HEADINGS = ("call", "requests", "read units", "write units", "theirs: requests", "read units", "write units", "remark")


class HigherError(Exception):
    """A read that costs more than its counterpart: the page would promise what does not hold."""


class Ours:
    """A store over a table of its own."""

    def __init__(self) -> None:
        self._clock = Clock()
        params = create_table_params(TABLE, [entity.spec for entity in ENTITIES])
        self.meter = Metered(MemoryDatabase.for_table(params))
        store = DynamoDBStore(TABLE, transport=self.meter, clock=self._clock)
        self.memory, self.workflows = store.memory, store.workflows

    def fill_thread(self, count: int, text: str) -> None:
        """Save a thread with so many messages."""
        self.fill_threads(1, "")
        self.memory.save_messages(self.messages(range(count), text))

    def fill_threads(self, count: int, text: str) -> None:
        """Save so many threads, each a second after the one before."""
        for number in range(1, count + 1):
            self._clock.advance(seconds=1)
            thread = Thread(id=ident(number), resource_id=OWNER, title="Trip", metadata={"note": text})
            self.memory.save_thread(thread)

    def messages(self, numbers: Iterable[int], text: str) -> list[Message]:
        """New messages of the thread."""
        return [
            Message(id=ident(one), thread_id=THREAD, resource_id=OWNER, role="user", content=content_of(text))
            for one in numbers
        ]

    def persist_run(self, text: str) -> None:
        """Save a run that waits for the result of its step."""
        self.workflows.persist_workflow_snapshot(
            workflow_name=WORKFLOW, run_id=RUN, resource_id=OWNER, snapshot=snapshot_of(text)
        )

    def update_results(self) -> None:
        """Save the result."""
        self.workflows.update_workflow_results(
            workflow_name=WORKFLOW, run_id=RUN, step_id=STEP, result=RESULT, request_context={}
        )


@dataclass(frozen=True)
class Row:
    """A call beside its counterpart; raises HigherError for a read that costs more."""

    call: str
    ours: Bill
    theirs: Bill
    remark: str
    is_read: bool = False
    is_whole: bool = True
    """Whether theirs gives what was asked for: what gives less may take fewer requests, but not fewer units."""

    def __post_init__(self) -> None:
        ours, theirs = self.ours, self.theirs
        is_higher = ours.read_units > theirs.read_units or (self.is_whole and ours.requests > theirs.requests)
        if self.is_read and is_higher:
            raise HigherError(f"{self.call}: {ours} is more than {theirs}")

    def __str__(self) -> str:
        more = self.ours.write_units - self.theirs.write_units
        changed = f"{abs(more):g} write unit{'' if abs(more) == 1 else 's'} {'more' if more > 0 else 'fewer'}"
        remark = f"{self.remark}; {changed}" if more else self.remark
        return f"| {' | '.join([self.call, *(f'{figure:,g}' for figure in (*self.ours, *self.theirs)), remark])} |"


def rows(size_kb: int, *, messages: int = MESSAGES, threads: int = THREADS, deleted: int = DELETED) -> Iterator[Row]:
    """All calls with items of this size."""
    size = size_kb * 1024
    yield from of_messages(messages, "x" * (size - MESSAGE_BYTES))
    yield of_threads(threads, "x" * (size - THREAD_BYTES))
    yield of_deletion(deleted, "x" * (size - MESSAGE_BYTES))
    yield of_run("x" * (size - RUN_BYTES))


def of_messages(count: int, text: str) -> Iterator[Row]:
    """What is read of one thread, and saved into it."""
    ours, theirs = Ours(), Mastra()
    ours.fill_thread(count, text)
    theirs.fill_thread(count, text)
    seen, memory, bill = len(theirs.list_messages()), ours.memory, theirs.meter.bill(theirs.list_messages)
    what, is_whole = f"the newest {NEWEST} of {count:,} messages", seen == count
    context = ours.meter.bill(lambda: memory.context(THREAD, last=NEWEST))
    remark = f"theirs sees the oldest {seen:,} messages, and gives the newest of those"
    yield Row(f"{what}: `context`", context, bill, remark, is_read=True, is_whole=is_whole)
    listed = ours.meter.bill(lambda: memory.list_messages(THREAD, last=NEWEST))
    remark = "the second request asks whether the thread was deleted; theirs as above"
    yield Row(f"{what}: `list_messages`", listed, bill, remark, is_read=True, is_whole=is_whole)
    new = (range(count, count + 2), range(count + 2, count + 4))
    bill = theirs.meter.bill(lambda: theirs.save_messages(new[0], text))
    atomic = ours.meter.bill(lambda: memory.save_messages(ours.messages(new[0], text)))
    batch = ours.meter.bill(lambda: memory.save_messages(ours.messages(new[1], text), durability="batch"))
    what = "a turn of two messages: `save_messages`"
    yield Row(what, atomic, bill, "all or none, after what was saved before")
    yield Row(
        f'{what}, `durability="batch"`',
        batch,
        bill,
        "a save that dies on the way leaves a part of it; saved again, it is whole",
    )


def of_threads(count: int, text: str) -> Row:
    """A page of the threads of a resource."""
    ours, theirs = Ours(), Mastra()
    ours.fill_threads(count, text)
    theirs.fill_threads(count, text)
    mine = ours.meter.bill(lambda: ours.memory.list_threads(OWNER, per_page=LISTED))
    what = f"{LISTED} of {count:,} threads: `list_threads`"
    return Row(what, mine, theirs.meter.bill(theirs.list_threads), "theirs reads them all", is_read=True)


def of_deletion(count: int, text: str) -> Row:
    """A thread with its messages, few enough for theirs to find them all."""
    ours, theirs = Ours(), Mastra()
    ours.fill_thread(count, text)
    theirs.fill_thread(count, text)
    mine = ours.meter.bill(lambda: ours.memory.delete_thread(THREAD))
    remark = "invisible at once, and closed to saves; can be taken up again"
    what = f"a thread of {count:,} messages: `delete_thread`"
    return Row(what, mine, theirs.meter.bill(theirs.delete_thread), remark)


def of_run(text: str) -> Row:
    """The result of one step of a workflow."""
    ours, theirs = Ours(), Mastra()
    ours.persist_run(text)
    theirs.persist_run(text)
    remark = "of concurrent results none is lost; two lists have the run, without its snapshot"
    mine, bill = ours.meter.bill(ours.update_results), theirs.meter.bill(lambda: theirs.update_results(text))
    return Row("a step of a workflow: `update_workflow_results`", mine, bill, remark)


def derived(page: str) -> str:
    """The page with the table of each size that it has a heading for."""

    def table(section: re.Match[str]) -> str:
        lines = [section[1], f"| {' | '.join(HEADINGS)} |", f"|---|{'---:|' * (len(HEADINGS) - 2)}---|"]
        return "\n".join([*lines, *map(str, rows(int(section[2]))), "\n"])

    return SECTION.sub(table, page)


def settle(path: Path, text: str, *, check: bool) -> int:
    """Write what differs, or say that it does; the exit status."""
    if path.read_text("utf-8") == text:
        return 0
    if check:
        print(f"docs/{path.name} is not what the calls cost: run `make costs`", file=sys.stderr)
        return 1
    path.write_text(text, "utf-8")
    print(f"wrote docs/{path.name}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or check it; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the page differs")
    return settle(PAGE, derived(PAGE.read_text("utf-8")), check=parser.parse_args(arguments).check)


if __name__ == "__main__":
    sys.exit(main())
