"""Workers: what they answer, and that the pool replaces those it cannot trust any more."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.grading import workers
from autograder.grading.messages import (
    Answer,
    Explained,
    ExplainJob,
    Fault,
    GradeJob,
    Job,
    Marked,
    Unchanged,
    UnknownCriterion,
    Unreadable,
)
from autograder.grading.workers import CannotGrade, Tell, Worker, WorkerLost, WorkerPool, unheard
from autograder.judge.places import CACHE_VARIABLE, OFF
from tests.conftest import ROOT
from tests.grading.fakes import mark
from tests.sources import RIGHT, STUB, WRONG, norm
from tests.tiny import HIDDEN, write_tiny

pytestmark = pytest.mark.slow

SOLUTIONS = ROOT / "reference" / "transformer_block"
SAMPLE = "    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt()\n"
# The judge itself stumbles over one student's answer.
STUMBLES = '''
@pytest.mark.criterion(points=1, form=True, source="page 1")
def test_shape(component, expect, make):
    """the shape is kept"""
    x = make.normal(2, 3, seed=1)
    result = component.call("layer_norm", x).output
    if result.isnan().any():
        raise MemoryError
    expect.shape(result, x.shape)
'''


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    root = write_tiny(tmp_path_factory.mktemp("workers"), STUMBLES, HIDDEN)
    return load_assignment(root, "norm")


@pytest.fixture(scope="module")
def worker(assignment: Assignment) -> Iterator[Worker]:
    started = Worker(assignment, "none")
    started.wait()
    yield started
    started.close()


def job(folder: Path, source: str | None, **more: object) -> GradeJob:
    """Hand in a file, and return the job to grade it."""
    if source is not None:
        (folder / "layer_norm.py").write_text(source)
    path = os.fsencode(folder)
    return GradeJob.model_validate({"id": "s01", "path": path, "suite_hash": "now", **more})


def marked(answer: Answer) -> Marked:
    assert isinstance(answer, Marked), answer
    return answer


def test_it_says_how_it_isolates_student_code(worker: Worker) -> None:
    assert worker.sandbox == "none: student code is not isolated"


def test_it_marks_one_submission_after_the_other(worker: Worker, tmp_path: Path) -> None:
    for source, score in ((RIGHT, 2.0), (WRONG, 0.0), (STUB, 0.0), (RIGHT, 2.0)):
        result = marked(worker.ask(job(tmp_path, source))).result
        assert (result.submission, result.status, result.score) == ("s01", "graded", score)


def test_what_is_known_is_not_graded_again_until_anything_of_it_changes(
    worker: Worker, tmp_path: Path
) -> None:
    graded = marked(worker.ask(job(tmp_path, RIGHT))).result.graded
    assert graded is not None
    assert graded.suite_hash == "now"
    assert worker.ask(job(tmp_path, RIGHT, known=graded)) == Unchanged()
    for change in (
        {"suite_hash": "then"},
        {"submission_hash": "other"},
        {"seed": 1},
        {"versions": {**graded.versions, "torch": "1.0"}},
    ):
        known = graded.model_copy(update=change)
        assert marked(worker.ask(job(tmp_path, RIGHT, known=known))).result.graded == graded
    assert marked(worker.ask(job(tmp_path, WRONG, known=graded))).result.score == 0.0


def test_what_cannot_be_taken_in_is_rejected_with_no_points(worker: Worker, tmp_path: Path) -> None:
    (tmp_path / "layer_norm.py").symlink_to("/etc/passwd")
    result = marked(worker.ask(job(tmp_path, None))).result
    assert (result.status, result.score, result.graded) == ("rejected", 0.0, None)
    assert "link" in result.message


def test_a_judge_that_stumbles_is_a_fault_and_the_next_job_is_none(
    worker: Worker, tmp_path: Path
) -> None:
    fault = worker.ask(job(tmp_path, norm("    return x * float('nan')\n")))
    assert isinstance(fault, Fault)
    assert fault.reason.startswith("MemoryError: ")
    assert marked(worker.ask(job(tmp_path, RIGHT))).result.score == 2.0


def test_it_explains_a_criterion(worker: Worker, tmp_path: Path) -> None:
    path = job(tmp_path, WRONG).path
    about = {"path": path, "suite_hash": "now"}
    found = worker.ask(ExplainJob(criterion="layer_norm.values", **about))
    assert isinstance(found, Explained)
    assert (found.now.outcome, found.status) == ("failed", "graded")
    assert found.traced is not None
    assert found.traced.differences
    unknown = worker.ask(ExplainJob(criterion="layer_norm.other", **about))
    assert unknown == UnknownCriterion()
    (tmp_path / "layer_norm.py").unlink()
    (tmp_path / "layer_norm.py").symlink_to("/etc/passwd")
    assert isinstance(worker.ask(ExplainJob(criterion="layer_norm.values", **about)), Unreadable)


def test_names_are_the_same_whatever_is_kept(
    small_project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = small_project / "reference" / "norm" / "misconceptions"
    folder.mkdir()
    shutil.copy(SOLUTIONS / "misconceptions" / "layer_norm.diff", folder)
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)

    def named() -> list[str]:
        started = Worker(load_assignment(small_project, "norm"), "none")
        try:
            started.wait()
            result = marked(started.ask(job(tmp_path, norm(SAMPLE)))).result
        finally:
            started.close()
        return result.components["layer_norm"].misconceptions

    monkeypatch.setenv(CACHE_VARIABLE, OFF)
    assert named() == ["layer_norm.sample_variance"]
    monkeypatch.setenv(CACHE_VARIABLE, str(kept))
    for change in (lambda data: data, lambda data: data[:-1], lambda data: b""):
        assert named() == ["layer_norm.sample_variance"]
        for path in kept.iterdir():
            path.write_bytes(change(path.read_bytes()))


def test_a_worker_that_is_killed_is_lost(assignment: Assignment, tmp_path: Path) -> None:
    started = Worker(assignment, "none")
    try:
        os.kill(started.pid, signal.SIGKILL)
        with pytest.raises(CannotGrade, match="cannot start: a worker ended with status -9"):
            started.wait()
        assert not started.usable
        with pytest.raises(WorkerLost, match="a worker ended with status -9"):
            started.ask(job(tmp_path, RIGHT))
    finally:
        started.close()


class Stub:
    """Stands in for a worker: it grades everything with full marks, or always fails."""

    alive = 0
    most = 0
    asked = 0
    fault = ""

    def __init__(self, *arguments: object) -> None:
        self.usable, self.sandbox, self.open = True, "none", True
        Stub.alive += 1
        Stub.most = max(Stub.most, Stub.alive)

    def wait(self, tell: Tell = unheard) -> None:
        if Stub.fault == "refuses":
            raise CannotGrade("bubblewrap is not installed")

    def ask(self, job: Job) -> Answer:
        Stub.asked += 1
        assert isinstance(job, GradeJob)
        if Stub.fault == "lost" or (Stub.fault == "lost once" and Stub.asked == 1):
            self.usable = False
            raise WorkerLost("a worker ended with status -9")
        if Stub.fault == "stops":
            return Fault(reason="the sandbox stopped")
        return mark(job)

    def close(self) -> None:
        Stub.alive -= self.open
        self.open = False


@pytest.fixture
def pool(assignment: Assignment, monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerPool]:
    """A pool of stubs."""
    monkeypatch.setattr(workers, "Worker", Stub)
    for name, value in {"alive": 0, "most": 0, "asked": 0, "fault": ""}.items():
        monkeypatch.setattr(Stub, name, value)
    found = WorkerPool(assignment, "none")
    yield found
    found.close()
    assert Stub.alive == 0


JOB = GradeJob(path=b"/batch/s01", id="s01", suite_hash="now")


def test_a_worker_is_started_when_there_is_work_and_kept_for_more(pool: WorkerPool) -> None:
    assert Stub.alive == 0
    for _ in range(3):
        assert marked(pool.grade(JOB)).result.score == 2.0
    assert Stub.most == 1


def test_workers_are_started_side_by_side(pool: WorkerPool) -> None:
    assert pool.start(3) == "none"
    assert Stub.alive == 3
    pool.grade(JOB)
    assert Stub.most == 3


@pytest.mark.parametrize(
    ("fault", "reason"),
    [("lost", "a worker ended with status -9"), ("stops", "the sandbox stopped")],
)
def test_after_a_fault_another_worker_tries_once_more_and_none_is_left_about(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch, fault: str, reason: str
) -> None:
    monkeypatch.setattr(Stub, "fault", fault)
    for number in range(1, 21):
        assert pool.grade(JOB) == Fault(reason=reason)
        assert Stub.asked == 2 * number
    assert Stub.most == 1
    assert Stub.alive == 0


def test_a_worker_that_is_lost_costs_a_submission_nothing(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stub, "fault", "lost once")
    assert marked(pool.grade(JOB)).result.score == 2.0
    assert Stub.asked == 2


def test_a_worker_that_cannot_start_is_told_to_whoever_asks(
    pool: WorkerPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stub, "fault", "refuses")
    with pytest.raises(CannotGrade, match="bubblewrap is not installed"):
        pool.grade(JOB)
    with pytest.raises(CannotGrade, match="bubblewrap is not installed"):
        pool.start(2)


def test_a_pool_that_was_stopped_begins_nothing(pool: WorkerPool) -> None:
    pool.stop()
    assert pool.stopped
    assert pool.grade(JOB) == Fault(reason="the run was stopped")
    assert Stub.asked == 0
