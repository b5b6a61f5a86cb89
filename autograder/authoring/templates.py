"""Text that is generated: the templates beside this module, filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import jinja2

from autograder.project import FOLDERS

_SUFFIX = ".jinja"
_PARTS = dict(zip(("public", "secret"), FOLDERS, strict=True))
_FOLDER = resources.files(__package__) / "templates"
_ENVIRONMENT = jinja2.Environment(  # noqa: S701 - Python, TOML and Markdown, and no HTML
    undefined=jinja2.StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)
# Strings of JSON are those of TOML, too; without this it would write `'` as HTML needs it.
_ENVIRONMENT.filters["tojson"] = json.dumps


def text_of(template: str, **values: Any) -> str:
    """Return one template, filled in."""
    source = (_FOLDER / f"{template}{_SUFFIX}").read_text(encoding="utf-8")
    return _ENVIRONMENT.from_string(source).render(values)


def write(
    folder: str, into: Path, values: Mapping[str, Any], components: Sequence[str] = ()
) -> None:
    """Write the files of a folder of templates; those about a component once for each.

    In their paths `public/` and `secret/` are the two folders of the assignment, `COMPONENT` is a
    component, `dot_` a dot.
    """
    for relative in _files(_FOLDER / folder):
        for component in components if "COMPONENT" in relative else ("",):
            place = relative.replace("COMPONENT", component)
            for part, of in _PARTS.items():
                place = re.sub(f"^{part}/", f"{of}/{values['name']}/", place)
            path = into / re.sub(r"(^|/)dot_", r"\1.", place)
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text_of(f"{folder}/{relative}", **{**values, "component": component})
            path.write_text(text, encoding="utf-8")


def _files(folder: Traversable, above: str = "") -> Iterator[str]:
    """Yield the relative paths of the templates in a folder, without their suffix."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{above}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield above + entry.name.removesuffix(_SUFFIX)
