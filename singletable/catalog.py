"""The entities of one table together: found by name, and checked against each other.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .errors import ConfigurationError, DeclarationError
from .specs import RESERVED, EntitySpec, IndexSpec

if TYPE_CHECKING:
    from .entity import Entity


class Catalog(Mapping[str, "type[Entity]"]):
    """Entity classes by name; raises DeclarationError where two of them would share or misread items."""

    def __init__(self, entities: Iterable[type[Entity]]) -> None:
        self._models: dict[str, type[Entity]] = {}
        for model in entities:
            if self._models.setdefault(model.spec.name, model) is not model:
                raise DeclarationError(f"two entities are called {model.spec.name}")
        self.models = frozenset(self._models.values())
        """The same classes, without their names."""
        _check_partitions([model.spec for model in self._models.values()])

    def __getitem__(self, name: str) -> type[Entity]:
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def ttl_seconds(self) -> dict[str, int | None]:
        """After how many seconds items expire by default, entity by entity."""
        return {name: model.spec.ttl_seconds for name, model in self._models.items()}

    def check_ttl(self, attribute: str) -> None:
        """Raise ConfigurationError for an attribute of the library's own, DeclarationError for that of a field."""
        if RESERVED.fullmatch(attribute):
            raise ConfigurationError(f"ttl: {attribute} is an attribute of the library's own; the default is ttl")
        for model in self._models.values():
            for field in model.spec.fields.values():
                if field.stored == attribute:
                    raise DeclarationError(f"{model.__name__}.{field.name} is stored as {attribute}, the TTL attribute")


def _check_partitions(specs: list[EntitySpec]) -> None:
    """Entities whose partition keys start alike must be one collection: the same parts, of the same types."""
    owners: dict[tuple[str, str], tuple[EntitySpec, IndexSpec]] = {}
    for spec in specs:
        for index in (*spec.indexes.values(), *spec.lookups.values()):
            other, first = owners.setdefault((index.pk.attribute, index.pk.prefix), (spec, index))
            if first is not index:
                _check_shared(other, first, spec, index)


def _check_shared(other: EntitySpec, first: IndexSpec, spec: EntitySpec, index: IndexSpec) -> None:
    shared = f"{other.name} and {spec.name} share the partitions {index.pk.prefix}#… of {index.name}"
    if index.pk.prefix in (other.name, spec.name) or first in other.lookups.values() or index in spec.lookups.values():
        raise DeclarationError(f"{shared}; a collection has a name that no entity and no lookup has")
    if [part.kind for part in first.pk.parts] != [part.kind for part in index.pk.parts]:
        raise DeclarationError(f"{shared}, but their partition keys have different parts")
