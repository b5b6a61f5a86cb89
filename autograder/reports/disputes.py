"""Settle a dispute about one mark: run its criterion again and show the instructor everything."""

from __future__ import annotations

import contextlib
import difflib
import os
from pathlib import Path

from rich.console import Console

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.grading import accepted
from autograder.grading.entries import submission_in
from autograder.grading.messages import (
    Answer,
    Explained,
    ExplainJob,
    Fault,
    UnknownCriterion,
    Unreadable,
)
from autograder.grading.store import read_file
from autograder.grading.workers import Worker, WorkerLost
from autograder.project import find_root
from autograder.reports.moved import changes
from autograder.reports.terminal import Printer, Stages
from autograder.results import (
    CriterionResult,
    Graded,
    SubmissionResult,
    in_short,
    losing_points,
    losing_public,
)
from autograder.text import clean, counted, out_of

_GIVE = "give one that `autograder grade` wrote, DIR/results/<submission>.json"
_UNASKED = "not known: this call follows from an earlier answer, and the solution was not asked"


def settle(
    console: Console,
    path: Path,
    criterion: str,
    root: Path | None,
    sandbox: str,
    submission: Path | None,
) -> int:
    """Run one criterion of a result again, and print what it came to and why.

    Args:
        path: the result file.
        submission: the submission, if it is not where it was graded.

    Returns:
        0 if the rerun agrees with the record, 1 if it does not, or failed.

    Raises:
        UsageError: the file is no result, or has nothing of the kind to explain.
    """
    result, graded = _read(path)
    component, recorded = _find(path, result, criterion)
    _must_have_run(path, result, component)
    assignment = load_assignment(find_root(root), result.assignment)
    place = _place(path, result, submission)
    uses = next((spec.uses for spec in assignment.components if spec.name == component), ())
    job = ExplainJob(
        path=os.fsencode(place),
        criterion=criterion,
        suite_hash=assignment.suite_hash(),
        broken=tuple(losing_points(result.components, uses)),
        broken_publicly=tuple(losing_public(result.components, uses)),
        accepted=graded.accepted,
    )
    found: Answer
    with Stages(console) as stages, contextlib.closing(Worker(assignment, sandbox)) as worker:
        worker.wait(stages)
        stages("grading the component again")
        try:
            found = worker.ask(job)
        except WorkerLost as lost:
            found = Fault(reason=str(lost))
    if isinstance(found, UnknownCriterion):
        raise UsageError(
            f"the suite of {assignment.name} has no criterion {criterion!r} any more: "
            "it was changed after this result was written"
        )
    if isinstance(found, Unreadable):
        raise UsageError(
            f"the submission {place} cannot be taken in ({found.reason}): "
            "name the one that was graded with --submission"
        )
    print_ = Printer(console)
    worth = counted(recorded.max_score, "point")
    print_.line(f"{result.submission}: {criterion}: {recorded.title}")
    print_.line(", ".join(filter(None, (recorded.visibility, worth, recorded.source))))
    if not isinstance(found, Explained):
        reason = found.reason if isinstance(found, Fault) else "no proper answer came"
        print_.line(f"the grader failed: {reason}")
        return 1
    now, agrees = found.now, recorded.outcome == found.now.outcome
    if differs := changes(graded, found.graded):
        said = " and ".join(differs)
        print_.line(f"Since this was graded {said}: the rerun need not agree with the record.")
    print_.line(f"recorded: {_words(recorded)}")
    print_.block("the student was told", recorded.message.splitlines())
    verdict = "agrees" if agrees else "does NOT agree"
    print_.line(f"run again: {_words(now)}; it {verdict} with the record ({worker.sandbox})")
    if now.message != recorded.message:
        print_.block("the student would now be told", now.message.splitlines() or ["nothing"])
    print_component(print_, found)
    print_call(print_, found)
    return int(not agrees)


def print_component(print_: Printer, found: Explained) -> None:
    """Say what about the whole component bears on the criterion."""
    if found.status not in ("graded", "timeout", "crashed"):
        status = found.status.replace("_", " ")
        print_.block(f"the whole component is {status}", found.component_message.splitlines())
    elif found.now.outcome == "not_run":
        print_.block("not run, because before it too much hung or died in", found.over)
    if found.stand_ins:
        print_.line(f"graded with a working {', '.join(found.stand_ins)}")


def print_call(print_: Printer, found: Explained) -> None:
    """Show the call that tells most, with both answers."""
    # Of a public check the student is told as much.
    if found.now.message.splitlines()[: len(found.full)] != found.full:
        print_.block("what the check found, with all values", found.full)
    print_.block("drawn for this example", found.drawn)
    call = found.traced
    if call is None:
        return
    print_.block(f"call {call.number} of {call.of}", call.call)
    print_.block("the component answered", call.answer or ["nothing: it hung or died here"])
    print_.block("the right answer", call.right or [_UNASKED])
    print_.block("where they differ", call.differences)
    if call.seeded and call.differences:
        print_.line("the call is seeded: where it draws at random, other draws may be right too")
    if call.answer is not None and not call.unlike:
        print_.line("no answer that the check read differs from the solution's")


def _read(path: Path) -> tuple[SubmissionResult, Graded]:
    """Read a result that has something to explain."""
    result = read_file(path, _GIVE)
    name, why = clean(result.submission, 80), clean(result.message)
    if result.status == "rejected":
        raise UsageError(f"{name} was rejected, so no criterion ran that could be explained: {why}")
    if result.status == "error" or result.graded is None:
        raise UsageError(
            f"the grader failed on {name}, so there is no mark to explain; grade it again: {why}"
        )
    return result, result.graded


def _find(path: Path, result: SubmissionResult, name: str) -> tuple[str, CriterionResult]:
    """Return the component of a criterion, and what was recorded of it."""
    named = {
        criterion.id: (component, criterion)
        for component, found in result.components.items()
        for criterion in found.criteria
    }
    if name in named:
        return named[name]
    # Its last part alone is near, too.
    near = [known for known in named if name and known.partition(".")[2] == name]
    near += difflib.get_close_matches(name, list(named), n=4, cutoff=0.5)
    near = near or [known for known in named if known.partition(".")[0] == name.partition(".")[0]]
    listed = ", ".join(dict.fromkeys(near or list(named)[:4]))
    raise UsageError(f"{path} has no criterion {name!r}; near it: {listed or 'none'}")


def _place(path: Path, result: SubmissionResult, given: Path | None) -> Path:
    """Return where the submission is."""
    if given is None and not result.path:
        raise UsageError(
            f"{path} does not say where the submission was: name it with --submission PATH"
        )
    # A link of the instructor's own is followed; a student's is refused.
    place = Path(result.path).absolute() if given is None else given.resolve()
    if not place.exists():
        raise UsageError(
            f"the submission {place} does not exist: name where it is now with --submission PATH"
        )
    return submission_in(place, result.assignment)


def _must_have_run(path: Path, result: SubmissionResult, component: str) -> None:
    """Refuse to explain what is held for review."""
    places = result.held.get(component)
    if places is not None:
        name = clean(result.submission, 80)
        typed = accepted.command(path.absolute().parent.parent, result.submission, component)
        raise UsageError(
            f"{component} of {name} is held for review, so no criterion of it ran "
            f"({in_short(places)}): accept it with `{typed}` and grade {name} again"
        )


def _words(criterion: CriterionResult) -> str:
    outcome = criterion.outcome.replace("_", " ")
    return f"{outcome}, {out_of(criterion.score, criterion.max_score)}"
