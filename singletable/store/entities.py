"""The entities of a store's table, and its `ttl` setting."""

from __future__ import annotations

from collections.abc import Mapping

from singletable.schemas import (
    Evaluation,
    Message,
    Resource,
    Score,
    Span,
    Thread,
    ThreadState,
    Tombstone,
    WorkflowSnapshot,
)

from ..entity import Entity
from ..errors import ConfigurationError
from ..ttl import read_entry, read_expiry

ENTITIES: tuple[type[Entity], ...] = (
    Thread,
    Message,
    Resource,
    Tombstone,
    ThreadState,
    WorkflowSnapshot,
    Score,
    Evaluation,
    Span,
)
LATER = frozenset({"blob"})
"""Entities that Mastra's setting names and that this version does not store."""


def known_ttl(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what this version stores, where `eval`, Mastra's name, is `evaluation`.

    Raises ConfigurationError for both names at once, for a second attribute, whatever entity names it, and if what
    this version does not store is enabled."""
    if {"eval", "evaluation"} <= config.keys():
        raise ConfigurationError("ttl: eval and evaluation are two names of one entity; keep one of them")
    renamed = {"evaluation" if entity == "eval" else entity: entry for entity, entry in config.items()}
    known = {entity: entry for entity, entry in renamed.items() if entity not in LATER}
    for entity in renamed.keys() & LATER:
        settings = read_entry(entity, renamed[entity], LATER)
        if settings.enabled:
            raise ConfigurationError(f"ttl[{entity!r}] is enabled, but this version stores no {entity}")
        if "attribute_name" in settings.model_fields_set:
            names = [model.spec.name for model in ENTITIES]
            read_expiry({**known, entity: renamed[entity]}, dict.fromkeys([*names, entity]))
    return known


def ttl_stored_as(attribute: str) -> dict[str, object]:
    """A `ttl` setting for who writes nothing that expires, and wants to know what has: by this attribute."""
    return {ENTITIES[0].spec.name: {"enabled": False, "attribute_name": attribute}}
