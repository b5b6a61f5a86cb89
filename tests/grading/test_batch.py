"""The scheduler, with a task in the place of the workers: order, bounds, what is kept, faults."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.grading import store
from autograder.grading.batch import Batch, Task
from autograder.grading.entries import Entry
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked
from autograder.grading.workers import CannotGrade, WorkerLost
from autograder.results import ComponentResult, Graded, SubmissionResult, light
from tests.grading.fakes import mark
from tests.tiny import write_tiny

PATIENCE_S = 60.0
# Entries begun before they are asked for, a job, as docs/architecture.md has it.
AHEAD = 4


@pytest.fixture
def assignment(tmp_path: Path) -> Assignment:
    return load_assignment(write_tiny(tmp_path), "norm")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out" / "results").mkdir(parents=True)
    return tmp_path / "out"


Make = Callable[..., Batch]


@pytest.fixture
def make(assignment: Assignment, out: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Make a batch whose jobs this process does; none of its workers may ever start."""
    made: list[Batch] = []

    def never(*arguments: object) -> None:
        raise AssertionError("a worker was started")

    def batch(task: Task = mark, jobs: int = 2, resume: bool = True) -> Batch:
        made.append(Batch(assignment, out, "none", jobs, resume, task))
        return made[-1]

    monkeypatch.setattr("autograder.grading.workers.Worker", never)
    yield batch
    for one in made:
        one.close()


def entries(*names: str) -> list[Entry]:
    return [Entry(name, Path("batch", name)) for name in names]


def run(batch: Batch, *names: str) -> dict[str, bool]:
    """Grade entries; return whether each was kept."""
    kept: dict[str, bool] = {}
    batch.run(entries(*names), lambda result, same: kept.update({result.submission: same}))
    return kept


def test_results_come_in_the_order_of_the_entries_whichever_is_done_first(make: Make) -> None:
    second_done = threading.Event()

    def task(job: GradeJob) -> GradeAnswer:
        if job.id == "a":
            assert second_done.wait(PATIENCE_S)
        return mark(job)

    done: list[str] = []

    def progress(result: SubmissionResult, kept: bool) -> None:
        done.append(result.submission)
        if result.submission == "b":
            second_done.set()

    found = make(task).run(entries("a", "b", "c"), progress)
    assert [result.submission for result in found] == ["a", "b", "c"]
    assert done.index("b") < done.index("a")


def test_a_result_is_written_before_it_is_reported(make: Make, out: Path) -> None:
    def progress(result: SubmissionResult, kept: bool) -> None:
        assert store.read(out, result.submission) == result
        assert not kept

    [found] = make().run(entries("a"), progress)
    assert (found.score, found.path) == (2.0, str(Path("batch", "a").absolute()))


def test_of_a_large_class_light_results_are_enough(make: Make, out: Path) -> None:
    part = ComponentResult(
        score=2, max_score=2, status="graded", criteria=[], views=[{"kind": "table"}]
    )

    def task(job: GradeJob) -> GradeAnswer:
        answer = mark(job)
        assert isinstance(answer, Marked)
        return Marked(result=answer.result.model_copy(update={"components": {"norm": part}}))

    whole: list[SubmissionResult] = []
    found = make(task).run(entries("a", "b"), lambda one, kept: whole.append(one), whole=False)
    assert list(found) != sorted(whole, key=lambda one: one.submission)
    assert list(found) == [light(one) for one in sorted(whole, key=lambda one: one.submission)]
    assert [store.read(out, one.submission) for one in whole] == whole


class Counted(Sequence[Entry]):
    """Entries that count how many of them have been taken."""

    def __init__(self, found: list[Entry]) -> None:
        self.found, self.taken = found, 0

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, index):
        return self.found[index]

    def __iter__(self) -> Iterator[Entry]:
        for entry in self.found:
            self.taken += 1
            yield entry


def test_no_more_than_the_bound_is_begun_ahead(make: Make) -> None:
    batch = make(jobs=2)
    coming = Counted(entries(*(f"s{number:02}" for number in range(50))))
    iterator = iter(coming)
    batch.ahead(iterator)
    assert coming.taken == 2 * AHEAD
    batch.ahead(iterator)
    assert coming.taken == 2 * AHEAD
    batch.result(coming.found[0])
    batch.ahead(iterator)
    assert coming.taken == 2 * AHEAD + 1


def test_a_run_stays_within_the_bound_until_it_is_done(make: Make) -> None:
    # `run` looks through the entries once, to know them, before it begins any.
    coming = Counted(entries(*(f"s{number:02}" for number in range(50))))
    begun: list[str] = []
    done: list[str] = []
    most = 0

    def task(job: GradeJob) -> GradeAnswer:
        begun.append(job.id)
        return mark(job)

    def progress(result: SubmissionResult, kept: bool) -> None:
        nonlocal most
        done.append(result.submission)
        most = max(most, len(begun) - len(done))

    batch = make(task, jobs=2)
    assert len(batch.run(coming, progress)) == 50
    assert sorted(begun) == sorted(done) == [entry.id for entry in coming.found]
    assert most <= 2 * AHEAD


