"""Parses condition, filter, key condition and projection expressions.  Pure."""

from __future__ import annotations

from ._operands import check_condition
from ._syntax import (
    Between,
    Call,
    Comparison,
    Condition,
    Literal,
    Logical,
    Membership,
    Negation,
    Operand,
    Path,
    Size,
)
from ._tokens import Placeholders, TokenReader

COMPARATORS = ("=", "<>", "<", "<=", ">", ">=")
MAX_IN_OPTIONS = 100
_ARGUMENTS = {
    "attribute_exists": 1,
    "attribute_not_exists": 1,
    "attribute_type": 2,
    "begins_with": 2,
    "contains": 2,
}


def parse_condition(parameter: str, text: object, placeholders: Placeholders) -> Condition:
    """The condition that the expression in `parameter` states."""
    reader = TokenReader(parameter, text, placeholders)
    condition = _disjunction(reader)
    reader.finish()
    return condition


def parse_projection(text: object, placeholders: Placeholders) -> tuple[Path, ...]:
    """The paths that a ProjectionExpression asks for."""
    reader = TokenReader("ProjectionExpression", text, placeholders)
    paths = [reader.path()]
    while reader.accept(","):
        paths.append(reader.path())
    reader.finish()
    check_no_overlap(reader, paths)
    return tuple(paths)


def check_no_overlap(reader: TokenReader, paths: list[Path]) -> None:
    """Refuse two paths of which one is, or leads to, the other, or that need a map and a list in one place."""
    ordered = sorted((path.parts for path in paths), key=lambda parts: [(str(type(part)), part) for part in parts])
    for index, one in enumerate(ordered):
        for other in ordered[index + 1 :]:
            common = min(len(one), len(other))
            if one[:common] == other[:common]:
                reader.fail("Two document paths overlap with each other; must remove or rewrite one of these paths")
            fork = next(place for place in range(common) if one[place] != other[place])
            if type(one[fork]) is not type(other[fork]):
                reader.fail("Two document paths conflict with each other; must remove or rewrite one of these paths")


def _disjunction(reader: TokenReader) -> Condition:
    condition = _conjunction(reader)
    while reader.accept("OR"):
        condition = Logical("OR", condition, _conjunction(reader))
    return condition


def _conjunction(reader: TokenReader) -> Condition:
    condition = _negation(reader)
    while reader.accept("AND"):
        condition = Logical("AND", condition, _negation(reader))
    return condition


def _negation(reader: TokenReader) -> Condition:
    if reader.accept("NOT"):
        return Negation(_negation(reader))
    if reader.at("("):
        return _parenthesised(reader)
    condition = _comparison(reader)
    check_condition(reader, condition)
    return condition


def _parenthesised(reader: TokenReader) -> Condition:
    reader.expect("(")
    twice = reader.at("(")
    condition = _negation(reader)
    if twice and reader.at(")"):
        reader.fail("The expression has redundant parentheses;")
    condition = _continued(reader, condition)
    reader.expect(")")
    return condition


def _continued(reader: TokenReader, condition: Condition) -> Condition:
    """What follows the first term inside parentheses: AND binds tighter than OR."""
    while reader.accept("AND"):
        condition = Logical("AND", condition, _negation(reader))
    while reader.accept("OR"):
        condition = Logical("OR", condition, _conjunction(reader))
    return condition


def _comparison(reader: TokenReader) -> Comparison | Between | Membership | Call:
    if reader.next.text in _ARGUMENTS:
        return _call(reader)
    operand = _operand(reader)
    if reader.at(*COMPARATORS):
        return Comparison(reader.take().text, operand, _operand(reader))
    if reader.accept("BETWEEN"):
        low = _operand(reader)
        reader.expect("AND")
        return Between(operand, low, _operand(reader))
    reader.expect("IN")
    return Membership(operand, _options(reader))


def _options(reader: TokenReader) -> tuple[Operand, ...]:
    reader.expect("(")
    options = [_operand(reader)]
    while reader.accept(","):
        options.append(_operand(reader))
    reader.expect(")")
    if len(options) > MAX_IN_OPTIONS:
        reader.fail(f"The IN operator is provided with too many operands; number of operands: {len(options)}")
    return tuple(options)


def _call(reader: TokenReader) -> Call:
    function = reader.take().text
    reader.expect("(")
    if reader.next.kind == "value":
        reader.fail(f"Operator or function requires a document path; operator or function: {function}")
    path = reader.path()
    argument: Operand | None = None
    if _ARGUMENTS[function] == 2:
        reader.expect(",")
        argument = _operand(reader)
    reader.expect(")")
    return Call(function, path, argument)


def _operand(reader: TokenReader) -> Operand:
    if reader.next.kind == "value":
        return Literal(reader.value())
    if reader.next == ("word", "size"):
        start = reader.position
        reader.take()
        if reader.accept("("):
            path = reader.path()
            reader.expect(")")
            return Size(path)
        # `size` without parentheses is a reserved word, which the path says better than we could here.
        reader.position = start
    return reader.path()
