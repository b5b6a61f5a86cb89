"""What a student may see of a result, in a terminal; it reads results and nothing else."""

from __future__ import annotations

from rich.console import Console

from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.terminal import safe
from autograder.results import ComponentResult, CriterionResult, SubmissionResult

_LINE = 1000


def print_single(console: Console, result: SubmissionResult) -> None:
    """Print the points of one submission, and what is behind each that is lost."""
    if result.status != "graded":
        _line(console, f"{result.submission}: {result.status}: {result.message}")
        return
    for name, component in result.components.items():
        _component(console, name, component)
    if result.standing == "empty":
        _line(console, f"there is no file of {result.assignment} in it")
    _line(console, f"{result.submission}: {result.score:g} of {result.max_score:g} points")


def _component(console: Console, name: str, component: ComponentResult) -> None:
    _line(console, f"{name}: {component.score:g} of {component.max_score:g}")
    said = list(filter(None, (STATUS_WORDS[component.status], *component.notes)))
    for words in (*said, *component.causes):
        _line(console, f"  {words}")
    if component.status in ("missing", "not_attempted", "import_error", "forbidden"):
        # Every criterion would say the same once more.
        return
    for criterion in component.criteria:
        if criterion.score < criterion.max_score:
            _criterion(console, criterion, component.causes)


def _criterion(console: Console, criterion: CriterionResult, said: list[str]) -> None:
    points = f"{criterion.score:g} of {criterion.max_score:g}"
    _line(console, f"  {criterion.id} ({points}): {criterion.title}")
    causes = ["as above" if words in said else words for words in criterion.causes]
    for line in (*criterion.facts, *causes, *(f"hint: {hint}" for hint in criterion.hints)):
        _line(console, f"    {line}")


def _line(console: Console, text: str) -> None:
    console.print(safe(text, _LINE), highlight=False)
