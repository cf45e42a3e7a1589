"""What a type annotation says: its alternatives, its key-part kind, how its values are stored.  Pure."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, JsonValue

from .values import Edit, Form, Keep, Part, Range

M = TypeVar("M")
FREE_FORM = (Any, object, JsonValue, dict, list, Mapping)
ALIKE = ((str, datetime, date, UUID), (int, float, Decimal))
"""Types that are stored as one type of DynamoDB, so that a stored value does not say which it was."""


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
    marks = [*metadata, *(mark(inner, Form) for inner in _inside(annotation))]
    if any(isinstance(found, Form) and found.native for found in marks):
        return False
    return holds_free_form(annotation)


def holds_free_form(annotation: object) -> bool:
    """Whether JSON of any shape is in an annotation."""
    return any(leaf in FREE_FORM for leaf in _leaves(annotation))


def is_mapping(annotation: object) -> bool:
    """Whether a field holds a map, or None, and nothing else."""
    kinds = [get_origin(member) or member for member in alternatives(annotation) - {type(None)}]
    return bool(kinds) and all(isinstance(kind, type) and issubclass(kind, Mapping) for kind in kinds)


def is_set(annotation: object) -> bool:
    """Whether a field may hold a set, which DynamoDB stores only where it has members."""
    return any(_is_set(member) for member in alternatives(annotation))


def holds_decimal(annotation: object) -> bool:
    """Whether numbers of a field are read as Decimal, because a float would lose digits."""
    leaves = [*_leaves(annotation), *(leaf for model in _models(annotation) for leaf in _model_leaves(model))]
    return any(leaf is Decimal for leaf in leaves)


def fault(annotation: object, *, json_text: bool) -> str | None:
    """Why values of a field would not come back as they were, if they would not."""
    if is_set(annotation) and len(alternatives(annotation)) > 1:
        return (
            "a set shares its annotation with something else; DynamoDB has no empty sets, so declare it set[...] alone"
        )
    if json_text:
        return _key_fault(annotation)
    if holds_decimal(annotation) and holds_free_form(annotation):
        return "numbers of free-form JSON are no Decimals; keep them in two fields"
    return _alike_fault(annotation) or _key_fault(annotation) or _model_fault(annotation)


def _alike_fault(annotation: object) -> str | None:
    for inner in (annotation, *_inside(annotation)):
        kinds = {kind for member in alternatives(inner) for kind in _kinds(member)}
        for alike in ALIKE:
            names = sorted({kind.__name__ for kind in kinds if isinstance(kind, type) and _is_stored_as(kind, alike)})
            if len(names) > 1:
                return f"{' and '.join(names)} are stored alike, so that one would come back as the other; choose one"
    return None


def _key_fault(annotation: object) -> str | None:
    for inner in (annotation, *_inside(annotation)):
        origin = get_origin(inner)
        if (
            isinstance(origin, type)
            and issubclass(origin, Mapping)
            and part_kind(alternatives(get_args(inner)[0])) is not str
        ):
            return "the keys of a map are texts: declare them str"
    return None


def _model_fault(annotation: object) -> str | None:
    for model in _models(annotation):
        for name, info in model.model_fields.items():
            if is_free_form(info.annotation, info.metadata):
                return f"{model.__name__}.{name} is free-form JSON inside a model; declare it Map[...]"
    return None


def _is_set(member: object) -> bool:
    kind = get_origin(member) or member
    return isinstance(kind, type) and issubclass(kind, AbstractSet)


def _is_stored_as(kind: type[Any], alike: tuple[type, ...]) -> bool:
    if issubclass(kind, Enum):
        return any(isinstance(member.value, alike) for member in kind)
    return issubclass(kind, alike) and kind is not bool


def _kinds(member: object) -> Iterator[object]:
    if get_origin(member) is Literal:
        yield from {type(value) for value in get_args(member)}
    else:
        yield member


def _inside(annotation: object) -> Iterator[object]:
    """The annotations inside of an annotation, at any depth."""
    if get_origin(annotation) is not Literal:
        for inner in get_args(annotation):
            yield inner
            yield from _inside(inner)


def _leaves(annotation: object) -> Iterator[object]:
    inner = () if get_origin(annotation) is Literal else get_args(annotation)
    if not inner:
        yield annotation
    for member in inner:
        yield from _leaves(member)


def _models(annotation: object, seen: frozenset[object] = frozenset()) -> Iterator[type[BaseModel]]:
    """The pydantic models in an annotation, and those in their fields."""
    for leaf in _leaves(annotation):
        if isinstance(leaf, type) and issubclass(leaf, BaseModel) and leaf not in seen:
            yield leaf
            for info in leaf.model_fields.values():
                yield from _models(info.annotation, seen | {leaf})


def _model_leaves(model: type[BaseModel]) -> Iterator[object]:
    for info in model.model_fields.values():
        yield from _leaves(info.annotation)
