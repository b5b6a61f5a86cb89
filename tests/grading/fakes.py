"""What stands for a worker where none is to start."""

from autograder.grading.messages import GradeAnswer, GradeJob, Marked, Unchanged
from autograder.results import Graded, SubmissionResult


def mark(job: GradeJob, score: float = 2.0) -> GradeAnswer:
    """Mark a submission as a worker does: the hash of its files is that of its name here."""
    graded = Graded(submission_hash=job.id, suite_hash=job.suite_hash, seed=7, versions={})
    if job.known == graded:
        return Unchanged()
    result = SubmissionResult(
        submission=job.id,
        assignment="norm",
        status="graded",
        score=score,
        max_score=2.0,
        sandbox="none",
        graded=graded,
    )
    return Marked(result=result)
