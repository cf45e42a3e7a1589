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
  default     = "agents"
}

variable "billing_mode" {
  description = "PAY_PER_REQUEST, or PROVISIONED for units a second that are paid for whether they are used or not"
  type        = string
  default     = "PAY_PER_REQUEST"
}

variable "read_capacity" {
  description = "Read units a second, of the table and of each index, where they are provisioned"
  type        = number
  default     = 5
}

variable "write_capacity" {
  description = "Write units a second, of the table and of each index, where they are provisioned"
  type        = number
  default     = 5
}

variable "stream" {
  description = "What the stream shows: KEYS_ONLY, NEW_IMAGE, OLD_IMAGE or NEW_AND_OLD_IMAGES; NONE is no stream"
  type        = string
  default     = "NONE"
}

variable "kms_key_arn" {
  description = "The ARN of a key of yours; without it, the table has the key that AWS manages"
  type        = string
  default     = null
}

variable "point_in_time_recovery" {
  description = "Whether the table can be restored as it was at any second of the last 35 days"
  type        = bool
  default     = true
}

variable "deletion_protection" {
  description = "Whether DynamoDB refuses to delete the table until this is switched off"
  type        = bool
  default     = true
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
  hash_key                    = "pk"
  range_key                   = "sk"
  stream_enabled              = var.stream != "NONE"
  stream_view_type            = var.stream == "NONE" ? null : var.stream
  deletion_protection_enabled = var.deletion_protection

  attribute {
    name = "pk"
    type = "S"
  }
  attribute {
    name = "sk"
    type = "S"
  }
  attribute {
    name = "gsi1pk"
    type = "S"
  }
  attribute {
    name = "gsi1sk"
    type = "S"
  }
  attribute {
    name = "gsi2pk"
    type = "S"
  }
  attribute {
    name = "gsi2sk"
    type = "S"
  }
  attribute {
    name = "gsi3pk"
    type = "S"
  }
  attribute {
    name = "gsi3sk"
    type = "S"
  }
  attribute {
    name = "gsi4pk"
    type = "S"
  }
  attribute {
    name = "gsi4sk"
    type = "S"
  }
  attribute {
    name = "gsi5pk"
    type = "S"
  }
  attribute {
    name = "gsi5sk"
    type = "S"
  }
  attribute {
    name = "gsi6pk"
    type = "S"
  }
  attribute {
    name = "gsi6sk"
    type = "S"
  }
  attribute {
    name = "gsi7pk"
    type = "S"
  }
  attribute {
    name = "gsi7sk"
    type = "S"
  }
  attribute {
    name = "gsi8pk"
    type = "S"
  }
  attribute {
    name = "gsi8sk"
    type = "S"
  }

  global_secondary_index {
    name            = "gsi1"
    hash_key        = "gsi1pk"
    range_key       = "gsi1sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "ALL"
  }
  global_secondary_index {
    name            = "gsi2"
    hash_key        = "gsi2pk"
    range_key       = "gsi2sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "ALL"
  }
  global_secondary_index {
    name            = "gsi3"
    hash_key        = "gsi3pk"
    range_key       = "gsi3sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "ALL"
  }
  global_secondary_index {
    name            = "gsi4"
    hash_key        = "gsi4pk"
    range_key       = "gsi4sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "INCLUDE"
    non_key_attributes = [
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
    ]
  }
  global_secondary_index {
    name            = "gsi5"
    hash_key        = "gsi5pk"
    range_key       = "gsi5sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "INCLUDE"
    non_key_attributes = [
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
    ]
  }
  global_secondary_index {
    name            = "gsi6"
    hash_key        = "gsi6pk"
    range_key       = "gsi6sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "INCLUDE"
    non_key_attributes = [
      "entityId",
      "entityType",
      "metricName",
      "organizationId",
      "projectId",
      "source",
      "ttl",
    ]
  }
  global_secondary_index {
    name            = "gsi7"
    hash_key        = "gsi7pk"
    range_key       = "gsi7sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "INCLUDE"
    non_key_attributes = [
      "entityId",
      "entityType",
      "metricName",
      "organizationId",
      "projectId",
      "source",
      "ttl",
    ]
  }
  global_secondary_index {
    name            = "gsi8"
    hash_key        = "gsi8pk"
    range_key       = "gsi8sk"
    read_capacity   = local.provisioned ? var.read_capacity : null
    write_capacity  = local.provisioned ? var.write_capacity : null
    projection_type = "INCLUDE"
    non_key_attributes = [
      "entityId",
      "entityType",
      "organizationId",
      "projectId",
      "source",
      "ttl",
    ]
  }

  ttl {
    attribute_name = "ttl"
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
      prefix = "singletable/"
    }

    expiration {
      days = var.payload_days
    }
  }
}

