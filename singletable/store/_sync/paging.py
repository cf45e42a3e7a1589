# Generated from ../_async/paging.py by scripts/generate_sync.py; edit that file.
"""Pages of results, by number or by cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, TypeVar, cast

from pydantic import BaseModel

from ..._sync.query import Query
from ...errors import RequestError
from ...page import Page

T = TypeVar("T", bound=BaseModel)


class Paged(Protocol[T]):
    """Results in an order, as a query has them."""

    def count(self) -> int:
        """How many there are."""
        ...

    def all(self) -> list[T]:
        """All of them."""
        ...

    def page(self, size: int, cursor: str | None = None) -> Page[T]:
        """Up to `size` of them, and how to go on."""
        ...


class _Skipped(BaseModel):
    """Nothing but the key of an item: what is sent of the pages before the one that is asked for."""


def paged(
    query: Query[Any, T] | Paged[T],
    *,
    page: int,
    per_page: int | None,
    cursor: str | None,
    include_total: bool,
) -> Page[T]:
    """Page number `page`, or the page after `cursor`; everything where `per_page` is None.

    A page by number reads, and pays for, all pages before it, and shifts under writes; a cursor does neither.
    `include_total` counts all results, which reads them."""
    check_paging(page, per_page, cursor)
    total = query.count() if include_total else None
    if per_page is None:
        return Page(query.all(), None, total)
    if per_page == 0:
        return Page([], None, total)
    if page:
        skipped = _keys_of(query).page(page * per_page)
        if skipped.cursor is None:
            return Page([], None, total)
        cursor = skipped.cursor
    found = query.page(per_page, cursor)
    return replace(found, total=total)


def _keys_of(query: Query[Any, T] | Paged[T]) -> Paged[Any]:
    """The same results with as little of them as can be read."""
    keys: Paged[Any] = query
    if isinstance(query, Query):
        keys = cast(Any, query).select(_Skipped)  # pyright forgets the entity of the query it has just looked at
    return keys


def descending(order: str) -> bool:
    """Whether an order is descending; raises RequestError for what is none."""
    if order not in ("asc", "desc"):
        raise RequestError('order must be "asc" or "desc"')
    return order == "desc"


def require_count(name: str, value: object, *, least: int) -> None:
    """Raise RequestError unless a value is a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise RequestError(f"{name} must be a whole number of {least} or more")


def check_paging(page: int, per_page: int | None, cursor: str | None) -> None:
    """Raise RequestError unless page, size and cursor go together."""
    require_count("page", page, least=0)
    require_count("per_page", 0 if per_page is None else per_page, least=0)
    if cursor is not None and per_page is None:
        raise RequestError("a cursor goes on by pages; per_page=None asks for everything")
    if page and per_page is None:
        raise RequestError("page must be 0 where per_page is None, which asks for everything")
    if page and cursor is not None:
        raise RequestError("give page or cursor, not both")
