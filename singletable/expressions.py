"""Conditions written as ordinary Python on an entity, as DynamoDB's expressions.  Pure.

A condition is `lambda thread: thread.title == "Trip"`: the checker sees an entity, at run time a recorder stands in.
Attributes are always aliased, so reserved words need no care.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeAlias, TypeVar, cast

from . import codec
from .codec import AttributeValue
from .errors import RequestError
from .items import encode_field
from .specs import EntitySpec, FieldSpec

M = TypeVar("M")


@dataclass
class Placeholders:
    """The `#names` and `:values` of one request; the same name is never made twice."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])

    def name(self, attribute: str) -> str:
        """The placeholder of an attribute."""
        return self.names.setdefault(attribute, f"#{len(self.names)}")

    def value(self, value: AttributeValue) -> str:
        """The placeholder of a value."""
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = value
        return placeholder

    def params(self) -> dict[str, Any]:
        """The two parameters of a request, where they are not empty."""
        params: dict[str, Any] = {}
        if self.names:
            params["ExpressionAttributeNames"] = {alias: name for name, alias in self.names.items()}
        if self.values:
            params["ExpressionAttributeValues"] = self.values
        return params


@dataclass(frozen=True, eq=False)
class Condition:
    """A condition that can be rendered; combine with `&`, `|` and `~`."""

    render: Callable[[Placeholders], str]

    def __and__(self, other: Condition) -> Condition:
        return Condition(lambda to: f"({self.render(to)}) AND ({other.render(to)})")

    def __or__(self, other: Condition) -> Condition:
        return Condition(lambda to: f"({self.render(to)}) OR ({other.render(to)})")

    def __invert__(self) -> Condition:
        return Condition(lambda to: f"NOT ({self.render(to)})")

    def __bool__(self) -> bool:
        raise RequestError("a condition has no truth value: combine conditions with &, | and ~, not with and, or, not")


Path: TypeAlias = tuple[str | int, ...]
"""Where a value lies in an item: an attribute, then keys of maps and positions in lists."""


def check_path(path: Path, what: str) -> None:
    """Raise RequestError unless a path inside of a value can be there."""
    if not path or "" in path or any(isinstance(step, int) and step < 0 for step in path):
        raise RequestError(f"{what}: a path has keys of at least one character, and positions of 0 or more")


def path_text(path: Path, to: Placeholders) -> str:
    """A path with all its names aliased."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{to.name(step)}" for step in path)
    return "".join(steps).removeprefix(".")


def call(function: str, path: Path, *values: AttributeValue) -> Condition:
    """A function of DynamoDB over a stored value."""
    return Condition(lambda to: f"{function}({', '.join([path_text(path, to), *map(to.value, values)])})")


def all_of(conditions: Sequence[Condition]) -> Condition:
    """All of at least one condition."""
    return reduce(Condition.__and__, conditions)


def exists(*path: str | int) -> Condition:
    """The item has the attribute."""
    return call("attribute_exists", path)


def absent(*path: str | int) -> Condition:
    """The item does not have the attribute, or there is no item."""
    return call("attribute_not_exists", path)


def compare(path: Path | str, operator: str, value: AttributeValue, function: str = "{}") -> Condition:
    """A comparison of a stored value, or of what `function` makes of it, with a value."""
    steps = (path,) if isinstance(path, str) else path
    return Condition(lambda to: f"{function.format(path_text(steps, to))} {operator} {to.value(value)}")


def one_of(path: Path | str, values: Sequence[AttributeValue]) -> Condition:
    """The stored value is one of up to 100 values."""
    steps = (path,) if isinstance(path, str) else path
    return Condition(lambda to: f"{path_text(steps, to)} IN ({', '.join(map(to.value, values))})")


class Comparable(ABC):
    """Stands in for a value, so that a comparison with it is a condition."""

    def __hash__(self) -> int:
        raise RequestError("a condition has no `in`; see is_in of singletable.conditions")

    @abstractmethod
    def compared(self, operator: str, other: object) -> Condition:
        """What a comparison with `other` means."""
        ...

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.compared("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.compared("<>", other)

    def __lt__(self, other: object) -> Condition:
        return self.compared("<", other)

    def __le__(self, other: object) -> Condition:
        return self.compared("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self.compared(">", other)

    def __ge__(self, other: object) -> Condition:
        return self.compared(">=", other)


class Recorded(Comparable):
    """Stands in for a field of an entity, or for a value inside of one, in a condition."""

    def __init__(self, spec: EntitySpec, field: FieldSpec, inside: Path = ()) -> None:
        self.spec = spec
        self.field = field
        self.path: Path = (field.stored, *inside)
        self.what = f"{spec.name}.{field.name}"

    def encode(self, value: object) -> AttributeValue | None:
        """A value as it is stored here; None where it is stored by leaving the attribute out."""
        return codec.encode(value, self.what) if len(self.path) > 1 else encode_field(self.field, value, self.spec)

    def require_native(self, use: str) -> None:
        """Raise RequestError if DynamoDB sees only JSON text here."""
        if self.field.json_text:
            raise RequestError(f"{self.what} is stored as JSON text, so {use} does not apply; declare it Map[...]")

    def compared(self, operator: str, other: object) -> Condition:
        """The stored value compares with a value, with another field, or with None for «not there, or NULL»."""
        if operator not in ("=", "<>"):
            self.require_native(operator)
        if isinstance(other, Recorded):
            return Condition(lambda to: f"{path_text(self.path, to)} {operator} {path_text(other.path, to)}")
        value = None if other is None else self.encode(other)
        if value is not None:
            return compare(self.path, operator, value)
        if operator not in ("=", "<>"):
            raise RequestError(f"{self.what}: nothing is less or greater than {other!r}, which is stored as an absence")
        nothing = absent(*self.path)
        if other is None:
            nothing |= compare(self.path, "=", {"NULL": True})
        return nothing if operator == "=" else ~nothing

    def __bool__(self) -> bool:
        raise RequestError(f"compare {self.field.name} with a value, for example == True")

    def __getattr__(self, name: str) -> object:
        raise RequestError(f"{self.field.name}.{name} cannot be part of a condition; see singletable.conditions")


class _Recorder:
    """Stands in for an entity inside a condition."""

    def __init__(self, spec: EntitySpec) -> None:
        self._spec = spec

    def __getattr__(self, name: str) -> Recorded:
        if name not in self._spec.fields:
            raise RequestError(f"{self._spec.name} has no field {name}")
        return Recorded(self._spec, self._spec.fields[name])


def record(test: Callable[[M], bool], spec: EntitySpec) -> Condition:
    """What `test` says of an entity, as a condition."""
    condition = cast(object, test(cast(M, _Recorder(spec))))
    if not isinstance(condition, Condition):
        raise RequestError(f"a condition must compare a field of {spec.name} with a value")
    return condition
