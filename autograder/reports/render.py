"""Templates, and what makes a page whole: its style, its scripts, and its policy."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Sequence
from datetime import UTC
from importlib import resources
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from autograder.text import clean, counted, points

if TYPE_CHECKING:
    import jinja2

_PAGES = "autograder.reports.pages"
# Colours of the map, by letter; what is in none of them earned a part.
_COLOURS = {"0": "l", "t": "t", "c": "c", "e": "e", "-": "u"}


def environment(package: str, **options: Any) -> jinja2.Environment:
    """Return the environment of a package's templates: all is escaped, and nothing is undefined."""
    # Not above: most commands have no use for it.
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )


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
    return _pages().get_template(template).render({**values, **own})


@functools.cache
def _pages() -> jinja2.Environment:
    made = environment(_PAGES)
    made.filters |= {"breakable": _breakable, "clean": clean, "counted": counted}
    made.filters["runs"] = _runs
    made.filters["points"] = lambda value: "" if value is None else points(value)
    made.filters["utc"] = lambda now: f"{now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    made.tests["lost"] = lambda one: one.max_score > one.score or one.passed is False
    return made


def _breakable(name: str) -> Markup:
    """Return a name that a narrow column may break behind its dots and underscores."""
    return Markup("<wbr>").join(re.split(r"(?<=[._])", name))


def _runs(letters: str) -> dict[str, str]:
    """Return the lines of each colour over a row of letters; what passed is not painted."""
    found: dict[str, str] = {}
    for run in re.finditer(r"([^A])\1*", letters):
        kind = _COLOURS.get(run[1], "p")
        found[kind] = f"{found.get(kind, '')}M{run.start()} .5h{len(run[0])}"
    return found


@functools.cache
def _file(name: str) -> Markup:
    """Return a file of the pages."""
    folder = resources.files(_PAGES) / "templates"
    return Markup((folder / name).read_text(encoding="utf-8"))  # noqa: S704


@functools.cache
def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
