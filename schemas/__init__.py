"""The entities of an agent's memory.  Import as `singletable.schemas`."""

if __name__ != "singletable.schemas":
    raise ImportError("import singletable.schemas; the folder schemas/ is its source, not a module of its own")

from .blob import Blob
from .blob_entry import BlobEntry
from .blob_folder import BlobFolder
from .blob_piece import BlobPiece
from .blob_upload import BlobUpload
from .evaluation import Evaluation
from .event import Event
from .lease import Lease
from .message import Content, Message, Role
from .resource import Resource
from .score import Score
from .session import Session, SessionTurn
from .thread import Thread
from .thread_state import ThreadState
from .tombstone import Tombstone
from .trace import Span
from .workflow_snapshot import WorkflowRun, WorkflowSnapshot

__all__ = [
    "Blob",
    "BlobEntry",
    "BlobFolder",
    "BlobPiece",
    "BlobUpload",
    "Content",
    "Evaluation",
    "Event",
    "Lease",
    "Message",
    "Resource",
    "Role",
    "Score",
    "Session",
    "SessionTurn",
    "Span",
    "Thread",
    "ThreadState",
    "Tombstone",
    "WorkflowRun",
    "WorkflowSnapshot",
]
