"""That pieces of a blob may be lying about."""

from __future__ import annotations

from datetime import datetime

from singletable.declare import Changes, Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, Pk, Sk, SkRange


class BlobUpload(Entity, entity="blob_upload", version=1):
    """A writing of a blob that is not over, or died: without it nobody would find the pieces that it left."""

    shelf: str
    started_at: datetime
    payload: str
    path: str
    replaced: str | None = None
    """The payload that this writing has replaced, and is to remove."""
    needs_bucket: bool = False
    """Whether pieces of it may lie in a bucket: without that, nobody can remove them."""
    is_given_up: bool = False
    """Whether its pieces are being removed, so that it must not end any more."""

    class Key(PrimaryKey["BlobUpload"]):
        """One upload by its time and payload."""

        shelf: Pk[str]
        started_at: Sk[datetime]
        payload: Sk[str]

    class Oldest(Index["BlobUpload"]):
        """The uploads of a shelf, oldest first."""

        shelf: Pk[str]
        started_at: SkRange[datetime] = None

    class Patch(Changes["BlobUpload"]):
        """What a writing, or who cleans up after it, learns."""

        replaced: Change[str | None] = KEEP
        needs_bucket: Change[bool] = KEEP
        is_given_up: Change[bool] = KEEP
