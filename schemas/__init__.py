"""The entities of an agent's memory.  Import as `singletable.schemas`."""

if __name__ != "singletable.schemas":
    raise ImportError("import singletable.schemas; the folder schemas/ is its source, not a module of its own")

from .evaluation import Evaluation
from .message import Content, Message, Role
from .resource import Resource
from .score import Score
from .thread import Thread
from .thread_state import ThreadState
from .tombstone import Tombstone
from .trace import Span
from .workflow_snapshot import WorkflowRun, WorkflowSnapshot

__all__ = [
    "Content",
    "Evaluation",
    "Message",
    "Resource",
    "Role",
    "Score",
    "Span",
    "Thread",
    "ThreadState",
    "Tombstone",
    "WorkflowRun",
    "WorkflowSnapshot",
]
