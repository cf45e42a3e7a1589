# boto3 has no types of its own.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import boto3

from singletable.provision import create_table_params
from singletable.store.entities import ENTITIES

client = boto3.client(
    "dynamodb",
    endpoint_url="http://127.0.0.1:8000",
    region_name="us-east-1",
    aws_access_key_id="local",
    aws_secret_access_key="local",
)
client.create_table(**create_table_params("agents", [entity.spec for entity in ENTITIES]))
