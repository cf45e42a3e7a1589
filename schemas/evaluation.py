"""What a metric said of one answer of an agent."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from pydantic import Field, field_validator

from singletable.clock import utc_now
from singletable.declare import Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import JsonObject, Pk, SkRange


def _new_id() -> str:
    return str(uuid4())


FILTERED = ("metric_name",)
"""What lists filter by: all that the indexes hold, because an evaluation holds what was said and answered."""


class Evaluation(Entity, entity="evaluation", version=1):
    """What a metric said of one answer of an agent: `result` has a number under `score`, and anything else.

    Free-form JSON comes back as it was given."""

    id: str = Field(default_factory=_new_id)
    agent_name: str
    metric_name: str
    input: object
    output: object
    result: JsonObject
    instructions: str | None = None
    test_info: JsonObject | None = None
    run_id: str | None = None
    global_run_id: str | None = None
    resource_id: str | None = None
    thread_id: str | None = None
    created_at: datetime = Field(default_factory=utc_now)

    @field_validator("result")
    @classmethod
    def _has_a_score(cls, result: JsonObject) -> JsonObject:
        score = result.get("score")
        if not isinstance(score, int | float) or isinstance(score, bool):
            raise ValueError("a result needs a number under score")
        return result

    class Key(PrimaryKey["Evaluation"]):
        """One evaluation by its id."""

        id: Pk[str]

    # The id at the end decides between equal times, so that every list has one order.

    class ByAgent(Index["Evaluation"], on="gsi4", projection=FILTERED):
        """The evaluations of an agent in the order of their creation."""

        agent_name: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByMetric(Index["Evaluation"], on="gsi5", projection=FILTERED):
        """The evaluations of an agent by one metric in the order of their creation."""

        agent_name: Pk[str]
        metric_name: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByResource(Index["Evaluation"], on="gsi6", projection=FILTERED):
        """The evaluations of a resource in the order of their creation."""

        resource_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None

    class ByRun(Index["Evaluation"], on="gsi7", projection=FILTERED):
        """The evaluations of a run in the order of their creation."""

        run_id: Pk[str]
        created_at: SkRange[datetime] = None
        id: SkRange[str] = None
