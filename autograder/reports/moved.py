"""Which marks moved when submissions were graded again, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from autograder import private
from autograder.grading.store import unwritable
from autograder.grading.tables import table
from autograder.reports.terminal import safe
from autograder.results import CriterionResult, Graded, SubmissionResult

_SUBMISSIONS = 20
_CRITERIA = 8


@dataclass(frozen=True)
class Step:
    """How one criterion moved: `kind` in a word, scores None where it did not exist."""

    criterion: str
    kind: str
    before: float | None
    after: float | None
    words: str


@dataclass(frozen=True)
class Move:
    """A submission whose mark moved, with the criteria that moved it, and why."""

    submission: str
    before: str
    after: str
    steps: Sequence[Step]
    why: Sequence[str]


def changes(before: Graded, after: Graded) -> list[str]:
    """Say what differs between what was graded then and now."""
    found = []
    if before.suite_hash != after.suite_hash:
        found.append("the suite changed")
    if before.submission_hash != after.submission_hash:
        found.append("the submission changed")
    if before.seed != after.seed:
        found.append(f"the seed changed ({before.seed} -> {after.seed})")
    names = dict.fromkeys((*before.versions, *after.versions))
    parts = [
        f"{name} {before.versions.get(name, 'none')} -> {after.versions.get(name, 'none')}"
        for name in names
        if before.versions.get(name) != after.versions.get(name)
    ]
    if parts:
        found.append(f"versions changed ({', '.join(parts)})")
    for name in dict.fromkeys((*before.accepted, *after.accepted)):
        if before.accepted.get(name) != after.accepted.get(name):
            known = name in after.accepted
            found.append(f"{name} was accepted" if known else f"{name} is no longer accepted")
    return found


def moves(regraded: Sequence[tuple[SubmissionResult, SubmissionResult]]) -> list[Move]:
    """Return the submissions whose mark moved, by id."""
    found = [
        Move(
            after.submission,
            *_marks(before, after),
            list(_steps(before, after)),
            _why(before, after),
        )
        for before, after in regraded
        if (before.score, before.max_score) != (after.score, after.max_score)
    ]
    return sorted(found, key=lambda move: move.submission)


def report(
    console: Console, out: Path, regraded: Sequence[tuple[SubmissionResult, SubmissionResult]]
) -> None:
    """Print which marks moved and list them all in `moved.csv`; nothing if none was graded again.

    Args:
        console: where to print.
        out: the folder of the results.
        regraded: the earlier and the new result of what was graded again.
    """
    if not regraded:
        return
    found = moves(regraded)
    if not found:
        console.print("no mark moved")
        return
    console.print(f"{len(found)} mark{'s' if len(found) > 1 else ''} moved:", highlight=False)
    for move in found[:_SUBMISSIONS]:
        why = safe(" and ".join(move.why), 1000)
        console.print(
            f"{safe(move.submission, 60)} {move.before} -> {move.after}: {why}", highlight=False
        )
        for step in move.steps[:_CRITERIA]:
            console.print(f"  {safe(step.criterion)} {step.words}", highlight=False)
        if len(move.steps) > _CRITERIA:
            console.print(f"  and {len(move.steps) - _CRITERIA} more criteria", highlight=False)
    if len(found) > _SUBMISSIONS:
        console.print(f"and {len(found) - _SUBMISSIONS} more submissions", highlight=False)
    path = _write(out, found)
    console.print(f"What moved: {safe(str(path), 500)}", highlight=False)


def _marks(before: SubmissionResult, after: SubmissionResult) -> tuple[str, str]:
    marks = ["no mark" if r.score is None else f"{r.score:g}" for r in (before, after)]
    if before.max_score != after.max_score:
        marks = [f"{m} of {r.max_score:g}" for m, r in zip(marks, (before, after), strict=True)]
    return marks[0], marks[1]


def _why(before: SubmissionResult, after: SubmissionResult) -> list[str]:
    why = []
    for result, then in ((before, "was"), (after, "is now")):
        if result.status == "rejected":
            why.append(f"the submission {then} rejected")
        if result.status == "error":
            why.append(f"there {then} a fault of the grader")
    if before.graded is not None and after.graded is not None:
        why = changes(before.graded, after.graded)
    return why or ["nothing recorded changed: the code is unsteady, or close to a time limit"]


def _steps(before: SubmissionResult, after: SubmissionResult) -> Iterator[Step]:
    if before.status != "graded" or after.status != "graded":
        return
    old, new = _criteria(before), _criteria(after)
    for name in dict.fromkeys((*new, *old)):
        step = _step(name, old.get(name), new.get(name))
        if step is not None:
            yield step


def _step(name: str, old: CriterionResult | None, new: CriterionResult | None) -> Step | None:
    if old is None and new is not None:
        return Step(name, "added", None, new.score, f"added ({_share(new)})")
    if old is not None and new is None:
        return Step(name, "removed", old.score, None, f"removed ({_share(old)})")
    assert old is not None
    assert new is not None
    moved = f"({_share(old)} -> {_share(new)})"
    if _share_earned(old) != _share_earned(new):
        kind = "gained" if _share_earned(new) > _share_earned(old) else "lost"
        also = ", points changed" if old.max_score != new.max_score else ""
        return Step(name, kind, old.score, new.score, f"{kind}{also} {moved}")
    if old.max_score != new.max_score:
        return Step(name, "points changed", old.score, new.score, f"points changed {moved}")
    return None


def _share_earned(criterion: CriterionResult) -> float:
    # Of a criterion worth nothing, its outcome is all that can move.
    worth = criterion.max_score
    return criterion.score / worth if worth else float(bool(criterion.passed))


def _share(criterion: CriterionResult) -> str:
    points = f"{criterion.score:g} of {criterion.max_score:g}"
    if criterion.cases == 1:
        return points
    return f"{points}, {criterion.passed_cases} of {criterion.cases} cases"


def _criteria(result: SubmissionResult) -> dict[str, CriterionResult]:
    return {c.id: c for component in result.components.values() for c in component.criteria}


def _write(out: Path, found: Sequence[Move]) -> Path:
    """Write moved.csv, for every submission its total and then the criteria."""
    rows: list[list[str | float | None]] = []
    for move in found:
        why = "; ".join(move.why)
        rows.append([move.submission, "total", move.before, move.after, why])
        rows += [
            [move.submission, step.criterion, step.before, step.after, f"{step.kind}: {why}"]
            for step in move.steps
        ]
    header = ["submission", "criterion", "before", "after", "why"]
    path = out / "moved.csv"
    try:
        private.write_file(path, table([header, *rows]))
    except OSError as error:
        raise unwritable(path, error) from error
    return path
