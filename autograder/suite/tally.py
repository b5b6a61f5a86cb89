"""What became of every public criterion in the student's own run: rows, one line, a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.suite.criterion import Criterion
from autograder.suite.local import Terms
from autograder.suite.page import Line, Row, page

HIDDEN_CHECKS = "Hidden checks decide the rest; they compare with a reference on other inputs."


class Tally:
    """Outcomes and words of the criteria that ran, by component.

    Args:
        terms: those of every component.
    """

    def __init__(self, terms: Mapping[str, Terms]) -> None:
        self._terms = terms
        self._results: dict[str, list[tuple[Criterion, str]]] = {}
        self._lines: dict[str, list[Line]] = {}
        # Why a component did not run: a word and a sentence.
        self.stopped: dict[str, tuple[str, str]] = {}

    @property
    def components(self) -> list[str]:
        """The components of which something ran or was stopped."""
        return list(self._results)

    @property
    def complete(self) -> bool:
        """Whether everything passed."""
        return all(outcome == "passed" for found in self._results.values() for _, outcome in found)

    def tell(self, criterion: Criterion, lines: list[Line]) -> None:
        """Keep what a lost criterion is explained with."""
        self._lines[criterion.id] = lines

    def add(self, criterion: Criterion, outcome: str) -> None:
        """Count one case of a criterion."""
        self._results.setdefault(criterion.component, []).append((criterion, outcome))

    def line(self, component: str) -> str:
        """Return what a component earned, in one line."""
        total = self._terms[component].points
        if component in self.stopped:
            return f"{component:<22} {self.stopped[component][1]}"
        if self._untouched(component):
            return f"{component:<22} not attempted (worth {total:g})"
        rows = self._rows(component)
        points = sum(row.max_score for row in rows)
        earned = sum(row.score for row in rows)
        shared = [f"{row.passed} of {row.cases}" for row in rows if 0 < row.passed < row.cases]
        partly = f"; in part: {', '.join(shared)} cases" if shared else ""
        worth = f"(worth {total:g} in all)"
        return f"{component:<22} {round(earned, 2):g} of {points:g} public points {worth}{partly}"

    def runs(self, component: str) -> bool:
        """Tell whether there is something of a component that can be drawn."""
        return component not in self.stopped and not self._untouched(component)

    def page(self, component: str, views: Sequence[Mapping[str, Any]]) -> str:
        """Return a component's criteria, words and views as HTML."""
        headline = " ".join(self.line(component).split())
        if component in self.stopped:
            return page(headline, [], [], [])
        notes = [Line(HIDDEN_CHECKS)] if self.runs(component) else []
        return page(headline, notes, self._rows(component), views)

    def _untouched(self, component: str) -> bool:
        return {outcome for _, outcome in self._results[component]} == {"not_attempted"}

    def _rows(self, component: str) -> list[Row]:
        """Return what became of every criterion; cases of one share its points."""
        found: dict[str, list[tuple[Criterion, str]]] = {}
        for criterion, outcome in self._results[component]:
            found.setdefault(criterion.id, []).append((criterion, outcome))
        rows = []
        for name, cases in found.items():
            criterion = cases[0][0]
            # Where the student ran only some, the points of those count.
            passed = sum(outcome == "passed" for _, outcome in cases)
            lost = [outcome for _, outcome in cases if outcome != "passed"]
            rows.append(
                Row(
                    criterion.title,
                    lost[0] if lost else "passed",
                    criterion.points * passed / len(cases),
                    criterion.points,
                    self._lines.get(name, ()),
                    criterion.source if lost else "",
                    passed,
                    len(cases),
                )
            )
        return rows
