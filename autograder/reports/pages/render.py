"""Templates, and what makes a page whole: its style, its scripts, its data, and its policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

# What could end the element that holds data, or a line of a script, stands as an escape.
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


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


def data(value: Any) -> Markup:
    """Return JSON that may stand in a script element: it cannot end it, whatever is in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # No text of it reaches HTML unescaped.
    return Markup(text.translate(_ESCAPED))  # noqa: S704


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"breakable": _breakable, "counted": _counted, "utc": _utc}
    environment.tests["lost"] = lambda one: one.max_score > one.score or one.passed is False
    return environment


def _breakable(name: str) -> Markup:
    """Return a name that a narrow column may break behind its dots and underscores."""
    return Markup("<wbr>").join(re.split(r"(?<=[._])", name))


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


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
