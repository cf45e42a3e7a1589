"""Bytes under a key."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import PrimaryKey
from singletable.entity import Entity
from singletable.values import Pk


class Blob(Entity, entity="blob", version=1):
    """Bytes under a path-like key, with their content where one item holds it, and else with where its pieces are."""

    path: str
    etag: str
    """Of this writing of the bytes; another writing of the same bytes has another one."""
    size: int
    digest: str
    """The SHA-256 of the bytes, in hexadecimal."""
    encoding: Literal["identity", "gzip", "zstd"] = "identity"
    """How the content, or each piece of it, is compressed."""
    content: bytes | None = None
    payload: str | None = None
    """The name of the pieces; they are never changed, and belong to this writing alone."""
    place: Literal["table", "s3"] | None = None
    """Where the pieces are."""
    piece_bytes: int | None = None
    """The length of each piece but the last one, before it is compressed."""
    created_at: datetime = Field(default_factory=utc_now)

    class Key(PrimaryKey["Blob"]):
        """One blob by its path."""

        path: Pk[str]
