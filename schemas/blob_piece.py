"""A piece of a blob that no item holds."""

from __future__ import annotations

from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk, Sk, SkRange


class BlobPiece(Entity, entity="blob_piece", version=1):
    """One piece of the bytes of a blob, which is never changed."""

    payload: str
    number: int
    content: bytes

    class Key(PrimaryKey["BlobPiece"]):
        """One piece by its number, from 0."""

        payload: Pk[str]
        number: Sk[int]

    class OfPayload(Index["BlobPiece"]):
        """The pieces of a payload, in order."""

        payload: Pk[str]
        number: SkRange[int] = None
