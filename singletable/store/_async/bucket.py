"""Pieces of what no item holds, in a bucket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Literal
from urllib.parse import quote

from ...concurrency import gather_in_tasks, in_other_thread
from ...transport import Bucket


class AsyncBucketPieces:
    """Pieces as objects; those of a scope lie below its name."""

    place: Literal["table", "s3"] = "s3"
    piece_bytes = 4 * 1024 * 1024
    at_once = 2

    def __init__(self, bucket: Bucket, scope: str) -> None:
        self.bucket = bucket
        self.scope = scope

    async def write(self, payload: str, first: int, pieces: Sequence[bytes]) -> None:
        """Store pieces; one request each."""
        names = [self._name(payload, number) for number in range(first, first + len(pieces))]
        calls = [partial(self.bucket.put, name, piece) for name, piece in zip(names, pieces, strict=True)]
        await gather_in_tasks([partial(in_other_thread, call) for call in calls])

    async def read(self, payload: str, numbers: Sequence[int]) -> list[bytes]:
        """The pieces; one request each."""
        calls = [partial(self.bucket.get, self._name(payload, number)) for number in numbers]
        return await gather_in_tasks([partial(in_other_thread, call) for call in calls])

    async def numbers(self, payload: str) -> list[int]:
        """The numbers of the pieces that there are."""
        names = await in_other_thread(partial(self.bucket.names, self._folder(payload)))
        return [int(name.rpartition("/")[2]) for name in names]

    async def remove(self, payload: str, numbers: Iterable[int]) -> None:
        """Delete pieces; 1,000 a request."""
        names = [self._name(payload, number) for number in numbers]
        await in_other_thread(partial(self.bucket.delete, names))

    def _folder(self, payload: str) -> str:
        return f"{quote(self.scope, safe='')}/{payload}/" if self.scope else f"{payload}/"

    def _name(self, payload: str, number: int) -> str:
        return f"{self._folder(payload)}{number:06}"
