"""Reads what was exported as its consumer would: whether it is well formed, and the marks."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Any

import junitparser
import xmlschema
from jsonschema import validate
from markdown_it import MarkdownIt

from autograder.grading.tables import raw
from tests.reports.exports import schemas

_JUNIT = xmlschema.XMLSchema(schemas.JUNIT)
_COMMAND = re.compile(r"::(error|warning|notice) ([^:\n\r]*)::([^\n\r]*)")
_TAGS = {
    *("h3", "p", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "strong", "code"),
    *("details", "summary"),
}


def rows(text: str) -> list[list[str]]:
    """Return the cells of a table, all rows as wide as its header."""
    found = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in found} == {len(found[0])}
    return found


def junit(text: str) -> Any:
    assert _JUNIT.is_valid(text), list(_JUNIT.iter_errors(text))
    return junitparser.JUnitXml.fromstring(text.encode())


class _Page(HTMLParser):
    """Collects tags, attributes and the texts that stand in no code."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[Any] = []
        self.plain = ""
        self.code = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        self._depth += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag == "code"

    def handle_data(self, data: str) -> None:
        if self._depth:
            self.code += data
        else:
            self.plain += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    handle_decl = unknown_decl = handle_pi = handle_comment


def markdown(text: str) -> _Page:
    """Return what a browser gets, of which all is ours but texts."""
    page = _Page()
    page.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))
    page.close()
    assert page.tags <= _TAGS, page.tags
    assert all(name == "style" for name, _ in page.attributes), page.attributes
    return page


def annotations(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Return commands as GitHub parses them: kind, properties, message."""
    found = []
    for line in text.removesuffix("\n").split("\n"):
        match = _COMMAND.fullmatch(line)
        assert match is not None, line
        about = dict(part.split("=", 1) for part in match[2].split(","))
        assert set(about) <= {"file", "line", "title"}
        found.append((match[1], {k: _plain(v) for k, v in about.items()}, _plain(match[3])))
    return found


def _plain(text: str) -> str:
    for sign, said in ((":", "%3A"), (",", "%2C"), ("\n", "%0A"), ("\r", "%0D"), ("%", "%25")):
        text = text.replace(said, sign)
    return text


def checked(name: str, text: str) -> Any:
    """Return JSON that holds to its schema."""
    found = json.loads(text)
    schema = {
        "gradescope": schemas.GRADESCOPE,
        "classroom50": schemas.CLASSROOM50,
        "autolab": schemas.AUTOLAB,
    }.get(name, True)
    validate(found, schema)
    return found


def marks(name: str, text: str) -> tuple[float, float | None]:
    """Return the score and the most there is, as the consumer reads them."""
    match name:
        case "junit":
            properties = [{p.name: p.value for p in suite.properties()} for suite in junit(text)]
            score = sum(float(p["score"]) for p in properties)
            return score, sum(float(p["max_score"]) for p in properties)
        case "markdown":
            said = markdown(text).plain
        case "github-annotations":
            said = annotations(text)[-1][2]
        case "gradescope":
            found = checked(name, text)
            return found["score"], sum(t["max_score"] for t in found["tests"]) or None
        case "classroom50":
            found = checked(name, text)
            return found["score"] / 100, found["max-score"] / 100
        case "autolab":
            return sum(checked(name, text)["scores"].values()), None
        case "json":
            found = checked(name, text)
            return found["score"], found["max_score"]
        case "canvas":
            most, person = rows(text)[1:]
            return float(person[-1]), float(most[-1])
        case _:
            header, person = rows(text)
            cells = {title: raw(cell) for title, cell in zip(header, person, strict=True)}
            most = cells.get("max_score")
            return float(cells["score" if most else "grade"]), float(most) if most else None
    match_ = re.search(r"([\d.]+) of ([\d.]+) points", said)
    assert match_ is not None
    return float(match_[1]), float(match_[2])
