"""What makes a table says the same in every form: requests, CloudFormation, Terraform."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import hcl2
import pytest
from cfnlint.decode import decode
from hcl2.utils import SerializationOptions

from singletable import RequestError
from singletable.provision import (
    FEATURES,
    Capacity,
    TableDefinition,
    cdk,
    cloudformation,
    create_table_params,
    policy,
    setup_requests,
    terraform,
)
from singletable.provision.cloudformation import template
from singletable.schemas import Thread
from singletable.store.entities import ENTITIES

WHOLE = TableDefinition.of("agents", ENTITIES)
ARN = "arn:aws:kms:eu-central-1:123456789012:key/1"
OTHER = replace(
    TableDefinition.of("notes-2", [Thread], ttl_attribute="expires"),
    capacity=Capacity(3, 4),
    stream="NEW_IMAGE",
    kms_key=ARN,
    point_in_time_recovery=False,
    deletion_protection=False,
)
DEFINITIONS = pytest.mark.parametrize("definition", [WHOLE, OTHER], ids=["as it is", "other choices"])
PLAIN = SerializationOptions(strip_string_quotes=True, explicit_blocks=False, with_comments=False)


def test_the_indexes_are_those_that_the_entities_use() -> None:
    assert [index.name for index in WHOLE.indexes] == [f"gsi{number}" for number in range(1, 9)]
    assert [(index.name, index.projection) for index in OTHER.indexes] == [("gsi1", "all"), ("gsi2", "all")]
    assert OTHER.key_attributes == ("pk", "sk", "gsi1pk", "gsi1sk", "gsi2pk", "gsi2sk")


def test_a_table_of_no_entities_is_refused() -> None:
    with pytest.raises(RequestError, match="name those that lie in it"):
        TableDefinition.of("agents", [])


def test_the_requests_are_those_of_the_bare_table_and_what_guards_it() -> None:
    requests = setup_requests(WHOLE)
    assert list(requests) == ["CreateTable", "UpdateTimeToLive", "UpdateContinuousBackups"]
    assert requests["CreateTable"] == {
        **create_table_params("agents", [entity.spec for entity in ENTITIES]),
        "SSESpecification": {"Enabled": True},
        "DeletionProtectionEnabled": True,
    }
    assert requests["UpdateTimeToLive"]["TimeToLiveSpecification"] == {"AttributeName": "ttl", "Enabled": True}


def test_the_requests_follow_what_was_chosen() -> None:
    requests = setup_requests(OTHER)
    assert list(requests) == ["CreateTable", "UpdateTimeToLive"]
    table = requests["CreateTable"]
    units = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4}
    assert [table["ProvisionedThroughput"], *(i["ProvisionedThroughput"] for i in table["GlobalSecondaryIndexes"])] == [
        units
    ] * 3
    assert (table["BillingMode"], table["DeletionProtectionEnabled"]) == ("PROVISIONED", False)
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}
    assert table["SSESpecification"] == {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": ARN}
    assert requests["UpdateTimeToLive"]["TimeToLiveSpecification"]["AttributeName"] == "expires"


@DEFINITIONS
def test_the_yaml_of_a_template_says_what_the_template_says(definition: TableDefinition, tmp_path: Path) -> None:
    file = tmp_path / "template.yaml"
    file.write_text(cloudformation(definition))
    parsed, problems = decode(str(file))
    assert problems == []
    assert json.loads(json.dumps(parsed)) == template(definition)


def test_the_parameters_of_a_template_begin_with_what_was_chosen() -> None:
    assert {name: parameter["Default"] for name, parameter in template(OTHER)["Parameters"].items()} == {
        "TableName": "notes-2",
        "BillingMode": "PROVISIONED",
        "ReadCapacity": 3,
        "WriteCapacity": 4,
        "Stream": "NEW_IMAGE",
        "KmsKeyArn": ARN,
        "PointInTimeRecovery": "false",
        "DeletionProtection": "false",
        "PayloadBucket": "false",
        "PayloadDays": 0,
    }


def blocks(parsed: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: body for block in parsed[kind] for name, body in block.items()}


@DEFINITIONS
def test_terraform_makes_the_same_table(definition: TableDefinition) -> None:
    parsed = hcl2.loads(terraform(definition), serialization_options=PLAIN)
    table = blocks(parsed, "resource")["aws_dynamodb_table"]["table"]
    wanted = setup_requests(definition)["CreateTable"]
    assert [{"AttributeName": a["name"], "AttributeType": a["type"]} for a in table["attribute"]] == wanted[
        "AttributeDefinitions"
    ]
    indexes = {index.name: index for index in definition.indexes}
    assert [index["name"] for index in table["global_secondary_index"]] == list(indexes)
    for made in table["global_secondary_index"]:
        index = indexes[made["name"]]
        assert (made["hash_key"], made["range_key"]) == index.key
        kind = "INCLUDE" if isinstance(index.projection, tuple) else index.projection.upper()
        assert made["projection_type"] == kind
        assert made.get("non_key_attributes", []) == (list(index.projection) if kind == "INCLUDE" else [])
    (ttl,) = table["ttl"]
    assert (table["hash_key"], table["range_key"], ttl["attribute_name"]) == (*definition.key, definition.ttl_attribute)


@DEFINITIONS
def test_the_variables_of_terraform_begin_with_what_was_chosen(definition: TableDefinition) -> None:
    parsed = hcl2.loads(terraform(definition), serialization_options=PLAIN)
    parameters = {name: parameter["Default"] for name, parameter in template(definition)["Parameters"].items()}
    assert {name: body["default"] for name, body in blocks(parsed, "variable").items()} == {
        "table_name": parameters["TableName"],
        "billing_mode": parameters["BillingMode"],
        "read_capacity": parameters["ReadCapacity"],
        "write_capacity": parameters["WriteCapacity"],
        "stream": parameters["Stream"],
        "kms_key_arn": definition.kms_key,
        "point_in_time_recovery": definition.point_in_time_recovery,
        "deletion_protection": definition.deletion_protection,
        "payload_bucket": None,
        "payload_days": 0,
    }


def test_the_policies_of_terraform_are_those_of_iam() -> None:
    """Terraform's own form, read as what `jsonencode` makes of it."""
    text = terraform(WHOLE)
    for feature in FEATURES:
        wanted = policy(feature, "${aws_dynamodb_table.table.arn}", bucket="B")
        start = text.index("jsonencode(", text.index(f'"aws_iam_policy" "{feature.replace("-", "_")}"'))
        body = text[start : text.index("\n}\n", start)]
        for statement in wanted["Statement"]:
            assert all(f'"{action}"' in body for action in statement["Action"])
        assert body.count("dynamodb:") + body.count("s3:") == sum(
            len(statement["Action"]) + ("Condition" in statement) for statement in wanted["Statement"]
        )
        assert body.count("$${aws:PrincipalTag/tenant}") == (2 if feature == "tenant" else 0)


@DEFINITIONS
def test_the_app_of_the_cdk_is_python(definition: TableDefinition) -> None:
    compile(cdk(definition), "app.py", "exec")


@pytest.mark.parametrize(
    ("feature", "bucket", "remedy"),
    [("chatting", None, "valid are chat, read-only"), ("payloads", None, "name it by bucket=")],
)
def test_a_policy_that_cannot_be_written_says_why(feature: str, bucket: str | None, remedy: str) -> None:
    with pytest.raises(RequestError, match=remedy):
        policy(feature, "arn", bucket=bucket)
