"""The base class of every entity."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, PrivateAttr

from .codec import AttributeValue
from .compile import EntitySpec, compile_spec
from .errors import DeclarationError


class Entity(BaseModel):
    """Base class of every entity: `class Thread(Entity, entity="thread", version=1)`.

    The class keyword `entity` is the name under which items are stored; without it the class is an abstract base.
    `ttl_seconds` makes items expire where the table's `ttl` setting says nothing else."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    spec: ClassVar[EntitySpec]
    _unknown: dict[str, AttributeValue] = PrivateAttr(default_factory=dict[str, AttributeValue])
    """Attributes of the stored item that this version of the entity does not know; they survive load-change-save."""

    def __init_subclass__(
        cls, *, entity: str = "", version: int = 1, ttl_seconds: int | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__()  # the keywords are read below, when pydantic knows the fields

    @classmethod
    def __pydantic_init_subclass__(
        cls, *, entity: str = "", version: int = 1, ttl_seconds: int | None = None, **kwargs: Any
    ) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        unknown = kwargs.keys() - ConfigDict.__annotations__.keys()
        if unknown:
            raise DeclarationError(f"{cls.__name__}: there is no class keyword {', '.join(sorted(unknown))}")
        if entity:
            cls.spec = compile_spec(cls, name=entity, version=version, ttl_seconds=ttl_seconds)
