"""Start what grades a class: this machine's workers, or a cluster's."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment
from autograder.cluster.naming import Wanted, wanted
from autograder.errors import UsageError
from autograder.grading import store
from autograder.grading.batch import Batch
from autograder.grading.cores import cores
from autograder.grading.workers import Tell


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
    """

    out: Path
    sandbox: str
    jobs: int | None
    resume: bool
    cluster: Wanted | None = None


@dataclass(frozen=True)
class Started:
    """What grades: the batch, how many side by side, and how student code is isolated."""

    batch: Batch
    workers: int
    isolation: str


def start(
    assignment: Assignment,
    settings: Settings,
    count: int,
    tell: Tell,
    stack: contextlib.ExitStack,
) -> Started:
    """Start what grades `count` submissions; `stack` ends it.

    Raises:
        UsageError: it cannot be started.
    """
    out, sandbox, resume = settings.out, settings.sandbox, settings.resume
    if settings.cluster is None:
        workers = min(settings.jobs or cores(), count)
        batch = Batch(assignment, out, sandbox, workers, resume)
        stack.callback(batch.close)
        return Started(batch, workers, batch.start(tell))
    # It brings Dask along.
    from autograder.cluster.client import Grader

    tell("reaching the cluster")
    far = Grader(settings.cluster, assignment, sandbox)
    stack.callback(far.close)
    isolation = far.start(tell)
    store.sweep(out)
    batch = Batch(assignment, out, sandbox, min(far.threads, count), resume, far.grade)
    stack.callback(batch.close)
    return Started(batch, far.slots, isolation)
