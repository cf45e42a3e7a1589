"""What a scorer said of one run."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import JsonObject, Pk, SkRange


def _new_id() -> str:
    return str(uuid4())


FILTERED = ("entity_id", "entity_type", "source", "organization_id", "project_id")
"""What lists filter by: all that the indexes hold, because a score holds what was said to the scorer."""


class Score(Entity, entity="score", version=1):
    """What a scorer said of one run: a number, how it came to it, and what it was given.

    Free-form JSON comes back as it was given.  A score is found by its scorer and its run, and by its entity, span and
    resource where it has them."""

    id: str = Field(default_factory=_new_id)
    scorer_id: str
    run_id: str
    scorer: JsonObject
    score: float
    input: object = None
    output: object
    source: str
    entity_type: str | None = None
    entity_id: str | None = None
    entity: JsonObject | None = None
    trace_id: str | None = None
    span_id: str | None = None
    resource_id: str | None = None
    thread_id: str | None = None
    organization_id: str | None = None
    project_id: str | None = None
    batch_id: str | None = None
    dataset_id: str | None = None
    dataset_item_id: str | None = None
    preprocess_step_result: object = None
    extract_step_result: object = None
    analyze_step_result: object = None
    preprocess_prompt: str | None = None
    extract_prompt: str | None = None
    analyze_prompt: str | None = None
    generate_score_prompt: str | None = None
    generate_reason_prompt: str | None = None
    reason_prompt: str | None = None
    reason: str | None = None
    metadata: JsonObject | None = None
    additional_context: JsonObject | None = None
    request_context: JsonObject | None = None
    created_at: datetime = Field(default_factory=utc_now)
    updated_at: datetime = Field(default_factory=utc_now)

    class Key(PrimaryKey["Score"]):
        """One score by its id."""

        id: Pk[str]

    # The id at the end decides between equal times, so that every list has one order.

    class ByScorer(Index["Score"], on="gsi4", projection=FILTERED):
        """The scores of a scorer in the order of their creation."""

        scorer_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByRun(Index["Score"], on="gsi5", projection=FILTERED):
        """The scores of a run in the order of their creation."""

        run_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByEntity(Index["Score"], on="gsi6", projection=FILTERED):
        """The scores of an agent, a workflow or whatever else was scored, in the order of their creation."""

        entity_type: Pk[str]
        entity_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class BySpan(Index["Score"], on="gsi7", projection=FILTERED):
        """The scores of a trace, span by span, those of a span in the order of their creation."""

        trace_id: Pk[str]
        span_id: SkRange[str] = None
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByResource(Index["Score"], on="gsi8", projection=FILTERED):
        """The scores of a resource in the order of their creation."""

        resource_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None
