"""What a student is told of a result, as HTML and in a terminal; made of `Shown` alone."""

from __future__ import annotations

from rich.console import Console

from autograder.api.page import Line, Row, page
from autograder.reports.shown import LATE, LINE, Shown, ShownComponent
from autograder.reports.terminal import Printer
from autograder.text import clean, out_of


def component_page(component: ShownComponent, withheld: str = "") -> str:
    """Return the feedback on one component; `withheld` says what it does not show."""
    headline = f"{out_of(component.score, component.max_score)} points"
    told = [Line(words) for words in (*component.said, withheld)]
    told += [Line(words, cause=True) for words in component.causes]
    if component.whole:
        # Every criterion would say the same once more.
        return page(headline, told, [], [])
    rows = [
        Row(
            criterion.title,
            criterion.outcome or ("passed" if criterion.passed else "failed"),
            criterion.score,
            criterion.max_score,
            criterion.lines(component.causes),
            criterion.source if not criterion.passed else "",
            criterion.passed_cases,
            criterion.cases,
        )
        for criterion in component.criteria
    ]
    return page(headline, told, rows, component.views)


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
        for words in (*component.said, *component.causes):
            line(words, "  ")
        for criterion in component.criteria if not component.whole else ():
            if criterion.score < criterion.max_score:
                worth = out_of(criterion.score, criterion.max_score)
                line(f"{worth}: {criterion.title}", "  ")
                for told in criterion.lines(component.causes):
                    line(told.text, "    ")
    if found.withheld:
        line(found.withheld)
    line(f"{found.submission}: {out_of(found.score or 0.0, found.max_score)} points")
