"""infra/template.yaml is what the entities need, and the store runs on the table that it makes.

moto 5.2 ignores expiry, recovery, encryption and the rules of a bucket in a template: these are compared as text, and
the expiry attribute is then switched on with the very values of the template.
"""

from __future__ import annotations

import uuid
from collections.abc import Generator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest
from cfnlint.api import lint_file
from cfnlint.decode import decode

from singletable import Credentials, DynamoDBStore, S3Blobs, ThreadDeletedError
from singletable.provision import create_table_params
from singletable.schemas import Message, Thread
from singletable.store.entities import ENTITIES
from singletable.ttl import DEFAULT_ATTRIBUTE
from tests.contract.support import ticking

TEMPLATE = Path(__file__).parents[2] / "infra" / "template.yaml"
REGION = "us-east-1"
KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
DERIVED = create_table_params("agents", [entity.spec for entity in ENTITIES])


def client(service: str, url: str) -> Any:
    return boto3.client(service, endpoint_url=url, region_name=REGION, **KEYS)


@dataclass(frozen=True)
class Stack:
    """A stack of the template, on a table of its own."""

    url: str
    name: str
    table: str
    outputs: dict[str, str]

    def described(self) -> dict[str, Any]:
        return client("dynamodb", self.url).describe_table(TableName=self.table)["Table"]


def deploy(url: str, **parameters: str) -> Stack:
    name = f"stack-{uuid.uuid4().hex}"
    values = {"TableName": f"table-{uuid.uuid4().hex}", **parameters}
    formation = client("cloudformation", url)
    formation.create_stack(
        StackName=name,
        TemplateBody=TEMPLATE.read_text("utf-8"),
        Capabilities=["CAPABILITY_IAM"],
        Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()],
    )
    (stack,) = formation.describe_stacks(StackName=name)["Stacks"]
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    return Stack(url, name, values["TableName"], outputs)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    parsed, problems = decode(str(TEMPLATE))
    assert not problems
    return parsed


@pytest.fixture(scope="module")
def stack(moto_url: str) -> Stack:
    return deploy(moto_url)


@pytest.fixture
def store(stack: Stack) -> Generator[DynamoDBStore]:
    keys = Credentials("test", "test")
    # Seconds apart, because equal times would leave the order of two threads open.
    clock = ticking(datetime(2026, 11, 30, tzinfo=UTC))
    with DynamoDBStore(stack.table, region=REGION, endpoint_url=stack.url, credentials=keys, clock=clock) as opened:
        yield opened


def test_cfn_lint_finds_nothing() -> None:
    assert [f"{found.linenumber}: {found.rule.id} {found.message}" for found in lint_file(TEMPLATE)] == []


def test_the_table_is_guarded_and_what_guards_it_is_a_choice(template: dict[str, Any]) -> None:
    properties = template["Resources"]["Table"]["Properties"]
    assert {name: value for name, value in properties.items() if name not in DERIVED or name == "TableName"} == {
        "TableName": {"Ref": "TableName"},
        "ProvisionedThroughput": properties["GlobalSecondaryIndexes"][0]["ProvisionedThroughput"],
        "TimeToLiveSpecification": {"AttributeName": DEFAULT_ATTRIBUTE, "Enabled": True},
        "StreamSpecification": {
            "Fn::If": ["HasStream", {"StreamViewType": {"Ref": "Stream"}}, {"Ref": "AWS::NoValue"}]
        },
        "SSESpecification": {
            "SSEEnabled": True,
            "SSEType": "KMS",
            "KMSMasterKeyId": {"Fn::If": ["HasKmsKey", {"Ref": "KmsKeyArn"}, {"Ref": "AWS::NoValue"}]},
        },
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": {"Ref": "PointInTimeRecovery"}},
        "DeletionProtectionEnabled": {"Ref": "DeletionProtection"},
    }
    assert {name: parameter["Default"] for name, parameter in template["Parameters"].items()} == {
        "TableName": "agents",
        "BillingMode": "PAY_PER_REQUEST",
        "ReadCapacity": 5,
        "WriteCapacity": 5,
        "Stream": "NONE",
        "KmsKeyArn": "",
        "PointInTimeRecovery": "true",
        "DeletionProtection": "true",
        "PayloadBucket": "false",
        "PayloadDays": 0,
    }


def test_the_deployed_table_is_the_one_that_the_entities_need(stack: Stack) -> None:
    table = stack.described()
    assert table["KeySchema"] == DERIVED["KeySchema"]
    assert table["AttributeDefinitions"] == DERIVED["AttributeDefinitions"]
    assert table["BillingModeSummary"]["BillingMode"] == DERIVED["BillingMode"]
    assert [
        {name: index[name] for name in ("IndexName", "KeySchema", "Projection")}
        for index in table["GlobalSecondaryIndexes"]
    ] == DERIVED["GlobalSecondaryIndexes"]


