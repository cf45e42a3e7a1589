"""How much one call may read.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .errors import RequestError


@dataclass(frozen=True)
class Budget:
    """The most that one call may read; None is no bound."""

    max_rcu: float | None = None
    max_items: int | None = None

    def __post_init__(self) -> None:
        if (self.max_rcu is not None and self.max_rcu <= 0) or (self.max_items is not None and self.max_items < 1):
            raise RequestError("a budget allows more than 0 read units, and 1 item or more")


UNBOUNDED: Final = Budget()
"""A call that may read whatever there is."""
