"""Our storage in the place of the SDK's, for its own tests."""

from __future__ import annotations

from typing import Any

from singletable import AsyncDynamoDBStore, DynamoDBStore
from singletable.integrations.strands import DynamoDBStorage
from singletable.testing import AsyncMemoryTransport, MemoryDatabase, MemoryTransport

DATABASES: dict[str, MemoryDatabase] = {}
"""One for each name: storages of one name see the same values, as after a restart."""


class OurStorage(DynamoDBStorage):
    """A storage on a DynamoDB of its own, or on that of a name."""

    def __init__(self, *, partition: str | None = None, **options: Any) -> None:
        database = MemoryDatabase() if partition is None else DATABASES.setdefault(partition, MemoryDatabase())
        self.database = database
        super().__init__(AsyncDynamoDBStore("agents", transport=AsyncMemoryTransport(database)), **options)

    def clear(self) -> None:
        """What the SDK's storage in memory can do, for its tests."""
        blobs = DynamoDBStore("agents", transport=MemoryTransport(self.database)).blobs
        for key in blobs.list(self.blobs.prefix):
            blobs.delete(key)
