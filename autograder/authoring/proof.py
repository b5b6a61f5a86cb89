"""Judge an assignment's suites by what became of the rows of its selftest."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.authoring import trivial
from autograder.authoring.mutants import Mutant
from autograder.authoring.rows import Kind, Row
from autograder.authoring.survival import MutantReport, survival_of
from autograder.authoring.why import Loss
from autograder.authoring.wrong_variants import Naming, Outcome, faults_of, outcome_of
from autograder.results import ComponentResult, CriterionResult, SubmissionResult
from autograder.suite.criterion import COUNTS_LATER

# What the diagnosis must reach, in shares of the misconceptions and of the pairs.
ALONE = 0.95
PAIRED = 0.80
# The share of a limit that a solution may use.
QUARTER = 0.25


class RowReport(BaseModel):
    """What became of a row."""

    id: str
    kind: Kind
    component: str
    wrong: list[str]
    lost_points: float
    earned: float = 0.0
    lost: list[str]
    partly: dict[str, str] = {}  # of criteria that are lost in part: "2 of 3"
    named: list[str]
    either: bool
    hidden_alone: bool = False  # lost by hidden criteria alone, which name no mistake
    outcome: Outcome | None = None  # of wrong variants
    alternatives: bool = False  # any one of `wrong` may be named


class Figures(BaseModel):
    """How well the diagnosis names mistakes, and how many mutants lose points, in rows.

    Mistakes that hidden criteria alone find are none of `misconceptions` and `pairs`.
    """

    misconceptions: int = 0
    named_alone: int = 0
    hidden_alone: int = 0
    pairs: int = 0
    named_pair: int = 0
    named_half: int = 0
    right: int = 0
    right_named: int = 0
    mutants: int = 0
    mutants_caught: int = 0
    mutants_equivalent: int = 0
    mutants_surviving: int = 0


class Report(BaseModel):
    """The outcome of a selftest; `faults` is empty if the suites hold.

    `left_out` names the components that were not looked at, and `kinds`, if there are any, the only
    kinds of rows that were. Mutants stand in `mutants` alone. `wrong_variants` counts by component.
    `why` shows what right work loses, with calls and answers.
    """

    assignment: str
    sandbox: str
    holds: bool
    faults: list[str]
    figures: Figures
    criteria: dict[str, list[str]]
    rows: list[RowReport]
    mutants: list[MutantReport] = []
    wrong_variants: dict[str, Naming] = {}
    left_out: list[str] = []
    kinds: list[str] = []
    why: list[Loss] = []


def report_on(
    assignment: Assignment,
    rows: Sequence[Row],
    found: Sequence[SubmissionResult],
    sandbox: str,
    kinds: Collection[str] = (),
) -> Report:
    """Say whether the suites hold, given what became of every row.

    Args:
        assignment: whose suites they are.
        rows: the rows.
        found: what became of them.
        sandbox: how student code was isolated.
        kinds: those of the rows, beside the solution; all if there are none.
    """
    faults: list[str] = []
    naming: dict[str, Naming] = {}
    figures = Figures()
    reports = []
    changed: list[tuple[str, Mutant, ComponentResult]] = []
    for row, result in zip(rows, found, strict=True):
        if result.status != "graded":
            faults.append(f"{row.id} could not be graded: {result.message}")
        if row.mutant is not None:
            if result.status == "graded":
                changed.append((row.component, row.mutant, result.components[row.component]))
            continue
        reports.append(_reported(row, result))
        if result.status == "graded":
            faults += _faults_of(row, result, reports[-1])
        if row.kind == "solution" and result.status == "graded":
            faults += _near_limits(assignment, result)
        _count(figures, row, reports[-1])
        if reports[-1].outcome is not None:
            counted = naming.setdefault(row.component, Naming())
            expected = () if reports[-1].hidden_alone else row.wrong
            counted.count(expected, reports[-1].outcome)
    faults += trivial.faults_of(
        {row.id: r for row, r in zip(rows, found, strict=True) if row.kind == "trivial"}
    )
    survival = survival_of(assignment, found[0].components, changed)
    criteria = {
        name: [criterion.id for criterion in component.criteria]
        for name, component in found[0].components.items()
    }
    for name, ids in criteria.items():
        lost = {
            i for r in reports if r.kind == "misconception" and r.component == name for i in r.lost
        }
        lost |= {i for mutant in survival.mutants for i in mutant.failed}
        count = sum(mutant.component == name for mutant in survival.mutants)
        tried = f"no misconception and none of {count} mutants" if count else "no misconception"
        if not kinds or "misconception" in kinds:
            faults += [f"criterion {i} is lost by {tried}" for i in ids if i not in lost]
    if figures.named_alone < ALONE * figures.misconceptions:
        faults.append(
            f"only {figures.named_alone} of {figures.misconceptions} misconceptions are named alone"
        )
    named = figures.named_pair + figures.named_half
    if named < PAIRED * figures.pairs:
        faults.append(f"only {named} of {figures.pairs} pairs are named, or one of their halves")
    faults += faults_of(list(naming.values()))
    faults += survival.faults
    figures.mutants = len(survival.mutants)
    figures.mutants_caught = sum(mutant.caught for mutant in survival.mutants)
    figures.mutants_equivalent = sum(bool(mutant.equivalent) for mutant in survival.mutants)
    figures.mutants_surviving = sum(mutant.survives for mutant in survival.mutants)
    return Report(
        assignment=assignment.name,
        sandbox=sandbox,
        holds=not faults,
        faults=faults,
        figures=figures,
        criteria=criteria,
        rows=reports,
        mutants=survival.mutants,
        wrong_variants=naming,
        kinds=list(kinds),
        left_out=[name for name in assignment.totals if rows[0].only and name not in rows[0].only],
    )


def _reported(row: Row, result: SubmissionResult) -> RowReport:
    components = result.components
    if row.kind in ("pair", "wrong"):
        components = {row.component: result.components[row.component]} if components else {}
    outcome: Outcome | None = None
    lost = [criterion for component in components.values() for criterion in _lost(component)]
    hidden_alone = bool(lost) and all(c.visibility == "hidden" for c in lost)
    if row.kind == "wrong":
        # Any other component is the solution's.
        own = components.get(row.component)
        named, either = ([], False) if own is None else (own.misconceptions, own.either)
        expected = [] if hidden_alone else row.ids
        outcome = outcome_of(expected, named, alternatives=row.either, either=either)
    return RowReport(
        id=row.id,
        kind=row.kind,
        component=row.component,
        wrong=row.ids,
        lost_points=sum(c.max_score - c.score for c in components.values()),
        earned=sum(component.score for component in components.values()),
        lost=[criterion.id for criterion in lost],
        partly={
            criterion.id: f"{criterion.passed_cases} of {criterion.cases}"
            for component in components.values()
            for criterion in component.criteria
            if 0 < criterion.passed_cases < criterion.cases
        },
        named=[name for component in components.values() for name in component.misconceptions],
        either=any(component.either for component in components.values()),
        hidden_alone=hidden_alone,
        outcome=outcome,
        alternatives=row.either,
    )


def _lost(component: ComponentResult) -> list[CriterionResult]:
    # Form that is only withheld has no part in what a mistake does.
    return [c for c in component.criteria if not c.passed and c.facts != [COUNTS_LATER]]


def _near_limits(assignment: Assignment, result: SubmissionResult) -> Iterator[str]:
    """Name the limits of which the solution itself uses more than a quarter."""
    for spec in assignment.components:
        component = result.components.get(spec.name)
        used = None if component is None else component.usage
        if used is None:
            continue
        limits = spec.limits
        for what, value, name, limit in (
            ("computes", used.cpu_s, "component_cpu_s", limits.component_cpu_s),
            ("waits", used.wall_s, "component_wall_s", limits.component_wall_s),
            ("computes for one call", used.call_s, "call_cpu_s", limits.call_cpu_s),
        ):
            if value > QUARTER * limit:
                yield (
                    f"the solution of {spec.name} {what} {value:.2g} s, more than a quarter of "
                    f"{name} = {limit:g}: raise the limit or ask for less"
                )


def _faults_of(row: Row, result: SubmissionResult, report: RowReport) -> Iterator[str]:
    if row.kind == "stub":
        for name, component in result.components.items():
            passed = [criterion.id for criterion in component.criteria if criterion.passed]
            if passed or component.status != "not_attempted":
                yield f"the stub of {name} is {component.status} and passes {passed}"
    elif row.kind == "misconception":
        own = result.components[row.component]
        if own.score == own.max_score:
            yield f"misconception {row.id} loses no points"
        for name, component in result.components.items():
            if name != row.component and component.score < component.max_score:
                yield f"misconception {row.id} loses {', '.join(c.id for c in _lost(component))}"
        for other in report.named if report.either else []:
            if other != row.id:
                yield f"misconceptions {row.id} and {other} cannot be told apart"
    elif row.kind == "wrong":
        if not report.lost:
            yield f"wrong variant {row.id} loses no points"
        if report.outcome == "falsely":
            expected = (" or " if row.either else " and ").join(row.ids) or "nothing"
            said = (" or " if report.either else " and ").join(report.named)
            yield f"wrong variant {row.id} is said to have {said}, expected: {expected}"
    elif row.kind not in ("pair", "trivial"):
        if report.lost:
            yield f"{row.id} is right and loses {', '.join(report.lost)}"
        if report.named:
            yield f"{row.id} is right and is said to have {', '.join(report.named)}"


def _count(figures: Figures, row: Row, report: RowReport) -> None:
    if row.kind in ("misconception", "pair") and report.hidden_alone:
        figures.hidden_alone += row.kind == "misconception"
    elif row.kind == "misconception":
        figures.misconceptions += 1
        figures.named_alone += report.named == row.ids
    elif row.kind == "pair":
        figures.pairs += 1
        named = set(report.named)
        figures.named_pair += named == set(row.ids) and not report.either
        figures.named_half += len(named) == 1 and named < set(row.ids)
    elif row.kind not in ("stub", "trivial", "wrong"):
        figures.right += 1
        figures.right_named += bool(report.named)
