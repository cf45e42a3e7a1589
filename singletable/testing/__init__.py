"""DynamoDB in memory, to test applications with: it enforces DynamoDB's limits and breaks on demand."""

from __future__ import annotations

from .database import MemoryDatabase
from .faults import Crash, Faults
from .transport import AsyncMemoryTransport, MemoryTransport

__all__ = ["AsyncMemoryTransport", "Crash", "Faults", "MemoryDatabase", "MemoryTransport"]
