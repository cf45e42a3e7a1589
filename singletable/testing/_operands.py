"""What DynamoDB checks of the operands of a condition before it looks at any item.  Pure."""

from __future__ import annotations

from ._evaluate import compare
from ._syntax import Between, Call, Comparison, Literal, Membership, Operand, Path, operands_of
from ._tokens import TokenReader
from ._values import ORDERED, TYPES, type_of


def check_condition(reader: TokenReader, condition: Comparison | Between | Membership | Call) -> None:
    """Refuse operands that can never fit the operator or function."""
    first, *others = operands_of(condition)
    if isinstance(first, Path) and first in others:
        reader.fail("The first operand must be distinct from the remaining operands for this operator or function")
    match condition:
        case Comparison(operator) if operator not in ("=", "<>"):
            _check_ordered(reader, operator, (first, *others))
        case Between(_, low, high):
            _check_ordered(reader, "BETWEEN", (first, *others))
            _check_bounds(reader, low, high)
        case Call(function, _, Literal(value)) if function == "begins_with" and type_of(value) not in ("S", "B"):
            _fail_type(reader, function, type_of(value))
        case Call("attribute_type", _, argument):
            _check_type_name(reader, argument)
        case _:
            pass


def _check_ordered(reader: TokenReader, operator: str, operands: tuple[Operand, ...]) -> None:
    for operand in operands:
        if isinstance(operand, Literal) and type_of(operand.value) not in ORDERED:
            _fail_type(reader, operator, type_of(operand.value))


def _check_bounds(reader: TokenReader, low: Operand, high: Operand) -> None:
    if not isinstance(low, Literal) or not isinstance(high, Literal):
        return
    if type_of(low.value) != type_of(high.value):
        reader.fail("The BETWEEN operator requires same data type for lower and upper bounds")
    if compare(">", low.value, high.value):
        reader.fail("The BETWEEN operator requires upper bound to be greater than or equal to lower bound")


def _check_type_name(reader: TokenReader, argument: Operand | None) -> None:
    if not isinstance(argument, Literal) or type_of(argument.value) != "S":
        reader.fail("Incorrect operand type for operator or function; operator or function: attribute_type")
    if argument.value["S"] not in TYPES:
        reader.fail("Invalid attribute type name found; valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}")


def _fail_type(reader: TokenReader, operator: str, tag: str) -> None:
    reader.fail(
        f"Incorrect operand type for operator or function; operator or function: {operator}, operand type: {tag}"
    )
