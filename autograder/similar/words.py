"""What a file says, without what can be changed at no cost: names, comments, texts, layout.

A name that its author chose is a variable: only where it stood before counts. A name that others
chose, as `softmax` or `keepdim`, is itself. Annotations, docstrings, imports, commas, colons and
round brackets are left out.
"""

from __future__ import annotations

import builtins
import hashlib
import keyword
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from autograder.similar.scanning import Token, statements

# The names of a later Python, too: what is compared must not depend on the one that runs it.
_KEYWORDS = frozenset(keyword.kwlist)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
_LEFT_OUT = frozenset("(),:") | {"pass"}
_LONGEST = 80
# What is called so without an import is this, as in the snippets of a handout.
_USUAL = {"F": "functional", "math": "math", "nn": "nn", "np": "numpy", "torch": "torch"}


@dataclass(frozen=True)
class Words:
    """The words of one file.

    Attributes:
        values: (n,) uint64, a number for every word; 0 for a variable.
        back: (n,) int32, of a variable how many words before it stood last; 0: it is new.
        starts, ends: (n,) int32, where in the text a word begins and ends.
    """

    values: NDArray[np.uint64]
    back: NDArray[np.int32]
    starts: NDArray[np.int32]
    ends: NDArray[np.int32]


@dataclass
class _Names:
    """The names of one file: what those of others are called there, and what its author bound."""

    others: dict[str, str]
    bound: set[str]
    attributes: set[str]


def words_of(text: str, own_modules: Collection[str] = ()) -> Words:
    """Return the words of a text.

    Args:
        text: a Python file, or anything.
        own_modules: modules of the same author, whose names are variables as well.
    """
    lines = list(statements(text))
    names = _names(lines, own_modules)
    values: list[int] = []
    back: list[int] = []
    places: list[tuple[int, int]] = []
    seen: dict[str, int] = {}
    for line in lines:
        for word, variable, start, end in _said(line, names):
            here = len(values)
            values.append(0 if variable else number_of(word))
            back.append(here - seen[word] if variable and word in seen else 0)
            if variable:
                seen[word] = here
            places.append((start, end))
    found = np.array(places, dtype=np.int32).reshape(-1, 2)
    return Words(
        np.array(values, dtype=np.uint64),
        np.array(back, dtype=np.int32),
        found[:, 0].copy(),
        found[:, 1].copy(),
    )


@lru_cache(maxsize=1 << 16)
def number_of(word: str) -> int:
    """Return a number for a word, the same on every machine; never 0."""
    digest = hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def _names(lines: Sequence[list[Token]], own_modules: Collection[str]) -> _Names:
    found = _Names(dict(_USUAL), set(), set())
    for line in lines:
        first = line[0].text
        if first in ("import", "from"):
            _imported(line, own_modules, found.others)
            continue
        assigned = _assigned(line)
        for number, token in enumerate(line):
            before = line[number - 1].text if number else ""
            if token.kind != "name":
                continue
            if before == "def" and number + 1 < len(line):
                found.bound.add(token.text)
                found.attributes.add(token.text)
            elif before in ("class", "for", "as"):
                found.bound.add(token.text)
            elif number < assigned:
                (found.attributes if before == "." else found.bound).add(token.text)
            elif before == "." and number > 1 and line[number - 2].text == "self":
                found.attributes.add(token.text)
        if first == "def" or (first == "async" and len(line) > 1 and line[1].text == "def"):
            found.bound |= set(_parameters(line))
    return found


def _assigned(line: Sequence[Token]) -> int:
    """Return how many tokens stand before the last `=` that no bracket holds; 0 without one."""
    depth = last = 0
    for number, token in enumerate(line):
        if token.kind != "operator":
            continue
        if token.text in "([{":
            depth += 1
        elif token.text in ")]}":
            depth -= 1
        elif token.text == "=" and depth == 0:
            last = number
        elif token.text == ":" and depth == 0:
            # A variable and its annotation, or the head of a block.
            return max(last, 1 if number == 1 and line[0].text not in _KEYWORDS else 0)
    return last


def _parameters(line: Sequence[Token]) -> Iterator[str]:
    depth = 0
    for before, token in pairwise(line):
        if before.text in ("(", "[", "{"):
            depth += 1
        elif before.text in (")", "]", "}"):
            depth -= 1
            if depth <= 0:
                return
        if token.kind == "name" and depth == 1 and before.text in ("(", ",", "*", "**"):
            yield token.text


