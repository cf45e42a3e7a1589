"""The memory of agents: threads, their messages, and the resources that own them."""

from __future__ import annotations

from .copying import AsyncCopying
from .deleting import AsyncDeleting
from .deleting_threads import AsyncThreadDeletion
from .listing_threads import AsyncThreadListing
from .messages import AsyncMessages
from .reporting import AsyncReporting
from .resources import AsyncResources
from .saving import AsyncSaving
from .thread_state import AsyncThreadStates
from .threads import AsyncThreads
from .transfer import AsyncTransfer
from .updating import AsyncUpdating


class AsyncMemory(
    AsyncThreads,
    AsyncThreadListing,
    AsyncTransfer,
    AsyncCopying,
    AsyncThreadDeletion,
    AsyncThreadStates,
    AsyncSaving,
    AsyncMessages,
    AsyncUpdating,
    AsyncDeleting,
    AsyncReporting,
    AsyncResources,
):
    """Threads, messages and resources in the verbs of Mastra's memory domain."""
