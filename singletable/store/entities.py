"""The entities of a store's table, and its `ttl` setting."""

from __future__ import annotations

from collections.abc import Mapping

from singletable.schemas import Message, Resource, Thread, Tombstone

from ..entity import Entity
from ..errors import ConfigurationError
from ..ttl import read_entry

ENTITIES: tuple[type[Entity], ...] = (Thread, Message, Resource, Tombstone)
LATER = frozenset({"workflow_snapshot", "score", "trace", "evaluation", "blob"})
"""Entities that Mastra's setting names and that this version does not store."""


def known_ttl(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what this version stores; raises ConfigurationError if another is enabled."""
    for entity in config.keys() & LATER:
        if read_entry(entity, config[entity], LATER).enabled:
            raise ConfigurationError(f"ttl[{entity!r}] is enabled, but this version stores no {entity}")
    return {entity: entry for entity, entry in config.items() if entity not in LATER}
