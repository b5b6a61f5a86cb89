"""Judge an assignment's suites by the results of the rows of its selftest, and print the report.

What is printed: misconceptions by criteria, figures, faults, surviving mutants.
"""

from __future__ import annotations

import dataclasses
import functools
import string
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel
from rich.console import Console

from autograder.api.criterion import COUNTS_LATER
from autograder.assignment import Assignment
from autograder.authoring import Kind, pasted, trivial
from autograder.authoring.mutants import Mark, Mutant, marks_of
from autograder.authoring.rows import RIGHT, Row
from autograder.grading.messages import Explained
from autograder.reports.disputes import print_call, print_component
from autograder.reports.terminal import Printer, safe
from autograder.results import ComponentResult, CriterionResult, SubmissionResult
from autograder.text import counted

# What the diagnosis must reach, in shares of the misconceptions, of the pairs, and of the wrong
# variants in which it should name something.
ALONE = 0.95
PAIRED = 0.80
NAMED = 0.92
AT_HOME = 0.85
# The share of a limit that a solution may use.
QUARTER = 0.25
# "One of these" helps while they are few.
_FEW = 3
# More survivors than can be looked at in one go stand in the JSON report alone.
_SHOWN = 20
_LETTERS = string.ascii_lowercase + string.ascii_uppercase

Outcome = Literal["named", "unnamed", "falsely"]
_Say = Callable[..., None]


class RowReport(BaseModel):
    """The result of a row."""

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
    at_home: Outcome | None = None  # whether a student is told at home what grading names
    alternatives: bool = False  # any one of `wrong` may be named


class Naming(BaseModel):
    """How the wrong variants of a component were named, in variants.

    Attributes:
        expected: variants in which something should be named.
        named: those of them in which exactly that was named.
        unnamed: those of them in which nothing was named, or half of a pair.
        nothing: variants in which nothing should be named.
        falsely: variants of both kinds in which something else was named.
    """

    expected: int = 0
    named: int = 0
    unnamed: int = 0
    nothing: int = 0
    falsely: int = 0


class Figures(BaseModel):
    """How well the diagnosis names mistakes, and how many mutants lose points, in rows.

    `misconceptions` and `pairs` leave out mistakes that only hidden criteria find. Of the wrong
    variants that grading names and that lose a public criterion, `wrong_at_home`, a student is told
    the same at home in `told_at_home`.
    """

    misconceptions: int = 0
    named_alone: int = 0
    hidden_alone: int = 0
    pairs: int = 0
    named_pair: int = 0
    named_half: int = 0
    right: int = 0
    right_named: int = 0
    wrong_at_home: int = 0
    told_at_home: int = 0
    mutants: int = 0
    mutants_caught: int = 0
    mutants_equivalent: int = 0
    mutants_surviving: int = 0


class Loss(BaseModel):
    """A criterion that right work loses, run again."""

    row: str
    explained: Explained


class MutantReport(BaseModel):
    """A mutant and its result.

    Attributes:
        caught: whether it lost points.
        failed: the criteria whose check failed, errors, hangs and deaths apart.
        equivalent: the reason by which it is marked, or empty.
    """

    component: str
    file: str
    line: int
    old: str
    new: str
    caught: bool
    failed: list[str] = []
    equivalent: str = ""

    @property
    def survives(self) -> bool:
        """Whether it lost nothing and is not marked."""
        return not self.caught and not self.equivalent


