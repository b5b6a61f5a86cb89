"""GitHub's workflow commands: what a step prints becomes notes beside the lines of the code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from autograder.reports.exports.format import Context, Format, lines_of, points
from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.shown import WHOLE, ShownComponent
from autograder.results import SubmissionResult
from autograder.text import clean

_LINES = 12
_LINE = 300
# As facts name a place in a student's file, and as what is held for review begins.
_PLACE = re.compile(r"(?:\(|^)([A-Za-z0-9_]{1,80}\.py), line ([1-9][0-9]{0,6})(?:\)|: it )")


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    seen = context.shown(results[0])
    found = [line for name, part in seen.components.items() for line in _component(name, part)]
    if seen.score is None or not seen.components:
        found.append(_command("error", "", 0, context.title, [seen.message]))
    if seen.score is not None:
        said = [f"{points(seen.score)} of {points(seen.max_score)} points", seen.withheld]
        found.append(_command("notice", "", 0, context.title, said))
    return "\n".join(found) + "\n"


def _component(name: str, component: ShownComponent) -> Iterator[str]:
    file = f"{name}.py"
    if component.status in WHOLE:
        said = [STATUS_WORDS[component.status], *component.notes]
        file, line = _place(said, file)
        kind = "warning" if component.status == "held" else "error"
        yield _command(kind, "" if component.status == "missing" else file, line, name, said)
        return
    lost = [criterion for criterion in component.criteria if not criterion.passed]
    # GitHub shows ten of a step: those that cost most come first.
    for criterion in sorted(lost, key=lambda c: c.score - c.max_score):
        said = lines_of(criterion)
        place = _place(criterion.facts, file)
        yield _command("error", *place, f"{name}: {criterion.title}", said)


def _place(lines: Sequence[str], file: str) -> tuple[str, int]:
    """Return the place that these lines name, else the file and no line."""
    for line in lines:
        found = _PLACE.search(line)
        if found is not None:
            return found[1], int(found[2])
    return file, 0


def _command(kind: str, file: str, line: int, title: str, said: Sequence[str]) -> str:
    about = {"file": file, "line": str(line or ""), "title": clean(title, _LINE)}
    told = ",".join(f"{name}={_property(value)}" for name, value in about.items() if value)
    lines = [clean(words, _LINE) for words in said if words][:_LINES]
    return f"::{kind} {told}::{_data(chr(10).join(lines) or 'not fulfilled')}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = Format(
    "github-annotations", "GitHub's notes beside lines", "one", _write, needs_mark=False
)
