"""The libraries that are compared, each behind the same six operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Final, Protocol

from pydantic import BaseModel

from ..messages import ChatMessage

REGION: Final = "us-east-1"
ACCESS_KEY: Final = "benchmark"
BASE: Final = "tuned botocore"
"""The candidate to which the others are put in proportion."""

_MODULES: Final = {
    BASE: ("botocore_client", "botocore"),
    "boto3 Table": ("boto3_table", "boto3"),
    "pynamodb Model": ("pynamodb_model", "pynamodb"),
    "pydynantic": ("pydynantic_entity", "pydynantic"),
    "pydynox Model": ("pydynox_model", "pydynox"),
    "singletable": ("singletable_table", "singletable"),
}
"""The module of each candidate, and what must be installed for it."""


class Candidate(Protocol):
    """A library with its client, and the messages in its own classes, made before anything is timed."""

    def __init__(self, url: str, messages: Sequence[ChatMessage]) -> None: ...

    def get(self) -> BaseModel:
        """Read the first message."""
        ...

    def query(self) -> Sequence[BaseModel]:
        """Read the messages of the thread."""
        ...

    def get_many(self) -> Sequence[BaseModel]:
        """Read all messages by key."""
        ...

    def put(self, position: int = 0) -> None:
        """Write one message, without a condition."""
        ...

    def put_many(self, count: int) -> None:
        """Write the first messages in one batch."""
        ...

    def create_many(self, count: int) -> None:
        """Write the first messages in one transaction, each where none is."""
        ...


def installed() -> Iterator[tuple[str, type[Candidate] | None]]:
    """Each candidate by name; None where its library is not installed."""
    for name, (module, library) in _MODULES.items():
        yield name, import_module(f".{module}", __name__).Client if find_spec(library) else None
