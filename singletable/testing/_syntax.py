"""What an expression means, as values: the parser builds them, the evaluator reads them.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal as OneOf
from typing import TypeAlias

from ._values import AttributeValue

PathPart: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Path:
    """A document path with its placeholders replaced: `#a.#b[0]` is `("a", "b", 0)`."""

    parts: tuple[PathPart, ...]

    @property
    def attribute(self) -> str:
        """The attribute of the item in which the path starts."""
        return str(self.parts[0])


@dataclass(frozen=True, slots=True)
class Literal:
    """A value given in ExpressionAttributeValues."""

    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Size:
    """`size(path)`."""

    path: Path


Operand: TypeAlias = Path | Literal | Size


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`."""

    operator: str
    left: Operand
    right: Operand


@dataclass(frozen=True, slots=True)
class Between:
    """`operand BETWEEN low AND high`."""

    operand: Operand
    low: Operand
    high: Operand


@dataclass(frozen=True, slots=True)
class Membership:
    """`operand IN (options)`."""

    operand: Operand
    options: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function that is a condition; `argument` is None for attribute_exists and attribute_not_exists."""

    function: str
    path: Path
    argument: Operand | None = None


@dataclass(frozen=True, slots=True)
class Logical:
    """`left AND right`, or `left OR right`."""

    operator: OneOf["AND", "OR"]
    left: Condition
    right: Condition


@dataclass(frozen=True, slots=True)
class Negation:
    """`NOT condition`."""

    condition: Condition


Condition: TypeAlias = Comparison | Between | Membership | Call | Logical | Negation


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`left + right`, or `left - right`."""

    operator: str
    left: UpdateOperand
    right: UpdateOperand


@dataclass(frozen=True, slots=True)
class IfNotExists:
    """`if_not_exists(path, default)`."""

    path: Path
    default: UpdateOperand


@dataclass(frozen=True, slots=True)
class ListAppend:
    """`list_append(left, right)`."""

    left: UpdateOperand
    right: UpdateOperand


UpdateOperand: TypeAlias = Path | Literal | Arithmetic | IfNotExists | ListAppend


@dataclass(frozen=True, slots=True)
class Assignment:
    """`SET path = value`."""

    path: Path
    value: UpdateOperand


@dataclass(frozen=True, slots=True)
class Removal:
    """`REMOVE path`."""

    path: Path


@dataclass(frozen=True, slots=True)
class Addition:
    """`ADD path value`: to a number or a set."""

    path: Path
    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Subtraction:
    """`DELETE path value`: members of a set."""

    path: Path
    value: AttributeValue


Action: TypeAlias = Assignment | Removal | Addition | Subtraction


def paths_of(condition: Condition) -> Iterator[Path]:
    """Every path a condition mentions."""
    match condition:
        case Logical(_, left, right):
            yield from paths_of(left)
            yield from paths_of(right)
        case Negation(inner):
            yield from paths_of(inner)
        case _:
            yield from map(_path_of, filter(_has_path, operands_of(condition)))


def operands_of(condition: Comparison | Between | Membership | Call) -> tuple[Operand, ...]:
    """The operands of a condition that is not made of other conditions, in order."""
    match condition:
        case Comparison(_, left, right):
            return left, right
        case Between(operand, low, high):
            return operand, low, high
        case Membership(operand, options):
            return operand, *options
        case Call(_, path, argument):
            return (path,) if argument is None else (path, argument)


def _has_path(operand: Operand) -> bool:
    return not isinstance(operand, Literal)


def _path_of(operand: Operand) -> Path:
    assert not isinstance(operand, Literal)
    return operand.path if isinstance(operand, Size) else operand
