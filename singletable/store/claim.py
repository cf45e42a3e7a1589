"""What a worker learns when it claims a run."""

from __future__ import annotations

from dataclasses import dataclass

from singletable.schemas import WorkflowSnapshot


@dataclass(frozen=True)
class Claim:
    """The outcome of a claim: of several at once, one is won."""

    won: bool
    run: WorkflowSnapshot
    """The run as it is now: for the loser, its `status` and `owner` say what stood in the way."""
