"""What an instructor is shown in a dispute, and which marks a re-grade moved."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rich.console import Console

from autograder import disputes, moved
from autograder.assignment import load_assignment
from autograder.batch import Batch
from autograder.conversation import Worker, patience_s
from autograder.entries import discover
from autograder.errors import UsageError
from autograder.results import ComponentResult, CriterionResult, Graded, SubmissionResult
from tests.conftest import ROOT

RIGHT = (ROOT / "reference" / "transformer_block" / "layer_norm.py").read_text()
BIASED = RIGHT.replace(".square().mean(", ".square().add(1e-3).mean(")
SHOUTS = 'raise ValueError("[red]\\x1b[31mfull marks[/red]\\n run again: passed")'
HOSTILE = RIGHT.replace("    mean =", f"    {SHOUTS}\n    mean =")
HANGS = RIGHT.replace("    mean =", "    while True: pass\n    mean =")
FLOAT64 = "layer_norm.float64"


def console() -> Console:
    return Console(file=io.StringIO(), soft_wrap=True)


def said(used: Console) -> str:
    assert isinstance(used.file, io.StringIO)
    return used.file.getvalue()


def grade(autograder, batch: Path, out: Path, root: Path):
    arguments = ("--assignment", "norm", "--root", root, "--jobs", 1, "--sandbox", "none")
    return autograder("grade", batch, "--out", out, *arguments)


class Desk:
    """A graded class and one warm worker, which all disputes are put to."""

    def __init__(self, root: Path, batch: Path, out: Path) -> None:
        self.root, self.batch, self.out = root, batch, out
        assignment = load_assignment(root, "norm")
        self.worker = Worker(assignment, "none", patience_s(assignment))
        self.worker.wait()

    def path(self, student: str) -> Path:
        return self.out / "results" / f"{student}.json"

    def explain(self, student: str, criterion: str, submission: Path | None = None):
        used = console()
        path = self.path(student)
        code = disputes.explain(used, path, criterion, self.root, "none", submission)
        return code, said(used)


class Shared:
    """Stands for a new worker: the one that is there, and goes on after it is closed."""

    def __init__(self, worker: Worker) -> None:
        self.ask, self.sandbox = worker.ask, worker.sandbox

    def wait(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Iterator[Desk]:
    here = tmp_path_factory.mktemp("disputes")
    root = here / "project"
    for source in ("assignments", "reference"):
        origin, folder = ROOT / source / "transformer_block", root / source / "norm"
        (folder / "tests").mkdir(parents=True)
        shutil.copy(origin / "layer_norm.py", folder)
        shutil.copy(origin / "tests" / "test_layer_norm.py", folder / "tests")
    text = (ROOT / "assignments" / "transformer_block" / "assignment.toml").read_text()
    text = text.replace('"transformer_block"', '"norm"')
    text = text.replace("call_cpu_s = 2.0", "call_cpu_s = 0.5")
    second = text.index("[[components]]", text.index("[[components]]") + 1)
    (root / "assignments" / "norm" / "assignment.toml").write_text(text[:second])
    sources = {"right": RIGHT, "biased": BIASED, "hostile": HOSTILE}
    for student, source in sources.items():
        assert (source == RIGHT) is (student == "right")
        (here / "batch" / student).mkdir(parents=True)
        (here / "batch" / student / "layer_norm.py").write_text(source)
    (here / "batch" / "empty").mkdir()
    with zipfile.ZipFile(here / "batch" / "leaves.zip", "w") as archive:
        archive.writestr("../layer_norm.py", RIGHT)
    desk = Desk(root, here / "batch", here / "out")
    (desk.out / "results").mkdir(parents=True)
    batch = Batch(load_assignment(root, "norm"), desk.out, "none", 1, True)
    batch._idle.put(desk.worker)
    batch.run(discover(desk.batch, "norm"), lambda result, kept: None)
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
    assert "    layer_norm(float64 tensor(" in call
    assert "drawn for this example" in call
    assert "what the check found, with all values:\n    the result is off by" in call
    assert "expected " in call
    answered, right = full.split("the right answer:")
    assert "output: float64 tensor(" in answered
    assert "output: float64 tensor(" in right
    assert "where they part:\n    output: largest error 0.0" in right
    assert " at [" in right
    assert "values part" in right


def test_a_lost_public_criterion_is_not_told_twice(desk: Desk) -> None:
    code, text = desk.explain("biased", "layer_norm.population_variance")
    assert code == 0
    assert text.count("returned [[") == 1
    assert "layer_norm(float32 tensor(2, 2) [[1.0, 3.0], [-5.0, 5.0]], eps=0.0)" in text
    assert "right -1; 4 of 4 values part" in text


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
        (json.dumps({**result, "status": "error", "graded": None}), "the grader failed on right"),
    ):
        other.write_text(text)
        with pytest.raises(UsageError, match=words):
            disputes.explain(used, other, FLOAT64, desk.root, "none", None)
    # A result from before a change of versions says so.
    result["graded"]["versions"]["torch"] = "1.0"
    other.write_text(json.dumps(result))
    assert disputes.explain(used, other, FLOAT64, desk.root, "none", None) == 0
    assert "versions changed (torch 1.0 -> " in said(used)


def test_a_changed_suite_is_said_and_moves_marks(
    autograder, small_project, write_class, tmp_path
) -> None:
    batch = write_class({"s01": {"layer_norm.py": RIGHT}, "s02": {"layer_norm.py": BIASED}})
    out = tmp_path / "out"
    first = grade(autograder, batch, out, small_project)
    assert first.returncode == 0, first.stderr
    assert "moved" not in first.stdout
    before = json.loads((out / "results" / "s02.json").read_text())["score"]
    # Half a point goes from a criterion that s02 loses to a renamed one, which both fulfil.
    test = small_project / "reference" / "norm" / "tests" / "test_layer_norm.py"
    lost, _, rest = test.read_text().partition("def test_float64")
    kept, _, renamed = rest.partition("def test_input_untouched")
    half = 'points=0.5, source="slides, page 8")\n'.join
    lost = half(lost.rsplit('points=1, source="slides, page 8")\n', 1))
    kept = kept.removesuffix('points=0.5, source="slides, page 8")\n')
    kept += 'points=1, source="slides, page 8")\n'
    test.write_text(f"{lost}def test_float64{kept}def test_input_kept{renamed}")
    command = ("explain", out / "results" / "s01.json")
    options = ("--root", small_project, "--sandbox", "none")
    done = autograder(*command, "layer_norm.worked_example", *options)
    assert done.returncode == 0, done.stderr
    assert "Since this was graded the suite changed" in done.stdout
    done = autograder(*command, "layer_norm.worked", *options)
    assert done.returncode == 2
    assert "near it: layer_norm.worked_example" in done.stderr
    done = grade(autograder, batch, out, small_project)
    after = json.loads((out / "results" / "s02.json").read_text())["score"]
    assert after != before
    assert f"s02 {before:g} -> {after:g}: the suite changed" in done.stdout
    assert "s01 14 ->" not in done.stdout
    assert "1 mark moved" in done.stdout
    rows = (out / "moved.csv").read_text().splitlines()
    assert rows[:2] == [
        "submission,criterion,before,after,why",
        f"s02,total,{before:g},{after:g},the suite changed",
    ]
    assert "s02,layer_norm.float64,0,0,points changed: the suite changed" in rows
    assert "s02,layer_norm.input_untouched,0.5,,removed: the suite changed" in rows
    assert "s02,layer_norm.input_kept,,1,added: the suite changed" in rows
    # What is kept has not moved, and nothing is said.
    done = grade(autograder, batch, out, small_project)
    assert done.stdout.count("(unchanged)") == 2
    assert "moved" not in done.stdout


def result(
    student: str, scores: dict[str, tuple[float, float]], suite: str = "a", **graded: object
) -> SubmissionResult:
    criteria = [
        CriterionResult(
            id=name,
            title=name,
            score=score,
            max_score=points,
            passed=bool(score),
            outcome="passed" if score else "failed",
            visibility="public",
            source="",
        )
        for name, (score, points) in scores.items()
    ]
    total, most = (sum(pair[i] for pair in scores.values()) for i in (0, 1))
    part = ComponentResult(score=total, max_score=most, status="graded", criteria=criteria)
    known = {"submission_hash": "s", "suite_hash": suite, "seed": 1, "versions": {"torch": "2.4"}}
    return SubmissionResult(
        submission=student,
        assignment="norm",
        status="graded",
        score=total,
        max_score=most,
        components={"c": part},
        sandbox="",
        graded=Graded.model_validate({**known, **graded}),
    )


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., str]:
    def run(*pairs: tuple[SubmissionResult, SubmissionResult]) -> str:
        used = console()
        moved.report(used, tmp_path, pairs)
        return said(used)

    return run


def test_nothing_moved_is_one_line_and_no_file(report, tmp_path: Path) -> None:
    one = result("s01", {"c.a": (1, 1)})
    assert report() == ""
    assert report((one, result("s01", {"c.a": (1, 1)}, "b"))) == "no mark moved\n"
    assert not (tmp_path / "moved.csv").exists()


def test_how_criteria_moved_and_all_the_reasons(report, tmp_path: Path) -> None:
    before = {"c.a": (1.0, 1.0), "c.b": (0.0, 2.0), "c.c": (1.0, 1.0), "c.d": (1, 1), "c.e": (1, 1)}
    after = {"c.a": (0.0, 1.0), "c.b": (2.0, 2.0), "c.c": (3, 3), "c.e": (1, 1), "c.[f]": (1, 1)}
    versions = {"versions": {"torch": "2.5"}, "submission_hash": "t"}
    text = report((result("s01", before), result("s01", after, "b", **versions)))
    assert "s01 4 of 6 -> 7 of 8: the suite changed and the submission changed and " in text
    assert "versions changed (torch 2.4 -> 2.5)" in text
    assert "  c.a lost (1 of 1 -> 0 of 1)" in text
    assert "  c.b gained (0 of 2 -> 2 of 2)" in text
    assert "  c.c points changed (1 of 1 -> 3 of 3)" in text
    assert "  c.d removed (1 of 1)" in text
    assert "  c.[f] added (1 of 1)" in text
    assert "c.e" not in text
    assert len((tmp_path / "moved.csv").read_text().splitlines()) == 2 + 5


def test_long_lists_are_capped_but_the_file_is_whole(report, tmp_path: Path) -> None:
    pairs = [
        (result(f"s{n:02}", {"c.a": (1, 1)}), result(f"s{n:02}", {"c.a": (0, 1)}, "b"))
        for n in range(30)
    ]
    text = report(*reversed(pairs))
    assert "30 marks moved" in text
    assert text.count(" -> 0: the suite changed") == 20
    assert "and 10 more submissions" in text
    assert "s00 1 -> 0" in text
    assert len((tmp_path / "moved.csv").read_text().splitlines()) == 1 + 2 * 30


def test_an_unsteady_mark_is_not_blamed_on_a_change(report) -> None:
    text = report((result("s01", {"c.a": (1, 1)}), result("s01", {"c.a": (0, 1)})))
    assert "nothing recorded changed" in text
