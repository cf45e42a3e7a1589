# Generated from ../_async/resources.py by scripts/generate_sync.py; edit that file.
"""Resources of a memory: users, and what the agent remembers of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from singletable.schemas import Resource

from ...errors import ConditionFailedError, NotFoundError
from ...values import KEEP, JsonObject, Keep, merge
from ..contention import CHANGES, change_pause_seconds
from ..stamps import after, milliseconds, stamped
from .domain import Domain, require


class Resources(Domain):
    """Resources with their working memory."""

    def get_resource_by_id(self, resource_id: str) -> Resource | None:
        """The resource, or None.  One strongly consistent read."""
        return self.table.get(Resource.Key(id=resource_id))

    def save_resource(self, resource: Resource) -> Resource:
        """Store a resource, whole, over one with the same id; it comes back as it is stored.

        A `created_at` that is not given is that of the resource that is replaced, or now.  One request for a new
        resource, two for one that is there."""
        require(resource, Resource)
        current, attempt = None, 0
        while True:
            try:
                return self._put_resource(resource, current)
            except ConditionFailedError as error:
                # A resource is there, or another caller changed it since it was seen.
                attempt += 1
                if attempt == CHANGES:
                    raise
                current = error.current if isinstance(error.current, Resource) else None

    def update_resource(
        self, resource_id: str, *, working_memory: str | Keep | None = KEEP, metadata: JsonObject | Keep = KEEP
    ) -> Resource:
        """The resource after the change; it is created if there is none.

        `metadata` is merged key by key, so that callers who change different keys at once all win; `updated_at`
        always moves forward.  One request for a resource that is there, two for a new one, and one more where the
        clock of this machine is behind."""
        merged = KEEP if isinstance(metadata, Keep) else merge(metadata)
        patch = Resource.Patch(working_memory=working_memory, metadata=merged)
        given = {"working_memory": working_memory, "metadata": metadata}
        fields = {name: value for name, value in given.items() if value is not KEEP}
        time, attempt = milliseconds(self.clock()), 0
        while True:
            try:
                return self._change(resource_id, patch, fields, time)
            except ConditionFailedError as error:
                # Another caller was faster, or has a faster clock.
                attempt += 1
                if attempt == CHANGES or not isinstance(error.current, Resource):
                    raise
                time = after(self.clock(), error.current.updated_at)
            self.table.sleep(change_pause_seconds(attempt))

    def update_working_memory(self, resource_id: str, working_memory: str | None, *, expected: str | None) -> Resource:
        """The resource after its working memory was replaced, as long as that is `expected`: what the caller has read.

        None stands for none, both stored and expected, so that a resource that is not there is created.  Raises
        ConditionFailedError where another text is stored, because somebody else was faster or the caller never read
        it: its `.current` is the resource as it is stored, None where there is none.  One request for a resource that
        is there, two for a new one, and one more where the clock of this machine is behind."""
        patch = Resource.Patch(working_memory=working_memory)
        time, attempt = milliseconds(self.clock()), 0
        while True:
            try:
                return self._change(resource_id, patch, {"working_memory": working_memory}, time, expected=expected)
            except ConditionFailedError as error:
                attempt += 1
                if attempt == CHANGES or not isinstance(error.current, Resource):
                    raise
                if error.current.working_memory != expected:
                    raise
                time = after(self.clock(), error.current.updated_at)
            self.table.sleep(change_pause_seconds(attempt))

    def _put_resource(self, resource: Resource, current: Resource | None) -> Resource:
        """Store a resource where none is, or over the one that was seen."""
        now = milliseconds(self.clock())
        if current is None:
            return self.table.create(stamped(resource, created_at=now, updated_at=now))
        new = stamped(resource, created_at=current.created_at, updated_at=after(now, current.updated_at))
        return self.table.put(new, where=lambda stored: stored.updated_at == current.updated_at)

    def _change(
        self,
        resource_id: str,
        patch: Resource.Patch,
        fields: Mapping[str, object],
        time: datetime,
        *,
        expected: str | Keep | None = KEEP,
    ) -> Resource:
        """The resource after a patch; a new one where there is none, unless some working memory is expected."""

        def may_change(row: Resource) -> bool:
            is_earlier = row.updated_at < time
            return is_earlier if isinstance(expected, Keep) else is_earlier & (row.working_memory == expected)

        try:
            return self.table.update(
                Resource.Key(id=resource_id), replace(patch, updated_at=time), where=may_change, expiry="refresh"
            )
        except NotFoundError:
            if isinstance(expected, str):
                raise
            new = {"id": resource_id, "created_at": time, "updated_at": time, **fields}
            return self.table.create(Resource.model_validate(new))
