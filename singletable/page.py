"""One page of results.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Results in order, and how to go on."""

    items: list[T]
    cursor: str | None = None
    """Gives the next page to the call that returned this one; None where nothing follows."""
    total: int | None = None
    """How many results there are on all pages, where that was asked for."""
    previous: str | None = None
    """Gives the page before to the call that returned this one; None on the first, and for a scan."""

    @property
    def has_more(self) -> bool:
        """Whether results follow: proved by reading one more, not guessed from the size of the page.

        A page that its budget ended has more: it is not proved that nothing follows.  So has one that `previous` led
        to, because the page that it was asked from follows."""
        return self.cursor is not None
