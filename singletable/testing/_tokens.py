"""Splits an expression into tokens and replaces its placeholders.  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, cast

from ._refusal import Refusal
from ._reserved import RESERVED_WORDS
from ._syntax import Path, PathPart
from ._values import AttributeValue, normalise

MAX_EXPRESSION_BYTES = 4096
TokenKind: TypeAlias = Literal["word", "name", "value", "index", "symbol", "end"]
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<name>#[A-Za-z0-9_]+)|(?P<value>:[A-Za-z0-9_]+)"
    r"|(?P<index>[0-9]+)|(?P<symbol><>|<=|>=|[=<>()\[\],.+-]))",
    re.ASCII,
)


class Token(NamedTuple):
    """One word, placeholder or symbol of an expression."""

    kind: TokenKind
    text: str


class Placeholders:
    """The names and values given with a request; knows which of them were used."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self._names = _given(params, "ExpressionAttributeNames", "#")
        values = _given(params, "ExpressionAttributeValues", ":")
        self._values = {name: normalise(value) for name, value in values.items()}
        self._unused_names = set(self._names)
        self._unused_values = set(self._values)

    def name(self, alias: str) -> str | None:
        """The attribute that `#alias` stands for; None where it is not defined."""
        self._unused_names.discard(alias)
        return self._names.get(alias)

    def value(self, alias: str) -> AttributeValue | None:
        """The value that `:alias` stands for; None where it is not defined."""
        self._unused_values.discard(alias)
        return self._values.get(alias)

    def check_all_used(self) -> None:
        """Refuse names and values that no expression of the request uses."""
        for parameter, unused in (
            ("ExpressionAttributeNames", self._unused_names),
            ("ExpressionAttributeValues", self._unused_values),
        ):
            if unused:
                aliases = ", ".join(sorted(unused))
                raise Refusal(f"Value provided in {parameter} unused in expressions: keys: {{{aliases}}}")


class TokenReader:
    """Reads one expression of a request, token by token."""

    def __init__(self, parameter: str, text: object, placeholders: Placeholders) -> None:
        self._parameter = parameter
        self._placeholders = placeholders
        self._tokens = self._split(text)
        self.position = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self._tokens[self.position]

    def take(self) -> Token:
        """The token that comes next, which is then behind us."""
        token = self.next
        self.position += token.kind != "end"
        return token

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of these keywords (in any case) or symbols."""
        return self.next.kind in ("word", "symbol") and self.next.text.upper() in texts

    def accept(self, *texts: str) -> bool:
        """Take the next token if it is one of these."""
        if not self.at(*texts):
            return False
        self.take()
        return True

    def expect(self, text: str) -> None:
        """Take the next token, which must be this one."""
        if not self.accept(text):
            self.fail_at_next()

    def finish(self) -> None:
        """Refuse anything that follows."""
        if self.next.kind != "end":
            self.fail_at_next()

    def fail_at_next(self) -> NoReturn:
        """Refuse the token that comes next."""
        self.fail(f'Syntax error; token: "{self.next.text}"')

    def fail(self, text: str) -> NoReturn:
        """Refuse the expression."""
        raise Refusal(f"Invalid {self._parameter}: {text}")

    def path(self) -> Path:
        """A document path: `a`, `#a.#b[0]`."""
        parts: list[PathPart] = [self._attribute_name()]
        while self.at(".", "["):
            if self.take().text == ".":
                parts.append(self._attribute_name())
                continue
            index = self.take()
            if index.kind != "index":
                self.fail_at_next()
            parts.append(int(index.text))
            self.expect("]")
        return Path(tuple(parts))

    def value(self) -> AttributeValue:
        """A value given as a `:` placeholder."""
        if self.next.kind != "value":
            self.fail_at_next()
        alias = self.take().text
        value = self._placeholders.value(alias)
        if value is None:
            self.fail(f"An expression attribute value used in expression is not defined; attribute value: {alias}")
        return value

    def _attribute_name(self) -> str:
        token = self.take()
        if token.kind == "word":
            if token.text.upper() in RESERVED_WORDS:
                self.fail(f"Attribute name is a reserved keyword; reserved keyword: {token.text}")
            return token.text
        if token.kind != "name":
            self.fail(f'Syntax error; token: "{token.text}"')
        name = self._placeholders.name(token.text)
        if name is None:
            self.fail(
                f"An expression attribute name used in the document path is not defined; attribute name: {token.text}"
            )
        return name

    def _split(self, text: object) -> list[Token]:
        if not isinstance(text, str) or not text.strip():
            self.fail("The expression can not be empty;")
        if (size := len(text.encode())) > MAX_EXPRESSION_BYTES:
            self.fail(f"Expression size has exceeded the maximum allowed size; expression size: {size}")
        tokens: list[Token] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                self.fail(f'Syntax error; token: "{text[position:].lstrip()[:1]}"')
            kind = cast("TokenKind", match.lastgroup)
            tokens.append(Token(kind, match[kind]))
            position = match.end()
        return [*tokens, Token("end", "<EOF>")]


def _given(params: Mapping[str, Any], parameter: str, prefix: str) -> dict[str, Any]:
    if parameter not in params:
        return {}
    given: dict[str, Any] = dict(params[parameter])
    if not given:
        raise Refusal(f"{parameter} must not be empty")
    if not any(name.endswith("Expression") for name in params):
        raise Refusal(f"{parameter} can only be specified when using expressions")
    for alias in given:
        if not re.fullmatch(prefix + "[A-Za-z0-9_]+", alias):
            raise Refusal(f'{parameter} contains invalid key: Syntax error; key: "{alias}"')
    return given
