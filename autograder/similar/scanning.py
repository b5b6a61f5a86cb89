"""Python text as tokens. It never fails, and takes a time in proportion to the text.

The text is a student's: it need not be Python, and may be made to take a tokenizer for ever. So it
is one expression without backtracking, and neither `tokenize`, which stops at the first fault, nor
one that highlights, some of whose rules look ahead to the end from every line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["name", "number", "string", "operator", "newline"]


class Token(NamedTuple):
    """A token and where in the text it stands."""

    kind: str
    text: str
    start: int
    end: int


def _quoted(quote: str) -> str:
    """Return what follows an opening quote; a text that ends before it is closed closes it."""
    first = quote[0]
    if len(quote) == 1:
        return rf"{quote}(?:[^\\\n{first}]|\\[\s\S])*+(?:{quote}|(?=\n)|\Z|\\)"
    return rf"{quote}(?:[^\\{first}]|\\[\s\S]|{first}(?!{first}{first}))*+(?:{quote}|\Z|\\)"


_STRINGS = "|".join(_quoted(quote) for quote in ('"""', "'''", '"', "'"))
_TOKEN = re.compile(
    rf"""
    (?P<space>[^\S\n]++ | \\\r?\n | \#[^\n]*+)
    | (?P<newline>\n)
    | (?P<string>[rRbBuUfFtT]{{0,2}}(?:{_STRINGS}))
    | (?P<number>\.?[0-9](?:[eE][+-]?[0-9]|\w|\.)*+)
    | (?P<name>\w++)
    | (?P<operator>-> | := | \*\*=? | //=? | <<=? | >>=? | [-+*/%@&|^<>=!]=? | [][~.,:;(){{}}])
    | (?P<other>[\s\S])
    """,
    re.VERBOSE,
)


def scan(text: str) -> Iterator[Token]:
    """Yield the tokens of a text, without comments and white space."""
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if kind not in ("space", "other"):
            yield Token(kind, match[0], match.start(), match.end())


def statements(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of every logical line: brackets hold one together, semicolons part them."""
    line: list[Token] = []
    depth = 0
    for token in scan(text):
        if token.kind == "newline" or token.text == ";":
            if depth == 0 and line:
                yield line
                line = []
            continue
        if token.kind == "operator":
            if token.text in "([{":
                depth += 1
            elif token.text in ")]}":
                depth = max(0, depth - 1)
        line.append(token)
    if line:
        yield line
