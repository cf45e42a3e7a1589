"""What the checkers make of store.workflows: what its calls return.  Checked with the package, and never run."""

from __future__ import annotations

from typing import assert_type

from singletable import AsyncDynamoDBStore, DynamoDBStore, JsonObject, Page
from singletable.schemas import WorkflowRun, WorkflowSnapshot
from singletable.store.claim import Claim


def what_a_store_returns(store: DynamoDBStore, snapshot: JsonObject) -> None:
    workflows = store.workflows
    run = workflows.persist_workflow_snapshot(workflow_name="w", run_id="r", snapshot=snapshot)
    assert_type(run, WorkflowSnapshot)
    assert_type(run.status, str | None)
    assert_type(workflows.load_workflow_snapshot(workflow_name="w", run_id="r"), JsonObject | None)
    assert_type(workflows.get_workflow_run_by_id("r"), WorkflowSnapshot | None)
    page = workflows.list_workflow_runs(workflow_name="w", per_page=10)
    assert_type(page, Page[WorkflowRun])
    assert_type(workflows.load_workflow_runs(page.items), list[WorkflowSnapshot])
    changed = workflows.update_workflow_state(
        workflow_name="w", run_id="r", changes={"status": "success"}, expected_status=["running", "waiting"]
    )
    assert_type(changed, JsonObject | None)
    assert_type(workflows.claim_run(workflow_name="w", run_id="r", owner="me"), Claim)
    assert_type(workflows.supports_concurrent_updates, bool)


async def what_an_async_store_returns(store: AsyncDynamoDBStore, result: JsonObject) -> None:
    context = await store.workflows.update_workflow_results(
        workflow_name="w", run_id="r", step_id="s", result=result, request_context={}
    )
    assert_type(context, JsonObject)
    assert_type((await store.workflows.claim_run(workflow_name="w", run_id="r", owner="me")).run, WorkflowSnapshot)
