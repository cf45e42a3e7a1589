"""Runs of workflows: stored at every step, claimed by one worker, listed without their snapshots."""

from singletable import DynamoDBStore
from singletable.testing import MemoryTransport

store = DynamoDBStore("agents", transport=MemoryTransport())
workflows = store.workflows

workflows.persist_workflow_snapshot(
    workflow_name="booking",
    run_id="r1",
    snapshot={"status": "suspended", "context": {"input": {"city": "Oslo"}}},
    resource_id="ada",
)

# Of several workers that see the run suspended, one wins; the others learn who did.
claim = workflows.claim_run(workflow_name="booking", run_id="r1", owner="worker-7")
print(claim.won, claim.run.owner)

# Steps that end at the same time: no result is lost.
results = workflows.update_workflow_results(
    workflow_name="booking",
    run_id="r1",
    step_id="train",
    result={"status": "success", "output": {"seat": "12A"}},
    request_context={},
)
print(results)
workflows.update_workflow_state(
    workflow_name="booking", run_id="r1", changes={"status": "success"}, expected_status="running"
)

runs = workflows.list_workflow_runs(workflow_name="booking", status="success", per_page=20)
print(runs.items)  # small rows: no snapshot is read for a list
print(workflows.load_workflow_runs(runs.items)[0].snapshot)