def test_the_outputs_name_the_table_and_its_policies(stack: Stack) -> None:
    assert stack.outputs.pop("TableName") == stack.table
    assert stack.outputs.pop("TableArn") == stack.described()["TableArn"]
    assert stack.outputs.keys() == {"ChatPolicyArn", "ReadOnlyPolicyArn", "TenantPolicyArn"}
    iam = client("iam", stack.url)
    for arn in stack.outputs.values():
        assert stack.table in iam.get_policy(PolicyArn=arn)["Policy"]["Description"]


def test_stream_capacity_and_a_bucket_are_made_where_they_are_asked_for(moto_url: str) -> None:
    wanted = {"Stream": "NEW_IMAGE", "BillingMode": "PROVISIONED", "ReadCapacity": "7"}
    stack = deploy(moto_url, **wanted, PayloadBucket="true", PayloadDays="31")
    table = stack.described()
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert table["LatestStreamArn"] == stack.outputs["StreamArn"]
    for provisioned in (table, *table["GlobalSecondaryIndexes"]):
        throughput = provisioned["ProvisionedThroughput"]
        assert (int(throughput["ReadCapacityUnits"]), int(throughput["WriteCapacityUnits"])) == (7, 5)

    bucket = stack.outputs["PayloadBucketName"]
    client("s3", moto_url).head_bucket(Bucket=bucket)
    iam = client("iam", moto_url)
    for name, resource in {"Stream": table["LatestStreamArn"], "Payload": f"{bucket}/singletable/*"}.items():
        arn = stack.outputs[f"{name}PolicyArn"]
        document = iam.get_policy_version(PolicyArn=arn, VersionId="v1")["PolicyVersion"]["Document"]
        assert document["Statement"][0]["Resource"].endswith(resource)


def test_payloads_are_nobody_elses_and_expire_only_where_it_is_asked_for(template: dict[str, Any]) -> None:
    properties = template["Resources"]["Payloads"]["Properties"]
    assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
    (rule,) = properties["LifecycleConfiguration"]["Rules"]
    assert rule["Status"] == {"Fn::If": ["PayloadsExpire", "Enabled", "Disabled"]}
    assert rule["Prefix"] == S3Blobs("agents").prefix
    assert template["Conditions"]["PayloadsExpire"] == {"Fn::Not": [{"Fn::Equals": [{"Ref": "PayloadDays"}, "0"]}]}


@pytest.mark.parametrize("wanted", ["true", "false"])
def test_deletion_protection_is_a_choice(moto_url: str, wanted: str) -> None:
    table = deploy(moto_url, DeletionProtection=wanted).described()
    assert str(table["DeletionProtectionEnabled"]).lower() == wanted


def test_a_deleted_stack_leaves_the_table(moto_url: str) -> None:
    stack = deploy(moto_url)
    client("cloudformation", moto_url).delete_stack(StackName=stack.name)
    assert stack.described()["TableStatus"] == "ACTIVE"


def test_p67_the_expiry_attribute_can_be_switched_on_as_the_template_has_it(
    template: dict[str, Any], stack: Stack
) -> None:
    dynamodb = client("dynamodb", stack.url)
    wanted = template["Resources"]["Table"]["Properties"]["TimeToLiveSpecification"]
    dynamodb.update_time_to_live(TableName=stack.table, TimeToLiveSpecification=wanted)
    found = dynamodb.describe_time_to_live(TableName=stack.table)["TimeToLiveDescription"]
    assert found == {"TimeToLiveStatus": "ENABLED", "AttributeName": DEFAULT_ATTRIBUTE}


def test_the_store_runs_on_the_deployed_table(store: DynamoDBStore) -> None:
    memory = store.memory
    memory.save_thread(Thread(id="t1", resource_id="ada", title="Oslo"))
    memory.save_thread(Thread(id="t2", resource_id="ada"))
    memory.save_messages(Message(thread_id="t1", role="user", content=str(number)) for number in range(3))

    context = memory.context("t1", last=2)
    assert context.thread is not None
    assert context.thread.title == "Oslo"
    assert [message.content for message in context.messages] == ["1", "2"]
    assert [thread.id for thread in memory.list_threads("ada").items] == ["t2", "t1"]
    assert [thread.id for thread in memory.list_threads("ada", order_by="updated_at").items] == ["t1", "t2"]

    memory.delete_thread("t1")
    assert memory.context("t1").thread is None
    assert [thread.id for thread in memory.list_threads("ada").items] == ["t2"]
    with pytest.raises(ThreadDeletedError):
        memory.save_messages([Message(thread_id="t1", role="user", content="late")])
