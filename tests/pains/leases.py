"""Those who want a lease, each with a time that moves while they sleep."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from singletable.store._sync.leases import Leases
from singletable.store.entities import ENTITIES
from singletable.store.held_lease import HeldLease
from tests.contract.support import FakeBackend


class Worker:
    """One process: its pauses move the clock, and its leases are renewed by hand."""

    def __init__(self, backend: FakeBackend, **settings: Any) -> None:
        self.backend, self.pauses, self.beats = backend, list[float](), list[Any]()
        self.leases = Leases(
            backend.table(*ENTITIES, sleep=self._sleep, **settings),
            stopwatch=lambda: backend.clock.now.timestamp(),
            draw=lambda low, high: (low + high) / 2,
            repeating=self._by_hand,
        )

    def hold(self, name: str, ttl: float) -> HeldLease:
        """A lease whose holder dies before it renews it."""
        return self.leases._acquired(name, ttl, wait=0)

    def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.backend.clock.advance(seconds=seconds)

    @contextmanager
    def _by_hand(self, call: Any, seconds: float) -> Any:
        self.beats.append((call, seconds))
        yield
