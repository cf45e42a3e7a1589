# Generated from ../_async/resources.py by scripts/generate_sync.py; edit that file.
"""Resources of a memory: users, and what the agent remembers of them."""

from __future__ import annotations

from singletable.schemas import Resource

from ...errors import AlreadyExistsError, NotFoundError
from ...retry import ATTEMPTS
from ...values import KEEP, JsonObject, Keep, merge
from ..stamps import after, milliseconds, stamped
from .domain import Domain


class Resources(Domain):
    """Resources with their working memory."""

    def get_resource_by_id(self, resource_id: str) -> Resource | None:
        """The resource, or None.  One strongly consistent read."""
        return self.table.get(Resource.Key(id=resource_id))

    def save_resource(self, resource: Resource) -> Resource:
        """Store a resource, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the resource that is replaced, or now.  One request for a new
        resource, two for one that is there."""
        now = milliseconds(self.clock())
        try:
            return self.table.create(stamped(resource, created_at=now, updated_at=now))
        except AlreadyExistsError as error:
            if not isinstance(error.current, Resource):
                raise
            time = after(now, error.current.updated_at)
            return self.table.put(stamped(resource, created_at=error.current.created_at, updated_at=time))

    def update_resource(
        self, resource_id: str, *, working_memory: str | Keep | None = KEEP, metadata: JsonObject | Keep = KEEP
    ) -> Resource:
        """The resource after the change; it is created if there is none.

        `metadata` is merged key by key, so that callers who change different keys at once all win.  One request for
        a resource that is there, two for a new one."""
        now = milliseconds(self.clock())
        patch = Resource.Patch(
            working_memory=working_memory,
            metadata=KEEP if isinstance(metadata, Keep) else merge(metadata),
            updated_at=now,
        )
        new = Resource(
            id=resource_id,
            working_memory=None if isinstance(working_memory, Keep) else working_memory,
            metadata={} if isinstance(metadata, Keep) else metadata,
            created_at=now,
            updated_at=now,
        )
        attempt = 0
        while True:
            try:
                return self.table.update(Resource.Key(id=resource_id), patch, expiry="refresh")
            except NotFoundError:
                attempt += 1
                if attempt == ATTEMPTS:
                    raise
            try:
                return self.table.create(new)
            except AlreadyExistsError:
                continue  # another caller created it meanwhile
