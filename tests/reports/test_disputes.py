"""What an instructor is shown in a dispute, and which marks a re-grade moved."""

import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.grading.batch import Batch
from autograder.grading.entries import discover
from autograder.grading.workers import Tell, Worker
from autograder.reports import disputes, moved
from autograder.results import SubmissionResult
from tests.conftest import make_project, set_limits
from tests.sources import BIASED, HANGS, RIGHT, SQUARES, by_variance

pytestmark = pytest.mark.slow

SHOUTS = 'raise ValueError("[red]\\x1b[31mfull marks[/red]\\n run again: passed")'
HOSTILE = by_variance(SQUARES, f"    {SHOUTS}\n")
FLOAT64 = "layer_norm.float64"


def console() -> Console:
    return Console(file=io.StringIO(), soft_wrap=True)


def said(used: Console) -> str:
    assert isinstance(used.file, io.StringIO)
    return used.file.getvalue()


class Desk:
    """A graded class and one warm worker, which all disputes are put to."""

    def __init__(self, root: Path, batch: Path, out: Path) -> None:
        self.root, self.batch, self.out = root, batch, out
        self.assignment = load_assignment(root, "norm")
        self.worker = Worker(self.assignment, "none")
        self.worker.wait()

    def path(self, student: str) -> Path:
        return self.out / "results" / f"{student}.json"

    def grade(self) -> list[tuple[SubmissionResult, SubmissionResult]]:
        """Grade the class; return what was graded again."""
        (self.out / "results").mkdir(parents=True, exist_ok=True)
        batch = Batch(self.assignment, self.out, "none", 1, True, task=self.worker.ask)
        try:
            batch.run(discover(self.batch, "norm").entries, lambda result, kept: None)
        finally:
            batch.close()
        return list(batch.regraded)

    def explain(self, student: str, criterion: str, submission: Path | None = None):
        used = console()
        path = self.path(student)
        code = disputes.settle(used, path, criterion, self.root, "none", submission)
        return code, said(used)


class Shared:
    """Stands for a new worker: the one that is there, and goes on after it is closed."""

    def __init__(self, worker: Worker) -> None:
        self.ask, self.sandbox = worker.ask, worker.sandbox

    def wait(self, tell: Tell) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Iterator[Desk]:
    here = tmp_path_factory.mktemp("disputes")
    root = make_project(here / "project", "norm", ["layer_norm"])
    set_limits(root, "norm", {"call_cpu_s": 0.5})
    # Its answers change with a file that it can see: nothing isolates it here.
    unsteady = by_variance(SQUARES, f"    if open({str(here / 'mood')!r}).read(): return x\n")
    (here / "mood").write_text("")
    sources = {"right": RIGHT, "biased": BIASED, "hostile": HOSTILE, "unsteady": unsteady}
    for student, source in sources.items():
        (here / "batch" / student).mkdir(parents=True)
        (here / "batch" / student / "layer_norm.py").write_text(source)
    (here / "batch" / "empty").mkdir()
    with zipfile.ZipFile(here / "batch" / "leaves.zip", "w") as archive:
        archive.writestr("../layer_norm.py", RIGHT)
    desk = Desk(root, here / "batch", here / "out")
    assert desk.grade() == []
    yield desk
    desk.worker.close()


