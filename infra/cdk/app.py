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

TABLE_NAME = "agents"
TTL_ATTRIBUTE = "ttl"
STREAM: dynamodb.StreamViewType | None = None
KMS_KEY_ARN: str | None = None
POINT_IN_TIME_RECOVERY = True
DELETION_PROTECTION = True
BILLING: dict[str, Any] = {"billing_mode": dynamodb.BillingMode.PAY_PER_REQUEST}
CAPACITY: dict[str, Any] = {}
INDEXES: dict[str, dict[str, Any]] = {
    "gsi1": {
        "projection_type": dynamodb.ProjectionType.ALL,
    },
    "gsi2": {
        "projection_type": dynamodb.ProjectionType.ALL,
    },
    "gsi3": {
        "projection_type": dynamodb.ProjectionType.ALL,
    },
    "gsi4": {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": [
            "createdAt",
            "entityId",
            "entityType",
            "metricName",
            "organizationId",
            "owner",
            "projectId",
            "resourceId",
            "runId",
            "source",
            "status",
            "threadId",
            "ttl",
            "updatedAt",
            "workflowName",
        ],
    },
    "gsi5": {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": [
            "createdAt",
            "entityId",
            "entityType",
            "metricName",
            "organizationId",
            "owner",
            "projectId",
            "resourceId",
            "runId",
            "source",
            "status",
            "threadId",
            "ttl",
            "updatedAt",
            "workflowName",
        ],
    },
    "gsi6": {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": [
            "entityId",
            "entityType",
            "metricName",
            "organizationId",
            "projectId",
            "source",
            "ttl",
        ],
    },
    "gsi7": {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": [
            "entityId",
            "entityType",
            "metricName",
            "organizationId",
            "projectId",
            "source",
            "ttl",
        ],
    },
    "gsi8": {
        "projection_type": dynamodb.ProjectionType.INCLUDE,
        "non_key_attributes": [
            "entityId",
            "entityType",
            "organizationId",
            "projectId",
            "source",
            "ttl",
        ],
    },
}
POLICIES: dict[str, list[dict[str, Any]]] = {
    "ChatPolicy": [
        {
            "sid": "Items",
            "place": "table",
            "actions": [
                "dynamodb:BatchGetItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:ConditionCheckItem",
                "dynamodb:DeleteItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
        },
        {
            "sid": "Indexes",
            "place": "indexes",
            "actions": [
                "dynamodb:Query",
            ],
        },
    ],
    "ReadOnlyPolicy": [
        {
            "sid": "Items",
            "place": "table",
            "actions": [
                "dynamodb:BatchGetItem",
                "dynamodb:GetItem",
                "dynamodb:Query",
            ],
        },
        {
            "sid": "Indexes",
            "place": "indexes",
            "actions": [
                "dynamodb:Query",
            ],
        },
    ],
    "TenantPolicy": [
        {
            "sid": "Items",
            "place": "table",
            "actions": [
                "dynamodb:BatchGetItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:ConditionCheckItem",
                "dynamodb:DeleteItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
            "conditions": {
                "ForAllValues:StringLike": {
                    "dynamodb:LeadingKeys": [
                        "@${aws:PrincipalTag/tenant}#*",
                    ],
                },
            },
        },
        {
            "sid": "Indexes",
            "place": "indexes",
            "actions": [
                "dynamodb:Query",
            ],
            "conditions": {
                "ForAllValues:StringLike": {
                    "dynamodb:LeadingKeys": [
                        "@${aws:PrincipalTag/tenant}#*",
                    ],
                },
            },
        },
    ],
    "StreamPolicy": [
        {
            "sid": "Records",
            "place": "stream",
            "actions": [
                "dynamodb:DescribeStream",
                "dynamodb:GetRecords",
                "dynamodb:GetShardIterator",
            ],
        },
        {
            "sid": "Streams",
            "place": "account",
            "actions": [
                "dynamodb:ListStreams",
            ],
        },
    ],
    "PayloadPolicy": [
        {
            "sid": "Payloads",
            "place": "objects",
            "actions": [
                "s3:DeleteObject",
                "s3:GetObject",
                "s3:PutObject",
            ],
        },
        {
            "sid": "Names",
            "place": "bucket",
            "actions": [
                "s3:ListBucket",
            ],
        },
    ],
}
DESCRIPTIONS = {
    "ChatPolicy": "What a chat application needs of the DynamoDB table {}",
    "ReadOnlyPolicy": "What is needed to read the DynamoDB table {}",
    "TenantPolicy": "What one tenant, the tag of its principal, needs of the table {}",
    "StreamPolicy": "What is needed to read the stream of the table {}",
    "PayloadPolicy": "What is needed of the bucket with the payloads of {}",
}
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
            bucket.add_lifecycle_rule(id="payloads", prefix="singletable/", expiration=Duration.days(days))
        CfnOutput(self, "PayloadBucketName", value=bucket.bucket_name)
        return bucket

    def make_policies(self, table_name: str) -> None:
        """The policies of what there is."""
        resources = {"table": self.table.table_arn, "indexes": f"{self.table.table_arn}/index/*", "account": "*"}
        if self.table.table_stream_arn:
            resources["stream"] = self.table.table_stream_arn
        if self.bucket:
            resources["bucket"] = self.bucket.bucket_arn
            resources["objects"] = self.bucket.arn_for_objects("singletable/*")
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
