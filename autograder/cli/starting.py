"""Start what grades a class: this machine's workers, or a cluster's."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.cluster.schedulers import Wanted, wanted
from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.batch import Batch
from autograder.grading.cores import cores
from autograder.grading.entries import Entry
from autograder.grading.messages import GradeJob, Unchanged
from autograder.grading.workers import Tell
from autograder.judge.begin import begin


def cluster_of(cluster: str | None, jobs: int | None, one: bool) -> Wanted | None:
    """Return what `--cluster` names.

    Raises:
        UsageError: it is no cluster, or other options do not go with one.
    """
    if cluster is None:
        return None
    if one:
        raise UsageError("--one grades a single submission on this machine: leave out --cluster")
    if jobs is not None:
        raise UsageError(
            "--jobs is the number of this machine's workers: leave it out with --cluster, whose "
            "Dask workers say how many slots they have"
        )
    return wanted(cluster)


@dataclass(frozen=True)
class Settings:
    """How a class is graded.

    Attributes:
        out: where the results go.
        sandbox: how student code is isolated.
        jobs: workers of this machine; None for its cores.
        resume: keep results of unchanged submissions.
        cluster: what grades in the place of this machine's workers.
        wait: wait for another run that grades into the same folder.
    """

    out: Path
    sandbox: str
    jobs: int | None
    resume: bool
    cluster: Wanted | None = None
    wait: bool = False


@dataclass(frozen=True)
class Started:
    """What grades: the batch, how many side by side, and in words how student code is isolated."""

    batch: Batch
    workers: int
    words: str


def start(
    assignment: Assignment,
    settings: Settings,
    entries: Sequence[Entry],
    tell: Tell,
    stack: contextlib.ExitStack,
) -> Started:
    """Start what grades entries; `stack` ends it. Where none has changed, nothing is started.

    Raises:
        UsageError: it cannot be started.
    """
    out, sandbox, resume = settings.out, settings.sandbox, settings.resume
    count = len(entries)
    if resume:
        batch = Batch(assignment, out, sandbox, 1, True, lambda job: Unchanged())
        stack.callback(batch.close)
        if all(_is_kept(assignment, batch.job(entry)) for entry in entries):
            return Started(batch, 0, "nothing has changed: no worker is started")
    if settings.cluster is None:
        workers = min(settings.jobs or cores(), count)
        batch = Batch(assignment, out, sandbox, workers, resume)
        stack.callback(batch.close)
        return Started(batch, workers, f"sandbox {batch.start(tell)}")
    # It brings Dask along.
    from autograder.cluster.client import Grader

    tell("reaching the cluster")
    far = Grader(settings.cluster, assignment, sandbox)
    stack.callback(far.close)
    isolation = far.start(tell)
    store.sweep(out)
    batch = Batch(assignment, out, sandbox, min(far.threads, count), resume, far.grade)
    stack.callback(batch.close)
    return Started(batch, far.slots, f"sandbox {isolation}")


def _is_kept(assignment: Assignment, job: GradeJob) -> bool:
    """Return whether an earlier result is of this very submission, as a worker would find."""
    if job.known is None or not job.place.exists():
        return False
    try:
        return isinstance(begin(assignment, job, ""), Unchanged)
    except Exception:
        # A worker will say what is wrong with it.
        return False
