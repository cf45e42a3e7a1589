"""What an import has done, in numbers.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Imported:
    """What an import has done so far, by the names of the entities."""

    written: Mapping[str, int] = field(default_factory=dict[str, int])
    kept: Mapping[str, int] = field(default_factory=dict[str, int])
    """What was there already, and stayed as it is; also what came twice."""
    refused: int = 0
    """What was given to `on_refused`."""

    @property
    def total(self) -> int:
        """How many entities were given so far."""
        return sum(self.written.values()) + sum(self.kept.values()) + self.refused
