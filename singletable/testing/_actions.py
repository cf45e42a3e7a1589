"""Parses update expressions.  Pure."""

from __future__ import annotations

from ._conditions import check_no_overlap
from ._syntax import (
    Action,
    Addition,
    Arithmetic,
    Assignment,
    IfNotExists,
    ListAppend,
    Literal,
    Path,
    Removal,
    Subtraction,
    UpdateOperand,
)
from ._tokens import Placeholders, TokenReader
from ._values import SETS, type_of

_CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


def parse_update(text: object, placeholders: Placeholders) -> tuple[Action, ...]:
    """The actions of an UpdateExpression, in the order in which they are written."""
    reader = TokenReader("UpdateExpression", text, placeholders)
    actions: list[Action] = []
    seen: set[str] = set()
    while reader.at(*_CLAUSES):
        clause = reader.take().text.upper()
        if clause in seen:
            reader.fail(f'The "{clause}" section can only be used once in an update expression;')
        seen.add(clause)
        actions.append(_action(reader, clause))
        while reader.accept(","):
            actions.append(_action(reader, clause))
    reader.finish()
    check_no_overlap(reader, [action.path for action in actions])
    return tuple(actions)


def _action(reader: TokenReader, clause: str) -> Action:
    path = reader.path()
    if clause == "SET":
        reader.expect("=")
        return Assignment(path, _value(reader))
    if clause == "REMOVE":
        return Removal(path)
    value = reader.value()
    if type_of(value) not in (SETS | {"N"} if clause == "ADD" else SETS):
        _fail_type(reader, clause, type_of(value))
    return Addition(path, value) if clause == "ADD" else Subtraction(path, value)


def _value(reader: TokenReader) -> UpdateOperand:
    left = _operand(reader)
    if not reader.at("+", "-"):
        return left
    operator = reader.take().text
    right = _operand(reader)
    for operand in (left, right):
        _check_literal(reader, operator, operand, "N")
    return Arithmetic(operator, left, right)


def _operand(reader: TokenReader) -> UpdateOperand:
    if reader.next.kind == "value":
        return Literal(reader.value())
    if reader.accept("("):
        value = _value(reader)
        reader.expect(")")
        return value
    if reader.next == ("word", "if_not_exists"):
        return _if_not_exists(reader)
    if reader.next == ("word", "list_append"):
        return _list_append(reader)
    return reader.path()


def _if_not_exists(reader: TokenReader) -> IfNotExists:
    reader.take()
    reader.expect("(")
    path: Path = reader.path()
    reader.expect(",")
    default = _operand(reader)
    reader.expect(")")
    return IfNotExists(path, default)


def _list_append(reader: TokenReader) -> ListAppend:
    reader.take()
    reader.expect("(")
    left = _operand(reader)
    reader.expect(",")
    right = _operand(reader)
    reader.expect(")")
    for operand in (left, right):
        _check_literal(reader, "list_append", operand, "L")
    return ListAppend(left, right)


def _check_literal(reader: TokenReader, operator: str, operand: UpdateOperand, tag: str) -> None:
    if isinstance(operand, Literal) and type_of(operand.value) != tag:
        _fail_type(reader, operator, type_of(operand.value))


def _fail_type(reader: TokenReader, operator: str, tag: str) -> None:
    reader.fail(
        f"Incorrect operand type for operator or function; operator or function: {operator}, operand type: {tag}"
    )
