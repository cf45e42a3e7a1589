"""One span of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from singletable.clock import utc_now
from singletable.declare import Changes, Index, PrimaryKey
from singletable.entity import Entity
from singletable.values import KEEP, Change, CreatedAt, JsonObject, Order, Pk, Sk, SkRange, UpdatedAt

Status: TypeAlias = Literal["success", "error", "running"]


class Span(Entity, entity="trace", version=1):
    """One step of what an agent did; the spans of one `trace_id` are a trace, the one without a parent is its root.

    `listing`, `shard`, `arrival` and `input_preview` are filled in by the store, whatever is given: they are how a
    span is found in lists."""

    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    name: str
    span_type: str
    is_event: bool = False
    started_at: datetime
    ended_at: datetime | None = None
    entity_type: str | None = None
    entity_id: str | None = None
    entity_name: str | None = None
    entity_version_id: str | None = None
    parent_entity_type: str | None = None
    parent_entity_id: str | None = None
    parent_entity_name: str | None = None
    parent_entity_version_id: str | None = None
    root_entity_type: str | None = None
    root_entity_id: str | None = None
    root_entity_name: str | None = None
    root_entity_version_id: str | None = None
    user_id: str | None = None
    organization_id: str | None = None
    resource_id: str | None = None
    run_id: str | None = None
    session_id: str | None = None
    thread_id: str | None = None
    request_id: str | None = None
    experiment_id: str | None = None
    environment: str | None = None
    service_name: str | None = None
    source: str | None = None
    tags: list[str] | None = None
    scope: JsonObject | None = None
    metadata: JsonObject | None = None
    attributes: JsonObject | None = None
    links: Sequence[JsonObject] | None = None
    input: object = None
    output: object = None
    error: JsonObject | None = None
    request_context: JsonObject | None = None
    created_at: CreatedAt = Field(default_factory=utc_now)
    updated_at: UpdatedAt = Field(default_factory=utc_now)
    listing: str | None = None
    """Which lists the span is in; None for the many that are in none."""
    shard: str | None = None
    """A digit from the hash of the trace id: it spreads the lists over several partitions."""
    arrival: Order | None = None
    """When a listed span was first stored; it stays the same when the span is stored again."""
    input_preview: str | None = None

    @property
    def status(self) -> Status:
        """An error, where there is one; otherwise running until it has ended."""
        return status_of(self.error, self.ended_at)

    class Key(PrimaryKey["Span"]):
        """One span by its trace and its id."""

        trace_id: Pk[str]
        span_id: Sk[str]

    class InTrace(Index["Span"]):
        """The spans of a trace, by their ids."""

        trace_id: Pk[str]

    class Listed(Index["Span"], on="gsi1"):
        """The listed spans of a shard, by their start."""

        listing: Pk[str]
        shard: Pk[str]
        started_at: SkRange[datetime] = None
        trace_id: SkRange[str] = None
        span_id: SkRange[str] = None

    class Arrived(Index["Span"], on="gsi2"):
        """The listed spans of a shard, as they were stored."""

        listing: Pk[str]
        shard: Pk[str]
        arrival: SkRange[Order] = None

    class ByResource(Index["Span"], on="gsi3"):
        """The spans of a resource, listed or not, by their start."""

        resource_id: Pk[str]
        started_at: SkRange[datetime] = None
        trace_id: SkRange[str] = None
        span_id: SkRange[str] = None

    class Patch(Changes["Span"]):
        """What may change without storing the span anew: everything but its place in the trace and its start."""

        name: Change[str] = KEEP
        is_event: Change[bool] = KEEP
        ended_at: Change[datetime | None] = KEEP
        entity_type: Change[str | None] = KEEP
        entity_id: Change[str | None] = KEEP
        entity_name: Change[str | None] = KEEP
        entity_version_id: Change[str | None] = KEEP
        parent_entity_type: Change[str | None] = KEEP
        parent_entity_id: Change[str | None] = KEEP
        parent_entity_name: Change[str | None] = KEEP
        parent_entity_version_id: Change[str | None] = KEEP
        root_entity_type: Change[str | None] = KEEP
        root_entity_id: Change[str | None] = KEEP
        root_entity_name: Change[str | None] = KEEP
        root_entity_version_id: Change[str | None] = KEEP
        user_id: Change[str | None] = KEEP
        organization_id: Change[str | None] = KEEP
        resource_id: Change[str | None] = KEEP
        run_id: Change[str | None] = KEEP
        session_id: Change[str | None] = KEEP
        thread_id: Change[str | None] = KEEP
        request_id: Change[str | None] = KEEP
        experiment_id: Change[str | None] = KEEP
        environment: Change[str | None] = KEEP
        service_name: Change[str | None] = KEEP
        source: Change[str | None] = KEEP
        tags: Change[list[str] | None] = KEEP
        scope: Change[JsonObject | None] = KEEP
        metadata: Change[JsonObject | None] = KEEP
        attributes: Change[JsonObject | None] = KEEP
        links: Change[Sequence[JsonObject] | None] = KEEP
        input: Change[object] = KEEP
        output: Change[object] = KEEP
        error: Change[JsonObject | None] = KEEP
        request_context: Change[JsonObject | None] = KEEP
        input_preview: Change[str | None] = KEEP


def status_of(error: object, ended_at: datetime | None) -> Status:
    """What an error and an end say of a span."""
    if error is not None:
        return "error"
    return "running" if ended_at is None else "success"
