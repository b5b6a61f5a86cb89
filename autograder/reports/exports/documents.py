"""Texts of a form of their own: JUnit's XML, Markdown, and GitHub's workflow commands.

Templates write them, and everything that they show is escaped by the rule of the form.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any
from xml.sax.saxutils import escape as escape_xml

from markupsafe import Markup

from autograder.reports.exports.objects import points
from autograder.reports.render import environment
from autograder.reports.shown import About, ShownComponent
from autograder.results import SubmissionResult
from autograder.text import clean

# GitHub takes 1 MiB of a step's summary.
_MOST = 900_000
# Of a criterion in a summary or a note.
_LINES = 12
_NAME, _LINE = 100, 400
# What Markdown, HTML, or a reader that looks for addresses, people and formulas might act on.
_SIGNS = re.compile(r"""[\\`*_{}\[\]<>()#|~@:&$!^"'+=]|(?<=www)\.""", re.IGNORECASE)
# As facts name a place in a student's file, and as the reason for a review begins.
_PLACE = re.compile(r"(?:\(|^)([A-Za-z0-9_]{1,80}\.py), line ([1-9][0-9]{0,6})(?:\)|: it )")


@functools.cache
def _template(name: str, escape: Callable[[str], str]) -> Any:
    """Return a template of which every value is escaped so, once."""

    def finalize(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704

    made = environment(__package__, finalize=finalize)
    made.filters |= {"points": points, "code": _code, "cut": clean, "property": _property}
    made.filters["place"] = _place
    made.tests["lossy"] = _is_lossy
    made.globals["most"] = _LINES
    return made.get_template(name)


def _is_lossy(component: ShownComponent) -> bool:
    return bool(component.notes) or not all(criterion.passed for criterion in component.criteria)


def junit(results: Sequence[SubmissionResult], about: About) -> str:
    """Write a suite a component and a case a criterion.

    Of several submissions, suites and cases are named by the submission, too.
    """
    seen = [about.shown(result) for result in results]
    parts = [component for one in seen for component in one.components.values()]
    criteria = [criterion for component in parts for criterion in component.criteria]
    # Without components a submission is one case, which says why.
    bare = [one for one in seen if not one.components]
    text: str = _template("junit.xml.jinja", _in_xml).render(
        assignment=about.assignment,
        submissions=seen,
        tests=len(criteria) + len(bare),
        failures=sum(not c.passed for c in criteria) + sum(one.score is not None for one in bare),
        errors=sum(one.score is None for one in bare),
    )
    return f"{text}\n"


def _in_xml(text: str) -> str:
    # GitHub would run these, were they printed in a log.
    text = escape_xml(text, {'"': "&quot;"})
    return text.replace("##[", "&#35;#[").replace("::", "&#58;:")


def _in_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _SIGNS.sub(lambda found: f"&#{ord(found[0])};", clean(text, _LINE))


def _code(text: str, limit: int = _LINE) -> Markup:
    """Return a student's text: as code, in which nobody is mentioned and nothing is linked."""
    found = _in_markdown(clean(text, limit))
    return Markup(f"<code>{found}</code>" if found else "")  # noqa: S704


def markdown(results: Sequence[SubmissionResult], about: About) -> str:
    """Write a table, the causes and folded details; of a class, as much as there is room for."""
    macros = _template("markdown.md.jinja", _in_markdown).module
    both = [(result, about.shown(result)) for result in results]
    if len(both) == 1:
        whole = _tidy(macros.submission(both[0][1], about.title))
        short = functools.partial(macros.submission, both[0][1], about.title, details=False)
        return _tidy(short()) if _too_long(whole) else whole
    text = _tidy(macros.table(about.title, both))
    if _too_long(text):
        few = f"### {_in_markdown(about.title)}\n\n"
        return f"{few}{len(both)} submissions are too many to be shown here.\n"
    for number, (_, seen) in enumerate(both):
        longer = f"{text}\n{_tidy(macros.submission(seen, _code(seen.submission, _NAME)))}"
        if _too_long(longer):
            return f"{text}\nThe other {len(both) - number} are too long to be shown here.\n"
        text = longer
    return text


def _tidy(text: str) -> str:
    """Leave one empty line between paragraphs; no text of a result has a line's end."""
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def _too_long(text: str) -> bool:
    return len(text.encode()) > _MOST


def github_annotations(results: Sequence[SubmissionResult], about: About) -> str:
    """Write commands: what a step prints becomes notes beside the lines of the code."""
    template = _template("annotations.txt.jinja", _in_command)
    text: str = template.render(seen=about.shown(results[0]), title=about.title)
    return text


def _place(lines: Sequence[str], file: str) -> tuple[str, int]:
    """Return the place that these lines name, else the file and no line."""
    found = next(filter(None, map(_PLACE.search, lines)), None)
    return (found[1], int(found[2])) if found else (file, 0)


def _in_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> Markup:
    """Return the value of a command's property."""
    found = _in_command(text).replace(":", "%3A").replace(",", "%2C")
    return Markup(found)  # noqa: S704
