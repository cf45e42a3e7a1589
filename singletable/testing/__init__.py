"""DynamoDB in memory, to test applications with: it enforces DynamoDB's limits and breaks on demand.

pytest finds the fixtures of `singletable.testing.plugin` by itself.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .clock import Clock
    from .database import MemoryDatabase
    from .faults import Crash, Faults
    from .indexes import IndexKeys
    from .transport import AsyncMemoryTransport, MemoryTransport

__all__ = ["AsyncMemoryTransport", "Clock", "Crash", "Faults", "IndexKeys", "MemoryDatabase", "MemoryTransport"]

# Imported at the first use, because pytest imports this package in every run of every project beside it, for the
# plugin.  A new name goes to the imports for the type checkers and to `__all__` as well; a test compares them.
_HOMES: Final = {
    "Clock": "clock",
    "MemoryDatabase": "database",
    "Crash": "faults",
    "Faults": "faults",
    "IndexKeys": "indexes",
    "AsyncMemoryTransport": "transport",
    "MemoryTransport": "transport",
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
