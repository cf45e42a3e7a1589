"""What an application may do with a table, feature by feature, as policies of IAM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from ..errors import RequestError

Place: TypeAlias = Literal["table", "indexes", "stream", "account", "bucket", "objects"]
"""What a statement is about; `account` is everything, for actions that know no resource."""
PAYLOADS: Final = "singletable/"
"""Where in their bucket the payloads are: the prefix that `S3Blobs` takes by itself."""

_READ = ("BatchGetItem", "GetItem", "Query")
# A transaction needs the actions of its members; there is no action for the transaction itself.
_WRITE = ("BatchWriteItem", "ConditionCheckItem", "DeleteItem", "PutItem", "UpdateItem")
_TENANT: Final = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["@${aws:PrincipalTag/tenant}#*"]}}
"""The scope of a tenant begins every partition key, of the table and of indexes."""


@dataclass(frozen=True)
class Statement:
    """One permission: actions in one place."""

    sid: str
    service: Literal["dynamodb", "s3"]
    operations: tuple[str, ...]
    place: Place
    of_one_tenant: bool = False

    def document(self, resource: Any) -> dict[str, Any]:
        """The statement as IAM has it, about a resource."""
        document = {
            "Sid": self.sid,
            "Effect": "Allow",
            "Action": [f"{self.service}:{name}" for name in sorted(self.operations)],
            "Resource": resource,
        }
        return {**document, "Condition": _TENANT} if self.of_one_tenant else document


FEATURES: Final[Mapping[str, tuple[Statement, ...]]] = {
    "chat": (
        Statement("Items", "dynamodb", _READ + _WRITE, "table"),
        Statement("Indexes", "dynamodb", ("Query",), "indexes"),
    ),
    "read-only": (
        Statement("Items", "dynamodb", _READ, "table"),
        Statement("Indexes", "dynamodb", ("Query",), "indexes"),
    ),
    "tenant": (
        Statement("Items", "dynamodb", _READ + _WRITE, "table", of_one_tenant=True),
        Statement("Indexes", "dynamodb", ("Query",), "indexes", of_one_tenant=True),
    ),
    "streams": (
        Statement("Records", "dynamodb", ("DescribeStream", "GetRecords", "GetShardIterator"), "stream"),
        Statement("Streams", "dynamodb", ("ListStreams",), "account"),
    ),
    "payloads": (
        Statement("Payloads", "s3", ("DeleteObject", "GetObject", "PutObject"), "objects"),
        Statement("Names", "s3", ("ListBucket",), "bucket"),
    ),
}
"""The statements of each policy: of a chat application, of whoever only reads, of one tenant (whose name is the tag
`tenant` of the principal), of what reads the stream, and of what keeps payloads in a bucket."""


def policy(feature: str, table_arn: str, *, bucket: str | None = None) -> dict[str, Any]:
    """The policy of a feature, as IAM has it; `bucket` is the name of the one for payloads.

    Raises RequestError for an unknown feature, and where a bucket is needed and not named."""
    if feature not in FEATURES:
        raise RequestError(f"there is no feature {feature!r}; valid are {', '.join(FEATURES)}")
    if feature == "payloads" and bucket is None:
        raise RequestError("the policy for payloads is about a bucket: name it by bucket=")
    resources: Mapping[Place, Any] = {
        "table": table_arn,
        "indexes": f"{table_arn}/index/*",
        "stream": f"{table_arn}/stream/*",
        "account": "*",
        "bucket": f"arn:aws:s3:::{bucket}",
        "objects": f"arn:aws:s3:::{bucket}/{PAYLOADS}*",
    }
    return document(feature, resources)


def document(feature: str, resources: Mapping[Place, Any]) -> dict[str, Any]:
    """The policy of a feature, given what IAM is to call each place."""
    statements = [statement.document(resources[statement.place]) for statement in FEATURES[feature]]
    return {"Version": "2012-10-17", "Statement": statements}
