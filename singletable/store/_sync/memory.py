# Generated from ../_async/memory.py by scripts/generate_sync.py; edit that file.
"""The memory of agents: threads, their messages, and the resources that own them."""

from __future__ import annotations

from .copying import Copying
from .deleting import Deleting
from .deleting_threads import ThreadDeletion
from .listing_threads import ThreadListing
from .messages import Messages
from .reporting import Reporting
from .resources import Resources
from .saving import Saving
from .thread_state import ThreadStates
from .threads import Threads
from .transfer import Transfer
from .updating import Updating


class Memory(
    Threads,
    ThreadListing,
    Transfer,
    Copying,
    ThreadDeletion,
    ThreadStates,
    Saving,
    Messages,
    Updating,
    Deleting,
    Reporting,
    Resources,
):
    """Threads, messages and resources in the verbs of Mastra's memory domain."""
