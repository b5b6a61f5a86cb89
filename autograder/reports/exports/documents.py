"""Texts of a form of their own: JUnit's XML, Markdown, and GitHub's workflow commands.

Templates write them, and everything that they show is escaped by the rule of the form.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape as escape_xml

from markupsafe import Markup

from autograder.reports.exports.format import Context, Format, lines_of, points
from autograder.reports.shown import About, ShownComponent
from autograder.results import SubmissionResult
from autograder.text import clean

# GitHub takes 1 MiB of a step's summary.
_MOST = 900_000
# Of a criterion in a summary or a note.
_LINES = 12
_NAME, _LINE, _NOTE = 100, 400, 300
# What Markdown, HTML, or a reader that looks for addresses, people and formulas might act on.
_SIGNS = re.compile(r"""[\\`*_{}\[\]<>()#|~@:&$!^"'+=]|(?<=www)\.""", re.IGNORECASE)
# As facts name a place in a student's file, and as the reason for a review begins.
_PLACE = re.compile(r"(?:\(|^)([A-Za-z0-9_]{1,80}\.py), line ([1-9][0-9]{0,6})(?:\)|: it )")


@functools.cache
def _template(name: str, escape: Callable[[str], str]) -> Any:
    """Return a template of which every value is escaped so, once."""
    # Not above: most commands have no use for it.
    import jinja2

    def finalize(value: Any) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))  # noqa: S704

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__),
        autoescape=True,
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"points": points, "lines_of": lines_of, "code": _code, "cut": _cut}
    environment.tests["lossy"] = _is_lossy
    environment.globals["most"] = _LINES
    return environment.get_template(name)


def _cut(name: str) -> str:
    return clean(name, _NAME)


def _is_lossy(component: ShownComponent) -> bool:
    return bool(component.notes) or not all(criterion.passed for criterion in component.criteria)


def _junit(results: Sequence[SubmissionResult], context: Context) -> str:
    """Write a suite a component and a case a criterion.

    Of several submissions, suites and cases are named by the submission, too.
    """
    seen = [context.shown(result) for result in results]
    parts = [component for one in seen for component in one.components.values()]
    criteria = [criterion for component in parts for criterion in component.criteria]
    # Without components a submission is one case, which says why.
    bare = [one for one in seen if not one.components]
    text: str = _template("junit.xml.jinja", _in_xml).render(
        assignment=context.assignment,
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


def markdown(results: Sequence[SubmissionResult], context: About) -> str:
    """Write a table, the causes and folded details; of a class, as much as there is room for."""
    macros = _template("markdown.md.jinja", _in_markdown).module
    both = [(result, context.shown(result)) for result in results]
    if len(both) == 1:
        whole = _tidy(macros.submission(both[0][1], context.title))
        short = functools.partial(macros.submission, both[0][1], context.title, details=False)
        return _tidy(short()) if _too_long(whole) else whole
    text = _tidy(macros.table(context.title, both))
    if _too_long(text):
        few = f"### {_in_markdown(context.title)}\n\n"
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


def _annotations(results: Sequence[SubmissionResult], context: Context) -> str:
    """Write commands: what a step prints becomes notes beside the lines of the code."""
    seen = context.shown(results[0])
    found = [line for name, part in seen.components.items() for line in _notes(name, part)]
    if seen.score is None or not seen.components:
        found.append(_command("error", "", 0, context.title, [seen.message]))
    if seen.score is not None:
        said = [f"{points(seen.score)} of {points(seen.max_score)} points", seen.withheld]
        found.append(_command("notice", "", 0, context.title, said))
    return "\n".join(found) + "\n"


def _notes(name: str, component: ShownComponent) -> Iterator[str]:
    file = f"{name}.py"
    if component.whole:
        file, line = _place(component.said, file)
        file = "" if component.status == "missing" else file
        kind = "warning" if component.status == "held" else "error"
        yield _command(kind, file, line, name, component.said)
        return
    lost = [criterion for criterion in component.criteria if not criterion.passed]
    # GitHub shows ten of a step: those that cost most come first.
    for criterion in sorted(lost, key=lambda c: c.score - c.max_score):
        place = _place(criterion.facts, file)
        yield _command("error", *place, f"{name}: {criterion.title}", lines_of(criterion))


def _place(lines: Sequence[str], file: str) -> tuple[str, int]:
    """Return the place that these lines name, else the file and no line."""
    found = next(filter(None, map(_PLACE.search, lines)), None)
    return (found[1], int(found[2])) if found else (file, 0)


def _command(kind: str, file: str, line: int, title: str, said: Sequence[str]) -> str:
    about = {"file": file, "line": str(line or ""), "title": clean(title, _NOTE)}
    told = ",".join(f"{name}={_property(value)}" for name, value in about.items() if value)
    lines = [clean(words, _NOTE) for words in said if words][:_LINES]
    return f"::{kind} {told}::{_data(chr(10).join(lines) or 'not fulfilled')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS = (
    Format("junit", "JUnit's XML, for CI", "either", _junit, needs_mark=False),
    Format("markdown", "for a job summary", "either", markdown, needs_mark=False),
    Format(
        "github-annotations", "GitHub's notes beside lines", "one", _annotations, needs_mark=False
    ),
)