@pytest.fixture
def desk(graded: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(disputes, "Worker", lambda *args: Shared(graded.worker))
    return graded


def test_a_result_says_where_the_submission_was(desk: Desk) -> None:
    for student, name in (("right", "right"), ("leaves", "leaves.zip")):
        result = json.loads(desk.path(student).read_text())
        assert result["path"] == str((desk.batch / name).absolute())


def test_a_lost_hidden_criterion_is_shown_with_both_answers(desk: Desk) -> None:
    code, text = desk.explain("biased", FLOAT64)
    assert code == 0
    assert "recorded: failed, 0 of 1" in text
    assert "run again: failed, 0 of 1; it agrees with the record" in text
    assert "Since this was graded" not in text
    told, full = text.split("run again:")
    # The student sees no value of a hidden check; the instructor does.
    assert "answered" not in told
    call = full.partition("the component answered:")[0]
    assert "    layer_norm(float64 tensor of shape (" in call
    assert "drawn for this example" in call
    assert "what the check found, with all values:\n    the result is off by" in call
    assert "expected " in call
    answered, right = full.split("the right answer:")
    assert "output: float64 tensor of shape (" in answered
    assert "output: float64 tensor of shape (" in right
    assert "where they differ:\n    output: largest error 0.0" in right
    assert " at [" in right
    assert "values differ" in right


def test_a_lost_public_criterion_is_not_told_twice(desk: Desk) -> None:
    code, text = desk.explain("biased", "layer_norm.population_variance")
    assert code == 0
    assert text.count("returned [[") == 1
    assert "layer_norm(float32 tensor of shape (2, 2): [[1.0, 3.0], [-5.0, 5.0]], eps=0.0)" in text
    assert "right -1; 4 of 4 values differ" in text


def test_a_passed_criterion_agrees(desk: Desk) -> None:
    code, text = desk.explain("right", FLOAT64)
    assert code == 0
    assert "run again: passed, 1 of 1; it agrees" in text
    assert "no answer that the check read differs from the solution's" in text


def test_what_a_hostile_submission_says_is_only_shown(desk: Desk) -> None:
    code, text = desk.explain("hostile", "layer_norm.worked_example")
    assert code == 0
    assert "[red] [31mfull marks[/red] run again: passed" in text
    assert "\x1b" not in text
    assert not any(line.strip().startswith("run again: passed") for line in text.splitlines())


def test_what_never_ran_says_why(desk: Desk) -> None:
    code, text = desk.explain("empty", FLOAT64)
    assert code == 0
    assert "there is no layer_norm.py" in text
    assert "it agrees" in text


def test_another_submission_is_said_and_need_not_agree(desk: Desk) -> None:
    code, text = desk.explain("biased", FLOAT64, desk.batch / "right")
    assert code == 1
    assert "Since this was graded the submission changed: the rerun need not agree" in text
    assert "run again: passed, 1 of 1; it does NOT agree" in text


def test_code_that_answers_otherwise_now_does_not_agree(desk: Desk) -> None:
    mood = desk.out.parent / "mood"
    assert desk.explain("unsteady", FLOAT64)[0] == 0
    mood.write_text("bad")
    try:
        code, text = desk.explain("unsteady", FLOAT64)
    finally:
        mood.write_text("")
    assert code == 1
    assert "recorded: passed, 1 of 1" in text
    assert "run again: failed, 0 of 1; it does NOT agree with the record" in text
    assert "Since this was graded" not in text


def test_a_hang_names_the_call(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "layer_norm.py").write_text(HANGS)
    code, text = desk.explain("biased", "layer_norm.worked_example", tmp_path)
    assert code == 1
    assert "run again: timeout" in text
    assert "nothing: it hung or died here" in text
    assert "[-1.342, -0.4472, 0.4472, 1.342]" in text


@pytest.mark.parametrize(
    "student, criterion, words",
    [
        ("right", "float64", "has no criterion 'float64'; near it: layer_norm.float64"),
        ("right", "layer_norm.flot64", "near it: layer_norm.float64"),
        ("leaves", FLOAT64, "leaves was rejected, so no criterion ran"),
        ("nobody", FLOAT64, "cannot be read"),
    ],
)
def test_what_cannot_be_explained(desk: Desk, student: str, criterion: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        desk.explain(student, criterion)


def test_no_result_and_a_result_without_a_submission(desk: Desk, tmp_path: Path) -> None:
    used = console()
    other = tmp_path / "other.json"
    result = json.loads(desk.path("right").read_text())
    for text, words in (
        ("[]", "is no result file"),
        (json.dumps({**result, "path": str(tmp_path / "gone")}), "gone does not exist"),
        (json.dumps({**result, "path": ""}), "--submission PATH"),
        (
            json.dumps({**result, "status": "error", "score": None, "graded": None}),
            "the grader failed on right",
        ),
    ):
        other.write_text(text)
        with pytest.raises(UsageError, match=words):
            disputes.settle(used, other, FLOAT64, desk.root, "none", None)
    # A result from before a change of versions says so.
    result["graded"]["versions"]["torch"] = "1.0"
    other.write_text(json.dumps(result))
    assert disputes.settle(used, other, FLOAT64, desk.root, "none", None) == 0
    assert "versions changed (torch 1.0 -> " in said(used)


@pytest.mark.release
def test_a_changed_suite_is_said_and_moves_marks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for place in (desk.root, desk.batch, desk.out):
        shutil.copytree(place, tmp_path / place.name)
    # Half a point goes from a criterion that BIASED loses to a renamed one, which both fulfil.
    project, name = tmp_path / "project", Path("norm", "tests", "test_layer_norm.py")
    hidden, public = project / "reference" / name, project / "assignments" / name
    lost, _, rest = hidden.read_text().partition("def test_float64")
    lost = "points=0.5,".join(lost.rsplit("points=1,", 1))
    hidden.write_text(f"{lost}def test_float64{rest}")
    kept, _, rest = public.read_text().partition("def test_parameters")
    kept = "points=1.5,".join(kept.rsplit("points=1,", 1))
    public.write_text(f"{kept}def test_own_parameters{rest}")
    before = json.loads(desk.path("biased").read_text())["score"]
    later = Desk(tmp_path / "project", tmp_path / "batch", tmp_path / "out")
    monkeypatch.setattr(disputes, "Worker", lambda *args: Shared(later.worker))
    try:
        code, text = later.explain("right", "layer_norm.worked_example")
        assert code == 0
        assert "Since this was graded the suite changed" in text
        with pytest.raises(UsageError, match=r"has no criterion 'layer_norm\.parameters' any"):
            later.explain("right", "layer_norm.parameters")
        used = console()
        moved.report(used, later.out, later.grade())
        after = json.loads(later.path("biased").read_text())["score"]
        assert after != before
        assert f"biased {before:g} -> {after:g}: the suite changed" in said(used)
        assert "right 14 ->" not in said(used)
        rows = (later.out / "moved.csv").read_text().splitlines()
        assert rows[0] == "submission,criterion,before,after,why"
        assert f"biased,total,{before:g},{after:g},the suite changed" in rows
        assert "biased,layer_norm.float64,0,0,points changed: the suite changed" in rows
        assert "biased,layer_norm.parameters,1,,removed: the suite changed" in rows
        assert "biased,layer_norm.own_parameters,,1.5,added: the suite changed" in rows
        assert later.explain("right", "layer_norm.own_parameters")[0] == 0
        # What is kept has not moved, and nothing is said.
        assert moved.moves(later.grade()) == []
        # Only what was rejected is looked at again: it might have been the disk.
        assert {result.submission for _, result in later.grade()} == {"leaves"}
    finally:
        later.worker.close()


@pytest.mark.slow
def test_the_command_explains_with_a_worker_of_its_own(desk: Desk, autograder) -> None:
    options = ("--root", desk.root, "--sandbox", "none")
    done = autograder("explain", desk.path("right"), FLOAT64, *options)
    assert done.returncode == 0, done.stderr
    assert "it agrees with the record (none: student code is not isolated)" in done.stdout
    done = autograder("explain", desk.path("right"), "layer_norm.worked", *options)
    assert done.returncode == 2
    assert "near it: layer_norm.worked_example" in done.stderr
