"""What an erasure has removed, in numbers.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Receipt:
    """What an erasure has removed, or what a dry run has found: numbers, and nothing that says whose it was."""

    counts: Mapping[str, int]
    """By the name of the entity, also those of which there was none; messages without their pointers."""
    dry_run: bool = False

    @property
    def total(self) -> int:
        """How many entities these are together."""
        return sum(self.counts.values())
