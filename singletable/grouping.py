"""Results of several entities, by entity.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .errors import RequestError

T = TypeVar("T")


@dataclass(frozen=True)
class Grouped:
    """The results of a query: `grouped[Message]` are those that are messages, in the order of the query."""

    groups: Mapping[type, list[Any]]

    def __getitem__(self, model: type[T]) -> list[T]:
        if model not in self.groups:
            names = ", ".join(one.__name__ for one in self.groups)
            raise RequestError(f"the query did not ask for {model.__name__}; it asked for {names}")
        return self.groups[model]


def grouped(models: Iterable[type], results: Iterable[object]) -> Grouped:
    """The results by their class; those of `models` that none has are empty."""
    groups: dict[type, list[Any]] = {model: [] for model in models}
    for result in results:
        groups[type(result)].append(result)
    return Grouped(groups)
