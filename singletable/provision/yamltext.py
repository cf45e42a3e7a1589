"""YAML of CloudFormation, for people to read: functions in their short form, quotes only where they are needed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from pydantic import JsonValue

_PLAIN = re.compile(r"[A-Za-z][\w./-]*(:+[\w./-]+)*|[A-Za-z][\w./,;'() -]*[\w.)]")
_WORDS: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
"""What YAML takes for something else than text."""
_STEP = "  "


def yaml_text(value: dict[str, JsonValue]) -> str:
    """Mappings, lists, texts, numbers and truths as YAML; `{"Ref": x}` becomes `!Ref x`, and so do the functions."""
    return "".join(f"{line}\n" for line in _block(value))


def _block(value: dict[str, JsonValue] | list[JsonValue]) -> Iterator[str]:
    """The lines of a mapping or a list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            first, rest = _entry(inner)
            yield f"{_scalar(name)}:{first}"
            # A list in a mapping is set in by us, although YAML does not ask for it.
            yield from (_STEP + line for line in rest)
    else:
        for inner in value:
            first, rest = _entry(inner)
            # The first line of a mapping stands beside the dash.
            lines = [first[1:], *(_STEP + line for line in rest)] if first else [*_within(rest)]
            yield f"- {lines[0]}"
            yield from lines[1:]


def _within(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield _STEP + line if number else line


def _entry(value: JsonValue) -> tuple[str, list[str]]:
    """What follows a colon or a dash on its line, and the lines below it."""
    tag, inner = _tagged(value)
    if isinstance(inner, dict | list) and inner:
        return tag, [*_block(inner)]
    return f"{tag} {_scalar(inner)}", []


def _tagged(value: JsonValue) -> tuple[str, JsonValue]:
    """The short form of a function of CloudFormation, and what it is given."""
    if not isinstance(value, dict) or len(value) != 1:
        return "", value
    ((name, inner),) = value.items()
    if name == "Fn::GetAtt" and isinstance(inner, list):
        return " !GetAtt", ".".join(map(str, inner))
    if name == "Ref" or name.startswith("Fn::"):
        return f" !{name.removeprefix('Fn::')}", inner
    return "", value


def _scalar(value: JsonValue) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else json.dumps(value, ensure_ascii=False)
