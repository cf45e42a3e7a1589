"""Writing and deleting blobs: pieces first, then one transaction in which the blob comes to be what they are."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

from singletable.schemas import Blob, BlobEntry, BlobFolder, BlobUpload

from ..._async.transaction import AsyncTransaction
from ...conditions import missing
from ...errors import (
    AlreadyExistsError,
    ConditionFailedError,
    ItemTooLargeError,
    NotFoundError,
    OutcomeUnknownError,
    PartialBatchError,
    RequestError,
    StorageError,
    ThrottledError,
    TransactionFailedError,
    UnreachableError,
    VersionConflictError,
)
from ...refusals import refused_at
from ...writes import ITEM_BYTES
from ..blob_forms import piece_count, sha256
from ..blob_keys import folder_of
from ..contention import CHANGES, change_pause_seconds
from ..encodings import compressed
from ..stamps import milliseconds
from .blob_reading import AsyncBlobReading
from .pieces import AsyncPieces

SHELVES = 16
"""So many partitions share the uploads."""
TOUCH_AGAIN = timedelta(hours=1)
"""After this time a folder is written once more, so that upkeep sees that it is in use."""


@dataclass(frozen=True)
class Demand:
    """What a caller wants to be there before a change."""

    if_match: str | None = None
    if_absent: bool = False
    must_exist: bool = False


Change: TypeAlias = Callable[[AsyncTransaction, Blob | None], None]
"""Adds what is to be changed to a transaction; given is the blob with pieces that this replaces, if there is one."""


@dataclass(frozen=True)
class AsyncBlobWriting(AsyncBlobReading):
    """Blobs that come and go.

    A writing that needs pieces first stores an upload, by which upkeep finds them if it dies.  What a blob is changes
    in one transaction, under the condition that what it replaces is known: a writing removes the pieces that it has
    replaced itself, and no others."""

    touched: dict[tuple[str, str], datetime] = field(
        default_factory=dict[tuple[str, str], datetime], repr=False, compare=False
    )
    """When this process last wrote a folder, by scope and folder."""

    async def _stage(self, path: str, data: bytes | AsyncIterable[bytes]) -> tuple[Blob, BlobUpload | None]:
        """A blob that is not stored yet, but for its pieces, and the upload of these."""
        self.table.size_bytes(BlobEntry(folder=folder_of(path), path=path))  # the longest key: too long is told at once
        pieces = self._places()[0]
        cut = _cut(data, pieces.piece_bytes)
        start: list[bytes] = []
        async for piece in cut:
            start.append(piece)
            if sum(map(len, start)) > ITEM_BYTES:
                break
        else:
            if (blob := self._whole(path, b"".join(start))) is not None:
                return blob, None
        return await self._upload(path, pieces, _after(start, cut))

    def _whole(self, path: str, data: bytes) -> Blob | None:
        """A blob with its bytes in its item; None where no item holds them."""
        blob = Blob(
            path=path,
            etag=_new_id(),
            size=len(data),
            digest=sha256(data),
            encoding=self.compression or "identity",
            content=compressed(data, self.compression),
            created_at=milliseconds(self.clock()),
        )
        try:
            self.table.size_bytes(blob)
        except ItemTooLargeError:
            return None
        return blob

    async def _upload(self, path: str, pieces: AsyncPieces, parts: AsyncIterable[bytes]) -> tuple[Blob, BlobUpload]:
        upload = await self.table.create(self._new_upload(path, needs_bucket=pieces.place == "s3"))
        digest, size, number, group = hashlib.sha256(), 0, 0, list[bytes]()
        async for part in parts:
            digest.update(part)
            size += len(part)
            group.append(compressed(part, self.compression))
            if len(group) == pieces.at_once:
                await pieces.write(upload.payload, number, group)
                number, group = number + len(group), []
        if group:
            await pieces.write(upload.payload, number, group)
        blob = Blob(
            path=path,
            etag=_new_id(),
            size=size,
            digest=digest.hexdigest(),
            encoding=self.compression or "identity",
            payload=upload.payload,
            place=pieces.place,
            piece_bytes=pieces.piece_bytes,
            created_at=milliseconds(self.clock()),
        )
        return blob, upload

    def _new_upload(self, path: str, replaced: str | None = None, *, needs_bucket: bool) -> BlobUpload:
        payload = _new_id()
        return BlobUpload(
            shelf=f"{int(payload, 16) % SHELVES:02}",
            started_at=milliseconds(self.clock()),
            payload=payload,
            path=path,
            replaced=replaced,
            needs_bucket=needs_bucket,
        )

    async def _commit(self, blob: Blob, upload: BlobUpload | None, demand: Demand) -> None:
        """Let a staged blob take the place of what is there; where it may not, its pieces are removed again."""
        folder = self._to_be_touched(folder_of(blob.path))
        try:
            await self._swap(
                blob.path, upload, demand, lambda tx, replaced: _put_blob(tx, blob, folder, replaced, demand)
            )
        except ConditionFailedError:
            if upload is not None:
                with suppress(StorageError):  # the caller has to know of the refusal; gc() finds what is left
                    await self._remove(blob, upload)
            raise
        if folder is not None:
            self.touched[self.table.scope, folder.folder] = folder.touched_at

    async def _delete(self, path: str, demand: Demand) -> None:
        """Delete the blob of a path, unless there is none."""
        try:
            await self._swap(path, None, demand, lambda tx, replaced: _delete_blob(tx, path, replaced, demand))
        except NotFoundError:
            if demand.if_match is not None:
                raise

    async def _swap(self, path: str, upload: BlobUpload | None, demand: Demand, change: Change) -> None:
        """Make a change of a blob, and remove the pieces of what it replaced.

        First as if that had none: where it has, the refusal says which."""
        replaced: Blob | None = None
        attempt = 0
        while True:
            tx = self.table.transaction()
            change(tx, replaced)
            left = self._mark(tx, upload, replaced)
            try:
                await tx.sender.transact(tx.writes)
                break
            except TransactionFailedError as error:
                attempt += 1
                replaced = await self._with_pieces(path, error, demand, is_last=attempt == CHANGES)
            if attempt > 1:  # once is no contention: something is stored
                await self.table.sleep(change_pause_seconds(attempt))
        if replaced is not None and left is not None:
            await self._clean(replaced, left)

    async def _with_pieces(
        self, path: str, error: TransactionFailedError, demand: Demand, *, is_last: bool
    ) -> Blob | None:
        """The blob that a change did not know, if it has pieces; raises what the caller has to know instead."""
        if refused_at(error) and error.reasons[0].item is not None and error.reasons[0].current is None:
            await self.table.get(Blob.Key(path=path))  # raises for one that cannot be read; it may only have expired
        current = _in_the_way(error, demand, is_last=is_last)
        if current is None or current.payload is None:
            return None
        self._pieces(current)  # raises where nobody could remove them
        return current

    def _mark(self, tx: AsyncTransaction, upload: BlobUpload | None, replaced: Blob | None) -> BlobUpload | None:
        """Let the upload say what is left to be removed afterwards, if anything is; it must not be given up."""
        if replaced is None:
            if upload is not None:
                tx.delete(BlobUpload.Key.of(upload), where=_is_going_on)
            return None
        if upload is None:
            upload = self._new_upload(replaced.path, replaced.payload, needs_bucket=replaced.place == "s3")
            tx.create(upload)
        else:
            needs_bucket = upload.needs_bucket or replaced.place == "s3"
            patch = BlobUpload.Patch(replaced=replaced.payload, needs_bucket=needs_bucket)
            tx.update(BlobUpload.Key.of(upload), patch, where=_is_going_on)
        return upload

    async def _clean(self, replaced: Blob, upload: BlobUpload) -> None:
        """Remove the pieces of what was replaced."""
        try:
            await self._remove(replaced, upload)
        except StorageError as error:
            # The change is made, and gc() finds what is left; that it may not be removed, somebody must hear.
            if not _may_pass(error):
                raise

    async def _remove(self, blob: Blob, upload: BlobUpload) -> None:
        """Remove the pieces of a blob, and then the upload by which they would be found."""
        if blob.payload is not None:
            await self._pieces(blob).remove(blob.payload, range(piece_count(blob)))
        await self.table.delete(BlobUpload.Key.of(upload))

    def _to_be_touched(self, folder: str) -> BlobFolder | None:
        """The folder as it is to be written now; None where this process has done so within the hour."""
        now, touched = milliseconds(self.clock()), self.touched.get((self.table.scope, folder))
        if touched is not None and now - touched < TOUCH_AGAIN:
            return None
        return BlobFolder(folder=folder, touched_at=now)


def _put_blob(
    tx: AsyncTransaction, blob: Blob, folder: BlobFolder | None, replaced: Blob | None, demand: Demand
) -> None:
    """The blob, and that it is there.  First the blob: by its place errors are told apart."""
    if demand.if_absent:
        tx.create(blob)
    elif replaced is not None or demand.if_match is not None:
        tx.put(blob, where=_known(replaced, demand))
    else:
        tx.put(blob, where=lambda old: missing(old.payload), or_absent=True)
    tx.put(BlobEntry(folder=folder_of(blob.path), path=blob.path))
    if folder is not None:
        tx.put(folder)


def _delete_blob(tx: AsyncTransaction, path: str, replaced: Blob | None, demand: Demand) -> None:
    tx.delete(Blob.Key(path=path), where=_known(replaced, demand))
    tx.delete(BlobEntry.Key(folder=folder_of(path), path=path))


def _known(replaced: Blob | None, demand: Demand) -> Callable[[Blob], bool]:
    """That a blob is there which is the one that was seen, or else has no pieces, and is the one that is asked for."""
    if replaced is not None:
        return lambda old: old.etag == replaced.etag
    if demand.if_match is not None:
        return lambda old: (old.etag == demand.if_match) & missing(old.payload)
    return lambda old: missing(old.payload)


def _may_pass(error: StorageError) -> bool:
    """Whether a request may succeed at another time."""
    cause = error.__cause__ if isinstance(error, PartialBatchError) else error
    return cause is None or isinstance(cause, ThrottledError | UnreachableError | OutcomeUnknownError)


def _is_going_on(upload: BlobUpload) -> bool:
    return upload.is_given_up == False  # noqa: E712  (a condition of DynamoDB)


def _in_the_way(error: TransactionFailedError, demand: Demand, *, is_last: bool) -> Blob | None:
    """The blob that a change did not know, if there is one; raises what the caller has to know instead."""
    if not refused_at(error):
        raise error
    current = error.reasons[0].current
    context: dict[str, Any] = {"operation": error.operation, "table": error.table, "entity": "blob", "current": current}
    if 0 not in refused_at(error):
        raise ConditionFailedError("writing the blob took longer than gc() waits; write it again", **context) from error
    if demand.if_absent:
        raise AlreadyExistsError("there is a blob with this key", **context) from error
    if not isinstance(current, Blob):
        if demand.must_exist:
            raise NotFoundError("there is no blob with this key", **context) from error
        current = None
    elif demand.if_match not in (None, current.etag):
        raise VersionConflictError("the blob is not the one of if_match: read it again", **context) from error
    if is_last:
        raise ConditionFailedError("other callers keep changing the blob: try again", **context) from error
    return current


def _new_id() -> str:
    return secrets.token_hex(16)


async def _cut(data: bytes | AsyncIterable[bytes], length: int) -> AsyncIterator[bytes]:
    """The bytes in pieces of one length, but for the last one."""
    piece = bytearray()
    async for part in _parts(data):
        rest = memoryview(part)
        while len(rest) >= length - len(piece):
            taken = length - len(piece)
            yield bytes(piece) + bytes(rest[:taken])
            piece, rest = bytearray(), rest[taken:]
        piece += rest
    if piece:
        yield bytes(piece)


async def _parts(data: object) -> AsyncIterator[bytes]:
    if isinstance(data, bytes):
        yield data
        return
    if not isinstance(data, AsyncIterable):
        raise _no_bytes(data)
    async for part in cast(AsyncIterable[object], data):
        if not isinstance(part, bytes):
            raise _no_bytes(part)
        yield part


def _no_bytes(data: object) -> RequestError:
    return RequestError(f"a blob is written from bytes, or from an iterable of them, not from a {type(data).__name__}")


async def _after(start: Iterable[bytes], rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    for piece in start:
        yield piece
    async for piece in rest:
        yield piece
