"""The secondary indexes of a MemoryDatabase, as values.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class IndexKeys:
    """A global secondary index: its partition and its sort attribute, and what it holds of each item.

    The keys of the table and of the index are always in it; `projection` names what else is: everything, nothing, or
    these attributes, which CreateTable calls INCLUDE.  An item that lacks one of the index's keys is not in it.
    """

    pk: str
    sk: str
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"

    def __post_init__(self) -> None:
        # A bare name would pass for its letters.
        if isinstance(self.projection, str) and self.projection not in ("ALL", "KEYS_ONLY"):
            raise ValueError(f"projection= is 'ALL', 'KEYS_ONLY' or a tuple of attributes, not {self.projection!r}")
