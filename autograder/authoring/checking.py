"""The author's inner loop: run a solution and its stub through the suite, in the sandbox.

A solution may lose points here: every criterion that it loses is shown with its message, the call
and the answers. The stub is generated from the solution as it is now. It gets one more comment,
because a stub that nobody touched is not run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.api.criterion import COUNTS_LATER
from autograder.assignment import Assignment
from autograder.authoring import pasted, trivial
from autograder.authoring.folders import modules_in, write_files
from autograder.authoring.proof import Loss, lost_criteria, print_loss
from autograder.authoring.stubs import MARK, drifted, stub_of, unfilled
from autograder.errors import UsageError
from autograder.grading.messages import Answer, Explained, ExplainJob, Fault, GradeJob, Marked
from autograder.grading.workers import CannotGrade, Tell, Worker, WorkerLost, unheard
from autograder.reports.terminal import Printer
from autograder.results import ComponentResult, SubmissionResult
from autograder.rules.files import is_of
from autograder.sandbox.scratch import temporary_folder
from autograder.text import clean

_TOUCHED = b"\n# touched\n"


@dataclass
class Checked:
    """The outcome of a check.

    Attributes:
        sandbox: how the code was isolated.
        solution, stub: their results, by component.
        lost: the criteria that the solution loses in the sandbox, explained.
        elsewhere: messages on criteria that the solution loses in the judge's own process alone,
            or whose tests are broken.
        faults: everything else that is wrong.
        notes: things to do before a release.
    """

    sandbox: str
    solution: Mapping[str, ComponentResult]
    stub: Mapping[str, ComponentResult]
    lost: dict[str, Explained] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong."""
        return not (self.lost or self.elsewhere or self.faults)


def check(
    assignment: Assignment,
    component: str,
    sandbox: str,
    tell: Tell = unheard,
    worker: Worker | None = None,
) -> Checked:
    """Run solution and stub through the suite of one component, or of all for an empty name.

    `worker` is one that stands by for this assignment; it is used up.

    Raises:
        UsageError: there is no such component or no solution, or the suite cannot be collected.
    """
    names = list(assignment.totals)
    if component and component not in names:
        raise UsageError(
            f"{assignment.name} has no component {component!r}; it has: {', '.join(names)}"
        )
    names = [component] if component else names
    solutions = modules_in(assignment.secret)
    for name in names:
        file = assignment.component(name).file
        if file not in solutions:
            raise UsageError(f"there is no solution {assignment.secret / file}: write it first")
    fresh, faults = _stubs(assignment, names)
    stubs = {file: text.encode() + _TOUCHED for file, text in fresh.items()}
    others, _ = _stubs(assignment, [name for name in assignment.totals if name not in names])
    # What is old in `assignments/` is a note and nothing more: it decides nothing here.
    assignment = replace(assignment, fresh={**others, **fresh})
    # A stub may import other components when it is read; alone it would be an import error.
    uses = {used for spec in assignment.components if spec.name in names for used in spec.uses}
    beside = {
        file: text for file, text in solutions.items() if any(is_of(file, name) for name in uses)
    }
    worker = worker or Worker(assignment, sandbox, checking=component)
    with temporary_folder() as folder:
        trial = _Trial(worker, assignment.suite_hash(), dict(assignment.fresh), folder)
        try:
            worker.wait(tell)
            tell("grading the solution and the stub")
            solved = trial.grade("solution", solutions)
            untouched = trial.grade("stub", beside | stubs)
            found = Checked(worker.sandbox, solved.components, untouched.components)
            tell("grading trivial submissions")
            few = trivial.submissions(assignment, few=True)
            found.faults += trivial.faults_of({w: trial.grade(w, f, names) for w, f in few})
            tell("handing in what is given")
            given = {
                one.words: trial.grade(f"given {number}", one.files, one.components)
                for number, one in enumerate(pasted.submissions(assignment, names))
            }
            found.faults += pasted.faults_of(assignment, given)
            for name in names:
                for criterion in lost_criteria(solved.components[name]):
                    answer = trial.explain("solution", criterion.id)
                    if isinstance(answer, Explained):
                        found.lost[criterion.id] = answer
                    else:
                        # Its test is broken: there is no call to show.
                        found.elsewhere[criterion.id] = _why(answer)
        except WorkerLost as lost:
            raise CannotGrade(f"the grader failed: {lost}") from lost
        finally:
            worker.close()
    losses = worker.ready.losses
    found.elsewhere |= {name: words for name, words in losses.items() if name not in found.lost}
    found.faults += [*faults, *worker.ready.faults]
    found.notes += worker.ready.notes
    made = [name for name in names if any(is_of(file, name) for file in stubs)]
    found.faults += _of_stubs({name: found.stub[name] for name in made})
    left = sum(1 for _ in unfilled(assignment))
    if left:
        found.notes.append(
            f"{left} places still say {MARK}: nothing is released before they are gone"
        )
    late = drifted(assignment, made) if made else []
    if late:
        found.notes.append(
            f"{', '.join(late)} in assignments/ differ from what the solutions give: run "
            f"`autograder stubs {assignment.name}` before a release"
        )
    return found


