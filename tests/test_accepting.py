"""What is held for review: who grades is told, accepts exactly these bytes, and grades again."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autograder import cli
from autograder.errors import UsageError
from autograder.grading import accepted, store
from autograder.grading.messages import GradeAnswer, GradeJob
from autograder.grading.workers import Tell
from autograder.platforms.nbgrader.collected import CONFIG, results_folder
from autograder.results import Graded, Held, SubmissionResult, Usage
from tests.grading.fakes import mark_reviewed
from tests.reports.exports import made
from tests.tiny import write_tiny

PLACE = "layer_norm.py, line 1: it imports ctypes"
ODD = "import ctypes\nx = 1\n"


class Pool:
    """Stands for the workers of this machine, with judges that read a submission first."""

    def __init__(self, *arguments: object) -> None:
        self.stopped = False

    def start(self, count: int, tell: Tell) -> str:
        return "none"

    def grade(self, job: GradeJob) -> GradeAnswer:
        return mark_reviewed(job)

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.stop()


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


def refused(done: Result) -> str:
    assert isinstance(done.exception, UsageError), done.output
    assert done.output == ""
    return str(done.exception)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def batch(write_class: Callable[..., Path]) -> Path:
    texts = {"s01": "x = 1\n", "s02": ODD, "s03": ODD}
    return write_class({name: {"layer_norm.py": text} for name, text in texts.items()})


@pytest.fixture
def grade(
    batch: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Grade a class of three, or one of them; two of them import what is out of the ordinary."""
    root = write_tiny(tmp_path / "project")
    monkeypatch.setattr("autograder.grading.batch.WorkerPool", Pool)

    def graded(*more: str | Path, path: str = "", keep: bool = True) -> Result:
        command = ["grade", batch / path, "--assignment", "norm", "--root", root]
        return run(*command, *(["--out", out] if keep else []), *more)

    return graded


def marks(out: Path) -> dict[str, tuple[str, str]]:
    with (out / "results.csv").open(newline="") as file:
        return {row["submission"]: (row["score"], row["remarks"]) for row in csv.DictReader(file)}


def test_a_class_ends_with_who_is_held_and_the_remarks_say_why(grade, out: Path) -> None:
    done = grade()
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == (
        f"2 submissions are held for review: s02, s03; {out}/results.csv says why (remarks); "
        f"accept with `autograder accept {out} s02`, then grade again"
    )
    assert "held for review" in done.output.partition("3 submissions: 3 graded")[0]
    held = ("0", f"layer_norm held for review ({PLACE})")
    assert marks(out) == {"s01": ("2", ""), "s02": held, "s03": held}


def test_who_is_accepted_has_the_points_when_graded_again_and_nobody_else_is_graded(
    grade, out: Path, batch: Path
) -> None:
    grade()
    done = run("accept", out, "s02")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [
        "layer_norm of s02: accepted",
        f"  {PLACE}",
        f"Recorded in {out}/accepted.json, for these very files.",
        "Grade again for the points, with the options of the last time:",
        f"  autograder grade {batch} --assignment norm --out {out}",
    ]
    done = grade()
    assert {line.split(" ", 1)[1] for line in done.output.splitlines() if "/3 " in line} == {
        "s01 2 (unchanged)",
        "s02 2",
        "s03 0 (unchanged)",
    }
    assert "s02 0 -> 2: layer_norm was accepted" in done.output
    assert "1 submission is held for review: s03;" in done.output
    assert marks(out)["s02"] == ("2", "")
    again = grade()
    assert again.output.count("(unchanged)") == 3


def test_other_bytes_are_held_anew_also_where_some_were_accepted(
    grade, out: Path, batch: Path
) -> None:
    grade()
    run("accept", out, "s02")
    grade()
    (batch / "s02" / "layer_norm.py").write_text(ODD + "y = 2\n")
    done = grade()
    assert "2 submissions are held for review: s02, s03;" in done.output
    assert "s02 2 -> 0: the submission changed" in done.output
    assert "layer_norm of s02: accepted\n" in run("accept", out, "s02").output
    grade()
    assert marks(out)["s02"][0] == "2"


def test_what_is_taken_out_of_the_file_is_held_again(grade, out: Path) -> None:
    grade()
    run("accept", out, "s02")
    grade()
    path = out / "accepted.json"
    listed = json.loads(path.read_text())
    assert (listed["schema"], list(listed["accepted"])) == (1, ["s02"])
    path.write_text(json.dumps({**listed, "accepted": {}}))
    done = grade()
    assert "s02 2 -> 0: layer_norm is no longer accepted" in done.output


