"""The same store on real tables.  A constructor contacts nothing; the first call does."""

import boto3

from singletable import Credentials, DynamoDBStore


def where_the_environment_says() -> DynamoDBStore:
    """Region and credentials as boto3 finds them: environment, profile, or the role of the machine."""
    return DynamoDBStore(table_name="agents")


def in_a_region() -> DynamoDBStore:
    return DynamoDBStore(table_name="agents", region="eu-north-1")


def with_a_profile() -> DynamoDBStore:
    return DynamoDBStore(table_name="agents", session=boto3.Session(profile_name="staging"))


def on_an_endpoint() -> DynamoDBStore:
    """DynamoDB Local or a moto server; both take any credentials."""
    return DynamoDBStore(
        table_name="agents",
        endpoint_url="http://127.0.0.1:8000",
        region="us-east-1",
        credentials=Credentials("local", "local"),
    )
