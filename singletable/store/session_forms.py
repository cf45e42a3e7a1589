"""What the calls about sessions take and give."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from singletable.schemas import Event, Session

from ..fences import Fence
from ..values import JsonObject

Q = TypeVar("Q")
R = TypeVar("R")
Q_contra = TypeVar("Q_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

Merge: TypeAlias = Callable[[JsonObject, JsonObject], JsonObject]
"""Makes one state of the stored one and of the one that was to be stored."""
TurnFunction: TypeAlias = Callable[[Session, Q], R]
AsyncTurnFunction: TypeAlias = Callable[[Session, Q], Awaitable[R]]
"""Takes a turn: it changes the state of the session, and gives a result, any JSON."""


@dataclass(frozen=True)
class Commit:
    """What became of a turn."""

    session: Session
    """The session after it, to go on with; where it was replayed, as it is by now."""
    result: object
    """What came of the turn when it was committed, as JSON gives it back."""
    is_replayed: bool = False
    """Whether it had been committed before, so that nothing was written now."""


@dataclass(frozen=True)
class SessionContext:
    """A session and its newest events, read at one moment."""

    session: Session
    events: list[Event] = field(default_factory=list[Event])
    """Oldest first."""


class TurnHandler(Protocol[Q_contra, R_co]):
    """A turn that is taken once, however often it is delivered."""

    def __call__(
        self, request: Q_contra, *, actor_id: str, session_id: str, turn_id: str, fence: Fence | None = None
    ) -> R_co:
        """The result of the turn, of now or of when it was delivered first."""
        ...


class AsyncTurnHandler(Protocol[Q_contra, R_co]):
    """A turn that is taken once, however often it is delivered."""

    async def __call__(
        self, request: Q_contra, *, actor_id: str, session_id: str, turn_id: str, fence: Fence | None = None
    ) -> R_co:
        """The result of the turn, of now or of when it was delivered first."""
        ...