def test_to_accept_twice_is_fine_and_says_so(grade, out: Path) -> None:
    grade()
    run("accept", out, "s02")
    before = (out / "accepted.json").stat().st_mtime_ns
    done = run("accept", out, "s02", "layer_norm")
    assert done.exit_code == 0
    assert done.output.startswith(f"layer_norm of s02: accepted already\n  {PLACE}\n")
    assert (out / "accepted.json").stat().st_mtime_ns == before
    grade()
    for more in ([], ["layer_norm"]):
        done = run("accept", out, "s02", *more)
        assert done.exit_code == 0
        assert done.output == ("layer_norm of s02 was accepted already, and its points count\n")


def test_what_was_accepted_before_stays(grade, out: Path) -> None:
    grade()
    run("accept", out, "s03")
    run("accept", out, "s02")
    assert sorted(accepted.read(out)) == ["s02", "s03"]


def test_one_submission_that_is_held_fails_and_is_graded_as_one_when_accepted(
    grade, out: Path, batch: Path
) -> None:
    done = grade("--one", path="s02")
    assert done.exit_code == 1
    assert done.output.splitlines()[-5:] == [
        "  Held for review: it was not run, and has no points before your instructor accepts it.",
        f"  {PLACE}",
        "s02: 0 of 2 points",
        f"Result: {out}/results/s02.json",
        f"accept with `autograder accept {out} s02`, then grade again",
    ]
    again = run("accept", out, "s02").output.splitlines()[-1]
    assert again == f"  autograder grade {batch}/s02 --one --assignment norm --out {out}"
    done = grade("--one", path="s02")
    assert (done.exit_code, done.output.splitlines()[-2]) == (0, "s02: 2 of 2 points")


def test_one_submission_whose_result_is_not_kept_cannot_be_accepted_and_fails(grade) -> None:
    done = grade("--one", path="s02", keep=False)
    assert done.exit_code == 1
    assert PLACE in done.output
    assert "autograder accept" not in done.output


def test_explain_says_that_nothing_ran_and_how_to_accept(grade, out: Path) -> None:
    grade()
    words = refused(run("explain", out / "results" / "s02.json", "layer_norm.values"))
    assert words == (
        f"layer_norm of s02 is held for review, so no criterion of it ran ({PLACE}): accept it "
        f"with `autograder accept {out} s02 layer_norm` and grade s02 again"
    )


@pytest.mark.parametrize(
    "words, said",
    [
        (["s99"], "{out} holds no result of 's99'; near it: s01, s02, s03"),
        (["s02", "norm"], "s02 has no component 'norm'; held for review is layer_norm"),
        (["s01"], "nothing of s01 is held for review (graded to its end): its points stand"),
        (
            ["s01", "layer_norm"],
            "layer_norm of s01 is not held for review; nothing of it is held for review",
        ),
        (
            ["s02", "--assignment", "norm"],
            f"--assignment goes with a course, and there is no {CONFIG} in {{out}}: leave it out, "
            "or give the course folder",
        ),
    ],
)
def test_what_cannot_be_accepted_is_named_and_nothing_is_written(
    grade, out: Path, words: list[str], said: str
) -> None:
    grade()
    assert refused(run("accept", out, *words)) == said.format(out=out)
    assert not (out / "accepted.json").exists()


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none", Path(__file__)):
        assert refused(run("accept", path, "s01")).startswith(f"{path} holds no results: give ")


@pytest.mark.parametrize(
    "damage, why",
    [
        ("{", "the file: Invalid JSON: EOF while parsing an object at line 1 column 1"),
        ('{"schema": 2, "accepted": {}}', "schema: Input should be 1"),
        ('{"schema": 1, "accepted": {"s": 3}}', "accepted.s: Input should be an object"),
        ('{"schema": 1}', "accepted: Field required"),
    ],
)
def test_a_damaged_list_stops_grading_and_accepting_and_is_not_replaced(
    grade, out: Path, damage: str, why: str
) -> None:
    grade()
    path = out / "accepted.json"
    path.write_text(damage)
    words = f"{path} is damaged ({why}): repair it; or remove it, and accept again what it listed"
    assert refused(run("accept", out, "s02")) == words
    for more in ({}, {"path": "s02"}):
        # Before any worker is started.
        assert refused(grade(*(["--one"] if more else []), **more)) == words
    assert path.read_text() == damage


def test_a_list_that_cannot_be_read_or_written_is_named(grade, out: Path) -> None:
    grade()
    path = out / "accepted.json"
    path.mkdir()
    assert refused(run("accept", out, "s02")) == (
        f"{path} cannot be read (Is a directory): repair it; or remove it, and accept again what "
        "it listed"
    )
    path.rmdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", _no_room)
        assert refused(run("accept", out, "s02")).startswith(f"{path} cannot be written (no room)")
    assert not path.exists()


def _no_room(*arguments: object) -> None:
    raise OSError(28, "no room")


def test_a_damaged_result_is_to_be_made_anew(grade, out: Path) -> None:
    grade()
    path = store.path_of(out, "s02")
    path.write_text(path.read_text()[:-20])
    assert refused(run("accept", out, "s02")) == (
        f"{path} is damaged: grade s02 again, then accept it"
    )


