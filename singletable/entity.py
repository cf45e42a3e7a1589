"""The base class of every entity."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, PrivateAttr

from .codec import AttributeValue
from .compile import compile_spec
from .errors import DeclarationError
from .specs import EntitySpec, Upcaster

NO_UPCASTERS: Final[Mapping[int, Upcaster]] = MappingProxyType({})


class Entity(BaseModel):
    """Base class of every entity: `class Thread(Entity, entity="thread", version=1)`.

    The class keyword `entity` is the name under which items are stored; without it the class is an abstract base.
    `ttl_seconds` makes items expire where the table's `ttl` setting says nothing else.  `upcasters` read items of
    earlier versions: `{1: f}` makes of the attributes of version 1, by their stored names, those of version 2."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    spec: ClassVar[EntitySpec]
    _unknown: dict[str, AttributeValue] = PrivateAttr(default_factory=dict)
    """Attributes of the stored item that this version of the entity does not know; they survive load-change-save."""

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
