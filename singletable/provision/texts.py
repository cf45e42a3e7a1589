"""Texts with places to be filled in."""

from __future__ import annotations

from string import Template


class _AtSign(Template):
    """`$` belongs to the languages that are written here."""

    delimiter = "@"


def filled(text: str, **values: str) -> str:
    """The text with each `@{name}` replaced."""
    return _AtSign(text).substitute(values)


def indented(text: str, spaces: int) -> str:
    """The text with all lines but the first set in."""
    return text.replace("\n", "\n" + " " * spaces)
