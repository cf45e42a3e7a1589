"""What is known of a blob, and of what its writings left behind."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from singletable.schemas import Blob

from ..errors import CorruptPayloadError


@dataclass(frozen=True)
class BlobHead:
    """A blob without its bytes."""

    key: str
    size: int
    """In bytes."""
    digest: str
    """The SHA-256 of the bytes, in hexadecimal."""
    etag: str
    """Of this writing of them, for `if_match`."""
    created_at: datetime
    """When they were written."""


@dataclass(frozen=True)
class Collected:
    """What was found of writings that died, and removed unless it was a dry run."""

    uploads: int = 0
    """Writings that died."""
    pieces: int = 0
    """What they left."""
    folders: int = 0
    """Folders in which nothing is any more."""


def piece_count(blob: Blob) -> int:
    """How many pieces a blob has; 0 where its item has the bytes."""
    return -(-blob.size // blob.piece_bytes) if blob.piece_bytes else 0


def piece_size(blob: Blob, number: int) -> int:
    """The length of one piece of a blob."""
    length = blob.piece_bytes or 0
    return min(length, blob.size - number * length)


def check_digest(blob: Blob, digest: str) -> None:
    """Raise CorruptPayloadError unless what was read is what was written."""
    if digest != blob.digest:
        raise CorruptPayloadError("what is stored of a blob is not what was written: its SHA-256 differs")


def sha256(data: bytes) -> str:
    """The digest of some bytes."""
    return hashlib.sha256(data).hexdigest()
