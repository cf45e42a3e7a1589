"""One process of an agent, with a model that says what it is told: `first` or `second`, and where its table is."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from typing import Any

from strands import Agent, tool
from strands.models import Model
from strands.session.snapshot_session_manager import SnapshotSessionManager
from strands.vended_plugins.context_offloader import ContextOffloader

from singletable import AsyncDynamoDBStore, S3Blobs
from singletable.adapters.local import CREDENTIALS, REGION
from singletable.integrations.strands import DynamoDBStorage
from tests import servers

NEEDLE = "needle-42"


class Scripted(Model):
    """A model that gives prepared messages, one after the other."""

    def __init__(self, *messages: list[dict[str, Any]]) -> None:
        self.messages = iter(messages)
        self.seen: list[Any] = []

    def get_config(self) -> Any:
        return {}

    def update_config(self, **_: Any) -> None:
        return None

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        self.seen = json.loads(json.dumps(messages, default=str))
        yield {"messageStart": {"role": "assistant"}}
        reason = "end_turn"
        for block in next(self.messages):
            if "toolUse" in block:
                reason, use = "tool_use", block["toolUse"]
                yield {
                    "contentBlockStart": {"start": {"toolUse": {"name": use["name"], "toolUseId": use["toolUseId"]}}}
                }
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(use["input"])}}}}
            else:
                yield {"contentBlockStart": {"start": {}}}
                yield {"contentBlockDelta": {"delta": {"text": block["text"]}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": reason}}


@tool
def report() -> str:
    """A report of one megabyte."""
    lines = [f"line {number}: nothing to see, and nothing to find either" for number in range(20_000)]
    lines[12_345] = f"line 12345: {NEEDLE} is here"
    return "\n".join(lines)


def use(name: str, use_id: str, **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"name": name, "toolUseId": use_id, "input": arguments}}


FIRST = [[use("report", "tu_1")], [{"text": "done"}]]
SECOND = [[use("retrieve_offloaded_content", "tu_2", reference="tu_1_0", pattern=NEEDLE)], [{"text": "found"}]]


async def main(process: str, table: str, url: str, bucket: str = "") -> None:
    blobs = S3Blobs(bucket, client=servers.s3(url)) if bucket else None
    async with AsyncDynamoDBStore(
        table, region=REGION, endpoint_url=url, credentials=CREDENTIALS, blobs=blobs
    ) as store:
        storage = DynamoDBStorage(store)
        model = Scripted(*(FIRST if process == "first" else SECOND))
        agent = Agent(
            model=model,
            tools=[report],
            storage=storage,
            session_manager=SnapshotSessionManager("s1", storage=storage),
            plugins=[ContextOffloader(storage.namespace("offloader/s1"), evict_after_cycles=None)],
            callback_handler=None,
        )
        await agent.invoke_async("Write the report." if process == "first" else "Where is it?")
        sys.stdout.write(json.dumps({"messages": model.seen, "keys": await storage.list("")}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
