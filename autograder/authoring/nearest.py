"""For wrong work whose mistake has no name: the mutants of the solution that fail as it does.

The two are compared by what results say: the same criteria fail, in as many cases, with the same
facts. So no student's code runs for it, and a class needs each mutant graded once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from autograder.assignment import Assignment
from autograder.authoring import selftest
from autograder.authoring.rows import Row, rows_of
from autograder.grading.batch import Progress
from autograder.grading.workers import Tell
from autograder.reports.pages.statistics import Nearest
from autograder.results import ComponentResult, SubmissionResult
from autograder.sandbox.scratch import temporary_folder

# By component: of criteria that did not pass how each ended, the cases that passed, what is wrong.
_Failing = tuple[str, tuple[tuple[str, str, int, tuple[str, ...]], ...]]


def mutants_for(assignment: Assignment, results: Iterable[SubmissionResult]) -> list[Row]:
    """Return the mutants of all components in which somebody's mistake has no name, as rows."""
    components = sorted({failing[0] for result in results for failing in _unnamed(result)})
    if not components:
        return []
    rows = rows_of(assignment, 0, None, components, ["mutant"])
    return [row for row in rows if row.mutant]


def nearest(
    assignment: Assignment,
    results: Iterable[SubmissionResult],
    rows: Sequence[Row],
    sandbox: str,
    jobs: int,
    progress: Progress,
    tell: Tell,
) -> list[Nearest]:
    """Return which of the mutants in `rows` fail as submissions do whose mistake has no name.

    Raises:
        SuiteBroken: the suite cannot be collected, or the solution loses points.
        CannotGrade: code cannot be isolated here.
    """
    by_failing: dict[_Failing, Nearest] = {}
    with temporary_folder() as folder:
        kept = selftest.kept_results(assignment)
        graded = selftest.grade_rows(assignment, rows, folder, sandbox, jobs, progress, tell, kept)
    for row, found in zip(rows, graded.results, strict=True):
        if row.mutant and row.component in found.components:
            failing = _failing(row.component, found.components[row.component])
            change = f"`{row.mutant.change}` in line {row.mutant.line}"
            near = by_failing.setdefault(failing, Nearest(row.component, [], []))
            near.changes.append(change)
    for result in results:
        for failing in _unnamed(result):
            if failing in by_failing:
                by_failing[failing].who.append(result.submission)
    return [one for one in by_failing.values() if one.who]


def _unnamed(result: SubmissionResult) -> Iterator[_Failing]:
    """Yield the components that lose points to a mistake without a name, and how they fail."""
    for name, component in result.components.items():
        if not component.misconceptions and _tells(component):
            yield _failing(name, component)


def _tells(component: ComponentResult) -> bool:
    """Return whether a result says enough to be compared: values that a public check found."""
    return component.status == "graded" and any(
        c.outcome == "failed" and c.visibility == "public" and c.facts and not c.unsteady
        for c in component.criteria
    )


def _failing(name: str, component: ComponentResult) -> _Failing:
    lost = (c for c in component.criteria if c.outcome != "passed")
    return name, tuple((c.id, c.outcome, c.passed_cases, tuple(c.facts)) for c in lost)