def test_an_entry_is_begun_once_however_often_it_is_asked_for(make: Make) -> None:
    begun: list[str] = []

    def task(job: GradeJob) -> GradeAnswer:
        begun.append(job.id)
        return mark(job)

    batch = make(task)
    [entry] = entries("a")
    batch.begin(entry)
    batch.begin(entry)
    assert batch.result(entry)[0].submission == "a"
    assert begun == ["a"]


def test_unchanged_work_is_kept_and_its_file_is_not_touched(make: Make, out: Path) -> None:
    assert run(make(), "a", "b") == {"a": False, "b": False}
    before = store.path_of(out, "a").stat().st_mtime_ns
    batch = make()
    assert run(batch, "a", "b") == {"a": True, "b": True}
    assert store.path_of(out, "a").stat().st_mtime_ns == before
    assert list(batch.regraded) == []


def test_work_that_has_moved_is_kept_and_its_new_place_noted(make: Make, out: Path) -> None:
    run(make(), "a")
    result, kept = make().result(Entry("a", Path("elsewhere", "a")))
    assert kept
    noted = store.read(out, "a")
    assert noted is not None
    assert noted.path == str(Path("elsewhere", "a").absolute())
    assert noted.model_copy(update={"path": ""}) == result.model_copy(update={"path": ""})


def test_without_resume_everything_is_graded_again(make: Make) -> None:
    run(make(), "a", "b")
    batch = make(lambda job: mark(job, 1.0), resume=False)
    assert run(batch, "a", "b") == {"a": False, "b": False}
    assert sorted((old.score, new.score) for old, new in batch.regraded) == [(2.0, 1.0)] * 2


def test_a_changed_suite_makes_every_result_old(
    make: Make, assignment: Assignment, tmp_path: Path, out: Path
) -> None:
    run(make(), "a")
    write_tiny(tmp_path, public="")
    changed = Batch(load_assignment(tmp_path, "norm"), out, "none", 1, True, mark)
    try:
        assert run(changed, "a") == {"a": False}
    finally:
        changed.close()


def test_a_fault_is_nobodys_zero_and_the_next_run_repairs_it(make: Make, out: Path) -> None:
    def task(job: GradeJob) -> GradeAnswer:
        return Fault(reason="the disk is broken") if job.id == "b" else mark(job)

    found = make(task).run(entries("a", "b"), lambda result, kept: None)
    assert [(r.status, r.score) for r in found] == [("graded", 2.0), ("error", None)]
    assert found[1].message == "the disk is broken"
    assert store.read(out, "b") == found[1]
    assert run(make(), "a", "b") == {"a": True, "b": False}
    repaired = store.read(out, "b")
    assert repaired is not None
    assert repaired.score == 2.0


def test_where_nothing_can_be_graded_the_first_refusal_is_the_last_attempt(make: Make) -> None:
    begun: list[str] = []

    def task(job: GradeJob) -> GradeAnswer:
        begun.append(job.id)
        raise CannotGrade("the suite is broken")

    batch = make(task, jobs=1)
    with pytest.raises(CannotGrade, match="the suite is broken"):
        run(batch, *(f"s{number}" for number in range(20)))
    attempts = len(begun)
    assert attempts <= AHEAD
    with pytest.raises(CannotGrade, match="the suite is broken"):
        batch.result(*entries("another"))
    assert len(begun) == attempts


def test_what_a_stopped_run_was_grading_is_no_fault_of_the_submission(
    make: Make, out: Path
) -> None:
    begun, stopped = threading.Event(), threading.Event()

    def task(job: GradeJob) -> GradeAnswer:
        if job.id == "a":
            assert begun.wait(PATIENCE_S)
            return mark(job)
        begun.set()
        assert stopped.wait(PATIENCE_S)
        # What a worker that was ended in the middle of it comes to.
        return Fault(reason="a worker ended with status -9")

    def progress(result: SubmissionResult, kept: bool) -> None:
        raise KeyboardInterrupt

    batch = make(task)
    with pytest.raises(KeyboardInterrupt):
        batch.run(entries("a", "b"), progress)
    stopped.set()
    with pytest.raises(WorkerLost):
        batch.result(*entries("b"))
    assert store.read(out, "a") is not None
    assert store.read(out, "b") is None


def test_a_path_that_is_no_utf_8_is_graded_and_shown(make: Make, out: Path) -> None:
    seen: list[Path] = []

    def task(job: GradeJob) -> GradeAnswer:
        seen.append(job.place)
        return mark(job)

    place = Path("/batch/\udcff")
    result, _ = make(task).result(Entry("x", place))
    assert seen == [place]
    assert result.path == "/batch/\\xff"
    assert store.read(out, "x") == result


def test_files_that_may_call_what_is_forbidden_go_with_the_job(make: Make) -> None:
    seen: list[tuple[str, ...]] = []

    def task(job: GradeJob) -> GradeAnswer:
        seen.append(job.exempt)
        return mark(job)

    make(task).result(Entry("a", Path("a"), ("layer_norm.py",)))
    assert seen == [("layer_norm.py",)]


