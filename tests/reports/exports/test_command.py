"""`autograder export`: what it reads, where it writes, what it says and returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autograder import cli
from autograder.errors import UsageError
from autograder.grading import store
from autograder.project import ROOT_VARIABLE
from tests.reports.exports.made import (
    component,
    criterion,
    fault,
    rejected,
    result,
    standing,
)
from tests.tiny import write_tiny

Export = Callable[..., Result]


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that `grade` wrote, with two submissions."""
    folder = tmp_path / "out"
    store.make_writable(folder)
    for found in (result(), rejected()):
        store.write(folder, found)
    return folder


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Export:
    """Run the command in a folder that belongs to no project."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)

    def run(*args: str | Path) -> Result:
        return CliRunner().invoke(cli.app, ["export", *map(str, args)])

    return run


def refused(done: Result) -> str:
    assert isinstance(done.exception, UsageError), done.output
    assert done.stdout == ""
    return str(done.exception)


def project(tmp_path: Path, feedback: str = "") -> Path:
    root = write_tiny(tmp_path / "project")
    path = root / "assignments" / "norm" / "assignment.toml"
    head, limits, rest = path.read_text().partition("[limits]")
    path.write_text(f"{head}{feedback}\n{limits}{rest}")
    return root


@pytest.mark.parametrize("place", ["", "results"])
def test_a_class_is_read_from_either_folder(export: Export, out: Path, place: str) -> None:
    done = export("nbgrader", out / place)
    assert done.exit_code == 0
    assert [line.split(",")[3] for line in done.stdout.splitlines()[1:]] == ["s01", "s02"]


def test_a_result_file_is_one_submission(export: Export, out: Path) -> None:
    assert json.loads(export("autolab", store.path_of(out, "s01")).stdout)["scores"]["norm"] == 2.25
    said = refused(export("moodle", store.path_of(out, "s01")))
    assert "moodle is of a class" in said
    assert "autolab is of one submission, and there are 2" in refused(export("autolab", out))


def test_a_file_is_written_whole_or_not_at_all(export: Export, out: Path, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    assert export("moodle", out, "--out", file).stdout == ""
    before = file.read_bytes()
    assert before == export("moodle", out).stdout_bytes
    people = tmp_path / "people.csv"
    people.write_text("username\ns01\n")
    said = refused(export("moodle", out, "--out", file, "--roster", people))
    assert "'s02' is in no row" in said
    assert file.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["marks.csv", "people.csv"]
    for place in (tmp_path, tmp_path / "none" / "marks.csv", Path(".")):
        assert "--out" in refused(export("moodle", out, "--out", place))


def test_what_the_grader_failed_on_is_named_and_returns_1(export: Export, out: Path) -> None:
    store.write(out, fault())
    done = export("canvas", out)
    assert done.exit_code == 1
    assert "s03" not in done.stdout
    assert "not exported: s03: the grader failed on it" in done.stderr
    one = export("gradescope", store.path_of(out, "s03"))
    assert (one.exit_code, one.stdout) == (1, "")


def test_an_empty_submission_is_0_and_named(export: Export, out: Path) -> None:
    nothing = component([criterion("a", 0, 1)], status="missing")
    store.write(out, result({"norm": nothing}, submission="s05"))
    done = export("moodle", out)
    assert done.exit_code == 0
    assert "s05,0," in done.stdout
    assert "s05: handed in no file of it; its mark is 0" in done.stderr


def test_without_the_assignment_the_strictest_holds_and_is_said(export: Export, out: Path) -> None:
    done = export("json", store.path_of(out, "s01"))
    assert done.exit_code == 0
    assert json.loads(done.stdout)["score"] == 3.25
    assert "random holds" not in done.stdout
    assert "the assignment norm was not found" in done.stderr
    assert "--root" in done.stderr


@pytest.mark.parametrize(
    ("feedback", "score"),
    [
        ("", 4.75),
        ('[feedback]\nhidden = "outcomes"', 4.75),
        ('[feedback]\nhidden = "nothing"', 3.25),
        ("[feedback]\nhidden_until = 9999-01-01T00:00:00Z", 3.25),
        ("[feedback]\nhidden_until = 2000-01-01T00:00:00+02:00", 4.75),
    ],
)
def test_the_assignment_says_what_is_shown(
    export: Export,
    out: Path,
    tmp_path: Path,
    feedback: str,
    score: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = project(tmp_path, feedback)
    one = store.path_of(out, "s01")
    done = export("json", one, "--root", root)
    assert (json.loads(done.stdout)["score"], done.stderr) == (score, "")
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    assert export("json", one).stdout == done.stdout


def test_a_project_that_is_named_and_wrong_is_refused(
    export: Export, out: Path, tmp_path: Path
) -> None:
    one = store.path_of(out, "s01")
    assert "has no assignments/" in refused(export("json", one, "--root", tmp_path))
    root = project(tmp_path, "[feedback]\nhidden = 1")
    assert "'nothing' or 'outcomes'" in refused(export("json", one, "--root", root))
    (root / "assignments" / "norm").rename(root / "assignments" / "other")
    assert "no assignment 'norm'" in refused(export("json", one, "--root", root))


@pytest.mark.parametrize("name", ["../norm", "/", "", "norm/tests"])
def test_a_result_s_assignment_leads_nowhere(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(project(tmp_path))
    file = tmp_path / "s01.json"
    file.write_text(result(assignment=name).model_dump_json(by_alias=True))
    done = export("json", file)
    assert "was not found" in done.stderr
    assert json.loads(done.stdout)["score"] == 3.25


def test_what_is_no_result_is_refused(export: Export, out: Path, tmp_path: Path) -> None:
    assert "no format 'x'" in refused(export("x", out))
    assert "cannot be read" in refused(export("json", tmp_path / "none"))
    assert "holds no results" in refused(export("json", tmp_path / "elsewhere"))
    (out / "results" / "s04.json").write_text("{}")
    assert "s04.json is no result file" in refused(export("canvas", out))
    store.write(out, result(submission="s04", assignment="other"))
    assert "several assignments (norm, other)" in refused(export("canvas", out))


def test_a_roster_is_refused_where_it_has_no_use(export: Export, out: Path, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id\ns01\n")
    done = export("json", out, "--roster", tmp_path / "people.csv")
    assert "--roster has no use for json; it has for canvas, moodle, nbgrader" in refused(done)


def test_results_are_in_the_order_of_their_files_and_what_is_half_written_is_none(
    export: Export, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (out / "results" / ".17.ab.json").write_text("{")
    plain = Path.glob

    def turned(path: Path, pattern: str) -> list[Path]:
        return sorted(plain(path, pattern), reverse=True)

    monkeypatch.setattr(Path, "glob", turned)
    done = export("nbgrader", out)
    assert [line.split(",")[3] for line in done.stdout.splitlines()[1:]] == ["s01", "s02"]


def test_whose_mark_waits_for_a_review_is_said(export: Export, out: Path, tmp_path: Path) -> None:
    store.write(out, standing("held", [criterion("a", 0, 2, passed=None)]))
    done = export("canvas", out, "--root", project(tmp_path))
    assert done.exit_code == 0, done.output
    words = "s01: norm held for review, and 0 in its mark until that is accepted"
    assert words in done.stderr.splitlines()
