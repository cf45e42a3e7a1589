"""A lease in the hands of its holder."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event

from ..fences import Fence


@dataclass(frozen=True, kw_only=True)
class HeldLease(Fence):
    """A lease that was acquired: pass it as `fence=` to whatever is written under it."""

    name: str
    token: int
    """Greater than that of every holder before: what is not in this table can refuse a smaller one by it."""
    ttl_seconds: float
    lost: Event = field(default_factory=Event, compare=False, repr=False)
    """Set once a renewal was refused."""

    @property
    def is_lost(self) -> bool:
        """Whether it is known to be somebody else's; a write under it says so as of its own moment."""
        return self.lost.is_set()
