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
from ..ttl import life_seconds, read_entry, read_expiry

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
IN_THREAD = frozenset({"message", "thread_state"})
LATER = frozenset({"blob"})
"""Entities that Mastra's setting names and that this version does not store."""


def known_ttl(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what this version stores, where `eval`, Mastra's name, is `evaluation`.

    What is in a thread has the thread's life where it is given none.  Raises ConfigurationError where it is given a
    longer one, for both names of an entity at once, for a second attribute, whatever entity names it, and if what this
    version does not store is enabled."""
    if {"eval", "evaluation"} <= config.keys():
        raise ConfigurationError("ttl: eval and evaluation are two names of one entity; keep one of them")
    renamed = {"evaluation" if entity == "eval" else entity: entry for entity, entry in config.items()}
    known = {entity: entry for entity, entry in renamed.items() if entity not in LATER}
    for entity in renamed.keys() & LATER:
        settings = read_entry(entity, renamed[entity], LATER)
        if settings.enabled:
            raise ConfigurationError(f"ttl[{entity!r}] is enabled, but this version stores no {entity}")
        if settings.names_attribute:
            names = [model.spec.name for model in ENTITIES]
            read_expiry({**known, entity: renamed[entity]}, dict.fromkeys([*names, entity]))
    return known | _lives_in_thread(known)


def _lives_in_thread(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what is in a thread, so that none of it outlives the thread unnoticed."""
    thread = _life("thread", config["thread"]) if "thread" in config else None
    if thread is None:
        return {}
    for entity in IN_THREAD & config.keys():
        life = _life(entity, config[entity])
        if life is None or life > thread:
            raise ConfigurationError(
                f"ttl: a thread expires after {thread} seconds, and what is in it would outlive it: give "
                f"{entity!r} at most as many, or leave it out"
            )
    return {entity: config.get(entity, config["thread"]) for entity in sorted(IN_THREAD)}


def _life(entity: str, entry: object) -> int | None:
    return life_seconds(entity, read_entry(entity, entry, {entity}))


def ttl_stored_as(attribute: str) -> dict[str, object]:
    """A `ttl` setting for who writes nothing that expires, and wants to know what has: by this attribute."""
    return {ENTITIES[0].spec.name: {"enabled": False, "attribute_name": attribute}}
