"""Which mutants keep every point, and which of these are marked as equivalent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.authoring.marks import marks_of, settle
from autograder.authoring.mutants import Mutant
from autograder.results import ComponentResult


class MutantReport(BaseModel):
    """What became of a mutant.

    Attributes:
        component: whose solution was changed.
        file: the solution.
        line: where the change begins, from 1.
        change: what became what, as a mark names it.
        old: the lines that changed, as one.
        new: what they became, as one.
        caught: whether it lost points.
        failed: the criteria whose check failed, errors, hangs and deaths apart.
        equivalent: the reason by which it is marked, or empty.
    """

    component: str
    file: str
    line: int
    change: str
    old: str
    new: str
    caught: bool
    failed: list[str] = []
    equivalent: str = ""

    @property
    def survives(self) -> bool:
        """Whether it lost nothing and is not marked."""
        return not self.caught and not self.equivalent


@dataclass
class Survival:
    """The mutants of all components, and what is wrong with the suites or the marks."""

    mutants: list[MutantReport] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def survival_of(
    assignment: Assignment,
    solved: Mapping[str, ComponentResult],
    graded: Sequence[tuple[str, Mutant, ComponentResult]],
) -> Survival:
    """Say what became of the mutants.

    Args:
        assignment: whose they are.
        solved: what became of the solutions.
        graded: every mutant with its component and its result.
    """
    survival = Survival()
    for name in dict.fromkeys(component for component, *_ in graded):
        if name not in solved or solved[name].score < solved[name].max_score:
            survival.faults.append(
                f"the mutants of {name} say nothing: its solution itself loses points"
            )
            continue
        own = [(mutant, result) for component, mutant, result in graded if component == name]
        survivors = [mutant for mutant, result in own if result.score == result.max_score]
        text = (assignment.secret / f"{name}.py").read_text(encoding="utf-8-sig")
        marks = marks_of(text, f"{name}.py")
        reasons, faults = settle(marks, [mutant for mutant, _ in own], survivors)
        survival.faults += faults
        if left := len(survivors) - len(reasons):
            mutants = "1 mutant keeps" if left == 1 else f"{left} mutants keep"
            survival.faults.append(f"{mutants} every point of {name}")
        for mutant, result in own:
            survival.mutants.append(
                MutantReport(
                    component=name,
                    file=mutant.file,
                    line=mutant.line,
                    change=mutant.change,
                    old=mutant.old,
                    new=mutant.new,
                    caught=mutant not in survivors,
                    failed=[c.id for c in result.criteria if c.outcome == "failed"],
                    equivalent=reasons.get(mutant, ""),
                )
            )
    return survival
