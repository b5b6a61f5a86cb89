"""Jobs and answers cross between processes unchanged, as lines and as pickles."""

import os
import pickle
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from autograder.grading.messages import (
    ANSWERS,
    JOBS,
    Answer,
    Explained,
    ExplainJob,
    Fault,
    GradeJob,
    Job,
    Marked,
    Ready,
    Refused,
    Stage,
    TracedCall,
    Unchanged,
    UnknownCriterion,
    Unreadable,
    written,
)
from autograder.results import ComponentResult, CriterionResult, Graded, SubmissionResult

ODD = b"/batch/\xff\xfe \n\xc3\xbc"
GRADED = Graded(submission_hash="a", suite_hash="b", seed=3, versions={"torch": "2.4"})
CRITERION = CriterionResult(
    id="layer_norm.eps",
    title="eps stands inside",
    score=0.5,
    max_score=1.0,
    passed=False,
    outcome="failed",
    visibility="hidden",
    source="page 1",
    facts=["two\nlines", "\u2028 \x1b[31m ü"],
    hints=["a hint"],
    causes=["a cause"],
    message="all of it",
)
RESULT = SubmissionResult(
    submission="s01",
    assignment="norm",
    status="graded",
    score=0.5,
    max_score=1.0,
    components={
        "layer_norm": ComponentResult(
            score=0.5,
            max_score=1.0,
            status="graded",
            criteria=[CRITERION],
            misconceptions=["layer_norm.std"],
            either=True,
            stand_ins=["attention"],
            notes=["a note"],
            causes=["a cause"],
            message="a message",
            views=[{"kind": "bars", "values": [1.5, None], "labels": ["a", "b"]}],
        )
    },
    sandbox="tier 1",
    duration_s=0.25,
    graded=GRADED,
    path="/batch/\\xff",
)
JOB_EXAMPLES: list[Job] = [
    GradeJob(path=b"/batch/s01", id="s01", suite_hash="b"),
    GradeJob(path=ODD, id="s\n01", suite_hash="b", known=GRADED, exempt=("layer_norm.py",)),
    ExplainJob(path=b"x", criterion="layer_norm.eps", suite_hash="b"),
    ExplainJob(path=ODD, criterion="layer_norm.eps", suite_hash="b", broken=("attention",)),
]
ANSWER_EXAMPLES: list[Answer] = [
    Stage(words="collecting the tests"),
    Ready(sandbox="tier 1"),
    Ready(sandbox="tier 1", losses={"layer_norm.eps": "off by\n1"}, faults=["9 points, not 8"]),
    Refused(reason="no\nsandbox"),
    Marked(result=RESULT),
    Unchanged(),
    Fault(reason="MemoryError"),
    Explained(
        graded=GRADED, now=CRITERION, status="graded", component_message="", over=["layer_norm.eps"]
    ),
    Explained(
        graded=GRADED,
        now=CRITERION,
        status="timeout",
        component_message="it took too long",
        over=[],
        stand_ins=["attention"],
        full=["a line"],
        drawn=["seed = 3"],
        traced=TracedCall(
            number=2,
            of=3,
            call=["layer_norm(x)"],
            answer=None,
            right=["output: 1"],
            differences=["form: answered one tensor"],
            seeded=True,
            unlike=1,
        ),
    ),
    Unreadable(reason="damaged"),
    UnknownCriterion(),
]


def test_there_is_an_example_of_every_message() -> None:
    assert {type(job) for job in JOB_EXAMPLES} == set(get_args(Job))
    assert {type(answer) for answer in ANSWER_EXAMPLES} == set(get_args(Answer))


@pytest.mark.parametrize("job", JOB_EXAMPLES, ids=lambda job: job.kind)
def test_a_job_crosses_as_one_line_and_as_a_pickle(job: Job) -> None:
    line = written(job)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert JOBS.validate_json(line) == job
    assert pickle.loads(pickle.dumps(job)) == job


@pytest.mark.parametrize("answer", ANSWER_EXAMPLES, ids=lambda answer: answer.kind)
def test_an_answer_crosses_as_one_line_and_as_a_pickle(answer: Answer) -> None:
    line = written(answer)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert ANSWERS.validate_json(line) == answer
    assert pickle.loads(pickle.dumps(answer)) == answer


@pytest.mark.parametrize("path", [ODD, b"/\xed\xb2\x80", "/ü/\u20ac".encode()])
def test_a_path_that_need_be_no_utf_8_survives(path: bytes) -> None:
    job = GradeJob(path=path, id="s01", suite_hash="b")
    read = JOBS.validate_json(written(job))
    assert isinstance(read, GradeJob)
    assert read.path == path
    assert read.place == Path(os.fsdecode(path))
    assert os.fsencode(read.place) == path


@pytest.mark.parametrize("line", [b"{}", b'{"kind": "erase"}', b'{"kind": "grade"}', b"[]", b""])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    for adapter in (JOBS, ANSWERS):
        with pytest.raises(ValidationError):
            adapter.validate_json(line)


def test_a_message_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        JOB_EXAMPLES[0].suite_hash = "c"  # type: ignore[misc]
