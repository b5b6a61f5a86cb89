"""What a student is told of a component, as HTML; it reads what is shown and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.reports.shown import LINE, WHOLE, ShownComponent, ShownCriterion
from autograder.suite.page import Line, Row, page
from autograder.text import clean

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
    headline = f"{component.score:g} of {component.max_score:g} points"
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
    return [Line(line) for line in lines] + [
        # Said at the top: every criterion would say the same once more.
        Line("as above" if words in said else words, cause=True)
        for words in criterion.causes
    ]


def fault_page(message: str) -> str:
    """Return the feedback where there is no mark for a component."""
    return page("No mark", [Line(clean(message, LINE))], [], [])
