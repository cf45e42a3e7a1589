"""Writes the tables of `docs/COSTS.md`: what calls of a store consume, beside the same calls of @mastra/dynamodb 1.0.0;
`--check` compares only."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from singletable import DynamoDBStore
from singletable.provision import create_table_params
from singletable.schemas import Message, Thread
from singletable.store.entities import ENTITIES
from singletable.testing import Clock, IndexKeys, MemoryDatabase
from singletable.values import JsonObject
from singletable.wire import Operation, Request, Response, WireItem

PAGE = Path(__file__).parents[1] / "docs" / "COSTS.md"
TABLE = "agents"
SECTION = re.compile(r"^(## Items of (\d+) KB\n).*?(?=^## )", re.MULTILINE | re.DOTALL)
MESSAGE_BYTES, THREAD_BYTES, RUN_BYTES = 560, 480, 840
"""An item without its text: keys, names, ids and times; as long as the longer one of both stores, or a little more."""
READS = {"GetItem", "Query", "BatchGetItem"}
MESSAGES, THREADS, DELETED = 2_000, 5_000, 100
NEWEST, LISTED = 40, 20
HEADINGS = ("call", "requests", "read units", "write units", "theirs: requests", "read units", "write units", "remark")


class HigherError(Exception):
    """A read that costs more than its counterpart: the page would promise what does not hold."""


class Bill(NamedTuple):
    """What a call took."""

    requests: int
    read_units: float
    write_units: float


class Metered:
    """A transport to a DynamoDB in memory that notes what each request consumes, whichever thread sends it."""

    def __init__(self, database: MemoryDatabase) -> None:
        self.database = database
        self._consumed: list[tuple[Operation, float]] = []

    def send(self, request: Request) -> Response:
        """The response of the database."""
        params = {**request.params, "ReturnConsumedCapacity": "TOTAL"}
        response = self.database.execute(request._replace(params=params))
        consumed: Any = response["ConsumedCapacity"]
        reports: list[dict[str, Any]] = [consumed] if "CapacityUnits" in consumed else consumed
        self._consumed.append((request.operation, sum(report["CapacityUnits"] for report in reports)))
        return response

    def close(self) -> None:
        """Nothing to give up."""

    def bill(self, call: Callable[[], object]) -> Bill:
        """What one call takes."""
        self._consumed.clear()
        call()
        read = sum(units for operation, units in self._consumed if operation in READS)
        return Bill(len(self._consumed), read, sum(units for _, units in self._consumed) - read)


def ident(number: int) -> str:
    """An id as long as a UUID."""
    return f"{number:08}-0000-4000-8000-000000000000"


def content_of(text: str) -> JsonObject:
    """The content of a message in the form that both stores keep."""
    return {"format": 2, "parts": [{"type": "text", "text": text}]}


def snapshot_of(text: str) -> JsonObject:
    """Where a workflow stands before its next step."""
    return {"status": "running", "context": {"input": {"text": text}}, "requestContext": {}}


THREAD, OWNER, RUN, WORKFLOW, STEP = ident(1), ident(2), ident(3), "booking", "pay"
RESULT: JsonObject = {"status": "success", "output": {"paid": True}}
LATER = 60_000
"""The millisecond of what changes, after that of what is made."""


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


class Mastra:
    """The requests that @mastra/dynamodb 1.0.0 sends, over a table as its TABLE_SETUP.md has it made.

    Keys and attributes are those that ElectroDB 3.5 makes of its entities."""

    def __init__(self) -> None:
        indexes = {name: IndexKeys(f"{name}pk", f"{name}sk") for name in ("gsi1", "gsi2")}
        self.meter = Metered(MemoryDatabase(indexes=indexes))

    def fill_thread(self, count: int, text: str) -> None:
        """Save a thread with so many messages."""
        self.fill_threads(1, "")
        for number in range(count):
            self._put(_message_item(number, text))

    def fill_threads(self, count: int, text: str) -> None:
        """Save so many threads."""
        for number in range(1, count + 1):
            self._put(_thread_item(number, text))

    def list_messages(self) -> list[WireItem]:
        """`listMessages`, whatever its page and order: one query of the thread's index for up to 1 MB, from its oldest
        message on; the page is cut out of that in memory."""
        items: list[WireItem] = self._query("message#threadid", THREAD)["Items"]
        return items

    def list_threads(self) -> None:
        """`listThreads`: all threads of the resource, page by page; sorted and cut in memory."""
        found = self._query("thread#resourceid", OWNER)
        while "LastEvaluatedKey" in found:
            found = self._query("thread#resourceid", OWNER, ExclusiveStartKey=found["LastEvaluatedKey"])

    def save_messages(self, numbers: Iterable[int], text: str) -> None:
        """`saveMessages`: one put after the other, then `updatedAt` of the first message's thread."""
        for number in numbers:
            self._put(_message_item(number, text))
        self._set(_thread_item(1, "", changed=LATER), "updatedAt", "entity", "id", "__edb_e__", "__edb_v__")

    def delete_thread(self) -> None:
        """`deleteThread`: what `listMessages` gives with `perPage: false`, each by a delete of its own; the thread."""
        for item in self.list_messages():
            self._send("DeleteItem", Key=_key(item))
        self._send("DeleteItem", Key=_key(_thread_item(1, "")))

    def persist_run(self, text: str) -> None:
        """`persistWorkflowSnapshot`: an update that sets every attribute, and the keys of the index."""
        item = _run_item(snapshot_of(text))
        self._set(item, *(item.keys() - {"pk", "sk"}))

    def update_results(self, text: str) -> None:
        """`updateWorkflowResults`: read the run, merge, and persist it whole."""
        self._send("GetItem", Key=_key(_run_item({})))
        snapshot = snapshot_of(text)
        context: JsonObject = {"input": {"text": text}, STEP: RESULT}
        item = _run_item({**snapshot, "context": context}, changed=LATER)
        self._set(item, *(item.keys() - {"pk", "sk", "resourceId"}))

    def _send(self, operation: Operation, **params: Any) -> Response:
        return self.meter.send(Request(operation, {"TableName": TABLE, **params}))

    def _put(self, item: WireItem) -> None:
        self._send("PutItem", Item=item)

    def _set(self, item: WireItem, *names: str) -> None:
        """An update to what these attributes are in `item`."""
        numbered = dict(enumerate(sorted(names)))
        self._send(
            "UpdateItem",
            Key=_key(item),
            UpdateExpression="SET " + ", ".join(f"#{number} = :{number}" for number in numbered),
            ExpressionAttributeNames={f"#{number}": name for number, name in numbered.items()},
            ExpressionAttributeValues={f":{number}": item[name] for number, name in numbered.items()},
        )

    def _query(self, partition: str, value: str, **start: WireItem) -> Response:
        """A page of an index, eventually consistent and of whole items, as ElectroDB asks for it."""
        return self._send(
            "Query",
            IndexName="gsi1",
            KeyConditionExpression="#pk = :pk and begins_with(#sk, :sk)",
            ExpressionAttributeNames={"#pk": "gsi1pk", "#sk": "gsi1sk"},
            ExpressionAttributeValues=_texts(
                {":pk": f"$mastra#entity_{partition}_{value}", ":sk": f"${partition.split('#')[0]}_1#createdat_"}
            ),
            **start,
        )


