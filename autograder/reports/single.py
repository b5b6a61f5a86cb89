"""What a student may see of a result, in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from autograder.reports.feedback import STATUS_WORDS
from autograder.reports.shown import LINE, WHOLE, Shown, ShownComponent, ShownCriterion
from autograder.reports.terminal import safe


def print_single(console: Console, found: Shown) -> None:
    """Print the points of one submission, and what is behind each that is lost."""
    if found.status != "graded":
        _line(console, f"{found.submission}: {found.status}: {found.message}")
        return
    for name, component in found.components.items():
        _component(console, name, component)
    if found.withheld:
        _line(console, found.withheld)
    _line(console, f"{found.submission}: {found.score:g} of {found.max_score:g} points")


def _component(console: Console, name: str, component: ShownComponent) -> None:
    _line(console, f"{name}: {component.score:g} of {component.max_score:g}")
    said = list(filter(None, (STATUS_WORDS[component.status], *component.notes)))
    for words in (*said, *component.causes):
        _line(console, f"  {words}")
    if component.status in WHOLE:
        # Every criterion would say the same once more.
        return
    for criterion in component.criteria:
        if criterion.score < criterion.max_score:
            _criterion(console, criterion, component.causes)


def _criterion(console: Console, criterion: ShownCriterion, said: Sequence[str]) -> None:
    _line(console, f"  {criterion.score:g} of {criterion.max_score:g}: {criterion.title}")
    causes = ["as above" if words in said else words for words in criterion.causes]
    for line in (*criterion.facts, *causes, *(f"hint: {hint}" for hint in criterion.hints)):
        _line(console, f"    {line}")


def _line(console: Console, text: str) -> None:
    indent = len(text) - len(text.lstrip())
    console.print(" " * indent + safe(text, LINE), highlight=False)
