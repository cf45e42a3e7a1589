"""pynamodb's Model, whose instances pydantic validates after a read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pynamodb.attributes import (
    BooleanAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.connection import Connection
from pynamodb.models import Model
from pynamodb.transactions import TransactWrite

from ..messages import TABLE, ChatMessage
from . import ACCESS_KEY, REGION
from .botocore_client import key_of


class _Part(MapAttribute[str, Any]):
    kind = UnicodeAttribute()
    text = UnicodeAttribute()


class _Usage(MapAttribute[str, Any]):
    input_tokens = NumberAttribute()
    output_tokens = NumberAttribute()
    cached_tokens = NumberAttribute()


class _Attributes(Model):
    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)
    entity = UnicodeAttribute()
    version = NumberAttribute()
    thread_id = UnicodeAttribute()
    created_at = UTCDateTimeAttribute()
    id = UnicodeAttribute()
    resource_id = UnicodeAttribute()
    parent_id = UnicodeAttribute()
    role = UnicodeAttribute()
    kind = UnicodeAttribute()
    parts = ListAttribute(of=_Part)
    metadata: MapAttribute[str, Any] = MapAttribute()
    tags = ListAttribute(of=UnicodeAttribute)
    usage = _Usage()
    model = UnicodeAttribute()
    language = UnicodeAttribute()
    updated_at = UTCDateTimeAttribute()
    finished = BooleanAttribute()
    edited = BooleanAttribute()
    milliseconds = NumberAttribute()
    revision = NumberAttribute()
    finish_reason = UnicodeAttribute()


class Client:
    """A Model on the stub; each client has a class of its own, because a Model holds its connection."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        settings = {
            "table_name": TABLE,
            "host": url,
            "region": REGION,
            "aws_access_key_id": ACCESS_KEY,
            "aws_secret_access_key": ACCESS_KEY,
        }
        self._model: Any = type("MessageModel", (_Attributes,), {"Meta": type("Meta", (), settings)})
        connection = self._model._get_connection().connection
        assert isinstance(connection, Connection)
        self._connection = connection
        self._messages = [
            self._model(**key_of(message), entity="message", version=1, **message.model_dump()) for message in messages
        ]

    def get(self) -> ChatMessage:
        """Read the first message."""
        first = self._messages[0]
        return _validated(self._model.get(first.pk, first.sk, consistent_read=True))

    def query(self) -> list[ChatMessage]:
        """Read the messages of the thread."""
        found = self._model.query(self._messages[0].pk, self._model.sk.startswith("message#"), consistent_read=True)
        return [_validated(message) for message in found]

    def get_many(self) -> list[ChatMessage]:
        """Read all messages by key."""
        keys = [(message.pk, message.sk) for message in self._messages]
        return [_validated(message) for message in self._model.batch_get(keys, consistent_read=True)]

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._messages[position].save()

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        with self._model.batch_write() as batch:
            for message in self._messages[:count]:
                batch.save(message)

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        with TransactWrite(connection=self._connection) as transaction:
            for message in self._messages[:count]:
                transaction.save(message, condition=self._model.pk.does_not_exist())


def _validated(message: Any) -> ChatMessage:
    values = dict(message.attribute_values)
    values["metadata"] = values["metadata"].as_dict()
    values["usage"] = values["usage"].as_dict()
    values["parts"] = [part.as_dict() for part in values["parts"]]
    return ChatMessage.model_validate(values)
