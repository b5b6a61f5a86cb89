"""Markdown for a job summary or a comment: a table, the causes, and folded details."""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.reports.exports.format import Context, Format, lines_of, points
from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.shown import WHOLE, Shown, ShownComponent, ShownCriterion
from autograder.results import SubmissionResult
from autograder.text import clean

# GitHub takes 1 MiB of a step's summary.
_MOST = 900_000
_LINES = 12
_LINE = 400
# What Markdown, HTML, or a reader that looks for addresses, people and formulas might act on.
_SIGNS = re.compile(r"""[\\`*_{}\[\]<>()#|~@:&$!^"'+=]|(?<=www)\.""", re.IGNORECASE)


def escaped(text: str, limit: int = _LINE) -> str:
    """Return text that Markdown shows as it is, in one line."""
    return _SIGNS.sub(lambda found: f"&#{ord(found[0])};", clean(text, limit))


def code(text: str, limit: int = _LINE) -> str:
    """Return a student's text: as code, in which nobody is mentioned and nothing is linked."""
    found = escaped(text, limit)
    return f"<code>{found}</code>" if found else ""


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    seen = context.shown(results[0])
    parts = [f"### {escaped(context.title)}: {_total(seen)}"]
    if seen.message:
        parts.append(code(seen.message))
    if seen.components:
        parts.append(_table(seen))
        causes = [
            f"- **{escaped(name)}**: likely cause: {code(words)}"
            for name, component in seen.components.items()
            for words in component.causes
        ]
        if causes:
            parts.append("\n".join(causes))
    if seen.withheld:
        parts.append(escaped(seen.withheld))
    details = [_details(name, component) for name, component in seen.components.items()]
    whole = "\n\n".join([*parts, *filter(None, details)]) + "\n"
    if len(whole.encode()) > _MOST:
        whole = "\n\n".join([*parts, "The details are too long to be shown here."]) + "\n"
    return whole


def _total(seen: Shown) -> str:
    if seen.score is None:
        return "no mark"
    return f"{points(seen.score)} of {points(seen.max_score)} points"


def _table(seen: Shown) -> str:
    rows = ["| | component | points | checks that pass |", "|---|---|---:|---:|"]
    for name, component in seen.components.items():
        full = component.score == component.max_score
        passed = sum(bool(criterion.passed) for criterion in component.criteria)
        rows.append(
            f"| {'✅' if full else '❌'} | {escaped(name)} | {points(component.score)} of "
            f"{points(component.max_score)} | {passed} of {len(component.criteria)} |"
        )
    return "\n".join(rows)


def _details(name: str, component: ShownComponent) -> str:
    """Return what a component lost, folded; nothing where it lost nothing."""
    if all(criterion.passed for criterion in component.criteria) and not component.notes:
        return ""
    lines = []
    said = [STATUS_WORDS[component.status], *component.notes]
    lines += [f"- {code(words)}" for words in said[:_LINES] if words]
    if component.status not in WHOLE:
        lines += [_criterion(c) for c in component.criteria if not c.passed]
    head = f"{escaped(name)}: {points(component.score)} of {points(component.max_score)}"
    return "\n\n".join(
        [f"<details><summary>{head}</summary>", "\n".join(lines) or "-", "</details>"]
    )


def _criterion(criterion: ShownCriterion) -> str:
    worth = f"{points(criterion.score)} of {points(criterion.max_score)}"
    source = f" ({escaped(criterion.source)})" if criterion.source else ""
    head = f"- ❌ {escaped(criterion.title)}{source}: {worth}"
    return "\n".join([head, *(f"  - {code(line)}" for line in lines_of(criterion)[:_LINES])])


FORMAT = Format("markdown", "for a job summary", "one", _write, needs_mark=False)
