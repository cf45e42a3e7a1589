"""Which blobs there are, without reading one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from singletable.schemas import BlobEntry, BlobFolder

from ...concurrency import gather_in_tasks
from ...values import starting
from ..blob_keys import folder_of, is_within_one_folder
from .domain import AsyncDomain


@dataclass(frozen=True)
class AsyncBlobListing(AsyncDomain):
    """The paths of blobs, by their folders."""

    async def _paths(self, beginning: str) -> list[str]:
        """The paths that begin so, in order."""
        folders = await self._folders(beginning)
        found = await gather_in_tasks([partial(self._listed, folder, beginning) for folder in folders])
        return sorted(path for paths in found for path in paths)

    async def _folders(self, beginning: str) -> list[str]:
        """The folders that may list such paths."""
        own = folder_of(beginning)
        if is_within_one_folder(beginning):
            return [own]
        found = await self.table.query(BlobFolder.OnShelf(shelf="all", folder=starting(f"/{beginning}"))).all()
        return list({own, *(folder.folder for folder in found)})

    async def _listed(self, folder: str, beginning: str) -> list[str]:
        # A blank beginning is no range of keys: the few that begin so are picked out.
        range_of = starting(beginning) if beginning.strip() else None
        paths = [entry.path async for entry in self.table.query(BlobEntry.InFolder(folder=folder, path=range_of))]
        return [path for path in paths if path.startswith(beginning)]
