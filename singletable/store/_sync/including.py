# Generated from ../_async/including.py by scripts/generate_sync.py; edit that file.
"""Messages that are wanted beside those of a list, with their neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from singletable.schemas import Message

from ...concurrency import gather_in_threads
from ...items import pointer_key
from ...page import Page
from ..message_forms import Include, several
from .paging import Paged, require_count
from .rows import Rows
from .selecting import Selection, cursor_at, place_of


class Including(Rows):
    """Windows around messages that are known by their ids."""

    def _with_included(
        self,
        found: Page[Message],
        reading: Paged[Message],
        included: Sequence[Include],
        *,
        resource_id: str | None,
        descending: bool,
    ) -> Page[Message]:
        """The page with the windows in it, each message once, in the order of the list."""
        if not included:
            return found
        windows = self._windows(included, Selection(self.table, resource_id=resource_id))
        listed = {message.id for message in found.items}
        extra = {message.id: message for message in windows if message.id not in listed}
        items = sorted([*found.items, *extra.values()], key=place_of, reverse=descending)
        if extra and found.cursor is not None:
            # Nothing follows where all that does came with the windows.
            rest = reading.page(len(extra), found.cursor)
            if rest.cursor is None and extra.keys() >= {message.id for message in rest.items}:
                found = replace(found, cursor=None)
        return replace(found, items=items)

    def _windows(self, included: Sequence[Include], scope: Selection) -> list[Message]:
        targets = self._by_ids([include.message_id for include in included], scope.resource_id)
        reads = [
            partial(self._neighbours, targets[include.message_id], count, replace(scope, descending=descending))
            for include in included
            if include.message_id in targets
            for count, descending in ((include.previous, True), (include.next, False))
            if count
        ]
        found = [message for part in gather_in_threads(reads) for message in part]
        return self._visible([*targets.values(), *found])

    def _neighbours(self, target: Message, count: int, side: Selection) -> list[Message]:
        query = side.of(target.thread_id)
        return (query.page(count, cursor_at(query, target))).items


def checked_includes(include: Iterable[Include]) -> list[Include]:
    """The windows that are asked for; raises RequestError for what asks for none."""
    wanted = several(include, Include, "Includes")
    for one in wanted:
        pointer_key(Message.ById(id=one.message_id), "")
        require_count("Include.previous", one.previous, least=0)
        require_count("Include.next", one.next, least=0)
    return wanted
