"""When a write is made, and as which one: what it puts into the fields that nobody fills in by hand.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from .specs import EntitySpec

if TYPE_CHECKING:
    from .entity import Entity


@dataclass(frozen=True)
class Moment:
    """One write: its time, and an id that no other write has."""

    now: datetime
    write_id: str


def assigned(entity: Entity, moment: Moment) -> dict[str, object]:
    """The automatic fields of an entity that is written whole; a `created_at` that was given stays."""
    fields = entity.spec.automatic
    values: dict[str, object] = {name: moment.now for kind, name in fields.items() if kind != "version"}
    if fields.get("created_at") in entity.model_fields_set:
        del values[fields["created_at"]]
    if "version" in fields:
        values[fields["version"]] = moment.write_id
    return values


def touched(spec: EntitySpec, moment: Moment) -> dict[str, object]:
    """The automatic fields that an update sets; the version is the write id, which every write leaves."""
    name = spec.automatic.get("updated_at")
    return {name: moment.now} if name else {}


def version_of(entity: Entity) -> str | None:
    """The version with which an entity was read, empty for one that is new; None where it has no such field."""
    name = entity.spec.automatic.get("version")
    return None if name is None else str(getattr(entity, name))
