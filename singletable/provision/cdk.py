"""A table as an app of the CDK, in Python that needs `aws-cdk-lib` and nothing of this library."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from ..declare import Projection
from .cloudformation import POLICIES
from .definition import TableDefinition
from .policies import FEATURES, PAYLOADS, Statement
from .texts import filled

_TEXT: Final = '''\
"""The DynamoDB table of a singletable store, and the permissions of the applications that use it.

Made by `singletable.provision.cdk` from the entities.  It needs aws-cdk-lib; `cdk deploy` makes the stack.
"""

from typing import Any

from aws_cdk import App, CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

TABLE_NAME = @{name}
TTL_ATTRIBUTE = @{ttl_attribute}
STREAM: dynamodb.StreamViewType | None = @{stream}
KMS_KEY_ARN: str | None = @{kms_key}
POINT_IN_TIME_RECOVERY = @{point_in_time_recovery}
DELETION_PROTECTION = @{deletion_protection}
BILLING: dict[str, Any] = {"billing_mode": dynamodb.BillingMode.@{billing_mode}}
CAPACITY: dict[str, Any] = @{capacity}
INDEXES: dict[str, dict[str, Any]] = @{indexes}
POLICIES: dict[str, list[dict[str, Any]]] = @{policies}
DESCRIPTIONS = @{descriptions}
"""What each policy is for."""


def key(prefix: str = "") -> dict[str, Any]:
    """The two attributes of a key."""
    string = dynamodb.AttributeType.STRING
    return {
        "partition_key": dynamodb.Attribute(name=f"{prefix}pk", type=string),
        "sort_key": dynamodb.Attribute(name=f"{prefix}sk", type=string),
    }


class TableStack(Stack):
    """The table, the policies of applications, and a bucket for payloads where one is asked for.

    Payloads are removed after `payload_days`, which are at least one more than blobs live; without it, never.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        table_name: str = TABLE_NAME,
        stream: dynamodb.StreamViewType | None = STREAM,
        kms_key_arn: str | None = KMS_KEY_ARN,
        point_in_time_recovery: bool = POINT_IN_TIME_RECOVERY,
        deletion_protection: bool = DELETION_PROTECTION,
        payload_bucket: bool = False,
        payload_days: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(scope, construct_id, **options)
        kms_key = kms.Key.from_key_arn(self, "Key", kms_key_arn) if kms_key_arn else None
        encryption = dynamodb.TableEncryption
        self.table = dynamodb.Table(
            self,
            "Table",
            table_name=table_name,
            time_to_live_attribute=TTL_ATTRIBUTE,
            stream=stream,
            encryption=encryption.CUSTOMER_MANAGED if kms_key else encryption.AWS_MANAGED,
            encryption_key=kms_key,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=point_in_time_recovery
            ),
            deletion_protection=deletion_protection,
            removal_policy=RemovalPolicy.RETAIN,
            **key(),
            **BILLING,
            **CAPACITY,
        )
        for name, projection in INDEXES.items():
            self.table.add_global_secondary_index(index_name=name, **key(name), **projection, **CAPACITY)
        self.bucket = self.make_bucket(payload_days) if payload_bucket else None
        CfnOutput(self, "TableName", value=self.table.table_name)
        CfnOutput(self, "TableArn", value=self.table.table_arn)
        self.make_policies(table_name)

    def make_bucket(self, days: int | None) -> s3.Bucket:
        """The bucket for payloads."""
        bucket = s3.Bucket(
            self, "Payloads", block_public_access=s3.BlockPublicAccess.BLOCK_ALL, removal_policy=RemovalPolicy.RETAIN
        )
        if days:
            bucket.add_lifecycle_rule(id="payloads", prefix="@{payloads}", expiration=Duration.days(days))
        CfnOutput(self, "PayloadBucketName", value=bucket.bucket_name)
        return bucket

    def make_policies(self, table_name: str) -> None:
        """The policies of what there is."""
        resources = {"table": self.table.table_arn, "indexes": f"{self.table.table_arn}/index/*", "account": "*"}
        if self.table.table_stream_arn:
            resources["stream"] = self.table.table_stream_arn
        if self.bucket:
            resources["bucket"] = self.bucket.bucket_arn
            resources["objects"] = self.bucket.arn_for_objects("@{payloads}*")
        for name, statements in POLICIES.items():
            if all(statement["place"] in resources for statement in statements):
                policy = iam.ManagedPolicy(self, name, description=DESCRIPTIONS[name].format(table_name))
                for statement in statements:
                    resource = resources[statement["place"]]
                    rest = {part: value for part, value in statement.items() if part != "place"}
                    policy.add_statements(iam.PolicyStatement(resources=[resource], **rest))
                CfnOutput(self, f"{name}Arn", value=policy.managed_policy_arn)


if __name__ == "__main__":
    app = App()
    TableStack(app, "agents")
    app.synth()
'''


def cdk(definition: TableDefinition) -> str:
    """The file `app.py` of an app of the CDK, with a `TableStack` that other apps may import."""
    capacity = definition.capacity
    return filled(
        _TEXT,
        name=_literal(definition.name),
        ttl_attribute=_literal(definition.ttl_attribute),
        stream=f"dynamodb.StreamViewType.{definition.stream}" if definition.stream else "None",
        kms_key=_literal(definition.kms_key),
        point_in_time_recovery=str(definition.point_in_time_recovery),
        deletion_protection=str(definition.deletion_protection),
        billing_mode="PROVISIONED" if capacity else "PAY_PER_REQUEST",
        capacity=_literal({"read_capacity": capacity.read, "write_capacity": capacity.write} if capacity else {}),
        indexes=_literal({index.name: _projection(index.projection) for index in definition.indexes}),
        policies=_literal(
            {POLICIES[feature][0]: [_statement(one) for one in statements] for feature, statements in FEATURES.items()}
        ),
        descriptions=_literal({name: text.replace("${TableName}", "{}") for name, text, _ in POLICIES.values()}),
        payloads=PAYLOADS,
    )


class _Code(str):
    """Python as it is."""

    __slots__ = ()


def _projection(projection: Projection) -> dict[str, JsonValue]:
    if isinstance(projection, tuple):
        return {"projection_type": _Code("dynamodb.ProjectionType.INCLUDE"), "non_key_attributes": list(projection)}
    return {"projection_type": _Code(f"dynamodb.ProjectionType.{projection.upper()}")}


def _statement(statement: Statement) -> dict[str, JsonValue]:
    document = statement.document(None)
    found = {"sid": document["Sid"], "place": statement.place, "actions": document["Action"]}
    return {**found, "conditions": document["Condition"]} if "Condition" in document else found


def _literal(value: JsonValue) -> str:
    """Python for a value, one member a line."""
    if isinstance(value, _Code) or value is None:
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    if not value or not isinstance(value, dict | list):
        return repr(value)
    if isinstance(value, dict):
        members = [f'"{name}": {_literal(inner)},' for name, inner in value.items()]
    else:
        members = [f"{_literal(inner)}," for inner in value]
    lines = "".join(f"    {line}\n" for member in members for line in member.split("\n"))
    return f"{{\n{lines}}}" if isinstance(value, dict) else f"[\n{lines}]"
