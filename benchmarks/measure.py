"""The measurement: CPU time of each operation of each candidate, in rounds of random order."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, Final, TypeAlias

import orjson

from .candidates import BASE, Candidate
from .messages import TABLE, ChatMessage, chat_messages
from .stub import recorded, stub, stub_command

READ_ITEMS: Final = 100
BATCH_PUTS: Final = 25
TRANSACT_PUTS: Final = 10

Operation: TypeAlias = Callable[[Candidate], object]

OPERATIONS: Final[Mapping[str, tuple[Operation, int]]] = {
    "get": (lambda candidate: candidate.get(), 20),
    f"query {READ_ITEMS}": (lambda candidate: candidate.query(), 2),
    "put": (lambda candidate: candidate.put(), 20),
    f"batch write {BATCH_PUTS}": (lambda candidate: candidate.put_many(BATCH_PUTS), 4),
    f"batch get {READ_ITEMS}": (lambda candidate: candidate.get_many(), 2),
    f"transact {TRANSACT_PUTS}": (lambda candidate: candidate.create_many(TRANSACT_PUTS), 6),
}
"""Each operation, and how often it is done in a row for one reading of the clock."""

Seconds: TypeAlias = dict[str, dict[str, list[float]]]
"""CPU seconds of one operation: by candidate and operation, one for each round."""


def measured(kinds: Mapping[str, type[Candidate]], rounds: int, say: Callable[[str], None]) -> Seconds:
    """The times of all candidates, which live side by side in this process; each has a stub of its own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        command = stub_command(folder)
        say(f"stub: {'C' if len(command) == 1 else 'Python, because there is no C compiler'}")
        candidates = {name: _started(name, kind, command, folder, stack) for name, kind in kinds.items()}
        say(f"warming up: {', '.join(candidates)}")
        _round(candidates)
        gc.collect()
        gc.freeze()  # no candidate pays for a look through the objects of all the others
        seconds: Seconds = {name: {operation: [] for operation in OPERATIONS} for name in candidates}
        for number in range(1, rounds + 1):
            for (name, operation), taken in _round(candidates).items():
                seconds[name][operation].append(taken)
            say(f"round {number} of {rounds}")
        return seconds


def ratio(seconds: Seconds, name: str, operation: str) -> float:
    """The median, over the rounds, of a candidate's time in proportion to the base's in the same round."""
    pairs = zip(seconds[name][operation], seconds[BASE][operation], strict=True)
    return median(own / base for own, base in pairs)


def _started(name: str, kind: type[Candidate], command: list[str], folder: Path, stack: ExitStack) -> Candidate:
    """A candidate whose stub answers with the items that this library writes."""
    messages = chat_messages(READ_ITEMS)
    answers = folder / kind.__module__.rpartition(".")[2]
    answers.mkdir()
    items = recorded(lambda url: _put_all(kind(url, messages)))
    for operation, body in _answers(items).items():
        (answers / operation).write_bytes(orjson.dumps(body))
    candidate = kind(stack.enter_context(stub(command, answers)), messages)
    _check(name, candidate, messages)
    return candidate


def _put_all(candidate: Candidate) -> None:
    for position in range(READ_ITEMS):
        candidate.put(position)


def _answers(items: list[dict[str, Any]]) -> dict[str, Any]:
    if len(items) != READ_ITEMS:
        raise RuntimeError(f"{len(items)} items were written, not {READ_ITEMS}")
    return {
        "GetItem": {"Item": items[0]},
        "Query": {"Items": items, "Count": len(items), "ScannedCount": len(items)},
        "BatchGetItem": {"Responses": {TABLE: items}, "UnprocessedKeys": {}},
        "BatchWriteItem": {"UnprocessedItems": {}},
    }


def _check(name: str, candidate: Candidate, messages: list[ChatMessage]) -> None:
    """That a candidate does what is measured: it reads exactly what was written."""
    expected = [message.model_dump() for message in messages]
    for found in (candidate.query(), candidate.get_many(), [candidate.get()]):
        if [message.model_dump() for message in found] != expected[: len(found)] or not found:
            raise RuntimeError(f"{name} reads something else than it wrote")
    candidate.put()
    candidate.put_many(BATCH_PUTS)
    candidate.create_many(TRANSACT_PUTS)


def _round(candidates: Mapping[str, Candidate]) -> dict[tuple[str, str], float]:
    """One reading of each operation of each candidate, in random order."""
    turns = [(name, operation) for name in candidates for operation in OPERATIONS]
    random.shuffle(turns)
    return {(name, operation): _seconds(candidates[name], operation) for name, operation in turns}


def _seconds(candidate: Candidate, operation: str) -> float:
    run, times = OPERATIONS[operation]
    gc.collect()  # what the one before left behind
    start = process_time()
    for _ in range(times):
        run(candidate)
    return (process_time() - start) / times
