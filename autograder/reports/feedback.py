"""What a student is told of a component's result, as HTML; it reads results and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.results import ComponentResult, CriterionResult
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
}
_MESSAGE = 1000


def component_page(component: ComponentResult) -> str:
    """Return the feedback on one component."""
    headline = f"{component.score:g} of {component.max_score:g} points"
    notes = [STATUS_WORDS[component.status], *component.notes]
    told = [Line(clean(note, _MESSAGE)) for note in notes]
    told += [Line(clean(words, _MESSAGE), cause=True) for words in component.causes]
    if component.status in ("missing", "not_attempted", "import_error", "forbidden"):
        # Every criterion would say the same once more.
        return page(headline, told, [], [])
    rows = [
        Row(
            clean(criterion.title),
            criterion.outcome,
            criterion.score,
            criterion.max_score,
            _lines(criterion, component.causes),
            criterion.source if not criterion.passed else "",
            criterion.passed_cases,
            criterion.cases,
        )
        for criterion in component.criteria
    ]
    return page(headline, told, rows, component.views)


def _lines(criterion: CriterionResult, said: Sequence[str]) -> list[Line]:
    lines = [*criterion.facts, *(f"hint: {hint}" for hint in criterion.hints)]
    return [Line(clean(line, _MESSAGE)) for line in lines] + [
        # Said at the top: every criterion would say the same once more.
        Line("as above" if words in said else clean(words, _MESSAGE), cause=True)
        for words in criterion.causes
    ]


def fault_page(message: str) -> str:
    """Return the feedback where there is no mark for a component."""
    return page("No mark", [Line(clean(message, _MESSAGE))], [], [])
