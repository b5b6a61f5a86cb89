"""What stands for a worker where none is to start."""

import hashlib

from autograder.grading.messages import GradeAnswer, GradeJob, Marked, Unchanged
from autograder.results import ComponentResult, CriterionResult, Graded, Held, SubmissionResult


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


def mark_reviewed(job: GradeJob) -> GradeAnswer:
    """Mark a submission of one file as a judge that reads it: who imports ctypes is held."""
    data = (job.place / "layer_norm.py").read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    graded = Graded(
        submission_hash=digest,
        suite_hash=job.suite_hash,
        seed=7,
        versions={},
        accepted=job.accepted,
    )
    if job.known == graded:
        return Unchanged()
    line = next((n for n, text in enumerate(data.split(b"\n"), 1) if b"ctypes" in text), 0)
    waits = line > 0 and job.accepted.get("layer_norm") != digest
    place = Held(
        component="layer_norm",
        file="layer_norm.py",
        line=line,
        what="imports ctypes",
        digest=digest,
    )
    found = CriterionResult(
        id="layer_norm.values",
        title="the values are right",
        score=0.0 if waits else 2.0,
        max_score=2.0,
        passed=None if waits else True,
        outcome="not_run" if waits else "passed",
        visibility="public",
        source="page 1",
    )
    part = ComponentResult(
        score=found.score,
        max_score=2.0,
        status="forbidden" if waits else "graded",
        criteria=[found],
        notes=[f"held for review: {place.words}"] if waits else [],
    )
    result = SubmissionResult(
        submission=job.id,
        assignment="norm",
        status="graded",
        score=part.score,
        max_score=2.0,
        components={"layer_norm": part},
        review=[place] if waits else [],
        sandbox="none",
        graded=graded,
    )
    return Marked(result=result)
