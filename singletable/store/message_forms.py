"""What calls for messages take besides messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TypeGuard, TypeVar

from singletable.schemas import Content, Message, Role

from ..errors import RequestError
from ..values import KEEP, JsonObject, Keep
from .stamps import milliseconds

T = TypeVar("T")


@dataclass(frozen=True)
class Include:
    """A message that is wanted beside those of a list, with its neighbours in its own thread."""

    message_id: str
    previous: int = 0
    """How many messages before it."""
    next: int = 0
    """How many messages after it."""


@dataclass(frozen=True, kw_only=True)
class MessageUpdate:
    """A change of the message `id`: what is not given stays as it is stored.

    `metadata` is merged into the stored one key by key.  So is a JSON object as `content` into another one, and the
    `metadata` inside of it; any other content takes the place of the stored one.  Another `thread_id` moves the
    message."""

    id: str
    thread_id: str | Keep = KEEP
    resource_id: str | Keep | None = KEEP
    role: Role | Keep = KEEP
    type: str | Keep = KEEP
    content: Content | Keep = KEEP
    metadata: JsonObject | Keep = KEEP
    created_at: datetime | Keep = KEEP

    def given(self) -> dict[str, object]:
        """The fields that change, with their values."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "id"}
        return {name: value for name, value in values.items() if value is not KEEP}

    def applied_to(self, message: Message) -> Message:
        """The message after the change, not validated yet."""
        changes = self.given()
        if self.content is not KEEP:
            changes["content"] = _merged_content(message.content, self.content)
        if self.metadata is not KEEP:
            changes["metadata"] = _merged(message.metadata, self.metadata)
        if isinstance(self.created_at, datetime):
            changes["created_at"] = milliseconds(self.created_at)
        return message.model_copy(update=changes)


def several(values: Iterable[T], kind: type[T] | tuple[type[T], ...], what: str) -> list[T]:
    """The values of an iterable; raises RequestError unless it is one, and each value is of the kind."""
    if isinstance(values, str | bytes | Mapping | Message) or not _is_iterable(values):
        raise RequestError(f"this takes {what}, several of them: put a single one into a list")
    found = list(values)
    for value in found:
        if not isinstance(value, kind):
            raise RequestError(f"this takes {what}, and among them is a {type(value).__name__}")
    return found


def _is_iterable(value: object) -> bool:
    return isinstance(value, Iterable)


def _merged_content(old: object, new: object) -> object:
    if not _is_object(old) or not _is_object(new):
        return new
    merged = {**old, **new}
    if "metadata" in old and "metadata" in new:
        merged["metadata"] = _merged(old["metadata"], new["metadata"])
    return merged


def _merged(old: object, new: object) -> object:
    """One object over another, key by key; anything else as it is, for the validation to judge."""
    return {**old, **new} if _is_object(old) and _is_object(new) else new


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, Mapping)
