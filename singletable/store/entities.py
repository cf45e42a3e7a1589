"""The entities of a store's table, and its `ttl` setting."""

from __future__ import annotations

from collections.abc import Mapping

from singletable.schemas import (
    Blob,
    BlobEntry,
    BlobFolder,
    BlobPiece,
    BlobUpload,
    Evaluation,
    Event,
    Lease,
    Message,
    Resource,
    Score,
    Session,
    Span,
    Thread,
    ThreadState,
    Tombstone,
    WorkflowSnapshot,
)

from ..entity import Entity
from ..errors import ConfigurationError
from ..ttl import life_seconds, read_entry

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
    Blob,
    BlobEntry,
    BlobFolder,
    BlobPiece,
    BlobUpload,
    Lease,
    Session,
    Event,
)
INSIDE = {"thread": ("message", "thread_state"), "session": ("event",)}
"""What lies in a conversation or a session: it has the life of that where it is given none."""
IN_BLOB = frozenset({"blob_entry", "blob_piece"})
PIECES_LIVE_ON = 24 * 3600
"""So many seconds longer than a blob its pieces are kept: they are written before it."""
LEASE_LIVES = 24 * 3600
"""The least seconds that a lease is kept after its last use.

One that is gone begins again, with a token that is the time; in a day no clock is so wrong that it would be less than
the last one."""


def known_ttl(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what this version stores, where `eval`, Mastra's name, is `evaluation`.

    What is in a thread or a session has the life of that where it is given none.  Raises ConfigurationError where it is
    given a longer one, and for both names of an entity at once."""
    if {"eval", "evaluation"} <= config.keys():
        raise ConfigurationError("ttl: eval and evaluation are two names of one entity; keep one of them")
    renamed = {"evaluation" if entity == "eval" else entity: entry for entity, entry in config.items()}
    _check_leases(renamed)
    return renamed | _lives_inside(renamed) | _lives_in_blob(renamed)


def _lives_inside(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what is in a thread or a session, so that none of it outlives that unnoticed."""
    lives: dict[str, object] = {}
    for outer, inner in INSIDE.items():
        life = _life(outer, config[outer]) if outer in config else None
        if life is not None:
            _check_inside(config, outer, life)
            lives |= {entity: config.get(entity, config[outer]) for entity in inner}
    return lives


def _check_inside(config: Mapping[str, object], outer: str, outer_life: int) -> None:
    for entity in INSIDE[outer]:
        life = _life(entity, config[entity]) if entity in config else 0
        if life is None or life > outer_life:
            raise ConfigurationError(
                f"ttl: a {outer} expires after {outer_life} seconds, and what is in it would outlive it: give "
                f"{entity!r} at most as many, or leave it out"
            )


def _lives_in_blob(config: Mapping[str, object]) -> dict[str, object]:
    """The entries for what a blob is made of."""
    for entity in sorted(IN_BLOB & config.keys()):
        raise ConfigurationError(f"ttl: {entity} goes with its blob; give seconds to 'blob'")
    life = _life("blob", config["blob"]) if "blob" in config else None
    if life is None:
        return {}
    entry = read_entry("blob", config["blob"], {"blob"})
    named = {"attribute_name": entry.attribute_name}
    return {
        "blob_entry": {"default_ttl_seconds": life, **named},
        "blob_piece": {"default_ttl_seconds": life + PIECES_LIVE_ON, **named},
    }


def _check_leases(config: Mapping[str, object]) -> None:
    """Leases are kept for so long that their tokens never go back."""
    life = _life("lease", config["lease"]) if "lease" in config else None
    if life is not None and life < LEASE_LIVES:
        raise ConfigurationError(
            f"ttl: a lease is kept for {LEASE_LIVES} seconds at least after its last use, so that its tokens never go "
            "back; until when it is held is for its holder to say"
        )


def _life(entity: str, entry: object) -> int | None:
    return life_seconds(entity, read_entry(entity, entry, {entity}))


def ttl_stored_as(attribute: str) -> dict[str, object]:
    """A `ttl` setting for who writes nothing that expires, and wants to know what has: by this attribute."""
    return {ENTITIES[0].spec.name: {"enabled": False, "attribute_name": attribute}}
