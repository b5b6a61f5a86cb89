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
_NAME = 100
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
    if len(results) != 1:
        return _class(results, context)
    seen = context.shown(results[0])
    parts, details = _submission(seen, f"{escaped(context.title)}: {_total(seen)}")
    whole = "\n\n".join([*parts, *details]) + "\n"
    if _too_long(whole):
        whole = "\n\n".join([*parts, "The details are too long to be shown here."]) + "\n"
    return whole


def _class(results: Sequence[SubmissionResult], context: Context) -> str:
    """Return a table with a row a submission, then what can be told of each, as long as it fits."""
    rows = ["| submission | points | |", "|---|---:|---|"]
    told = []
    for result in results:
        seen = context.shown(result)
        name = code(seen.submission, _NAME)
        rows.append(f"| {name} | {_total(seen)} | {_status(result, seen)} |")
        parts, details = _submission(seen, f"{name}: {_total(seen)}")
        told.append("\n\n".join([*parts, *details]))
    title = f"### {escaped(context.title)}"
    whole = f"{title}\n\n" + "\n".join(rows)
    if _too_long(whole):
        return f"{title}\n\n{len(results)} submissions are too many to be shown here.\n"
    for number, text in enumerate(told):
        longer = f"{whole}\n\n{text}"
        if _too_long(longer):
            return f"{whole}\n\nThe other {len(told) - number} are too long to be shown here.\n"
        whole = longer
    return whole + "\n"


def _status(result: SubmissionResult, seen: Shown) -> str:
    """Return why there is no more than a number, or what it says beside the number."""
    if seen.message:
        return code(seen.message)
    return "" if result.standing == "graded" else escaped(result.standing)


def _submission(seen: Shown, title: str) -> tuple[list[str], list[str]]:
    """Return what is always told of a submission, and its details."""
    parts = [f"### {title}"]
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
    return parts, [found for found in details if found]


def _too_long(text: str) -> bool:
    return len(text.encode()) > _MOST


def _total(seen: Shown) -> str:
    if seen.score is None:
        return "no mark"
    return f"{points(seen.score)} of {points(seen.max_score)} points"


def _table(seen: Shown) -> str:
    rows = ["| | component | points | checks that pass |", "|---|---|---:|---:|"]
    for name, component in seen.components.items():
        sign = "✅" if component.score == component.max_score else "❌"
        sign = "⏳" if component.status == "held" else sign
        passed = sum(bool(criterion.passed) for criterion in component.criteria)
        rows.append(
            f"| {sign} | {escaped(name)} | {points(component.score)} of "
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


FORMAT = Format("markdown", "for a job summary", "either", _write, needs_mark=False)
