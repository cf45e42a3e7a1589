"""botocore as one would tune it by hand, with boto3's codec and pydantic: the base of all ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import boto3
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from botocore.config import Config

from ..messages import TABLE, ChatMessage
from . import ACCESS_KEY, REGION

TUNED: Final[Any] = Config(parameter_validation=False, retries={"mode": "standard"}, tcp_keepalive=True)
_ENCODE: Final = cast("Any", TypeSerializer()).serialize
_DECODE: Final = cast("Any", TypeDeserializer()).deserialize


def dynamodb(url: str, config: Any = None) -> Any:
    """A client of a stub."""
    return cast("Any", boto3).client(
        "dynamodb",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=ACCESS_KEY,
        config=config,
    )


def key_of(message: ChatMessage) -> dict[str, str]:
    """The key under which this candidate stores a message."""
    return {
        "pk": f"thread#{message.thread_id}",
        "sk": f"message#{message.created_at:%Y-%m-%dT%H:%M:%SZ}#{message.id}",
    }


def item_of(message: ChatMessage) -> dict[str, Any]:
    """A message as this candidate stores it, in Python values."""
    return {**key_of(message), "entity": "message", "version": 1, **message.model_dump(mode="json")}


def _encoded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _ENCODE(value) for name, value in values.items()}


def _decoded(item: Mapping[str, Any]) -> ChatMessage:
    return ChatMessage.model_validate({name: _DECODE(value) for name, value in item.items()})


class Client:
    """What an application would write itself."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        self._client = dynamodb(url, TUNED)
        self._messages = messages

    def get(self) -> ChatMessage:
        """Read the first message."""
        key = _encoded(key_of(self._messages[0]))
        return _decoded(self._client.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"])

    def query(self) -> list[ChatMessage]:
        """Read the messages of the thread."""
        response = self._client.query(
            TableName=TABLE,
            KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
            ExpressionAttributeValues={
                ":pk": {"S": f"thread#{self._messages[0].thread_id}"},
                ":sk": {"S": "message#"},
            },
            ConsistentRead=True,
        )
        return [_decoded(item) for item in response["Items"]]

    def get_many(self) -> list[ChatMessage]:
        """Read all messages by key."""
        keys = [_encoded(key_of(message)) for message in self._messages]
        response = self._client.batch_get_item(RequestItems={TABLE: {"Keys": keys, "ConsistentRead": True}})
        return [_decoded(item) for item in response["Responses"][TABLE]]

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._client.put_item(TableName=TABLE, Item=_encoded(item_of(self._messages[position])))

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        puts = [{"PutRequest": {"Item": _encoded(item_of(message))}} for message in self._messages[:count]]
        self._client.batch_write_item(RequestItems={TABLE: puts})

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        puts = [
            {
                "Put": {
                    "TableName": TABLE,
                    "Item": _encoded(item_of(message)),
                    "ConditionExpression": "attribute_not_exists(pk)",
                }
            }
            for message in self._messages[:count]
        ]
        self._client.transact_write_items(TransactItems=puts)
