"""Resources of a memory: users, and what the agent remembers of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from singletable.schemas import Resource

from ...errors import AlreadyExistsError, ConditionFailedError, NotFoundError
from ...retry import ATTEMPTS, pause_seconds
from ...values import KEEP, JsonObject, Keep, merge
from ..stamps import after, milliseconds, stamped
from .domain import AsyncDomain


class AsyncResources(AsyncDomain):
    """Resources with their working memory."""

    async def get_resource_by_id(self, resource_id: str) -> Resource | None:
        """The resource, or None.  One strongly consistent read."""
        return await self.table.get(Resource.Key(id=resource_id))

    async def save_resource(self, resource: Resource) -> Resource:
        """Store a resource, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the resource that is replaced, or now.  One request for a new
        resource, two for one that is there."""
        now = milliseconds(self.clock())
        try:
            return await self.table.create(stamped(resource, created_at=now, updated_at=now))
        except AlreadyExistsError as error:
            if not isinstance(error.current, Resource):
                raise
            time = after(now, error.current.updated_at)
            return await self.table.put(stamped(resource, created_at=error.current.created_at, updated_at=time))

    async def update_resource(
        self, resource_id: str, *, working_memory: str | Keep | None = KEEP, metadata: JsonObject | Keep = KEEP
    ) -> Resource:
        """The resource after the change; it is created if there is none.

        `metadata` is merged key by key, so that callers who change different keys at once all win; `updated_at`
        always moves forward.  One request for a resource that is there, two for a new one, and one more where the
        clock of this machine is behind."""
        merged = KEEP if isinstance(metadata, Keep) else merge(metadata)
        patch = Resource.Patch(working_memory=working_memory, metadata=merged)
        new = Resource(
            id=resource_id,
            working_memory=None if isinstance(working_memory, Keep) else working_memory,
            metadata={} if isinstance(metadata, Keep) else metadata,
        )
        time, attempt = milliseconds(self.clock()), 0
        while True:
            try:
                return await self._change(resource_id, patch, new, time)
            except ConditionFailedError as error:
                # Another caller was faster, or has a faster clock.
                attempt += 1
                if attempt == ATTEMPTS or not isinstance(error.current, Resource):
                    raise
                time = after(self.clock(), error.current.updated_at)
            await self.table.sleep(pause_seconds(attempt))

    async def _change(self, resource_id: str, patch: Resource.Patch, new: Resource, time: datetime) -> Resource:
        try:
            return await self.table.update(
                Resource.Key(id=resource_id),
                replace(patch, updated_at=time),
                where=lambda resource: resource.updated_at < time,
                expiry="refresh",
            )
        except NotFoundError:
            return await self.table.create(new.model_copy(update={"created_at": time, "updated_at": time}))