class Report(BaseModel):
    """The outcome of a selftest; `faults` is empty if the suites hold.

    `left_out` names the components that were not looked at. `kinds`, if there are any, are the only
    kinds of rows that were. Mutants are in `mutants`, not in `rows`. `wrong_variants` counts by
    component. `why` explains criteria that right work loses, with calls and answers.
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
    """Return the report on an assignment's rows and their results; the first is the solution's.

    `kinds` are those of the rows, beside the solution; all if there are none.
    """
    pairs = list(zip(rows, found, strict=True))
    solved = found[0].components
    whole = [_reported(row, result) for row, result in pairs]
    reports = [report for report in whole if report.kind != "mutant"]
    mutants, of_mutants = _mutants(assignment, pairs)
    figures = _figures(reports, mutants)
    naming = _naming([report for report in reports if report.kind == "wrong"])
    criteria = {name: [c.id for c in component.criteria] for name, component in solved.items()}
    faults = list(_faults_of_rows(assignment, pairs, whole))
    faults += trivial.faults_of({row.id: r for row, r in pairs if row.kind == "trivial"})
    faults += pasted.faults_of(assignment, {r.id: res for r, res in pairs if r.kind == "given"})
    if not kinds or "misconception" in kinds:
        faults += _never_lost(criteria, reports, mutants)
    faults += [*_faults_of_naming(figures), *faults_of(naming.values()), *of_mutants]
    return Report(
        assignment=assignment.name,
        sandbox=sandbox,
        holds=not faults,
        faults=faults,
        figures=figures,
        criteria=criteria,
        rows=reports,
        mutants=mutants,
        wrong_variants=naming,
        kinds=list(kinds),
        left_out=[name for name in assignment.totals if rows[0].only and name not in rows[0].only],
    )


def _reported(row: Row, result: SubmissionResult) -> RowReport:
    components = list(result.components.values())
    if row.kind in ("pair", "wrong") and components:
        # Any other component is the solution's.
        components = [result.components[row.component]]
    lost = [criterion for component in components for criterion in lost_criteria(component)]
    hidden_alone = bool(lost) and all(c.visibility == "hidden" for c in lost)
    report = RowReport(
        id=row.id,
        kind=row.kind,
        component=row.component,
        wrong=row.ids,
        lost_points=sum(component.max_score - component.score for component in components),
        earned=sum(component.score for component in components),
        lost=[criterion.id for criterion in lost],
        partly={
            criterion.id: f"{criterion.passed_cases} of {criterion.cases}"
            for component in components
            for criterion in component.criteria
            if 0 < criterion.passed_cases < criterion.cases
        },
        named=[name for component in components for name in component.misconceptions],
        either=any(component.either for component in components),
        hidden_alone=hidden_alone,
        alternatives=row.either,
    )
    if row.kind == "wrong":
        expected = [] if hidden_alone else row.ids
        report.outcome = outcome_of(
            expected, report.named, alternatives=row.either, either=report.either
        )
    return report


def outcome_of(
    expected: Collection[str], named: Collection[str], *, alternatives: bool, either: bool
) -> Outcome:
    """Judge the names that a diagnosis gave.

    With `alternatives` any of the expected names is as good; with `either` the diagnosis said that
    the mistake is one of those it named.
    """
    wanted, said = set(expected), set(named)
    if not said:
        return "unnamed" if wanted else "named"
    if either and said & wanted and len(said) <= _FEW:
        # Of a pair, both are there.
        return "named" if alternatives or len(wanted) == 1 else "unnamed"
    if not said <= wanted or either or (alternatives and len(said) > 1):
        return "falsely"
    return "named" if alternatives or said == wanted else "unnamed"


def compare_at_home(
    report: Report, told: Callable[[RowReport], tuple[Collection[str], bool] | None]
) -> None:
    """Compare what grading names in wrong variants with what a student is told at home.

    Args:
        report: gets what is found.
        told: returns the names that are told of a row, and whether it is one or the other; None
            where nobody would ask.
    """
    for row in report.rows:
        if row.kind == "wrong" and (found := told(row)) is not None:
            names, either = found
            right = row.named or row.wrong
            alternatives = row.either if row.named else row.alternatives
            outcome = outcome_of(right, names, alternatives=alternatives, either=either)
            # What grading does not name need not be told, but nothing false.
            row.at_home = outcome if row.named or outcome == "falsely" else None
    outcomes = [row.at_home for row in report.rows if row.at_home and row.named]
    report.figures.wrong_at_home = len(outcomes)
    report.figures.told_at_home = outcomes.count("named")
    report.faults += [
        f"wrong variant {row.id} is called something else at home than in grading"
        for row in report.rows
        if row.at_home == "falsely"
    ]
    if report.figures.told_at_home < AT_HOME * len(outcomes):
        report.faults.append(f"a student hears less than {AT_HOME:.0%} of the names at home")
    report.holds = not report.faults


def _naming(variants: Sequence[RowReport]) -> dict[str, Naming]:
    naming = {}
    for component in dict.fromkeys(row.component for row in variants):
        rows = [row for row in variants if row.component == component]
        expected = [row for row in rows if row.wrong and not row.hidden_alone]
        outcomes = [row.outcome for row in rows]
        naming[component] = Naming(
            expected=len(expected),
            named=sum(row.outcome == "named" for row in expected),
            unnamed=outcomes.count("unnamed"),
            nothing=len(rows) - len(expected),
            falsely=outcomes.count("falsely"),
        )
    return naming


def _figures(reports: Sequence[RowReport], mutants: Sequence[MutantReport]) -> Figures:
    single = [r for r in reports if r.kind == "misconception"]
    alone = [r for r in single if not r.hidden_alone]
    pairs = [r for r in reports if r.kind == "pair" and not r.hidden_alone]
    right = [r for r in reports if r.kind in RIGHT]
    return Figures(
        misconceptions=len(alone),
        named_alone=sum(r.named == r.wrong for r in alone),
        hidden_alone=len(single) - len(alone),
        pairs=len(pairs),
        named_pair=sum(set(r.named) == set(r.wrong) and not r.either for r in pairs),
        named_half=sum(len(set(r.named)) == 1 and set(r.named) < set(r.wrong) for r in pairs),
        right=len(right),
        right_named=sum(bool(r.named) for r in right),
        mutants=len(mutants),
        mutants_caught=sum(mutant.caught for mutant in mutants),
        mutants_equivalent=sum(bool(mutant.equivalent) for mutant in mutants),
        mutants_surviving=sum(mutant.survives for mutant in mutants),
    )


def _faults_of_naming(figures: Figures) -> Iterator[str]:
    named, count = figures.named_alone, figures.misconceptions
    if named < ALONE * count:
        yield f"only {named} of {count} misconceptions are named alone"
    named, count = figures.named_pair + figures.named_half, figures.pairs
    if named < PAIRED * count:
        yield f"only {named} of {count} pairs are named, or one of their halves"


def faults_of(naming: Collection[Naming]) -> list[str]:
    """Return a fault if too few wrong variants of all components were named."""
    expected, named = sum(one.expected for one in naming), sum(one.named for one in naming)
    if named >= NAMED * expected:
        return []
    return [f"only {named} of {expected} wrong variants are named rightly, not {NAMED:.0%}"]


def _never_lost(
    criteria: Mapping[str, list[str]],
    reports: Sequence[RowReport],
    mutants: Sequence[MutantReport],
) -> Iterator[str]:
    """Name the criteria that no mistake loses."""
    failed = {name for mutant in mutants for name in mutant.failed}
    for component, names in criteria.items():
        mistakes = ("misconception", "wrong")
        wrong = (r for r in reports if r.kind in mistakes and r.component == component)
        lost = failed.union(*(r.lost for r in wrong))
        count = sum(mutant.component == component for mutant in mutants)
        tried = "no mistake, and no mutant was tried"
        if count:
            tried = f"no mistake and none of {count} mutants"
        yield from (f"criterion {name} is lost by {tried}" for name in names if name not in lost)


def _faults_of_rows(
    assignment: Assignment,
    pairs: Sequence[tuple[Row, SubmissionResult]],
    reports: Sequence[RowReport],
) -> Iterator[str]:
    for (row, result), report in zip(pairs, reports, strict=True):
        if result.status != "graded":
            yield f"{row.id} could not be graded: {result.message}"
            continue
        yield from _faults_of_row(result, report)
        if row.kind == "solution":
            yield from _near_limits(assignment, result)


def _faults_of_row(result: SubmissionResult, row: RowReport) -> Iterator[str]:
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
                lost = ", ".join(criterion.id for criterion in lost_criteria(component))
                yield f"misconception {row.id} loses {lost}"
        for other in row.named if row.either else []:
            if other != row.id:
                yield f"misconceptions {row.id} and {other} cannot be told apart"
    elif row.kind == "wrong":
        if not row.lost:
            yield f"wrong variant {row.id} loses no points"
        if row.outcome == "falsely":
            expected = (" or " if row.alternatives else " and ").join(row.wrong) or "nothing"
            said = (" or " if row.either else " and ").join(row.named)
            yield f"wrong variant {row.id} is said to have {said}, expected: {expected}"
    elif row.kind in RIGHT:
        if row.lost:
            yield f"{row.id} is right and loses {', '.join(row.lost)}"
        if row.named:
            yield f"{row.id} is right and is said to have {', '.join(row.named)}"


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


def lost_criteria(component: ComponentResult) -> list[CriterionResult]:
    """Return the criteria that did not pass, except form that only waits for another criterion."""
    return [c for c in component.criteria if not c.passed and c.facts != [COUNTS_LATER]]


def _mutants(
    assignment: Assignment, pairs: Sequence[tuple[Row, SubmissionResult]]
) -> tuple[list[MutantReport], list[str]]:
    """Report on every mutant, and say what is wrong with the suites or the marks."""
    solved = pairs[0][1].components
    graded: dict[str, dict[Mutant, ComponentResult]] = {}
    for row, result in pairs:
        if row.mutant is not None and result.status == "graded":
            found = result.components[row.component]
            graded.setdefault(row.component, {})[row.mutant] = found
    reports, faults = [], []
    for name, own in graded.items():
        if name not in solved or solved[name].score < solved[name].max_score:
            faults.append(f"the mutants of {name} say nothing: its solution itself loses points")
            continue
        survivors = [m for m, found in own.items() if found.score == found.max_score]
        text = (assignment.secret / f"{name}.py").read_text(encoding="utf-8-sig")
        reasons, wrong_marks = settle(marks_of(text, f"{name}.py"), survivors)
        faults += wrong_marks
        if left := len(survivors) - len(reasons):
            mutants = "1 mutant keeps" if left == 1 else f"{left} mutants keep"
            faults.append(f"{mutants} every point of {name}")
        reports += [
            MutantReport(
                **dataclasses.asdict(mutant),
                component=name,
                caught=mutant not in survivors,
                failed=[c.id for c in found.criteria if c.outcome == "failed"],
                equivalent=reasons.get(mutant, ""),
            )
            for mutant, found in own.items()
        ]
    return reports, faults


def settle(
    marks: Sequence[Mark], survivors: Sequence[Mutant]
) -> tuple[dict[Mutant, str], list[str]]:
    """Return the reason for every survivor that is accepted, and a sentence for every idle mark."""
    reasons: dict[Mutant, str] = {}
    faults = []
    for mark in marks:
        accepted = [mutant for mutant in survivors if mutant.line == mark.target]
        reasons |= dict.fromkeys(accepted, mark.reason)
        if not accepted:
            faults.append(
                f"{mark.file}, line {mark.line}: the mark accepts nothing: no mutant of "
                f"line {mark.target} survives: remove it"
            )
    return reasons, faults


# What is printed.


def print_report(console: Console, report: Report) -> None:
    """Print the matrices, the figures of the diagnosis, every fault, and the surviving mutants."""
    say = functools.partial(console.print, highlight=False)
    for component, criteria in report.criteria.items():
        rows = [r for r in report.rows if r.kind == "misconception" and r.component == component]
        if rows:
            _print_matrix(say, component, criteria, rows)
    for line in [f"sandbox {report.sandbox}", *_said_of_figures(report)]:
        say(safe(line, 1000))
    for row in report.rows:
        if row.kind == "misconception" and row.named != row.wrong:
            say(f"[yellow]not named[/yellow] {row.id}: {safe(' or '.join(row.named) or 'nothing')}")
    for row in report.rows:
        if row.outcome == "unnamed":
            wanted = safe((" or " if row.alternatives else " and ").join(row.wrong))
            named = safe(" and ".join(row.named) or "nothing")
            say(f"[yellow]unnamed[/yellow] {safe(row.id)}: {named}, expected: {wanted}")
    _print_survivors(say, [mutant for mutant in report.mutants if mutant.survives])
    for fault in report.faults:
        say(f"[red]fault[/red] {safe(fault, 1000)}")
    for loss in report.why:
        print_loss(Printer(console), loss)
    verdict = "the suites hold" if report.holds else counted(len(report.faults), "fault")
    if report.left_out:
        verdict += f"; not looked at: {', '.join(report.left_out)}"
    if report.kinds:
        verdict += f"; rows of these kinds alone: {', '.join(report.kinds)}"
    say(f"{report.assignment}: {verdict}")


def _said_of_figures(report: Report) -> Iterator[str]:
    figures = report.figures
    right = [row for row in report.rows if row.kind in RIGHT]
    full = sum(not row.lost for row in right)
    yield (
        f"right work: {full} of {len(right)} keep every point; "
        f"{figures.right_named} of {figures.right} are said to have a misconception"
    )
    empty = [row for row in report.rows if row.kind == "trivial"]
    yield f"trivial work: {sum(not row.earned for row in empty)} of {len(empty)} earn nothing"
    given = [row for row in report.rows if row.kind == "given"]
    idle = sum(not row.earned for row in given)
    yield f"given text handed in: {idle} of {len(given)} earn nothing"
    yield f"misconceptions: {figures.named_alone} of {figures.misconceptions} named alone"
    if figures.hidden_alone:
        yield f"found by hidden criteria alone, which name no mistake: {figures.hidden_alone}"
    yield (
        f"pairs: {figures.named_pair} of {figures.pairs} named as the pair, "
        f"{figures.named_half} as one of the two"
    )
    for name, naming in report.wrong_variants.items():
        yield (
            f"wrong variants of {name}: {naming.named} of {naming.expected} named rightly, "
            f"{naming.unnamed} unnamed, {naming.falsely} falsely; in {naming.nothing} more, "
            "nothing is to be named"
        )
    if figures.wrong_at_home:
        share = figures.told_at_home / figures.wrong_at_home
        yield (
            f"at home: of {figures.wrong_at_home} wrong variants that grading names, a student is "
            f"told the same in {figures.told_at_home} ({share:.0%})"
        )
    yield (
        f"mutants: {figures.mutants_caught} of {figures.mutants} lose points, "
        f"{figures.mutants_equivalent} are marked as equivalent, "
        f"{figures.mutants_surviving} keep every point unmarked"
    )


def _print_survivors(say: _Say, survivors: list[MutantReport]) -> None:
    """Show the mutants that keep every point, as what to close or to mark."""
    if not survivors:
        return
    say(
        "\n[bold]mutants that keep every point[/bold]: sharpen the check that should see the "
        "change, or accept it\nin the solution, at the end of the line or right above it, "
        "by # equivalent: REASON"
    )
    for mutant in survivors[:_SHOWN]:
        say(f"  {mutant.file}:{mutant.line}")
        say(f"    [red]{safe(f'- {mutant.old}', 160)}[/red]")
        say(f"    [green]{safe(f'+ {mutant.new}', 160)}[/green]")
    if len(survivors) > _SHOWN:
        say(f"  and {len(survivors) - _SHOWN} more: --component shows fewer, --json all")
    say()


def _print_matrix(say: _Say, component: str, criteria: list[str], rows: list[RowReport]) -> None:
    say(f"\n[bold]{component}[/bold]: the criteria that each misconception loses")
    columns = list(zip(_LETTERS, criteria, strict=False))
    names = [row.id.partition(".")[2] for row in rows]
    width = max(map(len, names))
    for name, row in zip(names, rows, strict=True):
        cells = "".join(letter if criterion in row.lost else "·" for letter, criterion in columns)
        partly = [f"{letter} {row.partly[c]}" for letter, c in columns if c in row.partly]
        said = f"; {', '.join(partly)} cases" if partly else ""
        say(f"  {name:<{width}}  {cells}  {round(row.lost_points, 2):4g} points{said}")
    legend = ", ".join(f"{letter} {c.partition('.')[2]}" for letter, c in columns)
    say(f"  [dim]{legend}[/dim]\n")


def print_loss(print_: Printer, loss: Loss) -> None:
    """Print why right work loses a criterion, in the words of `check`."""
    now = loss.explained.now
    print_.line("")
    where = ", ".join(filter(None, (now.visibility, now.source)))
    print_.line(f"{loss.row} loses {now.id}: {now.title} ({where})")
    for line in now.message.splitlines():
        print_.line(line, "    ")
    print_component(print_, loss.explained)
    print_call(print_, loss.explained)
