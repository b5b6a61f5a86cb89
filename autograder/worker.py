"""A worker: one warm judge and one warm zygote, in a process of its own without threads.

It reads one job a line from standard input and writes one answer a line to standard output. Every
job is graded in a fork of the warm judge, so nothing of one submission is left for the next.
"""

from __future__ import annotations

import functools
import gc
import importlib.metadata
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import torch

from autograder.assignment import Assignment, load_assignment
from autograder.checks import Judge
from autograder.diagnosis import Diagnoser
from autograder.errors import UsageError
from autograder.judge import grade_submission
from autograder.rerun import rerun_criterion
from autograder.results import Graded, SubmissionResult
from autograder.sandbox import confine
from autograder.sandbox.handle import Budget
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from autograder.submission import Rejected, digest, take_in
from autograder.suite.judging import JudgePlugin, SuiteFault, run_session
from autograder.suite.reference import ReferenceFault


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions that a mark may depend on."""
    names = ("torch", "numpy", "pytest", "hypothesis")
    found = {name: importlib.metadata.version(name) for name in names}
    return {"python": platform.python_version(), **found}


def budget_of(assignment: Assignment) -> Budget:
    """Return the limits of one child."""
    limits = assignment.limits
    return Budget(
        call_cpu_s=limits.call_cpu_s,
        call_wall_s=limits.call_wall_s,
        cpu_s=limits.component_cpu_s,
        memory=limits.memory_mb * 1024 * 1024,
        file_size=limits.output_kb * 1024,
    )


def serve(root: Path, name: str, choice: str, jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Start up, say so, and grade job after job until the input ends."""

    def answer(message: Mapping[str, Any]) -> None:
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()

    sandbox: Sandbox | None = None
    try:
        if sys.platform == "linux":
            confine.die_with_parent()
        torch.set_num_threads(1)
        assignment = load_assignment(root, name)
        secrets = [assignment.secret, root, *sorted(assignment.secret.glob("*.py"))]
        secrets += [root / "pyproject.toml", Path(__file__)]
        sandbox, description = open_sandbox(
            choice, budget_of(assignment), assignment.rules.forbidden, secrets
        )
        warm = sandbox

        def grade_jobs(suite: JudgePlugin) -> None:
            judge = Judge(
                assignment, suite, warm, Diagnoser(assignment, suite.plans_by_component())
            )
            # Looked up here once, not by every fork anew.
            versions()
            answer({"ready": True, "sandbox": description})
            gc.collect()
            gc.freeze()
            if sys.platform == "linux":
                confine.gather_pages()
            for line in jobs:
                answers.write(_in_a_fork(judge, description, json.loads(line)))
                answers.flush()

        hidden = assignment.secret / "tests"
        plugin = JudgePlugin(
            assignment.secret, hidden, assignment.totals, assignment.seed, grade_jobs
        )
        run_session(plugin, [assignment.public / "tests", hidden])
    except (NotIsolated, UsageError) as error:
        answer({"refused": str(error)})
    except (SuiteFault, ReferenceFault) as error:
        answer({"refused": f"the suite of {name} is broken: {error}"})
    finally:
        if sandbox is not None:
            sandbox.close()


def _in_a_fork(judge: Judge, description: str, job: dict[str, Any]) -> bytes:
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
            try:
                if "explain" in job:
                    message = {**rerun_criterion(judge, job), "versions": versions()}
                else:
                    message = _grade(judge, description, job)
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(place.filename).name}, line {place.lineno}"
                message = {"fault": f"{type(error).__name__}: {error} ({where})"}
            with os.fdopen(writer, "wb") as file:
                file.write(json.dumps(message).encode() + b"\n")
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    _, status = os.waitpid(pid, 0)
    if data.endswith(b"\n"):
        return data
    return json.dumps({"fault": f"the judge ended with status {status}"}).encode() + b"\n"


def _grade(judge: Judge, description: str, job: dict[str, Any]) -> dict[str, Any]:
    assignment = judge.assignment
    start = time.perf_counter()
    try:
        files = take_in(Path(job["path"]))
    except Rejected as rejection:
        return {
            "status": "rejected",
            "score": 0.0,
            "message": str(rejection),
            "sandbox": description,
        }
    graded = Graded(
        submission_hash=digest(files),
        suite_hash=job["suite_hash"],
        seed=assignment.seed,
        versions=versions(),
    )
    if job["known"] == graded.model_dump():
        return {"unchanged": True}
    components = grade_submission(judge, files, job["exempt"])
    result = SubmissionResult(
        submission=job["id"],
        assignment=assignment.name,
        status="graded",
        score=sum(component.score for component in components.values()),
        max_score=assignment.max_score,
        components=components,
        sandbox=description,
        duration_s=round(time.perf_counter() - start, 4),
        graded=graded,
    )
    return result.model_dump(by_alias=True)


def main() -> None:
    """Serve on standard input and output; what anything else prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
