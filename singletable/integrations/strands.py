"""Strands Agents on one DynamoDB table: its storage, and its message-log sessions (extra `strands`).

`Agent(storage=DynamoDBStorage(store))` keeps sessions, offloaded tool results and memory files; values of any size.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Generator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self, cast
from urllib.parse import quote

from strands.multiagent.base import MultiAgentBase
from strands.session.session_repository import SessionRepository
from strands.storage.search import KeywordSearchStrategy
from strands.storage.search.types import SearchStrategy
from strands.storage.storage import _NAMESPACED as NAMESPACED  # pyright: ignore[reportPrivateUsage]
from strands.storage.storage import StorageSearchResult
from strands.types.exceptions import SessionException, StorageError
from strands.types.session import Session, SessionAgent, SessionMessage

from ..errors import AlreadyExistsError, SingleTableError
from ..store import AsyncBlobs, AsyncDynamoDBStore, Blobs, DynamoDBStore
from ..store.blob_keys import blob_path

SEARCHED = 1_000
"""So many values are read by a search without a strategy, at most."""
DIGITS = 12
"""Of the number of a message in its key, so that keys and numbers have one order."""


class DynamoDBStorage:
    """Strands' `Storage` over the blobs of a store: bytes under keys, in one table with everything else.

    Keys, prefixes and namespaces are those of the SDK's own storages.  Every failure is its StorageError."""

    def __init__(
        self, store: AsyncDynamoDBStore | AsyncBlobs, *, search_strategy: SearchStrategy[Any] | None = None
    ) -> None:
        """Nothing is sent.  `search_strategy` indexes what is written, and answers `search`."""
        self.blobs = store.blobs if isinstance(store, AsyncDynamoDBStore) else store
        self.search_strategy = search_strategy

    async def write(self, key: str, data: bytes) -> None:
        """Store bytes over what is there, and then index them; what cannot be indexed stays stored."""
        with _as_storage_errors():
            await self.blobs.write(key, bytes(data))
        if self.search_strategy is None:
            return
        try:
            await self.search_strategy.index(self, blob_path(key), data)
        except Exception as error:
            raise StorageError(f"Wrote '{key}' but indexing failed") from error

    async def read(self, key: str) -> bytes | None:
        """The bytes, or None."""
        with _as_storage_errors():
            return await self.blobs.read(key)

    async def delete(self, key: str) -> None:
        """Delete the bytes; none there is fine."""
        with _as_storage_errors():
            await self.blobs.delete(key)

    async def list(self, query: str = "") -> builtins.list[str]:
        """The keys that begin with `query`, in order; no value is read."""
        with _as_storage_errors():
            return await self.blobs.list(query)

    async def search(self, query: str) -> builtins.list[StorageSearchResult]:
        """What fits a query best, by the search strategy, or else by the words that values have in common with it.

        Without a strategy all values are read: StorageError for more than 1,000 of them.  Search a namespace, or give
        a strategy."""
        if self.search_strategy is not None:
            return await self.search_strategy.search(self, query)
        if len(await self.list()) > SEARCHED:
            raise StorageError(f"search would read more than {SEARCHED} values: give a search_strategy, or a namespace")
        return await KeywordSearchStrategy().search(self, query)

    def namespace(self, prefix: str) -> Self:
        """The same storage below a prefix, which its keys do not show."""
        scoped = copy(self)
        with _as_storage_errors():
            if prefix.strip("/"):
                scoped.blobs = self.blobs.namespace(prefix)
        cast(Any, scoped)._namespaced = NAMESPACED
        return scoped


