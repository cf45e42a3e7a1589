"""Bytes under path-like keys: the verbs."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from singletable.schemas import Blob, BlobEntry, BlobPiece

from ...concurrency import gather_in_tasks
from ...entity import Entity
from ...errors import NotFoundError, PayloadMissingError, RequestError
from ..blob_forms import BlobHead
from ..blob_keys import blob_path, blob_prefix
from ..entities import PIECES_LIVE_ON
from .blob_listing import AsyncBlobListing
from .blob_upkeep import AsyncBlobUpkeep
from .blob_writing import Demand
from .paging import require_count


@dataclass(frozen=True)
class AsyncBlobs(AsyncBlobUpkeep, AsyncBlobListing):
    """Bytes of any size under keys like `offloader/s1/tool_0`.

    A reader gets all bytes of one writing, or those of another, and never a mix.  Keys follow the rules of Strands'
    own storages: slashes that say nothing are left out, a backslash and a part `..` are refused."""

    prefix: str = field(default="", repr=False)
    """What stands before each key, with a slash at its end; empty for all."""

    async def write(
        self, key: str, data: bytes | AsyncIterable[bytes], *, if_match: str | None = None, if_absent: bool = False
    ) -> str:
        """Store bytes, or an iterable of them, over what is there; the etag of this writing.

        With `if_match` the blob must be as that etag says: VersionConflictError or NotFoundError otherwise.  With
        `if_absent` there must be none: AlreadyExistsError.  What does not fit into one item is stored in pieces, a few
        in memory at a time, and counts only when the last one is there.

        One request, a transaction, where the bytes fit into an item.  Otherwise two, and one for each 3 MB; three more
        to replace, or to remove, a blob that has pieces."""
        if if_absent and if_match is not None:
            raise RequestError("if_absent and if_match contradict each other: give one of them")
        path = self._path(key)
        blob, upload = await self._stage(path, data)
        await self._commit(blob, upload, Demand(if_match, if_absent, must_exist=if_match is not None))
        return blob.etag

    async def read(self, key: str) -> bytes | None:
        """The bytes, or None; strongly consistent.

        One request where they fit into an item, otherwise one more for each 3 MB.  Raises CorruptPayloadError for
        bytes that are not those that were written, PayloadMissingError where some are gone."""
        return await self._read(self._path(key), 0, None)

    async def read_many(self, keys: Iterable[str]) -> Sequence[bytes | None]:
        """For each key its bytes, or None, in order; one request for each 100, and more for those with pieces."""
        paths = [self._path(key) for key in keys]
        blobs = await self.table.get_each([Blob.Key(path=path) for path in paths])
        return await gather_in_tasks(
            [partial(self._read_again, path, blob) for path, blob in zip(paths, blobs, strict=True)]
        )

    async def read_range(self, key: str, start: int, end: int | None = None) -> bytes | None:
        """The bytes from `start` up to `end`, or to the last one; None where there is no blob.

        As slices have it, what is beyond the last byte is left out.  Only the pieces that the range touches are read;
        their lengths are checked, the SHA-256 cannot be."""
        require_count("start", start, least=0)
        if end is not None:
            require_count("end", end, least=start)
        return await self._read(self._path(key), start, end)

    async def read_stream(self, key: str) -> AsyncIterator[bytes]:
        """The bytes in pieces of up to 4 MB, a few in memory at a time; raises NotFoundError where there is no blob.

        Raises PayloadMissingError where the blob is replaced while it is read: begin again."""
        blob = await self.table.get(Blob.Key(path=self._path(key)))
        if blob is None:
            raise NotFoundError("there is no blob with this key", table=self.table.name, entity="blob")
        async for part in self._streamed(blob):
            yield part

    async def head(self, key: str) -> BlobHead | None:
        """What is known of a blob, or None.  One request, which reads the bytes where they are in the item."""
        path = self._path(key)
        blob = await self.table.get(Blob.Key(path=path))
        if blob is None:
            return None
        return BlobHead(
            key=path.removeprefix(self.prefix),
            size=blob.size,
            digest=blob.digest,
            etag=blob.etag,
            created_at=blob.created_at,
        )

    async def delete(self, key: str, *, if_match: str | None = None) -> None:
        """Delete a blob; none there is fine, unless `if_match` says which one: NotFoundError.

        One request; three where it has pieces, and one for each 25 of them.  Raises VersionConflictError for a blob
        that is not as `if_match` says."""
        await self._delete(self._path(key), Demand(if_match, must_exist=True))

    async def list(self, prefix: str = "") -> builtins.list[str]:
        """The keys that begin with `prefix`, in order; strongly consistent, and no blob is read.

        `sessions/ab` finds `sessions/abc/x`.  One request, and more where there are more than some thousands of keys,
        if the prefix has two slashes; otherwise one more, and one for each folder of two parts."""
        beginning = self.prefix + blob_prefix(prefix)
        return [path.removeprefix(self.prefix) for path in await self._paths(beginning)]

    def namespace(self, prefix: str, *, ttl_seconds: int | None = None) -> Self:
        """The blobs below a prefix, which their keys do not show; with `ttl_seconds`, what is written there expires."""
        within = replace(self, prefix=f"{self.prefix}{blob_path(prefix)}/")
        if ttl_seconds is None:
            return within
        require_count("ttl_seconds", ttl_seconds, least=1)
        lives: dict[type[Entity], int] = {
            Blob: ttl_seconds,
            BlobEntry: ttl_seconds,
            BlobPiece: ttl_seconds + PIECES_LIVE_ON,
        }
        return replace(within, table=self.table.expiring(lives))

    def _path(self, key: str) -> str:
        return self.prefix + blob_path(key)

    async def _read_again(self, path: str, blob: Blob | None) -> bytes | None:
        """The bytes of a blob that was read, with another request only where they are not in its item."""
        if blob is None:
            return None
        return await (self._content(blob, 0, None) if blob.payload is None else self._read(path, 0, None))

    async def _read(self, path: str, start: int, end: int | None) -> bytes | None:
        missed = ""
        while True:
            blob = await self.table.get(Blob.Key(path=path))
            if blob is None:
                return None
            try:
                return await self._content(blob, start, end)
            except PayloadMissingError:
                # Who replaces a blob removes its pieces; of the one that is there, none may be missing.
                if blob.etag == missed:
                    raise
                missed = blob.etag
