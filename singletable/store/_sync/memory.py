# Generated from ../_async/memory.py by scripts/generate_sync.py; edit that file.
"""The memory of agents: threads, their messages, and the resources that own them."""

from __future__ import annotations

from .messages import Messages
from .resources import Resources
from .saving import Saving
from .threads import Threads


class Memory(Threads, Saving, Messages, Resources):
    """Threads, messages and resources in the verbs of Mastra's memory domain."""
