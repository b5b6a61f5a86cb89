"""The command: what it prints and returns; bad input is one sentence, and nothing is lost."""

import csv
import html
import json
import shlex
import shutil
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from typer.main import get_command
from typer.testing import CliRunner, Result

from autograder import cli
from autograder.errors import UsageError
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked
from autograder.grading.workers import CannotGrade, Tell
from autograder.reports.exports import FORMATS
from autograder.reports.shown import FAULT
from tests.grading.fakes import mark
from tests.tiny import write_tiny

COMMANDS = [
    *(
        "new",
        "import",
        "grade",
        "explain",
        "release",
        "solutions",
        "check",
        "stubs",
        "workbook",
        "selftest",
        "demo",
    ),
    "export",
    "report",
    "similar",
    "accept",
    "ci",
    "course",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_there_and_explains_itself(command: str) -> None:
    done = CliRunner().invoke(cli.app, [command, "--help"])
    assert done.exit_code == 0
    assert f"{command} " in done.output


def test_there_is_no_other_command() -> None:
    named = [command.name or command.callback.__name__ for command in cli.app.registered_commands]
    named += [group.name or "course" for group in cli.app.registered_groups]
    assert sorted(named) == sorted(COMMANDS)


def commands() -> dict[str, Any]:
    """Return every command that does something, by what is typed for it."""

    def below(command: Any, words: str) -> Iterator[tuple[str, Any]]:
        if hasattr(command, "commands"):
            for name, other in command.commands.items():
                yield from below(other, f"{words} {name}")
        else:
            yield words, command

    return dict(below(get_command(cli.app), "autograder"))


def examples(words: str, columns: int) -> list[str]:
    """Return the examples that a command's help shows on a terminal of some width."""
    arguments = words.split()[1:]
    environment = {"COLUMNS": str(columns), "TERMINAL_WIDTH": str(columns)}
    done = CliRunner().invoke(cli.app, [*arguments, "--help"], env=environment)
    assert done.exit_code == 0, done.output
    tail = done.output.partition("For example:\n")[2]
    return [line.strip() for line in tail.splitlines() if line.strip()]


@pytest.mark.parametrize("words", commands())
def test_every_command_shows_an_example_that_can_be_typed(words: str) -> None:
    found = examples(words, 80)
    assert found
    for example in found:
        assert example.startswith(f"{words} ")
        command = get_command(cli.app)
        called: list[dict[str, Any]] = []
        target = command
        for word in words.split()[1:]:
            target = target.commands[word]
        target.callback = lambda called=called, **values: called.append(values)
        command.main(shlex.split(example)[1:], standalone_mode=False)
        assert len(called) == 1


@pytest.mark.parametrize("words", commands())
def test_no_terminal_is_so_narrow_that_an_example_breaks(words: str) -> None:
    assert [] != examples(words, 80) == examples(words, 40) == examples(words, 400)
    assert all(len(example) <= 76 for example in examples(words, 80))


def test_no_command_is_cut_short_in_the_list() -> None:
    done = CliRunner().invoke(cli.app, ["--help"], env={"COLUMNS": "80", "TERMINAL_WIDTH": "80"})
    assert "..." not in done.output.partition("Commands:")[2]


def test_the_version_is_the_package_s() -> None:
    done = CliRunner().invoke(cli.app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"gradeformer {version('gradeformer')}\n")


@pytest.mark.parametrize(
    "typed, offered",
    [
        ("re", ["report", "release"]),
        ("release ", ["norm"]),
        ("selftest n", ["norm"]),
        ("selftest x", []),
        ("grade b --assignment ", ["norm"]),
        ("grade b --sandbox t", ["tier1", "tier2", "tier3"]),
        ("course ", ["init", "check"]),
        ("export gr", ["gradescope"]),
    ],
)
def test_the_shell_completes_commands_and_names(
    autograder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, typed: str, offered: list[str]
) -> None:
    asked = {"_AUTOGRADER_COMPLETE": "complete_bash", "COMP_WORDS": f"autograder {typed}"}
    asked |= {"COMP_CWORD": str(len(typed.split(" ")))}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    done = autograder(cwd=write_tiny(tmp_path / "project"))
    assert done.stdout.split() == offered, done.stderr


class Pool:
    """Stands for the workers of this machine: full marks but for whom it is told to fail."""

    fault = ""
    stop_at = ""

    def __init__(self, *arguments: object) -> None:
        self.stopped = False

    def start(self, count: int, tell: Tell) -> str:
        tell("starting up")
        return f"none: {count} at once"

    def grade(self, job: GradeJob) -> GradeAnswer:
        if job.id == Pool.stop_at:
            raise KeyboardInterrupt
        return Fault(reason="the disk is broken") if job.id == Pool.fault else mark(job)

    def stop(self) -> None:
        self.stopped = True

    def close(self) -> None:
        self.stop()


Grade = Callable[..., Result]


@pytest.fixture
def graded(write_class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grade]:
    """Grade a class of three with stand-ins for the workers."""
    students = {student: {"layer_norm.py": "x = 1\n"} for student in ("s01", "s02", "s03")}
    batch, root = write_class(students), write_tiny(tmp_path / "project")
    monkeypatch.setattr("autograder.grading.batch.WorkerPool", Pool)

    def run(*more: str, fault: str = "", stop_at: str = "", path: str = "") -> Result:
        monkeypatch.setattr(Pool, "fault", fault)
        monkeypatch.setattr(Pool, "stop_at", stop_at)
        command = ["grade", str(batch / path), "--assignment", "norm", "--root", str(root)]
        return CliRunner().invoke(cli.app, [*command, "--out", str(tmp_path / "out"), *more])

    yield run


def test_a_class_is_graded_and_listed(graded: Grade, tmp_path: Path) -> None:
    done = graded("--jobs", "2")
    assert done.exit_code == 0, done.output
    assert "starting up …" in done.output
    assert "sandbox none: 2 at once" in done.output
    assert "3/3 " in done.output
    assert "3 submissions: 3 graded; mean 2.0 of 2" in done.output
    rows = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["submission", "s01", "s02", "s03"]


def test_what_no_mark_stands_for_is_said_last(graded: Grade, tmp_path: Path) -> None:
    batch = tmp_path / "batch"
    (batch / "notes.txt").write_text("")
    shutil.copytree(batch / "s02", batch / "s02.zip")
    (batch / "s02.zip").rename(batch / "again")
    shutil.make_archive(str(batch / "s02"), "zip", batch / "again")
    done = graded()
    assert done.exit_code == 2, done.output
    *_, ignored, doubled = done.output.splitlines()
    assert ignored == "ignored, no student's work: notes.txt"
    assert doubled.startswith("not graded: s02 and s02.zip are both of 's02': keep one")
    rows = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["submission", "again", "s01", "s02", "s03"]


def rows_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a class's table by submission."""
    with (folder / "results.csv").open(newline="") as table:
        return {row["submission"]: row for row in csv.DictReader(table)}


@pytest.fixture
def doubled(graded: Grade, tmp_path: Path) -> Path:
    """A class that was graded; then s02 handed in an archive and another beside the folder."""
    assert graded().exit_code == 0
    for name in ("s02.zip", "s02.TGZ"):
        (tmp_path / "batch" / name).write_bytes(b"of nobody's interest")
    done = graded()
    assert done.exit_code == 2, done.output
    assert "s02: rejected: s02 and s02.TGZ and s02.zip are all of 's02'" in done.output
    return tmp_path / "out"


def test_of_a_doubled_id_one_row_says_why_and_no_number_is_left(doubled: Path) -> None:
    row = rows_of(doubled)["s02"]
    why = "rejected: s02 and s02.TGZ and s02.zip are all of 's02': keep one of them"
    assert (row["status"], row["score"], row["max_score"]) == ("rejected", "", "2")
    assert row["remarks"].startswith(why)
    assert rows_of(doubled)["s01"]["score"] == "2"
    kept = json.loads((doubled / "results" / "s02.json").read_text())
    assert (kept["status"], kept["score"], kept["components"]) == ("rejected", None, {})
    moved = (doubled / "moved.csv").read_text()
    assert "s02,total,2,no mark,the submission is now rejected" in moved


def test_a_doubled_id_is_on_the_pages_and_counts_in_no_figure(doubled: Path) -> None:
    page = BeautifulSoup((doubled / "report" / "index.html").read_text(), "html.parser")
    section = next(head for head in page.find_all("h3") if head.text == "Doubled").parent
    assert "s02 and s02.TGZ and s02.zip are all of" in section.text
    tiles = [" ".join(tile.text.split()) for tile in page.select(".tiles li")]
    assert "1doubled have an id of several entries" in tiles
    assert "2graded have a mark" in tiles
    own = (doubled / "report" / section.find("a")["href"]).read_text()
    assert "No mark yet" in own
    assert "s02.zip are all of" in own


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_has_a_number_for_a_doubled_id_and_export_fails(
    doubled: Path, tmp_path: Path, name: str
) -> None:
    one = FORMATS[name].takes == "one"
    results = doubled / "results" / "s02.json" if one else doubled
    project = str(tmp_path / "project")
    done = CliRunner().invoke(cli.app, ["export", name, str(results), "--root", project])
    assert done.exit_code == 1, done.output
    assert "s02 and s02.TGZ and s02.zip are all of 's02'" in done.stderr
    if FORMATS[name].needs_mark:
        assert "s02" not in done.stdout
    else:
        assert "s02.zip are all of" in html.unescape(done.stdout)
        assert "0 of 2" not in done.stdout
        assert "0.0" not in done.stdout


def test_a_doubled_id_is_graded_once_one_entry_is_left(
    graded: Grade, doubled: Path, tmp_path: Path
) -> None:
    before = (doubled / "results" / "s02.json").stat()
    assert graded().exit_code == 2
    assert (doubled / "results" / "s02.json").stat().st_mtime_ns == before.st_mtime_ns
    (tmp_path / "batch" / "s02.zip").unlink()
    assert graded().exit_code == 2
    assert "s02 and s02.TGZ are both of" in rows_of(doubled)["s02"]["remarks"]
    (tmp_path / "batch" / "s02.TGZ").unlink()
    assert graded().exit_code == 0
    assert (rows_of(doubled)["s02"]["score"], rows_of(doubled)["s02"]["status"]) == ("2", "graded")


def test_a_batch_of_doubled_entries_alone_has_its_rows(
    graded: Grade, doubled: Path, tmp_path: Path
) -> None:
    for student in ("s01", "s03"):
        shutil.rmtree(tmp_path / "batch" / student)
    done = graded("--no-resume")
    assert done.exit_code == 2, done.output
    assert list(rows_of(doubled)) == ["s02"]


def test_there_is_nothing_to_accept_or_explain_of_a_doubled_id(
    doubled: Path, tmp_path: Path
) -> None:
    kept = str(doubled / "results" / "s02.json")
    for words in (["accept", str(doubled), "s02"], ["explain", kept, "layer_norm.values"]):
        with pytest.raises(UsageError, match=r"s02 and s02\.TGZ and s02\.zip are all of"):
            CliRunner().invoke(cli.app, words, catch_exceptions=False)
    pages = ["report", str(doubled), "--out", str(tmp_path / "pages"), "--anonymous"]
    pages += ["--since", str(doubled), "--root", str(tmp_path / "project")]
    assert CliRunner().invoke(cli.app, pages, catch_exceptions=False).exit_code == 0


@pytest.mark.parametrize(
    "more, fault, code, last",
    [
        ([], "", 0, "s01: 2 of 2 points"),
        (["--fail-under", "100"], "", 0, "s01: 2 of 2 points"),
        ([], "s01", 3, f"s01: error: {FAULT}"),
    ],
)
def test_one_submission_is_graded_by_itself(
    graded: Grade, tmp_path: Path, more: list[str], fault: str, code: int, last: str
) -> None:
    done = graded("--one", *more, fault=fault, path="s01")
    assert (done.exit_code, done.output.splitlines()[-2]) == (code, last)
    kept = tmp_path / "out" / "results" / "s01.json"
    assert done.output.splitlines()[-1] == f"Result: {kept}"
    assert kept.is_file()


@pytest.mark.parametrize(
    "reached, under, code", [(1, None, 0), (1, 50, 0), (1, 50.5, 1), (0, 0, 0), (0, 1, 1)]
)
def test_below_a_threshold_it_fails(
    graded: Grade, monkeypatch: pytest.MonkeyPatch, reached: float, under: float | None, code: int
) -> None:
    def marked(job: GradeJob) -> GradeAnswer:
        whole = mark(job)
        return Marked(result=whole.result.model_copy(update={"score": reached}))

    monkeypatch.setattr(Pool, "grade", lambda pool, job: marked(job))
    more = [] if under is None else ["--fail-under", str(under)]
    assert graded("--one", *more, path="s01").exit_code == code


def test_what_was_rejected_fails(graded: Grade, monkeypatch: pytest.MonkeyPatch) -> None:
    def rejected(pool: Pool, job: GradeJob) -> GradeAnswer:
        why = {"status": "rejected", "score": 0.0, "components": {}, "message": "it is damaged"}
        return Marked(result=mark(job).result.model_copy(update=why))

    monkeypatch.setattr(Pool, "grade", rejected)
    done = graded("--one", path="s01")
    assert (done.exit_code, done.output.splitlines()[-2]) == (1, "s01: rejected: it is damaged")


def test_a_suite_that_cannot_grade_is_the_graders_fault(
    graded: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(pool: Pool, count: int, tell: Tell) -> str:
        raise CannotGrade("the solution loses points")

    monkeypatch.setattr(Pool, "start", start)
    done = graded("--one", path="s01")
    assert (done.exit_code, done.output.splitlines()[-1]) == (
        3,
        "cannot grade: the solution loses points",
    )


@pytest.mark.parametrize(
    "more, said",
    [
        (["--one", "--jobs", "2"], "--one grades a single submission: leave out"),
        (["--fail-under", "60"], "--fail-under goes with --one"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    graded: Grade, more: list[str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        raise graded(*more).exception or AssertionError


def test_no_more_workers_are_started_than_there_are_submissions(graded: Grade) -> None:
    assert "sandbox none: 3 at once" in graded("--jobs", "8").output


def test_a_fault_of_the_grader_is_an_error_and_a_rerun_repairs_it(
    graded: Grade, tmp_path: Path
) -> None:
    done = graded(fault="s02")
    assert done.exit_code == 1
    assert "s02: error: the disk is broken" in done.output
    assert "3 submissions: 2 graded, 1 error" in done.output
    assert "s02,error,,2," in (tmp_path / "out" / "results.csv").read_text()
    done = graded()
    assert done.exit_code == 0
    assert done.output.count("(unchanged)") == 2
    assert "s02 no mark -> 2: there was a fault of the grader" in done.output


def test_unchanged_work_is_kept_unless_all_is_to_be_graded_again(graded: Grade) -> None:
    assert graded().exit_code == 0
    assert graded().output.count("(unchanged)") == 3
    again = graded("--no-resume")
    assert "(unchanged)" not in again.output
    assert "no mark moved" in again.output


def test_a_run_that_is_stopped_says_that_it_can_go_on(graded: Grade) -> None:
    done = graded("--jobs", "1", stop_at="s02")
    assert done.exit_code == 130
    assert "stopped: what is done is kept; run the same command to go on" in done.output
    assert "s01 2 (unchanged)" in graded().output


@pytest.fixture
def batch(write_class) -> Path:
    return write_class({"s01": {"layer_norm.py": "x = 1\n"}})


def grade(autograder, batch: Path, out: Path, root: Path, *more: str, name: str = "norm"):
    return autograder(
        "grade", batch, "--assignment", name, "--out", out, "--root", root, *more, "--jobs", "1"
    )


def refused(done, *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.strip()
    assert lines.startswith("autograder: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in " ".join(lines.split()), lines


def test_a_missing_batch(autograder, small_project, tmp_path) -> None:
    done = grade(autograder, tmp_path / "nothing", tmp_path / "out", small_project)
    refused(done, "does not exist", "one submission an entry")


def test_a_file_for_a_batch(autograder, small_project, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    refused(grade(autograder, tmp_path / "file", tmp_path / "out", small_project), "is a file")


def test_an_empty_batch(autograder, small_project, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    refused(grade(autograder, tmp_path / "empty", tmp_path / "out", small_project), "is empty")


def test_an_unknown_assignment(autograder, batch, small_project, tmp_path) -> None:
    done = grade(autograder, batch, tmp_path / "out", small_project, name="nrm")
    refused(done, "no assignment 'nrm'", "there is: norm")


def test_a_malformed_assignment(autograder, batch, small_project, tmp_path) -> None:
    path = small_project / "assignments" / "norm" / "assignment.toml"
    path.write_text("schema = [")
    refused(grade(autograder, batch, tmp_path / "out", small_project), "not valid TOML")


def test_an_out_folder_that_is_a_file(autograder, batch, small_project, tmp_path) -> None:
    (tmp_path / "out").write_text("precious")
    done = grade(autograder, batch, tmp_path / "out", small_project)
    refused(done, "cannot hold results", "give a folder you can write to")
    assert (tmp_path / "out").read_text() == "precious"


def test_an_out_folder_that_cannot_be_written(autograder, batch, small_project) -> None:
    # Not even root can write here.
    done = grade(autograder, batch, Path("/proc/gradeformer"), small_project)
    refused(done, "cannot hold results")


def test_an_unknown_sandbox(autograder, batch, small_project, tmp_path) -> None:
    done = grade(autograder, batch, tmp_path / "out", small_project, "--sandbox", "tier9")
    refused(done, "'tier9' is unknown; choose one of auto, tier1, tier2, tier3, none")


def test_each_fault_of_a_suite_is_a_line(autograder, small_project) -> None:
    path = small_project / "assignments" / "norm" / "tests" / "test_layer_norm.py"
    path.write_text(path.read_text() + "\nimport socket\nimport os\n")
    done = autograder("check", "norm", "--root", small_project, "--sandbox", "none")
    refused(done, "the suite of norm is broken: 2 faults")
    faults = done.stderr.strip().splitlines()[-2:]
    assert [line.rpartition(": ")[2] for line in faults] == [
        "a test may not import socket",
        "a test may not import os",
    ]


@pytest.mark.slow
def test_a_broken_suite(autograder, batch, small_project, tmp_path) -> None:
    path = small_project / "reference" / "norm" / "tests" / "test_layer_norm.py"
    path.write_text(path.read_text().replace("points=1,", "points=2,", 1))
    done = grade(autograder, batch, tmp_path / "out", small_project)
    refused(done, "the suite of norm is broken", "assignment.toml gives it 14")


def test_outside_a_project(autograder, tmp_path) -> None:
    done = autograder("release", "norm", "--out", tmp_path / "out", cwd=tmp_path)
    refused(done, "--root")


def test_a_drifted_stub_is_not_released(autograder, small_project, tmp_path) -> None:
    stub = small_project / "assignments" / "norm" / "layer_norm.py"
    stub.write_text(stub.read_text() + "# changed\n")
    arguments = ("release", "norm", "--out", tmp_path / "out", "--root", small_project)
    refused(autograder(*arguments), "layer_norm.py differ", "autograder stubs norm")
    assert autograder("stubs", "norm", "--root", small_project).returncode == 0
    assert autograder(*arguments).returncode == 0


def test_no_cell_of_a_table_is_a_formula(graded: Grade, tmp_path: Path) -> None:
    odd = ("=1+1", "@x", "-s", "+s", "'s")
    for name in odd:
        (tmp_path / "batch" / name).mkdir()
    assert graded().exit_code == 0
    with (tmp_path / "out" / "results.csv").open(newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert not any(cell.startswith(tuple("=@-+")) for cell in cells)
    # Without one apostrophe it is the id, which is that of the result's file.
    ids = [cell.removeprefix("'") for cell in cells]
    assert sorted(ids) == sorted([*odd, "s01", "s02", "s03"])
    assert {path.stem for path in (tmp_path / "out" / "results").iterdir()} == set(ids)
