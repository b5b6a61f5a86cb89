"""Which marks moved when submissions were graded again, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from autograder import private
from autograder.grading.batch import Regraded
from autograder.grading.store import writing
from autograder.grading.tables import table
from autograder.reports.terminal import Printer
from autograder.results import CriterionResult, Graded, SubmissionResult
from autograder.text import clean, counted, out_of, points

_SUBMISSIONS = 20
_CRITERIA = 8


class Step(NamedTuple):
    """How one criterion moved: in a word, in words, and by its scores, None where it was not."""

    criterion: str
    kind: str
    words: str
    scores: tuple[float | None, float | None]


class Move(NamedTuple):
    """A submission whose mark moved, or components within it: the criteria that did, and why."""

    submission: str
    marks: tuple[str, str]
    steps: Sequence[Step]
    why: Sequence[str]
    maximum: bool  # it alone is another one
    within: Sequence[str]  # the components that moved, in words, where the mark is the same


def changes(before: Graded, after: Graded) -> list[str]:
    """Say what differs between what was graded then and now."""
    found = []
    if before.suite_hash != after.suite_hash:
        found.append("the suite changed")
    if before.submission_hash != after.submission_hash:
        found.append("the submission changed")
    if before.seed != after.seed:
        found.append(f"the seed changed ({before.seed} -> {after.seed})")
    versions = [
        f"{name} {before.versions.get(name, 'none')} -> {after.versions.get(name, 'none')}"
        for name in dict.fromkeys((*before.versions, *after.versions))
        if before.versions.get(name) != after.versions.get(name)
    ]
    if versions:
        found.append(f"versions changed ({', '.join(versions)})")
    for name in dict.fromkeys((*before.accepted, *after.accepted)):
        if before.accepted.get(name) != after.accepted.get(name):
            known = name in after.accepted
            found.append(f"{name} was accepted" if known else f"{name} is no longer accepted")
    return found


def moves(regraded: Sequence[Regraded]) -> list[Move]:
    """Return the submissions whose mark moved, or components within it, by id."""
    found = []
    for before, after in regraded:
        same = (before.score, before.max_score) == (after.score, after.max_score)
        within = list(_components(before, after)) if same else []
        if not same or within:
            most = before.max_score != after.max_score
            marks = (_mark(before, most), _mark(after, most))
            steps, why = list(_steps(before, after)), _why(before, after)
            maximum = most and before.score == after.score
            found.append(Move(after.submission, marks, steps, why, maximum, within))
    return sorted(found, key=lambda move: move.submission)


def report(console: Console, out: Path, regraded: Sequence[Regraded]) -> None:
    """Print which marks moved and list them all in `moved.csv`; nothing if none was graded again.

    `out` is the folder of the results, `regraded` has the earlier and the new one of each.
    """
    found = moves(regraded)
    line = Printer(console).line
    if not found:
        if regraded:
            line("no mark moved")
        return
    others = sum(move.maximum for move in found)
    within = sum(bool(move.within) for move in found)
    own = len(found) - others - within
    said = [f"{counted(own, 'mark')} moved"] if own else []
    said += [f"{counted(others, 'mark')} of another maximum"] if others else []
    said += [f"components moved within {counted(within, 'mark')}"] if within else []
    line(f"{', '.join(said)}:")
    rows: list[list[str | float | None]] = [["submission", "criterion", "before", "after", "why"]]
    for number, move in enumerate(found):
        why = "; ".join(move.why)
        rows.append([move.submission, "total", *move.marks, why])
        for step in move.steps:
            rows.append([move.submission, step.criterion, *step.scores, f"{step.kind}: {why}"])
        if number < _SUBMISSIONS:
            _print(line, move)
    if len(found) > _SUBMISSIONS:
        line(f"and {counted(len(found) - _SUBMISSIONS, 'more submission')}")
    path = out / "moved.csv"
    with writing(path):
        private.write_file(path, table(rows))
    line(f"What moved: {clean(str(path), 500)}")


def _print(line: Callable[..., None], move: Move) -> None:
    marks = " -> ".join(move.marks) + ", another maximum" * move.maximum
    marks = f"{move.marks[0]}, {', '.join(move.within)}" if move.within else marks
    line(f"{clean(move.submission, 60)} {marks}: {clean(' and '.join(move.why), 1000)}")
    for step in move.steps[:_CRITERIA]:
        line(f"{clean(step.criterion)} {step.words}", "  ")
    if len(move.steps) > _CRITERIA:
        more = counted(len(move.steps) - _CRITERIA, "more criterion", "more criteria")
        line(f"and {more}", "  ")


def _mark(result: SubmissionResult, most: bool) -> str:
    mark = "no mark" if result.score is None else points(result.score)
    return f"{mark} of {points(result.max_score)}" if most else mark


def _components(before: SubmissionResult, after: SubmissionResult) -> Iterator[str]:
    """Yield in words the components that moved, of a submission that was graded both times."""
    if before.status == after.status == "graded":
        for name, now in after.components.items():
            then = before.components.get(name)
            if then is not None and then.score != now.score:
                yield f"{name} {points(then.score)} -> {points(now.score)}"


def _why(before: SubmissionResult, after: SubmissionResult) -> list[str]:
    if before.graded is not None and after.graded is not None:
        why = changes(before.graded, after.graded)
    else:
        why = []
        for result, then in ((before, "was"), (after, "is now")):
            if result.status == "rejected":
                why.append(f"the submission {then} rejected")
            if result.status == "error":
                why.append(f"there {then} a fault of the grader")
    return why or ["nothing recorded changed: the code is unsteady, or close to a time limit"]


def _steps(before: SubmissionResult, after: SubmissionResult) -> Iterator[Step]:
    if before.status != "graded" or after.status != "graded":
        return
    old, new = _criteria(before), _criteria(after)
    for name in dict.fromkeys((*new, *old)):
        then, now = old.get(name), new.get(name)
        said = " -> ".join(_share(one) for one in (then, now) if one is not None)
        if kind := _kind(then, now):
            before_, after_ = (None if one is None else one.score for one in (then, now))
            yield Step(name, kind.partition(",")[0], f"{kind} ({said})", (before_, after_))


def _kind(then: CriterionResult | None, now: CriterionResult | None) -> str:
    """Say in a word how a criterion moved; nothing where it did not."""
    if then is None or now is None:
        return "added" if then is None else "removed"
    other_points = then.max_score != now.max_score
    if now.share == then.share:
        return "points changed" if other_points else ""
    return ("gained" if now.share > then.share else "lost") + ", points changed" * other_points


def _share(criterion: CriterionResult) -> str:
    earned = out_of(criterion.score, criterion.max_score)
    if criterion.cases == 1:
        return earned
    return f"{earned}, {criterion.passed_cases} of {criterion.cases} cases"


def _criteria(result: SubmissionResult) -> dict[str, CriterionResult]:
    return {c.id: c for component in result.components.values() for c in component.criteria}
