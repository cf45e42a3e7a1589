"""A table as a template of CloudFormation, with what is a matter of choice as its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, get_args

from .createtable import expiry, shape
from .definition import Capacity, StreamView, TableDefinition
from .policies import FEATURES, PAYLOADS, Place, document
from .yamltext import yaml_text

NOTHING: Final = {"Ref": "AWS::NoValue"}
RESOURCES: Final[Mapping[Place, Any]] = {
    "table": {"Fn::GetAtt": ["Table", "Arn"]},
    "indexes": {"Fn::Sub": "${Table.Arn}/index/*"},
    "stream": {"Fn::GetAtt": ["Table", "StreamArn"]},
    "account": "*",
    "bucket": {"Fn::GetAtt": ["Payloads", "Arn"]},
    "objects": {"Fn::Sub": f"${{Payloads.Arn}}/{PAYLOADS}*"},
}
POLICIES: Final[Mapping[str, tuple[str, str, str | None]]] = {
    "chat": ("ChatPolicy", "What a chat application needs of the DynamoDB table ${TableName}", None),
    "read-only": ("ReadOnlyPolicy", "What is needed to read the DynamoDB table ${TableName}", None),
    "tenant": ("TenantPolicy", "What one tenant, the tag of its principal, needs of the table ${TableName}", None),
    "streams": ("StreamPolicy", "What is needed to read the stream of the table ${TableName}", "HasStream"),
    "payloads": ("PayloadPolicy", "What is needed of the bucket with the payloads of ${TableName}", "HasBucket"),
}
"""The name of each feature's resource, its description, and the condition under which there is one."""


def cloudformation(definition: TableDefinition) -> str:
    """The template of a table and of the policies of its applications, as YAML.

    Name, billing, stream, key, backups, protection and the bucket for payloads are parameters, whose defaults are those
    of the definition."""
    return yaml_text(template(definition))


def template(definition: TableDefinition) -> dict[str, Any]:
    """The template as data."""
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "The DynamoDB table of a singletable store, and the permissions of the applications that use it",
        "Parameters": _parameters(definition),
        "Conditions": {
            "IsProvisioned": {"Fn::Equals": [{"Ref": "BillingMode"}, "PROVISIONED"]},
            "HasStream": _is_not("Stream", "NONE"),
            "HasKmsKey": _is_not("KmsKeyArn", ""),
            "HasBucket": {"Fn::Equals": [{"Ref": "PayloadBucket"}, "true"]},
            "PayloadsExpire": _is_not("PayloadDays", "0"),
        },
        "Resources": {"Table": _table(definition), "Payloads": _bucket(), **_policies()},
        "Outputs": _outputs(),
    }


def _is_not(parameter: str, value: object) -> dict[str, Any]:
    return {"Fn::Not": [{"Fn::Equals": [{"Ref": parameter}, value]}]}


def _parameters(definition: TableDefinition) -> dict[str, Any]:
    capacity = definition.capacity or Capacity(5, 5)
    return {
        "TableName": {
            "Type": "String",
            "Default": definition.name,
            "MinLength": 3,
            "MaxLength": 255,
            "AllowedPattern": "[a-zA-Z0-9_.-]+",
            "Description": "What DynamoDBStore is given as its table name",
        },
        "BillingMode": _choice(
            "PROVISIONED" if definition.capacity else "PAY_PER_REQUEST",
            "Whether each request is paid for, or units a second whether they are used or not",
            ["PAY_PER_REQUEST", "PROVISIONED"],
        ),
        "ReadCapacity": _number(capacity.read, 1, "Read units a second, of the table and of each index"),
        "WriteCapacity": _number(capacity.write, 1, "Write units a second, of the table and of each index"),
        "Stream": _choice(
            definition.stream or "NONE",
            "What of an item the records of the stream show",
            ["NONE", *get_args(StreamView)],
        ),
        "KmsKeyArn": {
            "Type": "String",
            "Default": definition.kms_key or "",
            "Description": "The ARN of a key of yours; without it, the table has the key that AWS manages",
        },
        "PointInTimeRecovery": _truth(
            definition.point_in_time_recovery,
            "Whether the table can be restored as it was at any second of the last 35 days",
        ),
        "DeletionProtection": _truth(
            definition.deletion_protection,
            "Whether DynamoDB refuses to delete the table until this is switched off",
        ),
        "PayloadBucket": _truth(False, "Whether there is a bucket for blobs that no item holds"),
        "PayloadDays": _number(
            0, 0, "After how many days payloads are removed, at least one more than blobs live; 0 is never"
        ),
    }


