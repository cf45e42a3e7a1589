# Generated from ../_async/blob_reading.py by scripts/generate_sync.py; edit that file.
"""The bytes of a blob, from its item or from its pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from singletable.schemas import Blob

from ...errors import ConfigurationError, PayloadMissingError
from ...transport import Bucket
from ..blob_forms import check_digest, piece_count, piece_size, sha256
from ..encodings import Compression, expanded
from .bucket import BucketPieces
from .domain import Domain
from .pieces import Pieces, TablePieces


@dataclass(frozen=True)
class BlobReading(Domain):
    """Blobs, and where their pieces are."""

    bucket: Bucket | None = None
    """Where new pieces go; None for the table."""
    compression: Compression | None = None

    def _places(self) -> list[Pieces]:
        """Where pieces may be; the first is for new ones."""
        places: list[Pieces] = [] if self.bucket is None else [BucketPieces(self.bucket, self.table.scope)]
        return [*places, TablePieces(self.table)]

    def _pieces(self, blob: Blob) -> Pieces:
        """Where the pieces of a blob are."""
        for place in self._places():
            if place.place == blob.place:
                return place
        raise ConfigurationError(f"the bytes of this blob are in {blob.place}: give the store its blobs=")

    def _content(self, blob: Blob, start: int, end: int | None) -> bytes:
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
        data = b"".join([part for part in self._parts(blob, range(first, last + 1))])
        if (start, stop) == (0, blob.size):
            check_digest(blob, sha256(data))
            return data
        return data[start - first * length : stop - first * length]

    def _streamed(self, blob: Blob) -> Iterator[bytes]:
        """The bytes of a blob, part by part; the last one comes only if all are those that were written."""
        if blob.payload is None:
            yield self._content(blob, 0, None)
            return
        digest, before = hashlib.sha256(), b""
        for part in self._parts(blob, range(piece_count(blob))):
            digest.update(part)
            if before:
                yield before
            before = part
        check_digest(blob, digest.hexdigest())
        yield before

    def _parts(self, blob: Blob, numbers: range) -> Iterator[bytes]:
        pieces = self._pieces(blob)
        if blob.payload is None:
            raise PayloadMissingError("a blob without bytes in its item must have pieces")
        for position in range(0, len(numbers), pieces.at_once):
            group = numbers[position : position + pieces.at_once]
            for number, piece in zip(group, pieces.read(blob.payload, group), strict=True):
                yield expanded(piece, blob.encoding, piece_size(blob, number))
