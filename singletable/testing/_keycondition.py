"""What a KeyConditionExpression selects.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ._conditions import parse_condition
from ._evaluate import holds
from ._refusal import Refusal
from ._schema import MAX_PARTITION_KEY_BYTES, MAX_SORT_KEY_BYTES, AccessPath, check_key_text
from ._syntax import Between, Call, Comparison, Condition, Literal, Logical, Path, operands_of
from ._tokens import Placeholders
from ._values import Item, type_of


@dataclass(frozen=True, slots=True)
class KeyCondition:
    """One partition, and what its sort keys have to meet."""

    partition: str
    sort: Condition | None

    def selects(self, item: Item) -> bool:
        """Whether the sort key of `item`, which is in the partition, is among those asked for."""
        return self.sort is None or holds(self.sort, item)


def parse_key_condition(params: Mapping[str, Any], path: AccessPath, placeholders: Placeholders) -> KeyCondition:
    """The key condition of a query on `path`, checked against its key attributes."""
    condition = parse_condition("KeyConditionExpression", params["KeyConditionExpression"], placeholders)
    terms: dict[str, Condition] = {}
    for term in _terms(condition):
        name = _attribute(term)
        if name in terms:
            raise Refusal("KeyConditionExpressions must only contain one condition per key")
        terms[name] = term
    partition = terms.pop(path.partition, None)
    if partition is None:
        raise Refusal(f"Query condition missed key schema element: {path.partition}")
    sort = terms.pop(path.sort, None)
    if terms:
        raise Refusal(f"Query condition missed key schema element: {path.sort}")
    if not isinstance(partition, Comparison) or partition.operator != "=":
        raise Refusal("Query key condition not supported")
    _check_texts(partition, path.partition, MAX_PARTITION_KEY_BYTES)
    if sort is not None:
        _check_texts(sort, path.sort, MAX_SORT_KEY_BYTES)
    return KeyCondition(_texts(partition)[0], sort)


def _terms(condition: Condition) -> Iterator[Comparison | Between | Call]:
    match condition:
        case Logical("AND", left, right):
            yield from _terms(left)
            yield from _terms(right)
        case Comparison(operator) if operator != "<>":
            yield condition
        case Between() | Call("begins_with"):
            yield condition
        case _:
            raise Refusal("Invalid operator used in KeyConditionExpression")


def _attribute(term: Comparison | Between | Call) -> str:
    first, *others = operands_of(term)
    if not isinstance(first, Path) or not all(isinstance(other, Literal) for other in others):
        raise Refusal("Invalid KeyConditionExpression: a key attribute must be compared with values")
    if len(first.parts) > 1:
        raise Refusal(
            "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes"
        )
    return first.attribute


def _texts(term: Condition) -> list[str]:
    assert isinstance(term, Comparison | Between | Call)
    values = [operand.value for operand in operands_of(term) if isinstance(operand, Literal)]
    if any(type_of(value) != "S" for value in values):
        raise Refusal("One or more parameter values were invalid: Condition parameter type does not match schema type")
    return [value["S"] for value in values]


def _check_texts(term: Condition, name: str, limit_bytes: int) -> None:
    for text in _texts(term):
        check_key_text(name, text, limit_bytes)
