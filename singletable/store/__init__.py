"""The storage facade: what a chat application keeps, in the verbs of Mastra's storage."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ._async.dynamodb import AsyncDynamoDBStore
    from ._sync.dynamodb import DynamoDBStore
    from .context import Context

__all__ = ["AsyncDynamoDBStore", "Context", "DynamoDBStore"]

# Imported at the first use, so that nobody waits for a driver, a store or a twin that is not wanted.  A new name goes
# to the imports for the type checkers and to `__all__` as well; a test compares them.
_HOMES: Final = {
    "AsyncDynamoDBStore": "_async.dynamodb",
    "DynamoDBStore": "_sync.dynamodb",
    "Context": "context",
}

if not TYPE_CHECKING:  # or the checkers would believe that every name exists

    def __getattr__(name: str) -> Any:
        """A public name at its first use; from then on it is an ordinary global."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
