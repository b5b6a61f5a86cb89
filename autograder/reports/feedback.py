"""What a student is told of a result, as HTML and in a terminal; made of `Shown` alone."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from autograder.api.page import Line, Row, page
from autograder.reports.shown import LATE, LINE, WHOLE, Shown, ShownComponent, ShownCriterion
from autograder.reports.terminal import Printer
from autograder.text import clean, out_of

STATUS_WORDS = {
    "graded": "",
    "missing": "The file was not handed in.",
    "not_attempted": "Not attempted: the file is still the stub.",
    "import_error": "The file cannot be imported.",
    "timeout": "Its time was over; what came after was not run.",
    "crashed": "Its process died; what came after was not run.",
    "forbidden": "It calls an operation that is not allowed here.",
    "held": "Held for review: it was not run, and has no points before your instructor accepts it.",
}


def component_page(component: ShownComponent, withheld: str = "") -> str:
    """Return the feedback on one component; `withheld` says what it does not show."""
    headline = f"{out_of(component.score, component.max_score)} points"
    told = [Line(words) for words in (STATUS_WORDS[component.status], *component.notes, withheld)]
    told += [Line(words, cause=True) for words in component.causes]
    if component.status in WHOLE:
        # Every criterion would say the same once more.
        return page(headline, told, [], [])
    rows = [
        Row(
            criterion.title,
            criterion.outcome or ("passed" if criterion.passed else "failed"),
            criterion.score,
            criterion.max_score,
            lines_of(criterion, component.causes),
            criterion.source if not criterion.passed else "",
            criterion.passed_cases,
            criterion.cases,
        )
        for criterion in component.criteria
    ]
    return page(headline, told, rows, component.views)


def lines_of(criterion: ShownCriterion, said: Sequence[str]) -> list[Line]:
    """Return what a student is told of a criterion; `said` are the causes told before."""
    lines = [*criterion.facts, *(f"hint: {hint}" for hint in criterion.hints)]
    causes = (Line(words, cause=True) for words in _as_above(criterion, said))
    return [*map(Line, lines), *causes]


def _as_above(criterion: ShownCriterion, said: Sequence[str]) -> list[str]:
    # Every criterion would say the same once more.
    return ["as above" if words in said else words for words in criterion.causes]


def fault_page(message: str) -> str:
    """Return the feedback where there is no mark for a component."""
    return page("No mark", [Line(clean(message, LINE))], [], [])


def print_single(console: Console, found: Shown) -> None:
    """Print the points of one submission, and the reasons for each that is lost."""
    line = Printer(console).line
    if found.late:
        line(LATE)
    if found.status != "graded":
        line(f"{found.submission}: {found.status}: {found.message}")
        return
    for name, component in found.components.items():
        line(f"{name}: {out_of(component.score, component.max_score)}")
        status = STATUS_WORDS[component.status]
        for words in filter(None, (status, *component.notes, *component.causes)):
            line(words, "  ")
        for criterion in component.criteria if component.status not in WHOLE else ():
            if criterion.score < criterion.max_score:
                worth = out_of(criterion.score, criterion.max_score)
                line(f"{worth}: {criterion.title}", "  ")
                hints = (f"hint: {hint}" for hint in criterion.hints)
                causes = _as_above(criterion, component.causes)
                for words in (*criterion.facts, *causes, *hints):
                    line(words, "    ")
    if found.withheld:
        line(found.withheld)
    line(f"{found.submission}: {out_of(found.score or 0.0, found.max_score)} points")
