"""That there is a blob."""

from __future__ import annotations

from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk, Sk, SkRange


class BlobEntry(Entity, entity="blob_entry", version=1):
    """A path in the folder that lists it: to list blobs reads none of them."""

    folder: str
    path: str

    class Key(PrimaryKey["BlobEntry"]):
        """One path in its folder."""

        folder: Pk[str]
        path: Sk[str]

    class InFolder(Index["BlobEntry"]):
        """The paths of a folder, in order."""

        folder: Pk[str]
        path: SkRange[str] = None
