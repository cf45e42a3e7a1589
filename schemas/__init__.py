"""The entities of an agent's memory.  Import as `singletable.schemas`."""

if __name__ != "singletable.schemas":
    raise ImportError("import singletable.schemas; the folder schemas/ is its source, not a module of its own")

from .message import Content, Message
from .resource import Resource
from .thread import Thread
from .tombstone import Tombstone

__all__ = ["Content", "Message", "Resource", "Thread", "Tombstone"]
