"""The storage facade: what a chat application keeps, in the verbs of Mastra's storage."""

from ._async.dynamodb import AsyncDynamoDBStore
from ._sync.dynamodb import DynamoDBStore
from .context import Context

__all__ = ["AsyncDynamoDBStore", "Context", "DynamoDBStore"]
