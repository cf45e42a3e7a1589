"""The memory of agents: threads, their messages, and the resources that own them."""

from __future__ import annotations

from .messages import AsyncMessages
from .resources import AsyncResources
from .saving import AsyncSaving
from .threads import AsyncThreads


class AsyncMemory(AsyncThreads, AsyncSaving, AsyncMessages, AsyncResources):
    """Threads, messages and resources in the verbs of Mastra's memory domain."""
