"""Patches as DynamoDB's update expressions.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from . import codec
from .codec import AttributeValue
from .declare import TABLE, Changes, PrimaryKey
from .errors import IncompleteKeyError, RequestError
from .expressions import Condition, Path, Placeholders, absent, check_path, exists, path_text
from .items import encode_field, validated
from .keys import KeyTemplate
from .moment import Moment, touched
from .presence import holds
from .specs import EntitySpec, FieldSpec, IndexSpec
from .values import KEEP, Edit, Verb
from .wire import WireItem

if TYPE_CHECKING:
    from .entity import Entity

E = TypeVar("E", bound="Entity")

_WANTED: Mapping[Verb, tuple[str, frozenset[str]]] = {
    "add": ("a number or a set", frozenset({"N", "SS", "NS", "BS"})),
    "subtract": ("a number", frozenset({"N"})),
    "append": ("a list", frozenset({"L"})),
    "prepend": ("a list", frozenset({"L"})),
    "discard": ("a set", frozenset({"SS", "NS", "BS"})),
    "merge": ("a mapping", frozenset({"M"})),
}


@dataclass(frozen=True)
class Seen:
    """What was read of an item before it is updated; the update demands that it still holds."""

    parts: Mapping[str, object] = field(default_factory=dict[str, object])
    """Fields that are part of index keys."""
    absent_maps: frozenset[str] = frozenset()
    """Stored names of maps that the item does not have yet: a merge into one makes it."""

    def condition(self, spec: EntitySpec) -> list[Condition]:
        """That nothing of it has changed since."""
        maps = [absent(name) for name in sorted(self.absent_maps)]
        return [holds(spec, self.parts), *maps] if self.parts else maps

    def anew(self, spec: EntitySpec, patch: Changes[E], item: WireItem, current: object) -> Seen:
        """The same of what is stored now."""
        parts = {name: getattr(current, name) for name in self.parts} if current is not None else {}
        return Seen(parts, frozenset(_merged(spec, patch) - item.keys()))


UNSEEN: Final = Seen()
"""Nothing was read."""


@dataclass
class Update:
    """An update under construction, keyed by document path: no path is ever changed twice."""

    placeholders: Placeholders
    sets: dict[str, str] = field(default_factory=dict[str, str])
    removes: dict[str, None] = field(default_factory=dict[str, None])
    adds: dict[str, str] = field(default_factory=dict[str, str])
    deletes: dict[str, str] = field(default_factory=dict[str, str])
    needs: set[str] = field(default_factory=set[str])
    """Attributes that the item must have, and that one of an older version may lack."""

    def set(self, attribute: str, value: AttributeValue | None) -> None:
        """Set a whole attribute; None removes it."""
        path = self.placeholders.name(attribute)
        if value is None:
            self.removes[path] = None
        else:
            self.sets[path] = self.placeholders.value(value)

    def apply(self, key: PrimaryKey[E], patch: Changes[E], moment: Moment, seen: Seen, scope: str) -> None:
        """Apply a patch, and the changes of index keys that follow."""
        changes = _changes(key.declared_for, patch)
        if changes:
            changes |= touched(key.declared_for.spec, moment)
        _apply(self, key.declared_for, changes, seen.absent_maps)
        _rekey(self, key.declared_for.spec, {**seen.parts, **key.declared_values(), **changes}, changes, scope)

    def required(self) -> list[Condition]:
        """That the item has what it needs."""
        return [exists(name) for name in sorted(self.needs)]

    def edit(self, spec: EntitySpec, target: FieldSpec, edit: Edit[object]) -> None:
        """Apply a change that DynamoDB works out from the stored value."""
        what = f"{spec.name}.{target.name}"
        if edit.verb == "remove":
            self.removes[self.placeholders.name(target.stored)] = None
            return
        if target.json_text:
            raise RequestError(f"{what} is stored as JSON text: it can only be set; declare it Map[...] to {edit.verb}")
        path: Path = (target.stored, *edit.path)
        if edit.verb in ("set_at", "remove_at"):
            check_path(edit.path, what)
        if edit.verb == "remove_at":
            self.removes[path_text(path, self.placeholders)] = None
        elif edit.verb == "set_at" and not target.free_form:
            raise RequestError(f"{what} has a type that a value inside of it might not fit: set the whole field")
        else:
            self._change(what, path, edit)

    def _change(self, what: str, path: Path, edit: Edit[object]) -> None:
        value = codec.encode(edit.operand, what)
        wanted, kinds = _WANTED.get(edit.verb, ("", value.keys()))
        if not kinds & value.keys():
            raise RequestError(f"{what}: {edit.verb} takes {wanted}")
        if edit.verb == "merge":
            for name, entry in cast("Mapping[str, AttributeValue]", value["M"]).items():
                self.sets[path_text((*path, name), self.placeholders)] = self.placeholders.value(entry)
        else:
            self._apply(edit.verb, path_text(path, self.placeholders), value)

    def _apply(self, verb: Verb, path: str, value: AttributeValue) -> None:
        operand = self.placeholders.value(value)
        match verb:
            case "add":
                self.adds[path] = operand
            case "discard":
                self.deletes[path] = operand
            case "subtract":
                self.sets[path] = f"if_not_exists({path}, {self.placeholders.value({'N': '0'})}) - {operand}"
            case "append":
                self.sets[path] = f"list_append(if_not_exists({path}, {self.placeholders.value({'L': []})}), {operand})"
            case "prepend":
                self.sets[path] = f"list_append({operand}, if_not_exists({path}, {self.placeholders.value({'L': []})}))"
            case "default":
                self.sets[path] = f"if_not_exists({path}, {operand})"
            case _:
                self.sets[path] = operand

    def render(self) -> str:
        """The UpdateExpression."""
        clauses = {
            "SET": [f"{path} = {value}" for path, value in self.sets.items()],
            "REMOVE": list(self.removes),
            "ADD": [f"{path} {value}" for path, value in self.adds.items()],
            "DELETE": [f"{path} {value}" for path, value in self.deletes.items()],
        }
        return " ".join(f"{verb} {', '.join(actions)}" for verb, actions in clauses.items() if actions)


def patch_of(entity: E) -> Changes[E] | None:
    """The fields that were given to an entity and that its Patch may change, as a patch; None where there are none."""
    patch: Any = getattr(type(entity), "Patch", None)
    names = entity.model_fields_set & set(patch.declared_names) if patch else set[str]()
    return patch(**{name: getattr(entity, name) for name in names}) if names else None


def _merged(spec: EntitySpec, patch: Changes[E]) -> set[str]:
    """The stored names of the maps that a patch merges into."""
    edits = {
        name: cast("Edit[object]", value) for name, value in patch.declared_values().items() if isinstance(value, Edit)
    }
    return {spec.fields[name].stored for name, edit in edits.items() if edit.verb == "merge"}


def unknown_parts(key: PrimaryKey[E], patch: Changes[E], moment: Moment) -> list[str]:
    """The fields that index keys need after a patch, and that neither the key nor the patch gives."""
    spec = key.declared_for.spec
    changes = _changes(key.declared_for, patch) | touched(spec, moment)
    known = {**key.declared_values(), **changes}
    unknown = [name for index, halves in _touched(spec, changes) for name in _lacking(index, halves, known)]
    return list(dict.fromkeys(unknown))


def _changes(model: type[Entity], patch: Changes[E]) -> dict[str, object]:
    """What a patch changes, with values that the fields take."""
    if patch.declared_for is not model:
        raise RequestError(f"{type(patch).__qualname__} is no patch of a {model.spec.name}")
    changes: dict[str, object] = {}
    for name, value in patch.declared_values().items():
        if isinstance(value, Edit):
            edit = cast("Edit[object]", value)
            typed = edit.verb not in ("remove", "set_at", "remove_at")
            operand = validated(model, name, edit.operand, operand=True) if typed else edit.operand
            changes[name] = replace(edit, operand=operand)
        elif value is not KEEP:
            changes[name] = validated(model, name, value)
    return changes


def _apply(update: Update, model: type[Entity], changes: Mapping[str, object], absent_maps: frozenset[str]) -> None:
    spec = model.spec
    for name, value in changes.items():
        field = spec.fields[name]
        if not isinstance(value, Edit):
            update.set(field.stored, encode_field(field, value, spec))
            continue
        edit = cast("Edit[object]", value)
        if edit.verb == "remove" and model.model_fields[name].is_required():
            raise RequestError(f"{spec.name}.{name} is required, so it cannot be removed")
        if edit.verb == "merge" and field.stored in absent_maps:
            update.set(field.stored, encode_field(field, edit.operand, spec))
            continue
        update.edit(spec, field, edit)
        if edit.verb in ("merge", "set_at") and edit.operand != {}:
            update.needs.add(field.stored)


def _rekey(
    update: Update, spec: EntitySpec, known: Mapping[str, object], changes: Mapping[str, object], scope: str
) -> None:
    """Set or remove the key of every index that the changes touch.

    Where every item is in the index, the other half is stored already and stays; the update then needs it."""
    for index, halves in _touched(spec, changes):
        unknown = _lacking(index, halves, known)
        if unknown:
            raise IncompleteKeyError(
                f"{spec.name}: the patch changes the key of {index.name}, which also needs {', '.join(unknown)}; "
                "give them in the same patch, or read them with refresh=True"
            )
        whole = not _is_left(index, known)
        for half in halves:
            text = half.render(known, scope if half is index.pk else "") if whole else None
            update.set(half.attribute, None if text is None else {"S": text})
        if whole:
            update.needs |= {half.attribute for half in (index.pk, index.sk) if half not in halves}


def _touched(spec: EntitySpec, changes: Mapping[str, object]) -> Iterator[tuple[IndexSpec, Sequence[KeyTemplate]]]:
    """The indexes whose key changes, and which halves of it are made anew."""
    for index in spec.indexes.values():
        touched = [half for half in (index.pk, index.sk) if any(part.name in changes for part in half.parts)]
        if index.name == TABLE or not touched:
            continue
        _refuse_edits(spec, index, changes)
        yield index, touched if index.always else (index.pk, index.sk)


def _lacking(index: IndexSpec, halves: Sequence[KeyTemplate], known: Mapping[str, object]) -> list[str]:
    """The parts that must be known for a new key, and are not."""
    if _is_left(index, known):
        return []
    return [part.name for half in halves for part in half.parts if part.name not in known]


def _is_left(index: IndexSpec, known: Mapping[str, object]) -> bool:
    """Whether a part is None, so that the item is no longer in the index."""
    return any(part.name in known and known[part.name] is None for part in index.parts)


def _refuse_edits(spec: EntitySpec, index: IndexSpec, changes: Mapping[str, object]) -> None:
    for part in index.parts:
        if isinstance(changes.get(part.name), Edit):
            raise RequestError(
                f"{spec.name}.{part.name} is part of {index.name}: it can be set or cleared with None, not worked out "
                "by DynamoDB"
            )
