"""A worker: one warm judge and one warm fork server, in a process of its own without threads.

It reads one job a line from standard input and writes one answer a line to standard output. Every
job is graded in a fork of the warm judge, so nothing of one submission is left for the next.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from autograder.api.lazy import torch
from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError
from autograder.given import given_by
from autograder.grading.messages import (
    JOBS,
    Answer,
    ExplainJob,
    Fault,
    GradeJob,
    Job,
    Marked,
    Ready,
    Refused,
    Stage,
    written,
)
from autograder.judge.begin import begin
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.component import Judge, all_forbidden, largest_budget
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.explain import explain_criterion
from autograder.judge.places import cache_folder
from autograder.judge.reference import ReferenceFault, workplace
from autograder.judge.submission import grade_submission
from autograder.judge.suite import Suite, SuiteFault
from autograder.results import SubmissionResult, total
from autograder.sandbox import confine
from autograder.sandbox.dynamo import load_later
from autograder.sandbox.packages import PackageFault, versions
from autograder.sandbox.scratch import temporary_folder
from autograder.sandbox.tiers import NotIsolated, open_sandbox


def serve(
    root: Path,
    name: str,
    choice: str,
    checking: str | None,
    jobs: IO[bytes],
    answers: IO[bytes],
    standby: bool = False,
) -> None:
    """Start up, say so, and do job after job until the input ends.

    Args:
        root: the project.
        name: the assignment.
        choice: how student code is isolated.
        checking: where an author tries out the suites: the component, empty for all of them. A
            solution may lose points then, and no misconceptions are looked for.
        jobs: one a line.
        answers: likewise.
        standby: the suites are read only when a first line comes, with torch and the sandbox there.
    """

    def answer(line: bytes) -> None:
        answers.write(line)
        answers.flush()

    def tell(words: str) -> None:
        answer(written(Stage(words=words)))

    def wait() -> None:
        if standby and not jobs.readline():
            raise SystemExit

    with contextlib.ExitStack() as stack:
        try:
            if sys.platform == "linux":
                confine.die_with_parent()
            # Whatever the suite or torch warns of, a mark does not depend on it.
            warnings.simplefilter("ignore")
            assignment = load_assignment(root, name)
            if assignment.uses_torch:
                torch.set_num_threads(1)
                load_later()
            judge, description = _judge_of(assignment, choice, checking, tell, stack, wait)
            # Looked up here once, not by every fork again.
            versions(assignment.packages)
            suite = judge.suite
            said: dict[str, Any] = {"losses": suite.losses, "faults": suite.faults}
            answer(written(Ready(sandbox=description, notes=suite.notes, **said)))
            gc.freeze()
            gc.enable()
            for number, line in enumerate(jobs):
                if number == 1 and sys.platform == "linux":
                    # This takes as long as it saves with every job from now on.
                    judge.sandbox.settle()
                answer(_in_a_fork(judge, description, JOBS.validate_json(line)))
        except (NotIsolated, PackageFault, UsageError) as error:
            answer(written(Refused(reason=str(error))))
        except (SuiteFault, ReferenceFault) as error:
            answer(written(Refused(reason=f"the suite of {name} is broken: {error}", suite=True)))


def _judge_of(
    assignment: Assignment,
    choice: str,
    checking: str | None,
    tell: Callable[[str], None],
    stack: contextlib.ExitStack,
    wait: Callable[[], None],
) -> tuple[Judge, str]:
    """Start the sandbox and, after `wait`, collect the suites; `stack` ends what was started."""
    root = assignment.root
    secrets = [assignment.secret, root, *sorted(assignment.secret.glob("*.py"))]
    secrets += [root / "pyproject.toml"]
    # Every job is a fork, in which nothing is kept for the next but in files.
    folder = cache_folder() or stack.enter_context(temporary_folder())
    cache = Cache(folder)
    secrets += [folder, *sorted(folder.iterdir())[:1]]
    collected: Future[Suite] = Future()

    def meanwhile() -> None:
        if collected.done():
            return
        try:
            wait()
            lenient, only = checking is not None, checking or ""
            suite = collect(assignment, only=only, lenient=lenient, tell=tell, cache=cache)
            collected.set_result(suite)
        except BaseException as error:
            collected.set_exception(error)
        tell("starting the sandbox")

    stack.enter_context(workplace(assignment))
    budget, forbidden = largest_budget(assignment), all_forbidden(assignment)
    sandbox, description = open_sandbox(
        choice,
        budget,
        forbidden,
        secrets,
        assignment.packages,
        meanwhile,
        assignment.uses_torch,
    )
    stack.callback(sandbox.close)
    suite = collected.result()
    diagnoser = Diagnoser(assignment, suite.public_plans(), checking is None, cache, tell)
    given = given_by(assignment)
    return Judge(assignment, suite, sandbox, diagnoser, assignment.provided(), given), description


def _in_a_fork(judge: Judge, description: str, job: Job) -> bytes:
    tasks = Path("/proc/self/task")
    threads = len(list(tasks.iterdir())) if tasks.is_dir() else 1
    if threads != 1:
        raise RuntimeError(f"the worker has {threads} threads; forking it would hang")
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        # Whatever happens, this process ends here and never goes on as a second worker.
        try:
            os.close(reader)
            if sys.platform == "linux":
                confine.die_with_parent()
            message = _answer(judge, description, job)
            with os.fdopen(writer, "wb") as file:
                file.write(written(message))
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    _, status = os.waitpid(pid, 0)
    if data.endswith(b"\n"):
        return data
    return written(Fault(reason=f"the judge ended with status {status}"))


def _answer(judge: Judge, description: str, job: Job) -> Answer:
    try:
        if isinstance(job, ExplainJob):
            return explain_criterion(judge, job)
        return _grade(judge, description, job)
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return Fault(reason=f"{type(error).__name__}: {error} ({where})")


def _grade(judge: Judge, description: str, job: GradeJob) -> Answer:
    start = time.perf_counter()
    begun = begin(judge.assignment, job, description)
    if not isinstance(begun, tuple):
        return begun
    (files, remarks), graded = begun
    if job.stubs:
        assignment = replace(judge.assignment, fresh=job.stubs)
        judge = replace(judge, assignment=assignment, given=given_by(assignment))
    components = grade_submission(judge, files, job.exempt, job.only, job.diagnose, job.accepted)
    for name, component in components.items():
        of_all = remarks.get("", []) if component.status == "missing" else []
        component.remark([*remarks.get(name, []), *of_all])
    return Marked(
        result=SubmissionResult(
            submission=job.id,
            assignment=judge.assignment.name,
            status="graded",
            score=total(component.score for component in components.values()),
            # Above the assignment's while an author's points do not add up.
            max_score=max(
                judge.assignment.max_score, total(one.max_score for one in components.values())
            ),
            components=components,
            notes=[
                f"{name}.py: {said}" if name else said
                for name, of in remarks.items()
                for said in of
            ],
            review=[held for component in components.values() for held in component.review],
            sandbox=description,
            duration_s=round(time.perf_counter() - start, 4),
            graded=graded,
        )
    )


def main() -> None:
    """Serve on standard input and output; what anything else prints goes to standard error."""
    # Student code finds the signal as ever, though a Dask worker that started this blocks it.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # What is imported stays: to look for what could go takes a tenth of the start.
    gc.disable()
    root, name, choice, *checking = sys.argv[1:]
    component = checking[0] if checking else None
    standby = len(checking) > 1
    serve(Path(root), name, choice, component, sys.stdin.buffer, answers, standby)
    # All is closed; to take torch down in order costs half a second, for nothing.
    answers.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
