"""This library: an entity, a `Table` and the default transport."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from singletable import Credentials, Entity, Index, Pk, PrimaryKey, Sk, SkRange, Table
from singletable.adapters.pynamo import PynamoTransport

from ..messages import TABLE, THREAD, ChatMessage, Fields
from . import ACCESS_KEY, REGION


class Message(Fields, Entity, entity="message", version=1):
    """The message as an entity."""

    class Key(PrimaryKey["Message"], collection="thread"):
        """One message by its place."""

        thread_id: Pk[str]
        created_at: Sk[datetime]
        id: Sk[str]

    class InThread(Index["Message"], collection="thread"):
        """The messages of a thread, oldest first."""

        thread_id: Pk[str]
        created_at: SkRange[datetime] = None


class Client:
    """A table on the stub."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None:
        transport = PynamoTransport(region=REGION, endpoint_url=url, credentials=Credentials(ACCESS_KEY, ACCESS_KEY))
        self._table = Table(TABLE, transport, entities=[Message])
        self._messages = [Message(**message.model_dump()) for message in messages]

    def get(self) -> Message:
        """Read the first message."""
        found = self._table.get(_key(self._messages[0]))
        assert found is not None
        return found

    def query(self) -> list[Message]:
        """Read the messages of the thread."""
        return self._table.query(Message.InThread(thread_id=THREAD)).all()

    def get_many(self) -> list[Message]:
        """Read all messages by key."""
        return self._table.get_many(_key(message) for message in self._messages)

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        self._table.put(self._messages[position])

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        self._table.put_many(self._messages[:count])

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        with self._table.transaction() as writes:
            for message in self._messages[:count]:
                writes.create(message)


def _key(message: Message) -> Message.Key:
    return Message.Key(thread_id=message.thread_id, created_at=message.created_at, id=message.id)
