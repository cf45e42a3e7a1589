"""What can be said of a thread as a whole.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from singletable.schemas import Message

from .turns import tools_of

T = TypeVar("T")
MOST = 1000
"""Entries in each list of a diagnosis."""


@dataclass(frozen=True, kw_only=True)
class ThreadStats:
    """The size of a thread's messages, as they are stored."""

    items: int = 0
    bytes: int = 0
    """As DynamoDB counts them, without the pointers and the thread's row."""
    oldest: datetime | None = None
    newest: datetime | None = None
    next_expiry: datetime | None = None
    """When the first of them expires; None where none does."""


@dataclass(frozen=True)
class EqualTimes:
    """Several messages of one `created_at`, which the order of saving keeps apart."""

    created_at: datetime
    messages: int


@dataclass(frozen=True)
class LargeMessage:
    """A message of many bytes."""

    message_id: str
    bytes: int


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What may be wrong with the messages of a thread, oldest first."""

    items: int = 0
    unpaired_calls: Sequence[str] = ()
    """Ids of tool calls without a result after them; providers refuse such a conversation."""
    unpaired_results: Sequence[str] = ()
    """Ids of results without a call before them; providers refuse such a conversation."""
    equal_times: Sequence[EqualTimes] = ()
    large: Sequence[LargeMessage] = ()
    is_cut: bool = False
    """Whether more was found than is listed: each list ends after 1,000 entries."""


class StoredMessage(NamedTuple):
    """A message, and what its item says besides."""

    message: Message
    bytes: int
    expires: datetime | None


@dataclass
class Findings:
    """A diagnosis under way, message by message, oldest first."""

    large_bytes: int
    items: int = 0
    open_calls: dict[str, None] = field(default_factory=dict[str, None])
    lonely_results: list[str] = field(default_factory=list[str])
    equal_times: list[EqualTimes] = field(default_factory=list[EqualTimes])
    large: list[LargeMessage] = field(default_factory=list[LargeMessage])
    is_cut: bool = False
    last: EqualTimes | None = None
    """The messages of the latest time, of which more may come."""

    def add(self, stored: StoredMessage) -> None:
        """Look at the next message."""
        message, size, _ = stored
        self.items += 1
        tools = tools_of(message)
        self.open_calls |= dict.fromkeys(sorted(tools.calls))
        for result in sorted(tools.results - self.open_calls.keys()):
            self._note(self.lonely_results, result)
        for result in tools.results | tools.whole:
            self.open_calls.pop(result, None)
        if size >= self.large_bytes:
            self._note(self.large, LargeMessage(message.id, size))
        if self.last and self.last.created_at == message.created_at:
            self.last = EqualTimes(message.created_at, self.last.messages + 1)
        else:
            self._end_time()
            self.last = EqualTimes(message.created_at, 1)

    def report(self) -> Diagnosis:
        """What was found."""
        self._end_time()
        return Diagnosis(
            items=self.items,
            unpaired_calls=tuple(self.open_calls)[:MOST],
            unpaired_results=tuple(self.lonely_results),
            equal_times=tuple(self.equal_times),
            large=tuple(self.large),
            is_cut=self.is_cut or len(self.open_calls) > MOST,
        )

    def _end_time(self) -> None:
        if self.last and self.last.messages > 1:
            self._note(self.equal_times, self.last)
        self.last = None

    def _note(self, found: list[T], one: T) -> None:
        if len(found) < MOST:
            found.append(one)
        else:
            self.is_cut = True
