"""Text from outside, made safe to show; words that several rooms join in the same way."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence


def clean(text: str, limit: int = 300) -> str:
    """Make hostile text safe for a terminal: one line, printable, at most `limit` characters."""
    shown = "".join(c if c.isprintable() else " " for c in text[: 4 * limit])
    shown = re.sub(r"\s+", " ", shown).strip()
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def points(value: float) -> str:
    """Return a number of points as people read it: with two decimals at most."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def out_of(score: float, most: float) -> str:
    """Return how many points there are of how many."""
    return f"{points(score)} of {points(most)}"


def counted(number: float, one: str, several: str = "") -> str:
    """Return a number of things; by default an s is added to their name, except for one."""
    found = points(number)
    return f"{found} {one if found == '1' else several or f'{one}s'}"


def did_you_mean(word: str, known: Iterable[str], form: str = "{}") -> str:
    """Return the question for the word that is nearest, written in a form; nothing if none is."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {form.format(near[0])}?" if near else ""


# How the words of two mistakes begin and are joined.
BOTH, AND = "both of these: ", "; and "


def together(words: Sequence[str]) -> str:
    """Join the words of mistakes that are there at once: one, or two."""
    return (BOTH if len(words) > 1 else "") + AND.join(words)