class DynamoDBSessionRepository(SessionRepository):
    """Sessions, agents and messages for Strands' `RepositorySessionManager`, each a blob of its own."""

    def __init__(self, store: DynamoDBStore | Blobs, *, prefix: str = "strands") -> None:
        """Nothing is sent.  What is stored has keys that begin with `prefix`."""
        blobs = store.blobs if isinstance(store, DynamoDBStore) else store
        self.blobs = blobs.namespace(prefix)

    def create_session(self, session: Session, **kwargs: Any) -> Session:
        """Store a new session; SessionException where there is one with its id."""
        try:
            self._write(_session(session.session_id), session.to_dict(), if_absent=True)
        except AlreadyExistsError as error:
            raise SessionException(f"Session {session.session_id} already exists") from error
        return session

    def read_session(self, session_id: str, **kwargs: Any) -> Session | None:
        """The session, or None."""
        found = self._read(_session(session_id))
        return None if found is None else Session.from_dict(found)

    def delete_session(self, session_id: str) -> None:
        """Delete a session with its agents and messages; called again, it goes on where it stopped."""
        for key in self.blobs.list(f"{_part(session_id)}/"):
            self.blobs.delete(key)

    def create_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Store an agent of a session."""
        self._write(_agent(session_id, session_agent.agent_id), session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **kwargs: Any) -> SessionAgent | None:
        """The agent, or None."""
        found = self._read(_agent(session_id, agent_id))
        return None if found is None else SessionAgent.from_dict(found)

    def update_agent(self, session_id: str, session_agent: SessionAgent, **kwargs: Any) -> None:
        """Store an agent over the one that is there, of which `created_at` stays; SessionException for none."""
        old = self.read_agent(session_id, session_agent.agent_id)
        if old is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = old.created_at
        self._write(_agent(session_id, session_agent.agent_id), session_agent.to_dict())

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Store a message of an agent."""
        self._write(_message(session_id, agent_id, session_message.message_id), session_message.to_dict())

    def read_message(self, session_id: str, agent_id: str, message_id: int, **kwargs: Any) -> SessionMessage | None:
        """The message, or None."""
        found = self._read(_message(session_id, agent_id, message_id))
        return None if found is None else SessionMessage.from_dict(found)

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **kwargs: Any) -> None:
        """Store a message over the one that is there, of which `created_at` stays; SessionException for none."""
        old = self.read_message(session_id, agent_id, session_message.message_id)
        if old is None:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = old.created_at
        self._write(_message(session_id, agent_id, session_message.message_id), session_message.to_dict())

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **kwargs: Any
    ) -> list[SessionMessage]:
        """Messages in the order of their numbers; only those that are asked for are read, 100 a request.

        SessionException where there is no such agent."""
        keys = self.blobs.list(_messages(session_id, agent_id))
        if not keys and self.read_agent(session_id, agent_id) is None:
            raise SessionException(f"Agent {agent_id} in session {session_id} does not exist")
        wanted = keys[offset:] if limit is None else keys[offset : offset + limit]
        found = self.blobs.read_many(wanted)
        return [SessionMessage.from_dict(json.loads(data)) for data in found if data is not None]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Store the state of several agents that work together."""
        self._write(_multi_agent(session_id, multi_agent.id), multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **kwargs: Any) -> dict[str, Any] | None:
        """The state, or None."""
        return self._read(_multi_agent(session_id, multi_agent_id))

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **kwargs: Any) -> None:
        """Store the state over the one that is there; SessionException for none."""
        key = _multi_agent(session_id, multi_agent.id)
        if self.blobs.head(key) is None:
            raise SessionException(f"MultiAgent state {multi_agent.id} in session {session_id} does not exist")
        self._write(key, multi_agent.serialize_state())

    def _read(self, key: str) -> dict[str, Any] | None:
        data = self.blobs.read(key)
        return None if data is None else json.loads(data)

    def _write(self, key: str, value: dict[str, Any], *, if_absent: bool = False) -> None:
        self.blobs.write(key, json.dumps(value, ensure_ascii=False).encode(), if_absent=if_absent)


@contextmanager
def _as_storage_errors() -> Generator[None]:
    try:
        yield
    except SingleTableError as error:
        raise StorageError(str(error)) from error


def _part(name: str) -> str:
    """An id as one part of a key, which no other id has.

    A dot at its beginning, which could mean another place, is escaped as well; an empty id is a sign that escapes
    nothing, because an empty part would be left out of the key: of a session, that would be the key of all of them."""
    escaped = quote(name, safe="") or "%"
    return f"%2E{escaped[1:]}" if escaped.startswith(".") else escaped


def _session(session_id: str) -> str:
    return f"{_part(session_id)}/session.json"


def _agent(session_id: str, agent_id: str) -> str:
    return f"{_part(session_id)}/agents/{_part(agent_id)}/agent.json"


def _messages(session_id: str, agent_id: str) -> str:
    return f"{_part(session_id)}/agents/{_part(agent_id)}/messages/"


def _message(session_id: str, agent_id: str, message_id: int) -> str:
    return f"{_messages(session_id, agent_id)}{message_id:0{DIGITS}}.json"


def _multi_agent(session_id: str, multi_agent_id: str) -> str:
    return f"{_part(session_id)}/multi_agents/{_part(multi_agent_id)}.json"