def _texts(attributes: dict[str, str]) -> WireItem:
    return {name: {"S": text} for name, text in attributes.items()}


def _key(item: WireItem) -> WireItem:
    return {"pk": item["pk"], "sk": item["sk"]}


def _time(number: int) -> str:
    """So many milliseconds after the first time, as JavaScript writes it."""
    time = Clock()() + timedelta(milliseconds=number)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _item(entity: str, created: int, changed: int, attributes: dict[str, str]) -> WireItem:
    """An item of these keys and attributes, with what all items of ElectroDB have."""
    times = {"createdAt": _time(created), "updatedAt": _time(changed)}
    return _texts({"entity": entity, "__edb_e__": entity, "__edb_v__": "1", **times, **attributes})


def _message_item(number: int, text: str) -> WireItem:
    attributes = {
        "pk": f"$mastra#entity_message#id_{ident(number)}",
        "sk": "$message_1#entity_message",
        "gsi1pk": f"$mastra#entity_message#threadid_{THREAD}",
        "gsi1sk": f"$message_1#createdat_{_time(number).lower()}",
        "id": ident(number),
        "threadId": THREAD,
        "resourceId": OWNER,
        "content": _json(content_of(text)),
        "role": "user",
        "type": "text",
    }
    return _item("message", number, number, attributes)


def _thread_item(number: int, text: str, *, changed: int = 0) -> WireItem:
    attributes = {
        "pk": f"$mastra#entity_thread#id_{ident(number)}",
        "sk": f"$thread_1#id_{ident(number)}",
        "gsi1pk": f"$mastra#entity_thread#resourceid_{OWNER}",
        "gsi1sk": f"$thread_1#createdat_{_time(number).lower()}",
        "id": ident(number),
        "resourceId": OWNER,
        "title": "Trip",
        "metadata": _json({"note": text}),
    }
    return _item("thread", number, changed, attributes)


def _run_item(snapshot: JsonObject, *, changed: int = 0) -> WireItem:
    attributes = {
        "pk": f"$mastra#entity_workflow_snapshot#workflow_name_{WORKFLOW}",
        "sk": f"$workflow_snapshot_1#run_id_{RUN}",
        "gsi2pk": f"$mastra#entity_workflow_snapshot#run_id_{RUN}",
        "gsi2sk": f"$workflow_snapshot_1#workflow_name_{WORKFLOW}",
        "workflow_name": WORKFLOW,
        "run_id": RUN,
        "resourceId": OWNER,
        "snapshot": _json(snapshot),
    }
    return _item("workflow_snapshot", 0, changed, attributes)


def _json(value: JsonObject) -> str:
    return json.dumps(value, separators=(",", ":"))


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
