"""The base class of every entity."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict

from .codec import AttributeValue
from .compile import compile_spec
from .errors import DeclarationError
from .specs import EntitySpec, Upcaster

UNKNOWN: Final = "_singletable_unknown"
NOTHING: Final[Mapping[str, AttributeValue]] = MappingProxyType({})
NO_UPCASTERS: Final[Mapping[int, Upcaster]] = MappingProxyType({})


class Entity(BaseModel):
    """Base class of every entity: `class Thread(Entity, entity="thread", version=1)`.

    The class keyword `entity` is the name under which items are stored; without it the class is an abstract base.
    `ttl_seconds` makes items expire where the table's `ttl` setting says nothing else.  `upcasters` read items of
    earlier versions: `{1: f}` makes of the attributes of version 1, by their stored names, those of version 2."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    spec: ClassVar[EntitySpec]

    def __init_subclass__(
        cls,
        *,
        entity: str = "",
        version: int = 1,
        ttl_seconds: int | None = None,
        upcasters: Mapping[int, Upcaster] = NO_UPCASTERS,
        **kwargs: Any,
    ) -> None:
        super().__init_subclass__()  # the keywords are read below, when pydantic knows the fields

    @classmethod
    def __pydantic_init_subclass__(
        cls,
        *,
        entity: str = "",
        version: int = 1,
        ttl_seconds: int | None = None,
        upcasters: Mapping[int, Upcaster] = NO_UPCASTERS,
        **kwargs: Any,
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        unknown = kwargs.keys() - ConfigDict.__annotations__.keys()
        if unknown:
            raise DeclarationError(f"{cls.__name__}: there is no class keyword {', '.join(sorted(unknown))}")
        if entity:
            cls.spec = compile_spec(
                cls, name=entity, version=version, ttl_seconds=ttl_seconds, upcasters=dict(upcasters)
            )


def unknown_of(entity: Entity) -> Mapping[str, AttributeValue]:
    """Attributes of the stored item that this version of the entity does not know; they survive load-change-save."""
    private: Mapping[str, Any] = entity.__pydantic_private__ or {}
    unknown: Mapping[str, AttributeValue] = private.get(UNKNOWN, NOTHING)
    return unknown


def keep_unknown(entity: Entity, unknown: Mapping[str, AttributeValue]) -> None:
    """Let an entity, and its copies, have unknown attributes.

    They lie among pydantic's private values without being declared: a declared one costs each entity that is read two
    microseconds, and hardly any has unknown attributes."""
    object.__setattr__(entity, "__pydantic_private__", {**(entity.__pydantic_private__ or {}), UNKNOWN: unknown})
