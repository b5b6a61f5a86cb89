"""What became of every public criterion in the student's own run: rows, one line, a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.suite.criterion import Criterion
from autograder.suite.local import Terms
from autograder.suite.page import Line, Row, page
from autograder.suite.worth import COUNTS_LATER, Worth

HIDDEN_CHECKS = "Hidden checks decide the rest; they compare with a reference on other inputs."


class Tally:
    """Outcomes and words of the criteria that ran, by component.

    Args:
        terms: those of every component.
        worth: which cases of a criterion take work, by its id; all of one that is not there.
    """

    def __init__(
        self, terms: Mapping[str, Terms], worth: Mapping[str, Worth] | None = None
    ) -> None:
        self._terms = terms
        self._worth = worth or {}
        self._results: dict[str, list[_Case]] = {}
        self._lines: dict[str, list[Line]] = {}
        # Criteria that known mistakes explain; where they explain all, that takes as much work.
        self.recognised: set[str] = set()
        # Criteria that fail only because of other components, and those components' names.
        self._followed: dict[str, str] = {}
        # Why a component did not run: a word and a sentence.
        self.stopped: dict[str, tuple[str, str]] = {}

    @property
    def components(self) -> list[str]:
        """The components of which something ran or was stopped."""
        return list(self._results)

    @property
    def complete(self) -> bool:
        """Whether everything passed, and nothing only with working components beside it."""
        return not self._followed and all(
            case.outcome == "passed" for found in self._results.values() for case in found
        )

    def broken(self, component: str) -> bool:
        """Tell whether a component has lost a criterion of its own, or did not run."""
        lost = (case.outcome != "passed" for case in self._results.get(component, ()))
        return component in self.stopped or any(lost)

    def follow(self, criterion: Criterion, others: str) -> None:
        """Keep that a criterion fails only because of other components, and so counts."""
        self._followed[criterion.id] = others
        self._lines[criterion.id] = [Line(f"fails only because of {others}: it counts")]

    def tell(self, criterion: Criterion, lines: list[Line]) -> None:
        """Keep what a lost criterion is explained with."""
        self._lines[criterion.id] = lines

    def add(self, criterion: Criterion, outcome: str, case: str = "") -> None:
        """Count one case of a criterion."""
        found = self._results.setdefault(criterion.component, [])
        found.append(_Case(criterion, outcome, case, self._worth.get(criterion.id)))

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
        waiting = sum(case.holds for case in self._results[component]) - sum(
            case.holds for case in self._counting(component)
        )
        later = f"; {waiting} more count once something of its values is right" if waiting else ""
        earns = f"{round(earned, 2):g} of {points:g} public points"
        return f"{component:<22} {earns} {worth}{partly}{later}{self._because(component)}"

    def _because(self, component: str) -> str:
        """Say how many of a component's criteria fail only because of others."""
        ids = {case.criterion.id for case in self._results[component]} & self._followed.keys()
        if not ids:
            return ""
        others = ", ".join(dict.fromkeys(self._followed[name] for name in sorted(ids)))
        checks = "1 check fails" if len(ids) == 1 else f"{len(ids)} checks fail"
        return f"; {checks} only because of {others}, and so count"

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
        return {case.outcome for case in self._results[component]} == {"not_attempted"}

    def _counting(self, component: str) -> list[_Case]:
        """Return the cases that count: what takes no work does so beside something that does."""
        cases = self._results[component]
        known = all(case.holds or case.criterion.id in self.recognised for case in cases)
        opened = known or any(case.opens for case in cases)
        return [case for case in cases if opened or case.earns]

    def _rows(self, component: str) -> list[Row]:
        """Return what became of every criterion; cases of one share its points."""
        found: dict[str, list[_Case]] = {}
        for case in self._results[component]:
            found.setdefault(case.criterion.id, []).append(case)
        counting = self._counting(component)
        rows = []
        for name, cases in found.items():
            criterion = cases[0].criterion
            # Where the student ran only some, the points of those count.
            passed = sum(case.holds for case in cases if case in counting)
            lost = [case.outcome for case in cases if not case.holds]
            waits = passed + len(lost) < len(cases)
            later = [Line(COUNTS_LATER)] if waits else []
            rows.append(
                Row(
                    criterion.title,
                    (lost or (["failed"] if waits else ["passed"]))[0],
                    criterion.points * passed / len(cases),
                    criterion.points,
                    [*self._lines.get(name, ()), *later],
                    criterion.source if lost else "",
                    passed,
                    len(cases),
                )
            )
        return rows


@dataclass(frozen=True)
class _Case:
    """One case of a criterion that ran, and what it is worth; all of it, if that is not known."""

    criterion: Criterion
    outcome: str
    name: str
    worth: Worth | None

    @property
    def holds(self) -> bool:
        return self.outcome == "passed"

    @property
    def earns(self) -> bool:
        return self.worth is None or self.name in self.worth.earning

    @property
    def opens(self) -> bool:
        return self.holds and (self.worth is None or self.name in self.worth.opening)
