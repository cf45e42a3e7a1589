# Generated from ../_async/workflows.py by scripts/generate_sync.py; edit that file.
"""Runs of workflows: where each stands, and who works on it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from typing import ClassVar, TypeVar

from singletable.schemas import WorkflowRun, WorkflowSnapshot

from ..._sync.query import Query
from ...errors import ConditionFailedError, NotFoundError, RequestError
from ...fences import Fence
from ...page import Page
from ...values import JsonObject, Range, between, gte, lte
from ..claim import Claim
from ..contention import CHANGES, change_pause_seconds
from ..runs import as_json, context_of, empty_snapshot, status_of, thread_of, with_result
from ..stamps import after, milliseconds
from .domain import Domain
from .filtering import require_text
from .paging import paged

Revised = TypeVar("Revised", WorkflowSnapshot, WorkflowSnapshot | None)
"""What a run becomes; None for what is not to be written."""


class Workflows(Domain):
    """Runs of workflows in the verbs of Mastra's workflows domain, and claims, of which one is won."""

    supports_concurrent_updates: ClassVar[bool] = True
    """Whether results and states that are written at the same time are all kept."""

    def persist_workflow_snapshot(
        self,
        *,
        workflow_name: str,
        run_id: str,
        snapshot: JsonObject,
        resource_id: str | None = None,
        created_at: datetime | None = None,
        updated_at: datetime | None = None,
        if_version: str | None = None,
        fence: Fence | None = None,
    ) -> WorkflowSnapshot:
        """Store the snapshot of a run, whole, over the one it has; the run comes back as it is stored.

        `created_at` and `resource_id` stay as they are stored unless they are given.  The snapshot takes the place of
        whatever others wrote meanwhile: with the `if_version` of a run that was read it replaces only that, and raises
        VersionConflictError, or NotFoundError, otherwise.  With `fence`, a lease, it is stored only while that is held:
        LeaseLostError otherwise.  Two requests, and two more for each caller who was faster;
        one write unit for each KB of the run, and one for each list that it is in.  Raises ItemTooLargeError before
        anything is sent."""
        status = status_of(as_json("snapshot", snapshot))
        given = {"resource_id": resource_id, "created_at": created_at and milliseconds(created_at)}
        fields = {name: value for name, value in given.items() if value is not None}

        def revise(old: WorkflowSnapshot | None) -> WorkflowSnapshot:
            now = milliseconds(self.clock())
            # Not validated before the write, which refuses what is wrong in the words of the library.
            run = old or WorkflowSnapshot.model_construct(workflow_name=workflow_name, run_id=run_id, created_at=now)
            own = {"snapshot": snapshot, "status": status, "thread_id": thread_of(snapshot)}
            time = milliseconds(updated_at) if updated_at else after(now, *([old.updated_at] if old else []))
            version = run.version if if_version is None else if_version
            return run.model_copy(update={**fields, **own, "updated_at": time, "version": version})

        self.table.size_bytes(revise(None))
        key = WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id)
        return self._change(key, revise, once=if_version is not None, fence=fence)

    def load_workflow_snapshot(self, *, workflow_name: str, run_id: str) -> JsonObject | None:
        """The snapshot of a run as it was given, with its current status, or None.  One strongly consistent read."""
        run = self.get_workflow_run_by_id(run_id, workflow_name=workflow_name)
        return run.snapshot if run else None

    def get_workflow_run_by_id(self, run_id: str, *, workflow_name: str | None = None) -> WorkflowSnapshot | None:
        """The run, or None.  One strongly consistent read.

        Without its workflow's name: the newest run with this id, of any workflow, by an index that may lag behind a
        write by moments, and a second request."""
        if workflow_name is None:
            return self.table.query(WorkflowSnapshot.ByRun(run_id=run_id)).reverse().first()
        return self.table.get(WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id))

    def list_workflow_runs(
        self,
        *,
        workflow_name: str | None = None,
        resource_id: str | None = None,
        thread_id: str | None = None,
        status: str | None = None,
        from_date: datetime | None = None,
        to_date: datetime | None = None,
        page: int = 0,
        per_page: int | None = None,
        cursor: str | None = None,
        include_total: bool = False,
    ) -> Page[WorkflowRun]:
        """The runs of a workflow, or of a resource, newest first, without their snapshots; all unless `per_page` says.

        Needs `workflow_name` or `resource_id`, and raises RequestError without: it never reads the whole table.
        `thread_id` and `status` are filters, under which DynamoDB reads, and bills, the other runs as well; the dates
        are of `created_at`, both included.  Read from an index, which holds no snapshots and may lag behind a write by
        moments; `load_workflow_runs` gives the snapshots of a page."""
        query = self._runs(workflow_name, resource_id, _created(from_date, to_date))
        if thread_id is not None:
            query = query.filter(lambda run: run.thread_id == thread_id)
        if status is not None:
            query = query.filter(lambda run: run.status == status)
        runs = query.reverse().select(WorkflowRun)
        return paged(runs, page=page, per_page=per_page, cursor=cursor, include_total=include_total)

    def load_workflow_runs(self, runs: Iterable[WorkflowRun]) -> list[WorkflowSnapshot]:
        """The listed runs with their snapshots, as they are now, in their order and without those that are gone.

        Strongly consistent; 100 runs a request."""
        return self.table.get_many(
            [WorkflowSnapshot.Key(workflow_name=run.workflow_name, run_id=run.run_id) for run in runs]
        )

    def delete_workflow_run_by_id(self, *, workflow_name: str, run_id: str) -> None:
        """Delete a run; one that is not there is fine.  One request."""
        self.table.delete(WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id))

    def update_workflow_results(
        self,
        *,
        workflow_name: str,
        run_id: str,
        step_id: str,
        result: JsonObject,
        request_context: JsonObject,
        fence: Fence | None = None,
    ) -> JsonObject:
        """The results of all steps by their ids, with this one merged in; empty, and nothing written, without a run.

        Of results that are reported at the same time none is lost; those of one foreach step are merged slot by slot.
        `request_context` goes over the one of the snapshot, key by key.  Two requests, and two more for each caller
        who was faster; one write unit for each KB of the run.  With `fence`, a lease, only while that is held:
        LeaseLostError otherwise, and twice the write units.  Raises NotFoundError for a run whose snapshot has no
        `context`, and ConditionFailedError after 100 callers who were faster."""
        new, over = as_json("result", result), as_json("request_context", request_context)

        def merge(run: WorkflowSnapshot | None) -> WorkflowSnapshot | None:
            return run and self._with_snapshot(run, with_result(self._begun(run), step_id, new, over))

        run = self._change(WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id), merge, fence=fence)
        return (run and context_of(run.snapshot)) or {}

    def update_workflow_state(
        self,
        *,
        workflow_name: str,
        run_id: str,
        changes: JsonObject,
        expected_status: str | Collection[str] | None = None,
        fence: Fence | None = None,
    ) -> JsonObject | None:
        """The snapshot with `changes` over its own keys; None, and nothing written, without a run.

        With `expected_status` also None unless the run's status is that, or one of those.  Changes that are written
        at the same time are all kept.  Costs and raises what `update_workflow_results` does."""
        new = as_json("changes", changes)
        if "expectedStatus" in new:
            raise RequestError("expectedStatus is no part of a snapshot: give expected_status= beside changes=")
        status_of(new)
        expected = {expected_status} if isinstance(expected_status, str) else expected_status

        def overlay(run: WorkflowSnapshot | None) -> WorkflowSnapshot | None:
            if run is None:
                return None
            snapshot = self._begun(run)
            if expected is not None and status_of(snapshot) not in expected:
                return None
            return self._with_snapshot(run, {**snapshot, **new})

        run = self._change(WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id), overlay, fence=fence)
        return run.snapshot if run else None

    def claim_run(
        self, *, workflow_name: str, run_id: str, owner: str, from_: str = "suspended", to: str = "running"
    ) -> Claim:
        """Move a run from one status to another in the name of `owner`; of several callers at once, one wins.

        A loser has written nothing, and sees the run with its owner.  A claim whose answer was lost counts for the
        one who made it.  One request, and one write unit for each KB of the run.  Raises NotFoundError where there is
        no run."""
        for name, text in (("owner", owner), ("from_", from_), ("to", to)):
            require_text(name, text)
        if from_ == to:
            raise RequestError("from_ and to are the same: a claim that changes nothing would be won by everybody")
        key, time, attempt = WorkflowSnapshot.Key(workflow_name=workflow_name, run_id=run_id), self.clock(), 0
        while True:
            patch = WorkflowSnapshot.Patch(status=to, owner=owner, updated_at=milliseconds(time))
            try:
                return Claim(won=True, run=self._take(key, patch, from_, milliseconds(time)))
            except ConditionFailedError as error:
                current, attempt = error.current, attempt + 1
                if attempt == CHANGES or not isinstance(current, WorkflowSnapshot):
                    raise
                if current.status != from_:
                    return Claim(won=False, run=current)
                time = after(self.clock(), current.updated_at)  # the clock of this machine is behind
            self.table.sleep(change_pause_seconds(attempt))

    def _runs(
        self, workflow_name: str | None, resource_id: str | None, created_at: Range[datetime] | None
    ) -> Query[WorkflowSnapshot, WorkflowSnapshot]:
        """By the resource, where there is one: a workflow has more runs."""
        if resource_id is None:
            if workflow_name is None:
                raise RequestError("give workflow_name= or resource_id=: without them it would read the whole table")
            return self.table.query(WorkflowSnapshot.ByName(workflow_name=workflow_name, created_at=created_at))
        query = self.table.query(WorkflowSnapshot.ByResource(resource_id=resource_id, created_at=created_at))
        return query if workflow_name is None else query.filter(lambda run: run.workflow_name == workflow_name)

    def _change(
        self,
        key: WorkflowSnapshot.Key,
        revise: Callable[[WorkflowSnapshot | None], Revised],
        *,
        once: bool = False,
        fence: Fence | None = None,
    ) -> Revised:
        """The run after the change; read and written again until nobody else wrote between the two."""
        attempt = 0
        while True:
            run = revise(self.table.get(key))
            if run is None:
                with self.table.transaction(fence=fence):  # checks the fence, where there is one
                    return run
            try:
                return self.table.put(run, fence=fence)
            except ConditionFailedError:
                attempt += 1
                if once or attempt == CHANGES:
                    raise
            self.table.sleep(change_pause_seconds(attempt))

    def _take(
        self, key: WorkflowSnapshot.Key, patch: WorkflowSnapshot.Patch, status: str, time: datetime
    ) -> WorkflowSnapshot:
        return self.table.update(
            key, patch, where=lambda run: (run.status == status) & (run.updated_at <= time), expiry="refresh"
        )

    def _begun(self, run: WorkflowSnapshot) -> JsonObject:
        """The snapshot of a run, with a place for results; raises NotFoundError for one without."""
        snapshot = run.snapshot or empty_snapshot(run.run_id, int(self.clock().timestamp() * 1000))
        if context_of(snapshot) is not None:
            return snapshot
        raise NotFoundError(
            "the snapshot of the run has no context to put results into: persist it whole first",
            current=run,
            table=self.table.name,
            entity="workflow_snapshot",
        )

    def _with_snapshot(self, run: WorkflowSnapshot, snapshot: JsonObject) -> WorkflowSnapshot:
        own = {"snapshot": snapshot, "status": status_of(snapshot), "thread_id": thread_of(snapshot)}
        return run.model_copy(update={**own, "updated_at": after(self.clock(), run.updated_at)})


def _created(first: datetime | None, last: datetime | None) -> Range[datetime] | None:
    if first is not None and last is not None:
        return between(milliseconds(first), milliseconds(last))
    if first is not None:
        return gte(milliseconds(first))
    return None if last is None else lte(milliseconds(last))
