"""One run of a workflow."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field, model_validator

from singletable.clock import utc_now
from singletable.declare import Changes, Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, JsonObject, Pk, SkRange, Version


class WorkflowRun(BaseModel):
    """A run of a workflow without its snapshot: what lists give, from an index and without reading the snapshots."""

    workflow_name: str
    run_id: str
    resource_id: str | None = None
    thread_id: str | None = None
    status: str | None = None
    owner: str | None = None
    created_at: datetime
    updated_at: datetime


LISTED = tuple(WorkflowRun.model_fields)


class WorkflowSnapshot(Entity, entity="workflow_snapshot", version=1):
    """A run of a workflow and where it stands: its snapshot is free-form JSON and comes back as it was given.

    `status` is the status in the snapshot, `thread_id` the conversation that the snapshot names, if it does; the store
    fills both in.  `owner` is who claimed the run last."""

    workflow_name: str
    run_id: str
    resource_id: str | None = None
    thread_id: str | None = None
    status: str | None = None
    owner: str | None = None
    snapshot: JsonObject
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)
    version: Version = ""

    @model_validator(mode="after")
    def _has_one_status(self) -> Self:
        """A claim writes the status alone; the text of the snapshot still has the one before."""
        if self.status is not None and self.snapshot.get("status") != self.status:
            # Not by assignment, which would validate, and come here, again.
            object.__setattr__(self, "snapshot", {**self.snapshot, "status": self.status})
        return self

    class Key(PrimaryKey["WorkflowSnapshot"]):
        """One run of one workflow."""

        workflow_name: Pk[str]
        run_id: Pk[str]

    # Snapshots are large and written at every step.  From gsi4 on no entity of the store projects all, so that no index
    # holds a copy: the lists hold what they show, the third nothing.

    class ByName(Index["WorkflowSnapshot"], on="gsi4", projection=LISTED):
        """The runs of a workflow in the order of their creation."""

        workflow_name: Pk[str]
        created_at: SkRange[datetime] = None
        run_id: SkRange[str] = None

    class ByResource(Index["WorkflowSnapshot"], on="gsi5", projection=LISTED):
        """The runs of a resource in the order of their creation."""

        resource_id: Pk[str]
        created_at: SkRange[datetime] = None
        run_id: SkRange[str] = None

    class ByRun(Index["WorkflowSnapshot"], on="gsi6", projection="keys_only"):
        """The runs with one id, of any workflows, in the order of their creation."""

        run_id: Pk[str]
        created_at: SkRange[datetime] = None
        workflow_name: SkRange[str] = None

    class Patch(Changes["WorkflowSnapshot"]):
        """What may change without writing the snapshot anew."""

        status: Change[str | None] = KEEP
        owner: Change[str | None] = KEEP
        updated_at: Change[datetime] = KEEP