def test_one_component_alone_is_accepted(out: Path) -> None:
    store.make_writable(out)
    store.write(out, two_held())
    assert run("accept", out, "s01", "head").exit_code == 0
    assert accepted.read(out) == {"s01": {"head": "d2"}}
    assert run("accept", out, "s01", "norm").output.startswith("norm of s01: accepted\n")
    lines = run("accept", out, "s01").output.splitlines()
    assert {"norm of s01: accepted already", "head of s01: accepted already"} < set(lines)
    assert accepted.read(out) == {"s01": {"head": "d2", "norm": "d1"}}
    words = refused(run("accept", out, "s01", "nose"))
    assert words == "s01 has no component 'nose'; held for review is norm, head"


def two_held() -> SubmissionResult:
    lost = [made.criterion("a", 0, 2, passed=None)]
    parts = {name: made.component(lost, status="forbidden") for name in ("norm", "head")}
    places = [made.HELD, made.HELD.model_copy(update={"component": "head", "digest": "d2"})]
    return made.result(parts, review=places, path="/batch/s01")


def test_what_a_student_wrote_is_text_in_a_line(out: Path) -> None:
    hostile = "[red]x[/red]\x1b[31m\nlayer_norm of s01: accepted" + "y" * 500
    result, odd = two_held(), {"file": hostile, "what": hostile}
    result.review = [place.model_copy(update=odd) for place in result.review]
    store.make_writable(out)
    store.write(out, result)
    lines = run("accept", out, "s01").output.splitlines()
    shown = [line for line in lines if line.startswith("  [red]x[/red] [31m layer_norm of s01")]
    assert len(shown) == 2
    assert max(map(len, shown)) < 300
    assert "\x1b" not in "".join(lines)
    assert not [line for line in lines if line.startswith("layer_norm")]


def course(folder: Path, *names: str) -> Path:
    """Make what is left of a course in which assignments were autograded: s01 is held in each."""
    folder.mkdir()
    (folder / CONFIG).write_text("")
    for name in names:
        place = results_folder(folder, name)
        store.make_writable(place)
        store.write(place, two_held().model_copy(update={"assignment": name}))
        store.write(place, made.result(submission="s02", assignment=name))
    return folder


def test_in_a_course_the_folder_of_the_course_is_named(tmp_path: Path) -> None:
    home = course(tmp_path / "a course", "norm")
    done = run("accept", home, "s01", "norm")
    assert done.exit_code == 0
    assert accepted.read(home / "gradeformer" / "norm") == {"s01": {"norm": "d1"}}
    again = f"  cd '{home}' && nbgrader autograde norm --force --student=s01"
    assert done.output.splitlines()[-1] == again
    # The folder of its results does as well.
    assert run("accept", home / "gradeformer" / "norm", "s01").output.splitlines()[-1] == again


def test_of_several_assignments_the_one_in_which_a_student_is_held_is_meant(
    tmp_path: Path,
) -> None:
    home = course(tmp_path / "course", "norm", "head")
    words = f"{home} holds results of head, norm: name one with --assignment"
    assert refused(run("accept", home, "s01")) == words
    assert refused(run("accept", home, "s02")) == words
    assert run("accept", home, "s01", "--assignment", "head").exit_code == 0
    store.write(results_folder(home, "norm"), made.result())
    assert "accepted already" in run("accept", home, "s01").output
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / CONFIG).write_text("")
    assert refused(run("accept", empty, "s01")).startswith(f"the course {empty} holds no results")


def test_what_is_only_noted_counts_and_is_in_the_remarks() -> None:
    found = made.result(review=[made.HELD])
    assert (found.held, list(found.noted)) == ({}, ["norm"])
    assert found.remarks == f"norm noted ({made.HELD.words})"
    assert found.component_standing("norm") == "graded"


def test_what_the_guard_forbade_is_not_held_though_something_of_it_is_noted() -> None:
    part = made.component([made.criterion("a", 0, 2)], status="forbidden", usage=Usage(cpu_s=1.0))
    found = made.result({"norm": part}, review=[made.HELD])
    assert (found.held, list(found.noted)) == ({}, ["norm"])
    assert found.remarks == f"norm forbidden; norm noted ({made.HELD.words})"


def test_a_remark_names_the_first_place_and_how_many_more() -> None:
    found = made.standing("held", [made.criterion("a", 0, 2)])
    assert found.remarks == f"norm held for review ({made.HELD.words}, and 1 more)"
    long = Held(component="norm", file="f" * 999, line=3, what="w" * 999)
    assert len(long.words) < 300
    assert "…, line 3: it www" in long.words


def test_results_from_before_there_was_a_review_are_what_they_were() -> None:
    known = {"submission_hash": "a", "suite_hash": "b", "seed": 1, "versions": {}}
    assert Graded.model_validate(known).accepted == {}
