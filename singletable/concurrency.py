"""Several calls at once, but not too many, and one beside the caller: as tasks for async code, as threads for its
twin."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from contextvars import copy_context
from threading import Event, Thread
from typing import TypeAlias, TypeVar

T = TypeVar("T")
RepeatingInTask: TypeAlias = Callable[[Callable[[], Awaitable[bool]], float], AbstractAsyncContextManager[None]]
RepeatingInThread: TypeAlias = Callable[[Callable[[], bool], float], AbstractContextManager[None]]
"""What makes a call again and again beside a block."""
AT_ONCE = 8
"""More requests of one call do not help: botocore is bound by the interpreter lock."""


async def gather_in_tasks(calls: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """The results of all calls, in order; the first failure cancels the others."""
    import asyncio  # not above: those who use the threads need not wait for it

    gate = asyncio.Semaphore(AT_ONCE)

    async def one(call: Callable[[], Awaitable[T]]) -> T:
        async with gate:
            return await call()

    tasks = [asyncio.ensure_future(one(call)) for call in calls]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def in_other_thread(call: Callable[[], T]) -> T:
    """The result of a call that blocks, without blocking the event loop."""
    import asyncio

    return await asyncio.to_thread(call)


def in_this_thread(call: Callable[[], T]) -> T:
    """The result of a call; the twin of `in_other_thread`."""
    return call()


def gather_in_threads(calls: Sequence[Callable[[], T]]) -> list[T]:
    """The results of all calls, in order; after the first failure no other call begins."""
    if len(calls) < 2:
        return [call() for call in calls]
    failures: list[BaseException] = []

    def one(call: Callable[[], T]) -> T:
        if failures:
            raise CancelledError
        try:
            return call()
        except BaseException as failure:
            failures.append(failure)
            raise

    with ThreadPoolExecutor(min(AT_ONCE, len(calls)), thread_name_prefix="singletable-batch") as threads:
        futures = [threads.submit(copy_context().run, one, call) for call in calls]
        try:
            wait(futures)
        finally:  # an interrupt of the waiting thread stops the calls that have not begun
            for future in futures:
                future.cancel()
    if failures:
        raise failures[0]
    return [future.result() for future in futures]


@asynccontextmanager
async def repeating_in_task(call: Callable[[], Awaitable[bool]], seconds: float) -> AsyncGenerator[None]:
    """Beside the block, a call every so many seconds, for as long as it says True; none goes on after the block."""
    import asyncio

    async def repeat() -> None:
        await asyncio.sleep(seconds)
        while await call():
            await asyncio.sleep(seconds)

    task = asyncio.ensure_future(repeat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextmanager
def repeating_in_thread(call: Callable[[], bool], seconds: float) -> Generator[None]:
    """The twin of `repeating_in_task`; a call that is under way at the end of the block is waited for."""
    over = Event()

    def repeat() -> None:
        while not over.wait(seconds) and call():
            pass

    thread = Thread(target=copy_context().run, args=(repeat,), name="singletable-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
