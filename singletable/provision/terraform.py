"""A table as a module of Terraform."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Final

from pydantic import JsonValue

from .cloudformation import POLICIES
from .definition import Capacity, IndexDefinition, TableDefinition
from .policies import FEATURES, PAYLOADS, Place, document
from .texts import filled, indented

_RESOURCES: Final[Mapping[Place, str]] = {
    "table": "${aws_dynamodb_table.table.arn}",
    "indexes": "${aws_dynamodb_table.table.arn}/index/*",
    "stream": "${aws_dynamodb_table.table.arn}/stream/*",
    "account": "*",
    "bucket": "${one(aws_s3_bucket.payloads[*].arn)}",
    "objects": f"${{one(aws_s3_bucket.payloads[*].arn)}}/{PAYLOADS}*",
}
_COUNTS: Final[Mapping[str | None, str]] = {
    None: "",
    "HasStream": '  count       = var.stream == "NONE" ? 0 : 1\n',
    "HasBucket": "  count       = var.payload_bucket == null ? 0 : 1\n",
}
_VARIABLES: Final = """\
# The DynamoDB table of a singletable store, and the permissions of the applications that use it.
# Made by `singletable.provision.terraform` from the entities.

terraform {
  required_version = ">= 1.3"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "table_name" {
  description = "What DynamoDBStore is given as its table name"
  type        = string
  default     = @{name}
}

variable "billing_mode" {
  description = "PAY_PER_REQUEST, or PROVISIONED for units a second that are paid for whether they are used or not"
  type        = string
  default     = @{billing_mode}
}

variable "read_capacity" {
  description = "Read units a second, of the table and of each index, where they are provisioned"
  type        = number
  default     = @{read}
}

variable "write_capacity" {
  description = "Write units a second, of the table and of each index, where they are provisioned"
  type        = number
  default     = @{write}
}

variable "stream" {
  description = "What the stream shows: KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES; NONE is no stream"
  type        = string
  default     = @{stream}
}

variable "kms_key_arn" {
  description = "The ARN of a key of yours; without it, the table has the key that AWS manages"
  type        = string
  default     = @{kms_key}
}

variable "point_in_time_recovery" {
  description = "Whether the table can be restored as it was at any second of the last 35 days"
  type        = bool
  default     = @{point_in_time_recovery}
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the table until this is switched off"
  type        = bool
  default     = @{deletion_protection}
}

variable "payload_bucket" {
  description = "The name of a bucket to make for blobs that no item holds; without it, there is none"
  type        = string
  default     = null
}

variable "payload_days" {
  description = "After how many days payloads are removed, at least one more than blobs live; 0 is never"
  type        = number
  default     = 0
}

locals {
  provisioned = var.billing_mode == "PROVISIONED"
}

resource "aws_dynamodb_table" "table" {
  name                        = var.table_name
  billing_mode                = var.billing_mode
  read_capacity               = local.provisioned ? var.read_capacity : null
  write_capacity              = local.provisioned ? var.write_capacity : null
  hash_key                    = @{pk}
  range_key                   = @{sk}
  stream_enabled              = var.stream != "NONE"
  stream_view_type            = var.stream == "NONE" ? null : var.stream
  deletion_protection_enabled = var.deletion_protection

  @{attributes}

  @{indexes}

  ttl {
    attribute_name = @{ttl_attribute}
    enabled        = true
  }

  server_side_encryption {
    enabled     = true
    kms_key_arn = var.kms_key_arn
  }

  point_in_time_recovery {
    enabled = var.point_in_time_recovery
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket" "payloads" {
  count  = var.payload_bucket == null ? 0 : 1
  bucket = var.payload_bucket

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_s3_bucket_public_access_block" "payloads" {
  count                   = var.payload_bucket == null ? 0 : 1
  bucket                  = aws_s3_bucket.payloads[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_lifecycle_configuration" "payloads" {
  count  = var.payload_bucket == null || var.payload_days == 0 ? 0 : 1
  bucket = aws_s3_bucket.payloads[0].id

  rule {
    id     = "payloads"
    status = "Enabled"

    filter {
      prefix = "@{payloads}"
    }

    expiration {
      days = var.payload_days
    }
  }
}

@{policies}
output "table_name" {
  description = "What DynamoDBStore is given as its table name"
  value       = aws_dynamodb_table.table.name
}

output "table_arn" {
  description = "The ARN of the table"
  value       = aws_dynamodb_table.table.arn
}

output "payload_bucket_name" {
  description = "What S3Blobs is given as its bucket"
  value       = one(aws_s3_bucket.payloads[*].bucket)
}

@{outputs}"""


def terraform(definition: TableDefinition) -> str:
    """The file `main.tf` of a module that makes the table, and the policies of its applications."""
    capacity = definition.capacity or Capacity(5, 5)
    return filled(
        _VARIABLES,
        name=json.dumps(definition.name),
        billing_mode='"PROVISIONED"' if definition.capacity else '"PAY_PER_REQUEST"',
        read=str(capacity.read),
        write=str(capacity.write),
        stream=json.dumps(definition.stream or "NONE"),
        kms_key=json.dumps(definition.kms_key),
        point_in_time_recovery=json.dumps(definition.point_in_time_recovery),
        deletion_protection=json.dumps(definition.deletion_protection),
        pk=json.dumps(definition.key[0]),
        sk=json.dumps(definition.key[1]),
        attributes=indented("\n\n".join(map(_attribute, definition.key_attributes)), 2),
        indexes=indented("\n\n".join(map(_index, definition.indexes)), 2),
        ttl_attribute=json.dumps(definition.ttl_attribute),
        payloads=PAYLOADS,
        policies="".join(_policy(feature) for feature in FEATURES),
        outputs="\n".join(_output(feature) for feature in FEATURES),
    ).replace("\n  \n", "\n")


def _attribute(name: str) -> str:
    return f'attribute {{\n  name = "{name}"\n  type = "S"\n}}'


def _index(index: IndexDefinition) -> str:
    pk, sk = index.key
    lines = {
        "name": f'"{index.name}"',
        "hash_key": f'"{pk}"',
        "range_key": f'"{sk}"',
        "read_capacity": "local.provisioned ? var.read_capacity : null",
        "write_capacity": "local.provisioned ? var.write_capacity : null",
    }
    if not isinstance(index.projection, tuple):
        lines["projection_type"] = f'"{index.projection.upper()}"'
        return f"global_secondary_index {{\n{_aligned(lines)}}}"
    lines["projection_type"] = '"INCLUDE"'
    names = "".join(f'    "{name}",\n' for name in index.projection)
    return f"global_secondary_index {{\n{_aligned(lines)}  non_key_attributes = [\n{names}  ]\n}}"


def _aligned(lines: Mapping[str, str]) -> str:
    width = max(map(len, lines))
    return "".join(f"  {name:{width}} = {value}\n" for name, value in lines.items())


def _label(feature: str) -> str:
    return feature.replace("-", "_")


def _policy(feature: str) -> str:
    _, description, condition = POLICIES[feature]
    statements = _hcl(document(feature, _RESOURCES))
    return (
        f'resource "aws_iam_policy" "{_label(feature)}" {{\n{_COUNTS[condition]}'
        f'  name_prefix = "${{var.table_name}}-{feature}-"\n'
        f'  description = "{description.replace("${TableName}", "${var.table_name}")}"\n'
        f"  policy = jsonencode({indented(statements, 2)})\n}}\n\n"
    )


def _output(feature: str) -> str:
    _, description, condition = POLICIES[feature]
    resource = f"aws_iam_policy.{_label(feature)}"
    value = f"{resource}.arn" if condition is None else f"one({resource}[*].arn)"
    text = description.replace(" ${TableName}", "")
    return f'output "{_label(feature)}_policy_arn" {{\n  description = "{text}"\n  value       = {value}\n}}\n'


def _hcl(value: JsonValue) -> str:
    """A value of JSON in Terraform's own form; its policy variables are none of Terraform's."""
    if isinstance(value, str):
        return json.dumps(value.replace("${aws:", "$${aws:"))
    if isinstance(value, dict):
        return f"{{\n{_members(value)}}}"
    if not isinstance(value, list):
        return json.dumps(value)
    if len(value) == 1 and isinstance(value[0], str):
        return f"[{_hcl(value[0])}]"
    return "[\n" + "".join(f"  {indented(_hcl(inner), 2)},\n" for inner in value) + "]"


def _members(value: dict[str, JsonValue]) -> str:
    """One member a line, with the signs of equality below each other where lines follow each other."""
    texts = [(_name(name), indented(_hcl(inner), 2)) for name, inner in value.items()]
    lines: list[str] = []
    for is_long, group in groupby(texts, lambda member: "\n" in member[1]):
        members = list(group)
        width = 0 if is_long else max(len(name) for name, _ in members)
        lines += [f"  {name:{width}} = {text}\n" for name, text in members]
    return "".join(lines)


def _name(text: str) -> str:
    return text if text.isidentifier() else json.dumps(text)
