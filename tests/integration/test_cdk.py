"""infra/cdk makes what infra/template.yaml makes: the app is run as `cdk synth` runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from singletable.provision import FEATURES, Capacity, TableDefinition, cdk, policy, setup_requests
from singletable.store.entities import ENTITIES

CHOSEN = replace(
    TableDefinition.of("agents", ENTITIES), stream="NEW_IMAGE", capacity=Capacity(3, 4), point_in_time_recovery=False
)
WITH_BUCKET = 'TableStack(app, "agents", payload_bucket=True, payload_days=31)'
GUARDS = {
    "TableName": "agents",
    "TimeToLiveSpecification": {"AttributeName": "ttl", "Enabled": True},
    "StreamSpecification": {"StreamViewType": "NEW_IMAGE"},
    "SSESpecification": {"SSEEnabled": True},
    "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": False},
    "DeletionProtectionEnabled": True,
}


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """The resources of the stack by their type: with a stream and a bucket, so that all policies are there."""
    folder = tmp_path_factory.mktemp("cdk")
    text = cdk(CHOSEN)
    assert 'TableStack(app, "agents")' in text
    (folder / "app.py").write_text(text.replace('TableStack(app, "agents")', WITH_BUCKET))
    subprocess.run([sys.executable, "app.py"], cwd=folder, env=os.environ | {"CDK_OUTDIR": "out"}, check=True)
    found: dict[str, list[dict[str, Any]]] = {}
    for resource in json.loads((folder / "out" / "agents.template.json").read_bytes())["Resources"].values():
        found.setdefault(resource["Type"], []).append(resource)
    return found


def test_the_table_is_the_one_that_the_entities_need(resources: dict[str, list[dict[str, Any]]]) -> None:
    (table,) = resources["AWS::DynamoDB::Table"]
    wanted = setup_requests(CHOSEN)["CreateTable"]
    shape = {name: wanted[name] for name in ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")}
    # The CDK leaves out the billing mode that CloudFormation takes by itself.
    assert table["Properties"] == {**shape, "ProvisionedThroughput": wanted["ProvisionedThroughput"], **GUARDS}
    assert (table["DeletionPolicy"], table["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_its_policies_are_those_of_the_features(resources: dict[str, list[dict[str, Any]]]) -> None:
    documents = [made["Properties"]["PolicyDocument"] for made in resources["AWS::IAM::ManagedPolicy"]]
    wanted = [policy(feature, "arn", bucket="payloads") for feature in FEATURES]
    assert [[comparable(one) for one in document["Statement"]] for document in documents] == [
        [comparable(one) for one in document["Statement"]] for document in wanted
    ]


def comparable(statement: dict[str, Any]) -> tuple[str, list[str], Any]:
    actions = statement["Action"]
    return statement["Sid"], [actions] if isinstance(actions, str) else actions, statement.get("Condition")


def test_the_bucket_has_the_rule(resources: dict[str, list[dict[str, Any]]]) -> None:
    (bucket,) = resources["AWS::S3::Bucket"]
    rule = {"ExpirationInDays": 31, "Id": "payloads", "Prefix": "singletable/", "Status": "Enabled"}
    assert bucket["Properties"]["LifecycleConfiguration"]["Rules"] == [rule]
