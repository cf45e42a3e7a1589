"""The bytes of a blob, from its item or from its pieces."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from singletable.schemas import Blob

from ...errors import ConfigurationError, PayloadMissingError
from ...transport import Bucket
from ..blob_forms import check_digest, piece_count, piece_size, sha256
from ..encodings import Compression, expanded
from .bucket import AsyncBucketPieces
from .domain import AsyncDomain
from .pieces import AsyncPieces, AsyncTablePieces


@dataclass(frozen=True)
class AsyncBlobReading(AsyncDomain):
    """Blobs, and where their pieces are."""

    bucket: Bucket | None = None
    """Where new pieces go; None for the table."""
    compression: Compression | None = None

    def _places(self) -> list[AsyncPieces]:
        """Where pieces may be; the first is for new ones."""
        places: list[AsyncPieces] = [] if self.bucket is None else [AsyncBucketPieces(self.bucket, self.table.scope)]
        return [*places, AsyncTablePieces(self.table)]

    def _pieces(self, blob: Blob) -> AsyncPieces:
        """Where the pieces of a blob are."""
        for place in self._places():
            if place.place == blob.place:
                return place
        raise ConfigurationError(f"the bytes of this blob are in {blob.place}: give the store its blobs=")

    async def _content(self, blob: Blob, start: int, end: int | None) -> bytes:
        """The bytes of a range of a blob."""
        stop = blob.size if end is None else min(end, blob.size)
        if blob.payload is None:
            data = expanded(blob.content or b"", blob.encoding, blob.size)
            check_digest(blob, sha256(data))
            return data[start:stop]
        if stop <= start:
            return b""
        length = blob.piece_bytes or 1
        first, last = start // length, (stop - 1) // length
        data = b"".join([part async for part in self._parts(blob, range(first, last + 1))])
        if (start, stop) == (0, blob.size):
            check_digest(blob, sha256(data))
            return data
        return data[start - first * length : stop - first * length]

    async def _streamed(self, blob: Blob) -> AsyncIterator[bytes]:
        """The bytes of a blob, part by part; the last one comes only if all are those that were written."""
        if blob.payload is None:
            yield await self._content(blob, 0, None)
            return
        digest, before = hashlib.sha256(), b""
        async for part in self._parts(blob, range(piece_count(blob))):
            digest.update(part)
            if before:
                yield before
            before = part
        check_digest(blob, digest.hexdigest())
        yield before

    async def _parts(self, blob: Blob, numbers: range) -> AsyncIterator[bytes]:
        pieces = self._pieces(blob)
        if blob.payload is None:
            raise PayloadMissingError("a blob without bytes in its item must have pieces")
        for position in range(0, len(numbers), pieces.at_once):
            group = numbers[position : position + pieces.at_once]
            for number, piece in zip(group, await pieces.read(blob.payload, group), strict=True):
                yield expanded(piece, blob.encoding, piece_size(blob, number))
