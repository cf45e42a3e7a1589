"""Patches as DynamoDB's update expressions.  Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from . import codec
from .codec import AttributeValue
from .compile import EntitySpec, FieldSpec
from .errors import RequestError
from .expressions import Path, Placeholders, check_path, path_text
from .values import Edit, Verb

_WANTED: Mapping[Verb, tuple[str, frozenset[str]]] = {
    "add": ("a number or a set", frozenset({"N", "SS", "NS", "BS"})),
    "subtract": ("a number", frozenset({"N"})),
    "append": ("a list", frozenset({"L"})),
    "prepend": ("a list", frozenset({"L"})),
    "discard": ("a set", frozenset({"SS", "NS", "BS"})),
    "merge": ("a mapping", frozenset({"M"})),
}


@dataclass
class Update:
    """An update under construction, keyed by document path: no path is ever changed twice."""

    placeholders: Placeholders
    sets: dict[str, str] = field(default_factory=dict[str, str])
    removes: dict[str, None] = field(default_factory=dict[str, None])
    adds: dict[str, str] = field(default_factory=dict[str, str])
    deletes: dict[str, str] = field(default_factory=dict[str, str])

    def set(self, attribute: str, value: AttributeValue | None) -> None:
        """Set a whole attribute; None removes it."""
        path = self.placeholders.name(attribute)
        if value is None:
            self.removes[path] = None
        else:
            self.sets[path] = self.placeholders.value(value)

    def set_once(self, attribute: str, value: AttributeValue | None) -> None:
        """Set an attribute that is not there yet."""
        if value is not None:
            path = self.placeholders.name(attribute)
            self.sets[path] = f"if_not_exists({path}, {self.placeholders.value(value)})"

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
