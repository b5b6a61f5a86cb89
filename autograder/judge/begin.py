"""What a job begins with: the submission is taken in, and told whether it was graded before."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.assignment import Assignment
from autograder.grading.messages import GradeJob, Job, Marked, Unchanged
from autograder.judge.intake import Rejected, digest, take_in_limited
from autograder.results import Graded, SubmissionResult
from autograder.sandbox.packages import versions


def made_from(assignment: Assignment, files: Mapping[str, bytes], job: Job) -> Graded:
    """Return what a result records of its origin."""
    return Graded(
        accepted=job.accepted,
        submission_hash=digest(files),
        suite_hash=job.suite_hash,
        seed=assignment.seed,
        versions=versions(assignment.packages),
    )


def begin(
    assignment: Assignment, job: GradeJob, sandbox: str
) -> Marked | Unchanged | tuple[dict[str, bytes], Graded]:
    """Take a submission in: return its answer if it is rejected or unchanged.

    Otherwise return its files, and what its result is made from.
    """
    try:
        files = take_in_limited(job.place)
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
    graded = made_from(assignment, files, job)
    return Unchanged() if job.known == graded else (files, graded)
