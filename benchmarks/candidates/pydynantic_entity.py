"""pydynantic: pydantic entities, on the client that is tuned as the base is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydynantic import Entity, Table, attr_not_exists, key, transaction

from ..messages import TABLE, ChatMessage, Fields
from .botocore_client import TUNED, dynamodb


class Client:
    """An entity on the stub; each client has a class of its own, because an entity holds its table."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        table = Table(name=TABLE, pk="pk", sk="sk", client=dynamodb(url, TUNED))

        class Message(Entity, Fields, table=table, name="message"):
            class Meta:
                primary = key(pk="thread#{thread_id}", sk="message#{created_at}#{id}")

        self._table = table
        self._model: Any = Message
        self._messages = [self._model(**message.model_dump()) for message in messages]

    def get(self) -> Fields:
        """Read the first message."""
        first = self._messages[0]
        found: Fields = self._model.get(
            thread_id=first.thread_id, created_at=first.created_at, id=first.id, consistent=True
        )
        return found

    def query(self) -> list[Fields]:
        """Read the messages of the thread."""
        query = self._model.query.primary(thread_id=self._messages[0].thread_id)
        found: list[Fields] = query.begins_with("message#").consistent().all()
        return found

    def get_many(self) -> list[Fields]:
        """Read all messages by key."""
        keys = [(message.thread_id, message.created_at, message.id) for message in self._messages]
        found: list[Fields] = self._model.batch_get(keys, consistent=True)
        return found

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._model.put(self._messages[position])

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        self._model.batch_write(puts=self._messages[:count])

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        with transaction(self._table) as writes:
            for message in self._messages[:count]:
                writes.put(message, condition=attr_not_exists("pk"))
