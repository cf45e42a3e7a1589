"""Conditions written as ordinary Python on an entity, and patches, as DynamoDB's expressions.  Pure.

A condition is `lambda thread: thread.title == "Trip"`: the checker sees an entity, at run time a recorder stands in.
Attributes are always aliased, so reserved words need no care.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from . import codec
from .codec import AttributeValue
from .compile import EntitySpec, FieldSpec
from .errors import RequestError
from .items import encode_field
from .values import Edit

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


def exists(attribute: str) -> Condition:
    """The item has the attribute."""
    return Condition(lambda to: f"attribute_exists({to.name(attribute)})")


def absent(attribute: str) -> Condition:
    """The item does not have the attribute, or there is no item."""
    return Condition(lambda to: f"attribute_not_exists({to.name(attribute)})")


def compare(attribute: str, operator: str, value: AttributeValue) -> Condition:
    """A comparison of a stored attribute with a value."""
    return Condition(lambda to: f"{to.name(attribute)} {operator} {to.value(value)}")


def one_of(attribute: str, values: list[AttributeValue]) -> Condition:
    """The attribute has one of up to 100 values."""
    return Condition(lambda to: f"{to.name(attribute)} IN ({', '.join(map(to.value, values))})")


class _Field:
    """Stands in for a field of an entity inside a condition."""

    # It is not equal to itself, it compares.
    __hash__ = None  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]

    def __init__(self, spec: EntitySpec, name: FieldSpec) -> None:
        self._spec = spec
        self._field = name

    def _compare(self, operator: str, other: object) -> Condition:
        stored = self._field.stored
        if other is None:
            return self._is_none() if operator == "=" else ~self._is_none()
        if self._field.json_text and operator not in ("=", "<>"):
            raise RequestError(f"{self._spec.name}.{self._field.name} is stored as JSON text: only == and != apply")
        value = encode_field(self._field, other, self._spec)
        if value is None:
            return absent(stored) if operator == "=" else exists(stored)
        return compare(stored, operator, value)

    def _is_none(self) -> Condition:
        stored = self._field.stored
        return absent(stored) | compare(stored, "=", {"NULL": True})

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compare("=", other)

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._compare("<>", other)

    def __lt__(self, other: object) -> Condition:
        return self._compare("<", other)

    def __le__(self, other: object) -> Condition:
        return self._compare("<=", other)

    def __gt__(self, other: object) -> Condition:
        return self._compare(">", other)

    def __ge__(self, other: object) -> Condition:
        return self._compare(">=", other)

    def __bool__(self) -> bool:
        raise RequestError(f"compare {self._field.name} with a value, for example == True")

    def __getattr__(self, name: str) -> object:
        raise RequestError(f"{self._field.name}.{name} cannot be part of a condition; compare the field with a value")


class _Recorder:
    """Stands in for an entity inside a condition."""

    def __init__(self, spec: EntitySpec) -> None:
        self._spec = spec

    def __getattr__(self, name: str) -> _Field:
        if name not in self._spec.fields:
            raise RequestError(f"{self._spec.name} has no field {name}")
        return _Field(self._spec, self._spec.fields[name])


def record(test: Callable[[M], bool], spec: EntitySpec) -> Condition:
    """What `test` says of an entity, as a condition."""
    condition = cast(object, test(cast(M, _Recorder(spec))))
    if not isinstance(condition, Condition):
        raise RequestError(f"a condition must compare a field of {spec.name} with a value")
    return condition


@dataclass
class Update:
    """An update under construction, keyed by document path: no path is ever changed twice."""

    placeholders: Placeholders
    sets: dict[str, str] = field(default_factory=dict[str, str])
    removes: dict[str, None] = field(default_factory=dict[str, None])
    adds: dict[str, str] = field(default_factory=dict[str, str])

    def set(self, attribute: str, value: AttributeValue | None) -> None:
        """Set a whole attribute; None removes it."""
        path = self.placeholders.name(attribute)
        if value is None:
            self.removes[path] = None
        else:
            self.sets[path] = self.placeholders.value(value)

    def edit(self, spec: EntitySpec, target: FieldSpec, edit: Edit[object]) -> None:
        """Apply a change that DynamoDB works out from the stored value."""
        what = f"{spec.name}.{target.name}"
        path = self.placeholders.name(target.stored)
        if edit.verb == "remove":
            self.removes[path] = None
            return
        if target.json_text:
            raise RequestError(f"{what} is stored as JSON text: it can only be set; declare it Map[...] to {edit.verb}")
        if edit.verb == "merge":
            self._merge(path, what, edit.operand)
            return
        value = codec.encode(edit.operand, what)
        if edit.verb == "add":
            self._expect(value, ("N", "SS", "NS", "BS"), what, "a number or a set")
            self.adds[path] = self.placeholders.value(value)
        else:
            self._expect(value, ("L",), what, "a list")
            empty = self.placeholders.value({"L": []})
            self.sets[path] = f"list_append(if_not_exists({path}, {empty}), {self.placeholders.value(value)})"

    def render(self) -> str:
        """The UpdateExpression."""
        clauses = {
            "SET": [f"{path} = {value}" for path, value in self.sets.items()],
            "REMOVE": list(self.removes),
            "ADD": [f"{path} {value}" for path, value in self.adds.items()],
        }
        return " ".join(f"{verb} {', '.join(actions)}" for verb, actions in clauses.items() if actions)

    def _merge(self, path: str, what: str, operand: object) -> None:
        if not isinstance(operand, Mapping):
            raise RequestError(f"{what}: merge() takes a mapping")
        entries = codec.encode(cast("Mapping[str, object]", operand), what)["M"]
        for name, value in entries.items():
            self.sets[f"{path}.{self.placeholders.name(name)}"] = self.placeholders.value(value)

    def _expect(self, value: AttributeValue, kinds: tuple[str, ...], what: str, wanted: str) -> None:
        if not any(kind in value for kind in kinds):
            raise RequestError(f"{what}: this change takes {wanted}")
