# Generated from ../_async/rounds.py by scripts/generate_sync.py; edit that file.
"""Reading what a plan asks for, round by round: a page of each of its parts at once, within a budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from ..budgets import Budget
from ..codec import item_size_bytes
from ..concurrency import AT_ONCE, gather_in_threads
from ..entity import Entity
from ..items import table_key
from ..plans import FILTERED_PAGE, Lane, Plan
from ..requests import BATCH_GET_KEYS
from ..wire import Request, Response, WireItem
from .base import key_text
from .batch import batch_get
from .sender import Sender

READ_UNIT_BYTES = 4096


class Entry(NamedTuple):
    """An item that was found, and where."""

    lane: int
    model: type[Entity]
    item: WireItem
    place: WireItem
    """The item as the table or the index gave it, with its key there."""
    before: WireItem | None
    """The place after which a reading finds this item first; None at the beginning."""


@dataclass
class Rounds:
    """One reading: how far it has come, and what it has consumed."""

    sender: Sender
    plan: Plan
    budget: Budget
    lanes: list[Lane]
    spent_rcu: float = 0
    spent_items: int = 0

    @property
    def finished(self) -> bool:
        """Whether nothing is left to read."""
        return all(lane.finished for lane in self.lanes)

    @property
    def exhausted(self) -> bool:
        """Whether the budget is used up."""
        max_rcu, max_items = self.budget.max_rcu, self.budget.max_items
        return (max_rcu is not None and self.spent_rcu >= max_rcu) or (
            max_items is not None and self.spent_items >= max_items
        )

    def requests(self, left: int | None) -> dict[int, Request]:
        """The requests of the next round, by lane, for `left` results."""
        unspent = AT_ONCE if self.budget.max_items is None else self.budget.max_items - self.spent_items
        running = [number for number, lane in enumerate(self.lanes) if not lane.finished][: min(AT_ONCE, unspent)]
        now, limit = self.sender.clock(), self._limit(left, len(running))
        requests = {
            number: self.plan.request(now, lane=number, after=self.lanes[number].after, limit=limit)
            for number in running
        }
        if self.budget.max_rcu is None:
            return requests
        return {
            number: request._replace(params={**request.params, "ReturnConsumedCapacity": "TOTAL"})
            for number, request in requests.items()
        }

    def entries(self, left: int | None) -> list[Entry]:
        """What one round finds, for `left` results: it may be more, or none."""
        entries: list[Entry] = []
        starts = [lane.after for lane in self.lanes]
        for number, response in (self._send_all(left)).items():
            before = starts[number]
            for item in response["Items"]:
                model = self.plan.model_of(item)
                if model is not None:
                    entries.append(Entry(number, model, item, item, before))
                before = item
        return self._hydrated(entries) if self.plan.hydrates else entries

    def count(self) -> int:
        """How many items one round finds."""
        if not self.plan.counts_itself:
            return len(self.entries(None))
        responses = self._send_all(None)
        return sum(int(response["Count"]) for response in responses.values())

    def _send_all(self, left: int | None) -> dict[int, Response]:
        requests = self.requests(left)
        responses = gather_in_threads([partial(self._send, request) for request in requests.values()])
        found = dict(zip(requests, responses, strict=True))
        for number, response in found.items():
            last = response.get("LastEvaluatedKey")
            self.lanes[number] = Lane(last) if last else Lane(finished=True)
            self.spent_items += response["ScannedCount"]
            if self.budget.max_rcu is not None:
                self.spent_rcu += response["ConsumedCapacity"]["CapacityUnits"]
        return found

    def _send(self, request: Request) -> Response:
        return self.sender.send(request, entity=" and ".join(spec.name for spec in self.plan.specs))

    def _hydrated(self, entries: list[Entry]) -> list[Entry]:
        """The entries with whole items, without those that are gone, have expired, or are found elsewhere by now."""
        keys = [table_key(entry.item) for entry in entries]
        found = {key_text(item): item for item in batch_get(self.sender, keys, consistent=True)}
        absent = len(keys) - len(found)
        self.spent_rcu += absent + sum(-(-item_size_bytes(item) // READ_UNIT_BYTES) for item in found.values())
        expiry, now = self.sender.settings.expiry, self.sender.clock()
        whole = [(entry, found.get(key_text(entry.item))) for entry in entries]
        return [
            entry._replace(item=item)
            for entry, item in whole
            if item is not None and (self.plan.with_expired or not expiry.is_past(item, now)) and self.plan.covers(item)
        ]

    def _limit(self, left: int | None, lanes: int) -> int | None:
        limits = [self.plan.page_limit(left)]
        if self.plan.hydrates:
            limits.append(BATCH_GET_KEYS)
        if self.budget.max_rcu is not None:
            limits.append(FILTERED_PAGE)
        if self.budget.max_items is not None:
            limits.append((self.budget.max_items - self.spent_items) // lanes)
        return min((limit for limit in limits if limit is not None), default=None)
