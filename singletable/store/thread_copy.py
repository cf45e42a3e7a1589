"""What came of copying a thread."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from singletable.schemas import Message, Thread


@dataclass(frozen=True)
class ThreadCopy:
    """A new thread with copies of another one's messages."""

    thread: Thread
    message_ids: Mapping[str, str]
    """For the id of each message that was copied, the id of its copy, in the order of the messages."""
    messages: list[Message] = field(default_factory=list[Message])
    """The copies, oldest first, as `clone_thread` gives them; empty from `copy_thread`, which keeps none in memory."""
