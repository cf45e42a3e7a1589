"""What an agent needs to take its next turn."""

from __future__ import annotations

from dataclasses import dataclass, field

from singletable.schemas import Message, Thread


@dataclass(frozen=True)
class Context:
    """A thread and its newest messages, read at one moment."""

    thread: Thread | None = None
    """None where messages were saved into a thread that nobody saved."""
    messages: list[Message] = field(default_factory=list[Message])
    """Oldest first."""
