"""The examples of docs/authoring.md and docs/recipes.md, as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "authoring.md"
RECIPES = ROOT / "docs" / "recipes.md"
_FENCED = re.compile(r"^(`{3,})([a-z]*)\n(.*?)^\1$", re.M | re.S)
# The line before a block may end in the file that it is.
_PLACE = re.compile(r"`([\w.-]+(?:/[\w.-]+)+)`:\s*\Z")


@dataclass(frozen=True)
class Example:
    """One fenced block.

    Attributes:
        language: what the fence says.
        text: what stands in it.
        place: the file that the words before it call it, or "".
        section: the heading above it, of the second level.
        line: where it begins.
    """

    language: str
    text: str
    place: str
    section: str
    line: int


def examples(source: Path = PAGE) -> Iterator[Example]:
    """Yield the blocks of a page, in order."""
    page = source.read_text(encoding="utf-8")
    for found in _FENCED.finditer(page):
        before = page[: found.start()]
        place = _PLACE.search(before)
        section = re.findall(r"^##? (.*)$", _FENCED.sub("", before), re.M)[-1]
        line = before.count("\n") + 1
        yield Example(found[2], found[3], place[1] if place else "", section, line)


def write_course(root: Path, source: Path = PAGE, name: str = "examples") -> Path:
    """Write the course that a page's examples make up; return its folder.

    Blocks of one file stand in it one after the other.
    """
    for example in examples(source):
        if f"/{name}/" in example.place:
            path = root / example.place
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(("\n\n" if file.tell() else "") + example.text)
    (root / "assignments" / name / "README.md").write_text("# Examples\n")
    return root
