"""pydynox: its own models over a core in Rust, whose instances pydantic validates after a read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydynox import DynamoDBClient, Model, ModelConfig, SyncBatchWriter, SyncTransaction
from pydynox.attributes import (
    BooleanAttribute,
    DatetimeAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    StringAttribute,
)

from ..messages import TABLE, ChatMessage
from . import ACCESS_KEY, REGION
from .botocore_client import key_of


class Client:
    """A Model on the stub; each client has a class of its own, because a Model holds its connection."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        self._client = DynamoDBClient(region=REGION, access_key=ACCESS_KEY, secret_key=ACCESS_KEY, endpoint_url=url)
        self._model: Any = _model(self._client)
        self._messages = [
            self._model(**key_of(message), entity="message", version=1, **message.model_dump()) for message in messages
        ]

    def get(self) -> ChatMessage:
        """Read the first message."""
        first = self._messages[0]
        return _validated(self._model.sync_get(pk=first.pk, sk=first.sk, consistent_read=True))

    def query(self) -> list[ChatMessage]:
        """Read the messages of the thread."""
        found = self._model.sync_query(
            partition_key=self._messages[0].pk,
            sort_key_condition=self._model.sk.begins_with("message#"),
            consistent_read=True,
        )
        return [_validated(message) for message in found]

    def get_many(self) -> list[ChatMessage]:
        """Read all messages by key."""
        keys = [{"pk": message.pk, "sk": message.sk} for message in self._messages]
        return [_validated(message) for message in self._model.sync_batch_get(keys, consistent_read=True)]

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._messages[position].sync_save(full_replace=True)

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        with SyncBatchWriter(self._client, TABLE) as batch:
            for message in self._messages[:count]:
                batch.put(message.to_dict())

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        with SyncTransaction(self._client) as writes:
            for message in self._messages[:count]:
                writes.save_model(message, condition=self._model.pk.not_exists())


def _model(client: DynamoDBClient) -> type[Model]:
    class Message(Model):
        model_config = ModelConfig(table=TABLE, client=client)

        pk = StringAttribute(partition_key=True)
        sk = StringAttribute(sort_key=True)
        entity = StringAttribute()
        version = NumberAttribute()
        thread_id = StringAttribute()
        created_at = DatetimeAttribute()
        id = StringAttribute()
        resource_id = StringAttribute()
        parent_id = StringAttribute()
        role = StringAttribute()
        kind = StringAttribute()
        parts = ListAttribute()
        metadata = MapAttribute()
        tags = ListAttribute()
        usage = MapAttribute()
        model = StringAttribute()
        language = StringAttribute()
        updated_at = DatetimeAttribute()
        finished = BooleanAttribute()
        edited = BooleanAttribute()
        milliseconds = NumberAttribute()
        revision = NumberAttribute()
        finish_reason = StringAttribute()

    return Message


def _validated(message: Any) -> ChatMessage:
    return ChatMessage.model_validate(message, from_attributes=True)