WHOLE = b'{"schema": 1, "submission": "s01", "assignment": "norm", "status": "graded", "score": 9'
DAMAGES = {
    "empty": b"",
    "truncated": WHOLE,
    "zeros": bytes(4096),
    "no-utf-8": b"\xff\xfe\x00\x00",
    "deep": b"[" * 100_000,
    "other-types": WHOLE + b', "max_score": [], "sandbox": 7}',
    "future-schema": WHOLE.replace(b"1", b"2", 1) + b', "max_score": 14, "sandbox": "none"}',
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_result_is_made_anew(make: Make, out: Path, damage: bytes) -> None:
    run(make(), "s01", "s02")
    place = store.path_of(out, "s01")
    whole = json.loads(place.read_text())
    place.write_bytes(damage)
    again = make()
    assert run(again, "s01", "s02") == {"s01": False, "s02": True}
    assert again.damaged == ["s01"]
    assert json.loads(place.read_text()) == whole


def test_a_folder_in_the_place_of_a_result_costs_nobody_a_mark(make: Make, out: Path) -> None:
    run(make(), "s01", "s02")
    place = store.path_of(out, "s01")
    whole = json.loads(place.read_text())
    place.unlink()
    (place / "inner").mkdir(parents=True)
    again = make()
    assert run(again, "s01", "s02") == {"s01": False, "s02": True}
    assert again.damaged == ["s01"]
    assert json.loads(place.read_text()) == whole
    # What was in it is kept.
    (aside,) = place.parent.glob("s01.json.*.damaged")
    assert (aside / "inner").is_dir()


def test_the_result_of_another_is_none(make: Make, out: Path) -> None:
    run(make(), "s01", "s02")
    store.path_of(out, "s02").write_bytes(store.path_of(out, "s01").read_bytes())
    assert run(make(), "s01", "s02") == {"s01": True, "s02": False}
    assert json.loads(store.path_of(out, "s02").read_text())["submission"] == "s02"


def test_a_result_that_cannot_be_read_is_made_anew(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(make(), "s01")
    whole = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.name == "s01.json":
            raise PermissionError(13, "Permission denied")
        return whole(path)

    batch = make()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", denied)
        assert run(batch, "s01") == {"s01": False}
    assert run(make(), "s01") == {"s01": True}


def test_the_result_of_another_with_the_same_files_is_none(make: Make, out: Path) -> None:
    """Two students handed in the same: what holds for the files holds for both."""
    known: dict[str, Graded | None] = {}

    def task(job: GradeJob) -> GradeAnswer:
        known[job.id] = job.known
        answer = mark(job.model_copy(update={"id": "same"}))
        if isinstance(answer, Marked):
            return Marked(result=answer.result.model_copy(update={"submission": job.id}))
        return answer

    run(make(task), "s01")
    store.path_of(out, "s02").write_bytes(store.path_of(out, "s01").read_bytes())
    assert run(make(task), "s01", "s02") == {"s01": True, "s02": False}
    assert (known["s01"] is not None, known["s02"]) == (True, None)
    assert json.loads(store.path_of(out, "s02").read_text())["submission"] == "s02"


def test_what_is_asked_of_an_entry_goes_with_its_job(make: Make) -> None:
    seen: list[GradeJob] = []

    def task(job: GradeJob) -> GradeAnswer:
        seen.append(job)
        return mark(job)

    batch = make(task)
    batch.result(Entry("a", Path("a"), only=("layer_norm",), diagnose=False))
    batch.result(Entry("b", Path("b")))
    assert [(job.only, job.diagnose) for job in seen] == [(("layer_norm",), False), ((), True)]


def test_a_fault_says_what_could_have_been_earned(make: Make, assignment: Assignment) -> None:
    [result] = make(lambda job: Fault(reason="x")).run(entries("a"), lambda *_: None)
    assert (result.max_score, assignment.max_score) == (2.0, 2.0)
    assert (result.assignment, result.components) == ("norm", {})


def test_what_was_graded_again_is_noted_with_both_results_also_where_no_mark_moved(
    make: Make,
) -> None:
    run(make(lambda job: Fault(reason="x")), "a")
    run(make(), "b")
    batch = make(resume=False)
    run(batch, "a", "b", "c")
    pairs = {new.submission: (old.score, new.score) for old, new in batch.regraded}
    assert pairs == {"a": (None, 2.0), "b": (2.0, 2.0)}


def test_what_a_killed_run_left_half_written_is_removed_before_workers_start(
    make: Make, out: Path
) -> None:
    left = [
        out / f".{os.getpid()}.{'ab' * 16}.tmp",
        out / "results" / f".{os.getpid()}.{'ab' * 16}.tmp",
    ]
    for path in left:
        path.write_text("")
    with pytest.raises(AssertionError, match="a worker was started"):
        make().start()
    assert not any(path.exists() for path in left)