def _choice(default: str, description: str, values: list[str]) -> dict[str, Any]:
    return {"Type": "String", "Default": default, "AllowedValues": values, "Description": description}


def _truth(default: bool, description: str) -> dict[str, Any]:
    return _choice(str(default).lower(), description, ["true", "false"])


def _number(default: int, least: int, description: str) -> dict[str, Any]:
    return {"Type": "Number", "Default": default, "MinValue": least, "Description": description}


def _table(definition: TableDefinition) -> dict[str, Any]:
    throughput = {
        "ProvisionedThroughput": _if(
            "IsProvisioned",
            {"ReadCapacityUnits": {"Ref": "ReadCapacity"}, "WriteCapacityUnits": {"Ref": "WriteCapacity"}},
        )
    }
    derived = shape(replace(definition, capacity=None))
    derived["BillingMode"] = {"Ref": "BillingMode"}
    for index in derived.get("GlobalSecondaryIndexes", ()):
        index.update(throughput)
    return {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "TableName": {"Ref": "TableName"},
            **derived,
            **throughput,
            "TimeToLiveSpecification": expiry(definition),
            "StreamSpecification": _if("HasStream", {"StreamViewType": {"Ref": "Stream"}}),
            "SSESpecification": {
                "SSEEnabled": True,
                "SSEType": "KMS",
                "KMSMasterKeyId": _if("HasKmsKey", {"Ref": "KmsKeyArn"}),
            },
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": {"Ref": "PointInTimeRecovery"}},
            "DeletionProtectionEnabled": {"Ref": "DeletionProtection"},
        },
    }


def _bucket() -> dict[str, Any]:
    rule = {
        "Id": "payloads",
        "Status": {"Fn::If": ["PayloadsExpire", "Enabled", "Disabled"]},
        "Prefix": PAYLOADS,
        "ExpirationInDays": {"Fn::If": ["PayloadsExpire", {"Ref": "PayloadDays"}, 1]},
    }
    return {
        "Type": "AWS::S3::Bucket",
        "Condition": "HasBucket",
        "DeletionPolicy": "Retain",
        "UpdateReplacePolicy": "Retain",
        "Properties": {
            "PublicAccessBlockConfiguration": {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
            "LifecycleConfiguration": {"Rules": [rule]},
        },
    }


def _policies() -> dict[str, Any]:
    return {POLICIES[feature][0]: _policy(feature) for feature in FEATURES}


def _policy(feature: str) -> dict[str, Any]:
    _, description, condition = POLICIES[feature]
    return {
        # Without a name of its own, so that CAPABILITY_IAM is all that the stack asks for.
        "Type": "AWS::IAM::ManagedPolicy",
        **({} if condition is None else {"Condition": condition}),
        "Properties": {"Description": {"Fn::Sub": description}, "PolicyDocument": document(feature, RESOURCES)},
    }


def _outputs() -> dict[str, Any]:
    outputs = {
        "TableName": _output("What DynamoDBStore is given as its table name", {"Ref": "Table"}),
        "TableArn": _output("The ARN of the table", RESOURCES["table"]),
        "StreamArn": _output("The ARN of the stream", RESOURCES["stream"], "HasStream"),
        "PayloadBucketName": _output("What S3Blobs is given as its bucket", {"Ref": "Payloads"}, "HasBucket"),
    }
    for name, description, condition in POLICIES.values():
        outputs[f"{name}Arn"] = _output(description.replace(" ${TableName}", ""), {"Ref": name}, condition)
    return outputs


def _output(description: str, value: Any, condition: str | None = None) -> dict[str, Any]:
    return {**({} if condition is None else {"Condition": condition}), "Description": description, "Value": value}


def _if(condition: str, value: Any) -> dict[str, Any]:
    return {"Fn::If": [condition, value, NOTHING]}
