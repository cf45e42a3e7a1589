"""A Strands agent whose session, offloaded tool results and memory files are in one DynamoDB table."""

import asyncio

from strands.session.snapshot_session_manager import SnapshotSessionManager

from singletable import AsyncDynamoDBStore
from singletable.integrations.strands import DynamoDBStorage
from singletable.testing import AsyncMemoryTransport

store = AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport())  # or region="eu-central-1"
storage = DynamoDBStorage(store)

# agent = Agent(model=..., storage=storage, session_manager=session)
session = SnapshotSessionManager("s1", storage=storage)


async def main() -> None:
    """What every part of the SDK does with a storage."""
    offloaded = storage.namespace("offloader/s1")
    await offloaded.write("tool_1_0", b"x" * 1_000_000)
    print(await storage.list("offloader/"))
    print(len(await offloaded.read("tool_1_0") or b""))


asyncio.run(main())
