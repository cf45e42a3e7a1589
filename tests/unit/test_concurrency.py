"""Several calls at once: in order, bounded, and stopped by the first failure."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar
from functools import partial

import pytest

from singletable.concurrency import AT_ONCE, gather_in_tasks, gather_in_threads

CALLER: ContextVar[str] = ContextVar("CALLER")


class Counted:
    """How many calls are under way, and how many have begun."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.under_way = self.most = self.begun = 0

    def __enter__(self) -> None:
        with self.lock:
            self.begun += 1
            self.under_way += 1
            self.most = max(self.most, self.under_way)

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.under_way -= 1


def test_tasks_give_results_in_order_and_are_bounded():
    counted = Counted()

    async def call(number: int) -> int:
        with counted:
            await asyncio.sleep(0)
            return number

    results = asyncio.run(gather_in_tasks([partial(call, number) for number in range(40)]))
    assert results == list(range(40))
    assert counted.most == AT_ONCE


def test_a_task_that_fails_cancels_the_others():
    ended: list[int] = []

    async def call(number: int) -> None:
        if number == 0:
            raise ValueError("no")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    with pytest.raises(ValueError, match="no"):
        asyncio.run(gather_in_tasks([partial(call, number) for number in range(3)]))
    assert ended == [1, 2]


def test_threads_give_results_in_order_and_are_bounded():
    counted, barrier = Counted(), threading.Barrier(AT_ONCE, timeout=30)

    def call(number: int) -> int:
        with counted:
            barrier.wait()
            return number

    assert gather_in_threads([partial(call, number) for number in range(AT_ONCE * 5)]) == list(range(AT_ONCE * 5))
    assert counted.most == AT_ONCE


def test_no_call_begins_after_one_has_failed():
    counted, barrier = Counted(), threading.Barrier(AT_ONCE, timeout=30)

    def call() -> None:
        with counted:
            barrier.wait()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        gather_in_threads([call] * (AT_ONCE * 10))
    assert counted.begun == AT_ONCE


def test_one_call_needs_no_thread():
    assert gather_in_threads([threading.get_ident]) == [threading.get_ident()]
    assert gather_in_threads([]) == []


def test_threads_see_the_context_of_the_caller():
    CALLER.set("request-1")
    assert gather_in_threads([CALLER.get, CALLER.get]) == ["request-1", "request-1"]
