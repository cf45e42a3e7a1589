"""Pages of a query, by number or by cursor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel

from ..._async.query import AsyncQuery
from ...errors import RequestError
from ...page import Page

T = TypeVar("T", bound=BaseModel)


class _Skipped(BaseModel):
    """Nothing but the key of an item: what is sent of the pages before the one that is asked for."""


async def paged(
    query: AsyncQuery[Any, T], *, page: int, per_page: int | None, cursor: str | None, include_total: bool
) -> Page[T]:
    """Page number `page`, or the page after `cursor`; everything where `per_page` is None.

    A page by number reads, and pays for, all pages before it, and shifts under writes; a cursor does neither.
    `include_total` counts all results, which reads them."""
    _check(page, per_page, cursor)
    total = await query.count() if include_total else None
    if per_page is None:
        return Page(await query.all(), None, total)
    if per_page == 0:
        return Page([], None, total)
    if page:
        skipped = await query.select(_Skipped).page(page * per_page)
        if skipped.cursor is None:
            return Page([], None, total)
        cursor = skipped.cursor
    found = await query.page(per_page, cursor)
    return replace(found, total=total)


def descending(order: str) -> bool:
    """Whether an order is descending; raises RequestError for what is none."""
    if order not in ("asc", "desc"):
        raise RequestError('order must be "asc" or "desc"')
    return order == "desc"


def require_count(name: str, value: object, *, least: int) -> None:
    """Raise RequestError unless a value is a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise RequestError(f"{name} must be a whole number of {least} or more")


def _check(page: int, per_page: int | None, cursor: str | None) -> None:
    require_count("page", page, least=0)
    require_count("per_page", 0 if per_page is None else per_page, least=0)
    if page and per_page is None:
        raise RequestError("page must be 0 where per_page is None, which asks for everything")
    if page and cursor is not None:
        raise RequestError("give page or cursor, not both")
