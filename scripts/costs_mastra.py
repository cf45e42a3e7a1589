"""The calls of @mastra/dynamodb 1.0.0, as requests."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from scripts.costs_meter import (
    LATER,
    OWNER,
    RESULT,
    RUN,
    STEP,
    TABLE,
    THREAD,
    WORKFLOW,
    Metered,
    content_of,
    ident,
    snapshot_of,
)
from singletable.testing import Clock, IndexKeys, MemoryDatabase
from singletable.values import JsonObject
from singletable.wire import Operation, Request, Response, WireItem


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
