"""How long to wait before trying again.  Pure."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeAlias

FIRST_SECONDS = 0.025
LONGEST_SECONDS = 2.0
ATTEMPTS = 10
"""Tries of one request before what DynamoDB refuses is raised."""
Draw: TypeAlias = Callable[[float, float], float]
"""Gives a random number between two."""
draw: Draw = random.uniform


def pause_seconds(attempt: int, draw: Draw = draw) -> float:
    """A random wait that doubles with each attempt, so that callers in conflict do not meet again (full jitter)."""
    return draw(0, min(LONGEST_SECONDS, FIRST_SECONDS * 2**attempt))
