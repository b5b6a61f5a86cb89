"""What a job begins with: the submission is taken in, and told whether it was graded before."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.assignment import Assignment
from autograder.grading.messages import GradeJob, Job, Marked, Unchanged
from autograder.judge.intake import Rejected, digest
from autograder.judge.limited import take_in_limited
from autograder.judge.slips import Taken
from autograder.results import Graded, SubmissionResult
from autograder.rules.files import is_of
from autograder.sandbox.packages import versions


def made_from(assignment: Assignment, found: Taken, job: Job) -> Graded:
    """Return what a result records of its origin."""
    return Graded(
        accepted=job.accepted,
        submission_hash=digest(found.files, found.remarks),
        suite_hash=job.suite_hash,
        seed=assignment.seed,
        versions=versions(assignment.packages),
    )


def taken_for(assignment: Assignment, job: Job) -> Taken:
    """Take the submission of a job in, unless that was done on another machine.

    Raises:
        Rejected: it cannot be taken in.
    """
    found = take_in_limited(job.place, list(assignment.totals))
    files = {**_not_handed_in(assignment, found.files), **found.files}
    return Taken(files, found.remarks if job.remarks is None else job.remarks)


def _not_handed_in(assignment: Assignment, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of a package as they were given, where only others of it were handed in."""
    packages = [
        spec.name
        for spec in assignment.components
        if spec.package and any(is_of(file, spec.name) for file in files)
    ]
    if not packages:
        # The stubs are not read for every submission.
        return {}
    return {
        file: text.encode()
        for file, text in assignment.stubs().items()
        if any(is_of(file, name) for name in packages)
    }


def begin(
    assignment: Assignment, job: GradeJob, sandbox: str
) -> Marked | Unchanged | tuple[Taken, Graded]:
    """Take a submission in: return its answer if it is rejected or unchanged.

    Otherwise return its files and remarks, and what its result is made from.
    """
    try:
        found = taken_for(assignment, job)
    except Rejected as rejection:
        rejected = SubmissionResult(
            submission=job.id,
            assignment=assignment.name,
            status="rejected",
            score=0.0,
            max_score=assignment.max_score,
            sandbox=sandbox,
            message=str(rejection),
        )
        return Marked(result=rejected)
    graded = made_from(assignment, found, job)
    return Unchanged() if job.known == graded else (found, graded)
