# Generated from ../_async/blob_upkeep.py by scripts/generate_sync.py; edit that file.
"""What writings of blobs that died have left, found and removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

from singletable.schemas import Blob, BlobEntry, BlobFolder, BlobUpload

from ...errors import ConditionFailedError, NotFoundError, RequestError
from ...values import lt
from ..blob_forms import Collected
from .blob_writing import SHELVES, BlobWriting

GRACE = timedelta(days=1)
SHORTEST_GRACE = timedelta(hours=2)
"""Longer than a process believes a folder to be in use without writing it again."""


@dataclass(frozen=True)
class BlobUpkeep(BlobWriting):
    """Upkeep of blobs."""

    def gc(
        self,
        *,
        dry_run: bool = False,
        grace: timedelta = GRACE,
        on_progress: Callable[[Collected], None] | None = None,
    ) -> Collected:
        """Remove what writings left that died at least `grace` ago, and folders in which nothing is any more.

        Of one tenant, or of what has none; of pieces in a bucket only if the store has the bucket.  Nothing that can
        be read is removed, and whoever still writes after so long a time is told so.  Scans nothing:
        seventeen requests, and some for each writing that died and each folder into which nothing came for so long.
        With `dry_run` nothing is written.  `on_progress` gets what has been done so far."""
        if grace < SHORTEST_GRACE:
            raise RequestError(f"grace is at least {SHORTEST_GRACE}: until then a writing may be going on")
        done = Collected()
        for upload in self._died(grace):
            pieces = self._collect(upload, dry_run=dry_run)
            done = replace(done, uploads=done.uploads + 1, pieces=done.pieces + pieces)
            _report(done, on_progress)
        for folder in self.table.query(BlobFolder.OnShelf(shelf="all")):
            if folder.touched_at < self.clock() - grace and self._is_removed(folder, dry_run=dry_run):
                done = replace(done, folders=done.folders + 1)
                _report(done, on_progress)
        return done

    def _died(self, grace: timedelta) -> Iterator[BlobUpload]:
        for shelf in range(SHELVES):
            oldest = BlobUpload.Oldest(shelf=f"{shelf:02}", started_at=lt(self.clock() - grace))
            for upload in self.table.query(oldest):
                if self.bucket is not None or not upload.needs_bucket:
                    yield upload

    def _collect(self, upload: BlobUpload, *, dry_run: bool) -> int:
        """Remove what an upload left; how many pieces that were."""
        if not dry_run:
            try:
                # From here on its writing cannot end any more, and what it has replaced is known.
                upload = self.table.update(BlobUpload.Key.of(upload), BlobUpload.Patch(is_given_up=True))
            except NotFoundError:
                return 0  # it has ended after all
        blob = self.table.get(Blob.Key(path=upload.path))
        left = {upload.payload, upload.replaced} - {None, blob.payload if blob else None}
        count = 0
        for place in self._places():
            for payload in left:
                numbers = place.numbers(str(payload))
                count += len(numbers)
                if not dry_run:
                    place.remove(str(payload), numbers)
        if not dry_run:
            self.table.delete(BlobUpload.Key.of(upload))
        return count

    def _is_removed(self, folder: BlobFolder, *, dry_run: bool) -> bool:
        """Whether a folder has gone, because nothing is in it; one that is used again meanwhile stays."""
        if self.table.query(BlobEntry.InFolder(folder=folder.folder)).first() is not None:
            return False
        if dry_run:
            return True
        try:
            key = BlobFolder.Key.of(folder)
            self.table.delete(key, where=lambda now: now.touched_at == folder.touched_at)
        except ConditionFailedError:
            return False
        return True


def _report(done: Collected, on_progress: Callable[[Collected], None] | None) -> None:
    if on_progress is not None:
        on_progress(done)
