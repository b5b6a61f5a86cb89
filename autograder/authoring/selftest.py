"""Prove an assignment's suites: right work keeps every point, every known mistake loses some.

Solutions, stand-ins, right variants, stubs and misconceptions are graded as submissions are, by
the same workers in the same sandbox.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.grading.batch import Batch, Progress
from autograder.grading.entries import Entry
from autograder.results import ComponentResult, SubmissionResult
from autograder.solutions.misconceptions import file_of, read, with_mistakes

Kind = Literal["solution", "stand-in", "right", "stub", "misconception", "pair"]

# What the diagnosis must reach, in shares of the misconceptions and of the pairs.
ALONE = 0.95
PAIRED = 0.80
# The share of a limit that a solution may use.
QUARTER = 0.25


@dataclass(frozen=True)
class Row:
    """One submission of the selftest.

    `component` and `wrong` say which mistakes are in force; for other rows they are empty.
    """

    id: str
    kind: Kind
    files: dict[str, bytes] = field(repr=False, compare=False)
    component: str = ""
    wrong: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()

    @property
    def ids(self) -> list[str]:
        """The misconceptions that a diagnosis should name."""
        return [f"{self.component}.{name}" for name in self.wrong]


class RowReport(BaseModel):
    """What became of a row."""

    id: str
    kind: Kind
    component: str
    wrong: list[str]
    lost_points: float
    lost: list[str]
    partly: dict[str, str] = {}  # of criteria that are lost in part: "2 of 3"
    named: list[str]
    either: bool


class Figures(BaseModel):
    """How well the diagnosis names mistakes, in rows."""

    misconceptions: int = 0
    named_alone: int = 0
    pairs: int = 0
    named_pair: int = 0
    named_half: int = 0
    right: int = 0
    right_named: int = 0


class Report(BaseModel):
    """The outcome of a selftest; `faults` is empty if the suites hold."""

    assignment: str
    sandbox: str
    holds: bool
    faults: list[str]
    figures: Figures
    criteria: dict[str, list[str]]
    rows: list[RowReport]


def rows_of(assignment: Assignment, pairs: int | None) -> Iterator[Row]:
    """Yield every row; of the pairs of each component so many, or all of them for None."""
    solutions = _folder(assignment.secret)
    yield Row("solution", "solution", solutions)
    stand_ins = _folder(assignment.public / "stand_ins")
    if stand_ins:
        # What a stand-in leaves out, since no component uses it, is the solution's.
        whole = {name: solutions[name] + b"\n\n" + source for name, source in stand_ins.items()}
        yield Row("stand-ins", "stand-in", {**solutions, **whole}, exempt=tuple(whole))
    variants = assignment.secret / "right_variants"
    for folder in sorted(variants.iterdir()) if variants.is_dir() else []:
        if folder.is_dir():
            yield Row(f"right-{folder.name}", "right", _folder(folder))
    sources = {
        name: file_of(assignment, name).read_bytes()
        for name in assignment.totals
        if file_of(assignment, name).is_file()
    }
    bare = {f"{name}.py": source for name, source in sources.items()}
    if bare:
        yield Row("right-misconceptions-off", "right", {**solutions, **bare})
    yield Row("stubs", "stub", _folder(assignment.public))
    for name, source in sources.items():
        known = list(read(assignment, name))
        program = assignment.component(name).program
        for wrong in known:
            files = {**solutions, f"{name}.py": with_mistakes(source, [wrong], program)}
            yield Row(f"{name}.{wrong}", "misconception", files, name, (wrong,))
        needed = {f"{used}.py" for spec in assignment.components for used in spec.uses}
        used = {file: solutions[file] for file in needed if file != f"{name}.py"}
        combined = list(itertools.combinations(known, 2))
        if pairs is not None and pairs < len(combined):
            # The same ones in every run, for a suite that has not changed.
            combined = random.Random(f"{assignment.seed}{name}").sample(combined, pairs)  # noqa: S311
        for pair in combined:
            # The other components are left out: they are graded in the rows above.
            files = {**used, f"{name}.py": with_mistakes(source, pair, program)}
            yield Row(f"{name}.{'+'.join(pair)}", "pair", files, name, pair)


def run(
    assignment: Assignment,
    rows: Sequence[Row],
    folder: Path,
    sandbox: str,
    jobs: int,
    progress: Progress,
) -> Report:
    """Grade the rows in `folder` and judge the suites by what became of them.

    Raises:
        CannotGrade: student code cannot be isolated here, or the suite is broken.
    """
    entries = []
    for number, row in enumerate(rows):
        place = folder / "rows" / f"{number:04}"
        place.mkdir(parents=True)
        for name, source in row.files.items():
            (place / name).write_bytes(source)
        entries.append(Entry(place.name, place, row.exempt))
    (folder / "results").mkdir(exist_ok=True)
    batch = Batch(assignment, folder, sandbox, jobs, resume=False)
    try:
        words = batch.start()
        found = batch.run(entries, progress)
    finally:
        batch.close()
    return report_on(assignment, rows, found, words)


def report_on(
    assignment: Assignment, rows: Sequence[Row], found: Sequence[SubmissionResult], sandbox: str
) -> Report:
    """Say whether the suites hold, given what became of every row."""
    faults: list[str] = []
    figures = Figures()
    reports = []
    for row, result in zip(rows, found, strict=True):
        reports.append(_reported(row, result))
        if result.status != "graded":
            faults.append(f"{row.id} could not be graded: {result.message}")
        else:
            faults += _faults_of(row, result, reports[-1])
        if row.kind == "solution" and result.status == "graded":
            faults += _near_limits(assignment, result)
        _count(figures, row, reports[-1])
    criteria = {
        name: [criterion.id for criterion in component.criteria]
        for name, component in found[0].components.items()
    }
    for name, ids in criteria.items():
        lost = {
            i for r in reports if r.kind == "misconception" and r.component == name for i in r.lost
        }
        faults += [f"criterion {i} is lost by no misconception" for i in ids if i not in lost]
    if figures.named_alone < ALONE * figures.misconceptions:
        faults.append(
            f"only {figures.named_alone} of {figures.misconceptions} misconceptions are named alone"
        )
    named = figures.named_pair + figures.named_half
    if named < PAIRED * figures.pairs:
        faults.append(f"only {named} of {figures.pairs} pairs are named, or one of their halves")
    return Report(
        assignment=assignment.name,
        sandbox=sandbox,
        holds=not faults,
        faults=faults,
        figures=figures,
        criteria=criteria,
        rows=reports,
    )


def _folder(folder: Path) -> dict[str, bytes]:
    files = sorted(folder.glob("*.py")) if folder.is_dir() else []
    return {path.name: path.read_bytes() for path in files}


def _reported(row: Row, result: SubmissionResult) -> RowReport:
    components = result.components
    if row.kind == "pair":
        components = {row.component: result.components[row.component]} if components else {}
    return RowReport(
        id=row.id,
        kind=row.kind,
        component=row.component,
        wrong=row.ids,
        lost_points=sum(c.max_score - c.score for c in components.values()),
        lost=[i for component in components.values() for i in _lost(component)],
        partly={
            criterion.id: f"{criterion.passed_cases} of {criterion.cases}"
            for component in components.values()
            for criterion in component.criteria
            if 0 < criterion.passed_cases < criterion.cases
        },
        named=[name for component in components.values() for name in component.misconceptions],
        either=any(component.either for component in components.values()),
    )


def _lost(component: ComponentResult) -> list[str]:
    return [criterion.id for criterion in component.criteria if not criterion.passed]


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
                yield f"misconception {row.id} loses {', '.join(_lost(component))}"
        for other in report.named if report.either else []:
            if other != row.id:
                yield f"misconceptions {row.id} and {other} cannot be told apart"
    elif row.kind != "pair":
        if report.lost:
            yield f"{row.id} is right and loses {', '.join(report.lost)}"
        if report.named:
            yield f"{row.id} is right and is said to have {', '.join(report.named)}"


def _count(figures: Figures, row: Row, report: RowReport) -> None:
    if row.kind == "misconception":
        figures.misconceptions += 1
        figures.named_alone += report.named == row.ids
    elif row.kind == "pair":
        figures.pairs += 1
        named = set(report.named)
        figures.named_pair += named == set(row.ids) and not report.either
        figures.named_half += len(named) == 1 and named < set(row.ids)
    elif row.kind != "stub":
        figures.right += 1
        figures.right_named += bool(report.named)
