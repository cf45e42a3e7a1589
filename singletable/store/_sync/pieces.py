# Generated from ../_async/pieces.py by scripts/generate_sync.py; edit that file.
"""Pieces of what no item holds, in the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel

from singletable.schemas import BlobPiece

from ..._sync.table import Table
from ...errors import PayloadMissingError


class Pieces(Protocol):
    """Where the pieces of a payload are.  They are written once, and never changed."""

    place: Literal["table", "s3"]
    piece_bytes: int
    """The length of each piece but the last one."""
    at_once: int
    """So many pieces are worth one call."""

    def write(self, payload: str, first: int, pieces: Sequence[bytes]) -> None:
        """Store pieces, of which the first has this number."""
        ...

    def read(self, payload: str, numbers: Sequence[int]) -> list[bytes]:
        """The pieces with these numbers; raises PayloadMissingError unless all are there."""
        ...

    def numbers(self, payload: str) -> list[int]:
        """The numbers of the pieces that there are, expired or not; for who does not know them."""
        ...

    def remove(self, payload: str, numbers: Iterable[int]) -> None:
        """Delete pieces; those that are not there are fine."""
        ...


class TablePieces:
    """Pieces as items of the table itself."""

    place: Literal["table", "s3"] = "table"
    piece_bytes = 384 * 1024
    at_once = 8

    def __init__(self, table: Table) -> None:
        self.table = table

    def write(self, payload: str, first: int, pieces: Sequence[bytes]) -> None:
        """Store pieces; one request."""
        self.table.put_many(
            BlobPiece(payload=payload, number=number, content=piece) for number, piece in enumerate(pieces, first)
        )

    def read(self, payload: str, numbers: Sequence[int]) -> list[bytes]:
        """The pieces; one strongly consistent request, unless they weigh more than 16 MB."""
        found = self.table.get_many(BlobPiece.Key(payload=payload, number=number) for number in numbers)
        pieces = {piece.number: piece.content for piece in found}
        if len(pieces) < len(numbers):
            raise PayloadMissingError("pieces of a blob are missing: they were removed from outside of this library")
        return [pieces[number] for number in numbers]

    def numbers(self, payload: str) -> list[int]:
        """The numbers of the pieces that there are; reads them all, because DynamoDB bills whole items."""
        query = self.table.query(BlobPiece.OfPayload(payload=payload)).select(_Number).with_expired()
        return [piece.number for piece in query]

    def remove(self, payload: str, numbers: Iterable[int]) -> None:
        """Delete pieces; 25 a request."""
        self.table.delete_many(BlobPiece.Key(payload=payload, number=number) for number in numbers)


class _Number(BaseModel):
    number: int
