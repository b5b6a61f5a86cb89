"""Templates, and what makes a page whole: its style, its scripts, its data, and its policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

# What could end the element that holds data, or a line of a script, stands as an escape.
_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def page(template: str, scripts: Sequence[str], values: dict[str, Any]) -> str:
    """Return a whole HTML document, which loads nothing and runs its own scripts alone.

    Args:
        template: the name of its template.
        scripts: the names of its scripts.
        values: what the template shows; it escapes every text.
    """
    texts = [_file(name) for name in scripts]
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in texts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    own = {
        "policy": policy,
        # Files of this package.
        "style": Markup(_file("pages.css")),  # noqa: S704
        "scripts": [Markup(text) for text in texts],  # noqa: S704
    }
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
    environment.filters["breakable"] = _breakable
    return environment


def _breakable(name: str) -> Markup:
    """Return a name that a narrow column may break behind its dots and underscores."""
    parts = re.split(r"(?<=[._])", name)
    return Markup("<wbr>").join(parts)


@functools.cache
def _file(name: str) -> str:
    folder = resources.files(__package__) / "templates"
    return (folder / name).read_text(encoding="utf-8")


@functools.cache
def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
