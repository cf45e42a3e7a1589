"""How long a change is tried that others keep overtaking.  Pure."""

from __future__ import annotations

from ..retry import pause_seconds

CHANGES = 100
"""Tries of one change.  At each, one of the callers who meet has won, so that this is enough for so many at once."""
LONGEST_PAUSE = 4
"""The attempt after which pauses grow no more: up to 0.4 seconds, in which some forty others can be through."""


def change_pause_seconds(attempt: int) -> float:
    """A random wait before reading, changing and writing once more."""
    return pause_seconds(min(attempt, LONGEST_PAUSE))