resource "aws_iam_policy" "chat" {
  name_prefix = "${var.table_name}-chat-"
  description = "What a chat application needs of the DynamoDB table ${var.table_name}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Items"
        Effect = "Allow"
        Action = [
          "dynamodb:BatchGetItem",
          "dynamodb:BatchWriteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:DeleteItem",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:Query",
          "dynamodb:UpdateItem",
        ]
        Resource = "${aws_dynamodb_table.table.arn}"
      },
      {
        Sid      = "Indexes"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = "${aws_dynamodb_table.table.arn}/index/*"
      },
    ]
  })
}

resource "aws_iam_policy" "read_only" {
  name_prefix = "${var.table_name}-read-only-"
  description = "What is needed to read the DynamoDB table ${var.table_name}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Items"
        Effect = "Allow"
        Action = [
          "dynamodb:BatchGetItem",
          "dynamodb:GetItem",
          "dynamodb:Query",
        ]
        Resource = "${aws_dynamodb_table.table.arn}"
      },
      {
        Sid      = "Indexes"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = "${aws_dynamodb_table.table.arn}/index/*"
      },
    ]
  })
}

resource "aws_iam_policy" "tenant" {
  name_prefix = "${var.table_name}-tenant-"
  description = "What one tenant, the tag of its principal, needs of the table ${var.table_name}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Items"
        Effect = "Allow"
        Action = [
          "dynamodb:BatchGetItem",
          "dynamodb:BatchWriteItem",
          "dynamodb:ConditionCheckItem",
          "dynamodb:DeleteItem",
          "dynamodb:GetItem",
          "dynamodb:PutItem",
          "dynamodb:Query",
          "dynamodb:UpdateItem",
        ]
        Resource = "${aws_dynamodb_table.table.arn}"
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["@$${aws:PrincipalTag/tenant}#*"]
          }
        }
      },
      {
        Sid      = "Indexes"
        Effect   = "Allow"
        Action   = ["dynamodb:Query"]
        Resource = "${aws_dynamodb_table.table.arn}/index/*"
        Condition = {
          "ForAllValues:StringLike" = {
            "dynamodb:LeadingKeys" = ["@$${aws:PrincipalTag/tenant}#*"]
          }
        }
      },
    ]
  })
}

resource "aws_iam_policy" "streams" {
  count       = var.stream == "NONE" ? 0 : 1
  name_prefix = "${var.table_name}-streams-"
  description = "What is needed to read the stream of the table ${var.table_name}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Records"
        Effect = "Allow"
        Action = [
          "dynamodb:DescribeStream",
          "dynamodb:GetRecords",
          "dynamodb:GetShardIterator",
        ]
        Resource = "${aws_dynamodb_table.table.arn}/stream/*"
      },
      {
        Sid      = "Streams"
        Effect   = "Allow"
        Action   = ["dynamodb:ListStreams"]
        Resource = "*"
      },
    ]
  })
}

resource "aws_iam_policy" "payloads" {
  count       = var.payload_bucket == null ? 0 : 1
  name_prefix = "${var.table_name}-payloads-"
  description = "What is needed of the bucket with the payloads of ${var.table_name}"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Sid    = "Payloads"
        Effect = "Allow"
        Action = [
          "s3:DeleteObject",
          "s3:GetObject",
          "s3:PutObject",
        ]
        Resource = "${one(aws_s3_bucket.payloads[*].arn)}/singletable/*"
      },
      {
        Sid      = "Names"
        Effect   = "Allow"
        Action   = ["s3:ListBucket"]
        Resource = "${one(aws_s3_bucket.payloads[*].arn)}"
      },
    ]
  })
}


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

output "chat_policy_arn" {
  description = "What a chat application needs of the DynamoDB table"
  value       = aws_iam_policy.chat.arn
}

output "read_only_policy_arn" {
  description = "What is needed to read the DynamoDB table"
  value       = aws_iam_policy.read_only.arn
}

output "tenant_policy_arn" {
  description = "What one tenant, the tag of its principal, needs of the table"
  value       = aws_iam_policy.tenant.arn
}

output "streams_policy_arn" {
  description = "What is needed to read the stream of the table"
  value       = one(aws_iam_policy.streams[*].arn)
}

output "payloads_policy_arn" {
  description = "What is needed of the bucket with the payloads of"
  value       = one(aws_iam_policy.payloads[*].arn)
}
