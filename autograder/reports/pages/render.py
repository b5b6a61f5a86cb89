"""Templates, and what makes a page whole: its style, its scripts, its data, and its policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from autograder.text import counted, points

# Colours of the map, by letter; what is in none of them earned a part.
_COLOURS = {"0": "l", "t": "t", "c": "c", "e": "e", "-": "u"}


def page(template: str, scripts: Sequence[str], values: dict[str, Any]) -> str:
    """Return a whole HTML document, which loads nothing and runs its own scripts alone.

    The template escapes every text of `values`.
    """
    files = {name: _file(name) for name in scripts}
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in files.values())
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    own = {"policy": policy, "style": _file("pages.css"), "scripts": files.values()}
    return _environment().get_template(template).render({**values, **own})


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "breakable": _breakable,
        "counted": counted,
        "points": _points,
        "runs": _runs,
        "utc": _utc,
    }
    environment.tests["lost"] = lambda one: one.max_score > one.score or one.passed is False
    return environment


def _breakable(name: str) -> Markup:
    """Return a name that a narrow column may break behind its dots and underscores."""
    return Markup("<wbr>").join(re.split(r"(?<=[._])", name))


def _points(value: float | None) -> str:
    return "" if value is None else points(value)


def _runs(letters: str) -> dict[str, str]:
    """Return the lines of each colour over a row of letters; what passed is not painted."""
    found: dict[str, str] = {}
    place = 0
    for letter, group in itertools.groupby(letters):
        length = len(list(group))
        if letter != "A":
            kind = _COLOURS.get(letter, "p")
            found[kind] = f"{found.get(kind, '')}M{place} .5h{length}"
        place += length
    return found


def _utc(now: datetime) -> str:
    return f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


@functools.cache
def _file(name: str) -> Markup:
    """Return a file of this package."""
    folder = resources.files(__package__) / "templates"
    return Markup((folder / name).read_text(encoding="utf-8"))  # noqa: S704


@functools.cache
def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
