"""That there are blobs in a folder."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk, Sk, SkRange


class BlobFolder(Entity, entity="blob_folder", version=1):
    """A folder in the one list of folders: they are few, and seldom written."""

    shelf: str = "all"
    folder: str
    touched_at: datetime = Field(default_factory=utc_now)
    """Within an hour, when something was last put into it."""

    class Key(PrimaryKey["BlobFolder"]):
        """One folder."""

        shelf: Pk[str]
        folder: Sk[str]

    class OnShelf(Index["BlobFolder"]):
        """The folders, in order."""

        shelf: Pk[str]
        folder: SkRange[str] = None
