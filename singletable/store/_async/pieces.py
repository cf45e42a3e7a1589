"""Pieces of what no item holds, in the table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from pydantic import BaseModel

from singletable.schemas import BlobPiece

from ..._async.table import AsyncTable
from ...errors import PayloadMissingError


class AsyncPieces(Protocol):
    """Where the pieces of a payload are.  They are written once, and never changed."""

    place: Literal["table", "s3"]
    piece_bytes: int
    """The length of each piece but the last one."""
    at_once: int
    """So many pieces are worth one call."""

    async def write(self, payload: str, first: int, pieces: Sequence[bytes]) -> None:
        """Store pieces, of which the first has this number."""
        ...

    async def read(self, payload: str, numbers: Sequence[int]) -> list[bytes]:
        """The pieces with these numbers; raises PayloadMissingError unless all are there."""
        ...

    async def numbers(self, payload: str) -> list[int]:
        """The numbers of the pieces that there are, expired or not; for who does not know them."""
        ...

    async def remove(self, payload: str, numbers: Iterable[int]) -> None:
        """Delete pieces; those that are not there are fine."""
        ...


class AsyncTablePieces:
    """Pieces as items of the table itself."""

    place: Literal["table", "s3"] = "table"
    piece_bytes = 384 * 1024
    at_once = 8

    def __init__(self, table: AsyncTable) -> None:
        self.table = table

    async def write(self, payload: str, first: int, pieces: Sequence[bytes]) -> None:
        """Store pieces; one request."""
        await self.table.put_many(
            BlobPiece(payload=payload, number=number, content=piece) for number, piece in enumerate(pieces, first)
        )

    async def read(self, payload: str, numbers: Sequence[int]) -> list[bytes]:
        """The pieces; one strongly consistent request, unless they weigh more than 16 MB."""
        found = await self.table.get_many(BlobPiece.Key(payload=payload, number=number) for number in numbers)
        pieces = {piece.number: piece.content for piece in found}
        if len(pieces) < len(numbers):
            raise PayloadMissingError("pieces of a blob are missing: they were removed from outside of this library")
        return [pieces[number] for number in numbers]

    async def numbers(self, payload: str) -> list[int]:
        """The numbers of the pieces that there are; reads them all, because DynamoDB bills whole items."""
        query = self.table.query(BlobPiece.OfPayload(payload=payload)).select(_Number).with_expired()
        return [piece.number async for piece in query]

    async def remove(self, payload: str, numbers: Iterable[int]) -> None:
        """Delete pieces; 25 a request."""
        await self.table.delete_many(BlobPiece.Key(payload=payload, number=number) for number in numbers)


class _Number(BaseModel):
    number: int