def _stubs(assignment: Assignment, names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Return the stubs by file name, and why others cannot be made."""
    stubs: dict[str, str] = {}
    faults: list[str] = []
    for name in names:
        try:
            stubs |= stub_of(assignment, name)
        except UsageError as error:
            faults.append(f"no stub can be made: {error}")
    return stubs, faults


@dataclass
class _Trial:
    """Has submissions of ours graded by one worker, by the stubs that the solutions give."""

    worker: Worker
    suite_hash: str
    stubs: dict[str, str]
    folder: Path

    def grade(
        self, name: str, files: Mapping[str, bytes], bare: Sequence[str] = ()
    ) -> SubmissionResult:
        """Grade some files; of the components in `bare`, if there are any, marks alone."""
        place = self.folder / name
        place.mkdir()
        write_files(place, files)
        answer = self.worker.ask(
            GradeJob(
                id=name,
                path=os.fsencode(place),
                suite_hash=self.suite_hash,
                only=tuple(bare),
                diagnose=not bare,
                stubs=self.stubs,
            )
        )
        if not isinstance(answer, Marked) or answer.result.status != "graded":
            raise CannotGrade(f"the {name} cannot be graded: {_why(answer)}")
        return answer.result

    def explain(self, name: str, criterion: str) -> Answer:
        """Run one criterion of files that were graded again."""
        place = os.fsencode(self.folder / name)
        job = ExplainJob(path=place, criterion=criterion, suite_hash=self.suite_hash)
        return self.worker.ask(job)


def _why(answer: Answer) -> str:
    if isinstance(answer, Fault):
        return answer.reason
    return answer.result.message if isinstance(answer, Marked) else "no proper answer came"


def _of_stubs(stubs: Mapping[str, ComponentResult]) -> Iterator[str]:
    """Yield what is wrong with stubs: each should be not attempted and earn nothing."""
    for name, found in stubs.items():
        passed = [c.id for c in found.criteria if c.passed or COUNTS_LATER in c.facts]
        if passed:
            yield f"the stub of {name} passes {', '.join(passed)}: nothing has to be done for it"
        elif found.status != "not_attempted":
            status, why = found.status.replace("_", " "), found.message.replace("\n", "; ")
            yield f"the stub of {name} is {status}, and not `not attempted`: {why}"


def print_checked(print_: Printer, found: Checked) -> None:
    """Print the outcome of a check: each component with its form, then everything that is wrong."""
    for name, solution in found.solution.items():
        if name not in found.stub:
            continue
        passed = sum(bool(criterion.passed) for criterion in solution.criteria)
        stub = found.stub[name].status.replace("_", " ")
        print_.line(
            f"{name}: the solution earns {solution.score:g} of {solution.max_score:g} points, "
            f"{passed} of {len(solution.criteria)} criteria; the stub is {stub}"
        )
        form = [criterion.id.partition(".")[2] for criterion in solution.criteria if criterion.form]
        if form:
            print_.line(f"  form, which counts once another criterion holds: {', '.join(form)}")
    for explained in found.lost.values():
        print_loss(print_, Loss(row="the solution", explained=explained))
    for name, words in found.elsewhere.items():
        print_.line("")
        print_.line(f"the solution loses {name}: {clean(words)}")
    for fault in found.faults:
        print_.line(f"fault: {fault}")
    for note in found.notes:
        print_.line(f"note: {note}")
