"""boto3's Table resource and pydantic, as tutorials show it: boto3's own settings, its own codec."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import boto3
from boto3.dynamodb.conditions import Key

from ..messages import TABLE, ChatMessage
from . import ACCESS_KEY, REGION
from .botocore_client import item_of, key_of


class Client:
    """boto3's resource layer."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        self._dynamodb = cast("Any", boto3).resource(
            "dynamodb",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=ACCESS_KEY,
        )
        self._table = self._dynamodb.Table(TABLE)
        self._messages = messages

    def get(self) -> ChatMessage:
        """Read the first message."""
        response = self._table.get_item(Key=key_of(self._messages[0]), ConsistentRead=True)
        return ChatMessage.model_validate(response["Item"])

    def query(self) -> list[ChatMessage]:
        """Read the messages of the thread."""
        pk, sk = cast("Any", Key("pk")), cast("Any", Key("sk"))
        condition = pk.eq(f"thread#{self._messages[0].thread_id}") & sk.begins_with("message#")
        response = self._table.query(KeyConditionExpression=condition, ConsistentRead=True)
        return [ChatMessage.model_validate(item) for item in response["Items"]]

    def get_many(self) -> list[ChatMessage]:
        """Read all messages by key."""
        keys = [key_of(message) for message in self._messages]
        response = self._dynamodb.batch_get_item(RequestItems={TABLE: {"Keys": keys, "ConsistentRead": True}})
        return [ChatMessage.model_validate(item) for item in response["Responses"][TABLE]]

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._table.put_item(Item=item_of(self._messages[position]))

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        with self._table.batch_writer() as batch:
            for message in self._messages[:count]:
                batch.put_item(Item=item_of(message))

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        put = {"TableName": TABLE, "ConditionExpression": "attribute_not_exists(pk)"}
        puts = [{"Put": {**put, "Item": item_of(message)}} for message in self._messages[:count]]
        self._dynamodb.meta.client.transact_write_items(TransactItems=puts)