def _imported(line: Sequence[Token], own_modules: Collection[str], others: dict[str, str]) -> None:
    """Note what an import calls the names of others: each by its own name."""
    texts = [token.text for token in line if token.text not in "()"]
    if texts[0] == "from":
        if "import" not in texts:
            return
        middle = texts.index("import")
        module = texts[1:middle]
        if not module or module[0] == "." or module[0] in own_modules:
            return
        texts = texts[middle:]
    for part in _parted(texts[1:]):
        real = part[: part.index("as")] if "as" in part else part
        if not real or (
            texts[0] == "import" and line[0].text == "import" and real[0] in own_modules
        ):
            continue
        # `import torch.nn` gives the name torch.
        plain = real[0]
        if "as" in part:
            others[part[-1]] = real[-1]
        else:
            others[plain] = plain


def _parted(texts: Sequence[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for text in [*texts, ","]:
        if text == ",":
            if part:
                yield part
            part = []
        else:
            part.append(text)


def _said(line: Sequence[Token], names: _Names) -> Iterator[tuple[str, bool, int, int]]:
    """Yield the words of a logical line: each with whether it is a variable, and its place."""
    if line[0].text in ("import", "from") or all(token.kind == "string" for token in line):
        return
    kept = _without_annotations(line)
    depth = 0
    for number, token in enumerate(kept):
        before = kept[number - 1].text if number else ""
        if token.kind == "operator":
            depth += (token.text in "([{") - (token.text in ")]}")
        if token.text in _LEFT_OUT or token.text in "]}":
            continue
        place = (token.start, token.end)
        if token.kind == "string":
            # One after another they are one text.
            if number == 0 or kept[number - 1].kind != "string":
                yield "''", False, *place
        elif token.kind == "number":
            yield _number(token.text), False, *place
        elif token.kind == "operator" or token.text in _KEYWORDS:
            yield token.text, False, *place
        else:
            follows = kept[number + 1].text if number + 1 < len(kept) else ""
            passed = follows == "=" and depth > 0 and before in ("(", ",")
            yield *_name(token.text, before, passed, names), *place


def _name(text: str, before: str, passed: bool, names: _Names) -> tuple[str, bool]:
    """Return a name as a word, and whether it is a variable."""
    if not text.isascii():
        # As Python reads it.
        text = unicodedata.normalize("NFKC", text[:_LONGEST])
    if passed:
        return f"{text}=", True
    if before == ".":
        own = text in names.attributes
        return (f".{text}", True) if own else (text, False)
    if text in names.others:
        return names.others[text], False
    if text in _BUILTINS and text not in names.bound:
        return text, False
    return text, True


def _number(text: str) -> str:
    try:
        return repr(float(text.replace("_", ""))) if len(text) <= _LONGEST else text
    except ValueError:
        return text.lower()


def _without_annotations(line: Sequence[Token]) -> list[Token]:
    """Return a logical line without what it says of types."""
    start = 1 if line[0].text == "async" else 0
    if len(line) > start and line[start].text == "def":
        return _plain_def(line)
    depth = 0
    for number, token in enumerate(line):
        if token.kind == "operator":
            depth += (token.text in "([{") - (token.text in ")]}")
        if token.text == ":" and depth == 0:
            if not _is_target(line[:number]):
                break
            values = [i for i in range(number, len(line)) if line[i].text == "="]
            # A mere declaration says nothing but a type.
            return [*line[:number], *line[values[0] :]] if values else []
        if token.text == "=" and depth == 0:
            break
    return list(line)


def _is_target(tokens: Sequence[Token]) -> bool:
    """Tell whether what stands before a colon can be annotated; else it heads a block."""
    if not tokens or tokens[0].kind != "name" or tokens[0].text in _KEYWORDS:
        return False
    if len(tokens) == 1:
        return True
    return tokens[0].text not in ("match", "case") and tokens[1].text in (".", "[")


def _plain_def(line: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    depth = 0
    skipping = False
    for number, token in enumerate(line):
        if token.kind == "operator":
            if token.text in ")]}":
                depth -= 1
            if depth == 0 and token.text == ":":
                return [*kept, *line[number:]]
            if depth == 0 and token.text == ")":
                skipping = False
            if depth == 1 and token.text in (",", "="):
                skipping = False
            if token.text == "->" or (depth == 1 and token.text == ":"):
                skipping = True
            if token.text in "([{":
                depth += 1
        if not skipping:
            kept.append(token)
    return kept
