"""What a student is told of a component's result, as HTML; it reads results and nothing else."""

from __future__ import annotations

from autograder.results import ComponentResult
from autograder.suite.page import CAUSE, Row, page
from autograder.text import clean

_STATUS = {
    "graded": "",
    "missing": "The file was not handed in.",
    "not_attempted": "Not attempted: the file is still the stub.",
    "import_error": "The file cannot be imported.",
    "timeout": "It took too long; what came after was not run.",
    "crashed": "Its process died; what came after was not run.",
    "forbidden": "It calls an operation that is not allowed here.",
}
_MESSAGE = 1000


def component_page(component: ComponentResult) -> str:
    """Return the feedback on one component."""
    headline = f"{component.score:g} of {component.max_score:g} points"
    said = {line for criterion in component.criteria for line in criterion.message.splitlines()}
    told = [_STATUS[component.status]]
    for line in component.message.splitlines():
        told.append(CAUSE + line if CAUSE + line in said else line)
    notes = [clean(line, _MESSAGE) for line in told]
    if component.status in ("missing", "not_attempted", "import_error", "forbidden"):
        # Every criterion would say the same once more.
        return page(headline, notes, [], [])
    rows = [
        Row(
            clean(criterion.title),
            criterion.outcome,
            criterion.score,
            criterion.max_score,
            "\n".join(
                # Said at the top: every criterion would say the same once more.
                f"{CAUSE}as above" if line in told else clean(line, _MESSAGE)
                for line in criterion.message.splitlines()
            ),
            criterion.source if not criterion.passed else "",
        )
        for criterion in component.criteria
    ]
    return page(headline, notes, rows, component.views)


def fault_page(message: str) -> str:
    """Return the feedback where there is no mark for a component."""
    return page("No mark", [clean(message, _MESSAGE)], [], [])
