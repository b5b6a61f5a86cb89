"""Pages as a browser would take them apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import NamedTuple
from urllib.parse import unquote

_VOID = {"meta", "br", "img", "input", "link", "hr", "wbr", "col", "rect", "path"}


@dataclass
class Element:
    """An element, its attributes, and what is in it."""

    tag: str
    attributes: dict[str, str | None]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text in it, with single spaces."""
        return " ".join("".join(self._texts()).split())

    def _texts(self) -> list[str]:
        return [
            part
            if isinstance(part, str)
            else "".join(part._texts()) + ("" if part.tag == "wbr" else " ")
            for part in self.inside
        ]

    def all(self, tag: str = "", kind: str = "") -> list[Element]:
        """Return the elements in it of this tag, and of this class."""
        found = []
        for part in self.inside:
            if isinstance(part, Element):
                classes = (part.attributes.get("class") or "").split()
                if (not tag or part.tag == tag) and (not kind or kind in classes):
                    found.append(part)
                found += part.all(tag, kind)
        return found

    def named(self, name: str) -> Element:
        """Return the element in it with this id."""
        (found,) = [part for part in self.all() if part.attributes.get("id") == name]
        return found

    def section(self, name: str) -> Element:
        """Return the section whose heading has this id."""
        return next(e for e in self.all("section") if e.attributes.get("aria-labelledby") == name)

    def rows(self, label: str) -> list[list[str]]:
        """Return the cells of the table with this label, without its head."""
        (region,) = [e for e in self.all("div", "scroll") if e.attributes["aria-label"] == label]
        return [
            [cell.text for cell in row.all() if cell.tag in ("th", "td")]
            for row in region.all("tbody")[0].all("tr")
        ]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = Element(tag, dict(attrs))
        self.open[-1].inside.append(found)
        if tag not in _VOID:
            self.open.append(found)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parsed(html: str) -> Element:
    """Return a page whose elements all end where they should."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    assert len(parser.open) == 1, parser.open[-1].tag
    return parser.open[0]


class Student(NamedTuple):
    """A row of the students' table, as it is there."""

    id: str
    file: str
    standing: str
    score: float | None
    points: list[float | None]
    cells: str
    remarks: str


def students(page: Element) -> list[Student]:
    """Return the rows of the students on the page of a class."""
    found = []
    for row in page.named("rows").all("tbody")[0].all("tr"):
        (link,), (score, *parts, remarks) = row.all("a"), row.all("td")
        value = score.attributes["data-value"]
        found.append(
            Student(
                link.text,
                unquote(link.attributes["href"] or ""),
                score.text if score.text.isalpha() else "graded",
                float(value) if value else None,
                [float(part.text) if part.text else None for part in parts],
                "".join(svg.attributes["data-cells"] or "" for svg in row.all("svg")),
                remarks.text,
            )
        )
    return found
