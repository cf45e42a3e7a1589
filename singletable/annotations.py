"""What a type annotation says: its alternatives, its key-part kind, how its values are stored.  Pure."""

from __future__ import annotations

import types
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from decimal import Decimal
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import JsonValue

from .values import Edit, Form, Keep, Part, Range

M = TypeVar("M")
FREE_FORM = (Any, object, JsonValue, dict, list)


def alternatives(annotation: object) -> frozenset[object]:
    """The members of a union, without `Annotated`; of anything else, itself alone."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return alternatives(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return frozenset(inner for member in get_args(annotation) for inner in alternatives(member))
    return frozenset((annotation,))


def changed_type(annotation: object) -> frozenset[object]:
    """What a patch field sets, without the marks of `Change[...]`."""
    return frozenset(
        member for member in alternatives(annotation) if get_origin(member) is not Edit and member != Literal[Keep.KEEP]
    )


def part_type(annotation: object) -> frozenset[object]:
    """What a key part holds, without the marks of `Pk`, `Sk` and `SkRange`."""
    return frozenset(member for member in alternatives(annotation) if get_origin(member) is not Range)


def part_kind(members: frozenset[object]) -> object:
    """The one type of a key part; None where there is not exactly one."""
    kinds = {kind for member in members - {type(None)} for kind in _kinds(member)}
    return kinds.pop() if len(kinds) == 1 else None


def mark(annotation: object, kind: type[M]) -> M | None:
    """The mark of one kind on an annotation, if there is one."""
    if get_origin(annotation) is not Annotated:
        return None
    return next((found for found in get_args(annotation)[1:] if isinstance(found, kind)), None)


def side(annotation: object) -> str | None:
    """Whether `Pk` or `Sk` marks an annotation."""
    part = mark(annotation, Part)
    return part.side if part else None


def is_free_form(annotation: object, metadata: list[Any]) -> bool:
    """Whether a field holds JSON of any shape and so is stored as JSON text, unless `Map` says otherwise."""
    if any(isinstance(found, Form) and found.native for found in metadata):
        return False
    return any(leaf in FREE_FORM for leaf in _leaves(annotation))


def is_set(annotation: object) -> bool:
    """Whether a field may hold a set, which DynamoDB stores only where it has members."""
    return any(_is_set(member) for member in alternatives(annotation))


def holds_decimal(annotation: object) -> bool:
    """Whether numbers of a field are read as Decimal, because a float would lose digits."""
    return any(leaf is Decimal for leaf in _leaves(annotation))


def _is_set(member: object) -> bool:
    kind = get_origin(member) or member
    return isinstance(kind, type) and issubclass(kind, AbstractSet)


def _kinds(member: object) -> Iterator[object]:
    if get_origin(member) is Literal:
        yield from {type(cast(object, value)) for value in get_args(member)}
    else:
        yield member


def _leaves(annotation: object) -> Iterator[object]:
    inner = () if get_origin(annotation) is Literal else get_args(annotation)
    if not inner:
        yield annotation
    for member in inner:
        yield from _leaves(member)
