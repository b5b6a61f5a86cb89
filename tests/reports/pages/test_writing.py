"""`autograder report`, and what `grade` writes: where, over what, and what a fault costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from autograder import cli
from autograder.assignment import load_assignment
from autograder.cli.reporting import write_after_grading
from autograder.errors import UsageError
from autograder.grading import store
from autograder.reports.pages import writing
from autograder.reports.pages.statistics import Gathered
from autograder.reports.pages.writing import write_pages
from autograder.reports.shown import About
from autograder.results import SubmissionResult
from tests.conftest import make_project
from tests.reports.exports.made import (
    NOTHING,
    OUTCOMES,
    component,
    criterion,
    fault,
    rejected,
    result,
)
from tests.reports.exports.test_command import project
from tests.reports.pages.classes import made_class
from tests.reports.pages.read import parsed, students
from tests.sources import BIASED, RIGHT

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ABOUT = About("Norms", OUTCOMES, NOW)
Report = Callable[..., Result]


def names(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A folder that `grade` wrote, with three submissions."""
    folder = tmp_path / "out"
    store.make_writable(folder)
    for found in (result(), rejected(), fault()):
        store.write(folder, found)
    return folder


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Report:
    """Run the command in a folder that belongs to no project."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return lambda *args: CliRunner().invoke(cli.app, ["report", *map(str, args)])


def test_the_command_writes_a_page_of_the_class_and_of_each_student(
    report: Report, out: Path, tmp_path: Path
) -> None:
    pages = tmp_path / "deep" / "pages"
    done = report(out, "--out", pages)
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(pages / "index.html")
    assert names(pages) == ["index.html", *(f"students/s0{n}.html" for n in (1, 2, 3))]
    page = parsed((pages / "index.html").read_text())
    linked = {a.attributes["href"] for a in page.all("a")} & set(names(pages))
    assert linked == {f"students/s0{n}.html" for n in (1, 2, 3)}
    assert [row[1] for row in students(page)] == names(pages)[1:]


def test_without_the_assignment_nothing_hidden_is_shown_and_that_is_said(
    report: Report, out: Path, tmp_path: Path
) -> None:
    done = report(out, "--out", tmp_path / "a")
    assert "the assignment norm was not found" in done.stderr
    assert "random holds" not in (tmp_path / "a" / "students" / "s01.html").read_text()
    assert "random holds" in (tmp_path / "a" / "index.html").read_text()
    done = report(out, "--out", tmp_path / "b", "--root", project(tmp_path))
    assert done.stderr == ""
    assert "random holds" in (tmp_path / "b" / "students" / "s01.html").read_text()
    root = project(tmp_path, '[feedback]\nhidden = "nothing"')
    report(out, "--out", tmp_path / "c", "--root", root)
    assert "random holds" not in (tmp_path / "c" / "students" / "s01.html").read_text()


def test_an_earlier_attempt_is_compared(report: Report, out: Path, tmp_path: Path) -> None:
    before = tmp_path / "before"
    store.make_writable(before)
    store.write(before, result({"norm": component([criterion("shape", 0, 1)])}))
    assert report(out, "--out", tmp_path / "pages", "--since", before).exit_code == 0
    told = parsed((tmp_path / "pages" / "students" / "s01.html").read_text()).section("changed")
    assert "shape holds (0 → 1)" in told.text
    assert "What changed" not in (tmp_path / "pages" / "students" / "s02.html").read_text()
    other = result().model_copy(update={"assignment": "another"})
    store.write(before, other)
    done = report(out, "--out", tmp_path / "pages", "--since", before)
    assert isinstance(done.exception, UsageError)
    assert "give those of one assignment" in str(done.exception)


def test_pages_replace_pages_and_nothing_of_the_old_stays(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    write_pages([result(), rejected()], pages, ABOUT)
    write_pages([rejected()], pages, ABOUT)
    assert names(pages) == ["index.html", "students/s02.html"]
    write_pages([rejected()], pages, About("N", NOTHING, NOW), anonymous=True)
    assert names(tmp_path) == ["pages/index.html", "pages/students/student-1.html"]


def test_what_a_killed_run_left_is_swept_and_nothing_else(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    # Another run's, that still goes on; another program's; and what has no number.
    kept = [f".{os.getppid()}.{'ab' * 16}.tmp", f".{gone.pid}.ab.tmp", f".x.{'ab' * 16}.tmp"]
    left = [f".{gone.pid}.{'ab' * 16}.tmp", f".{gone.pid}.{'cd' * 16}.tmp"]
    for name in (*kept, *left):
        (tmp_path / name / "students").mkdir(parents=True)
    write_pages([result()], tmp_path / "pages", ABOUT)
    assert {path.name for path in tmp_path.iterdir()} == {"pages", *kept}


def test_a_folder_of_something_else_is_refused_and_kept(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "index.html").write_text("my homepage")
    for refused in (pages, pages / "index.html"):
        with pytest.raises(UsageError, match="give a new"):
            write_pages([result()], refused, ABOUT)
    assert names(tmp_path) == ["pages/index.html"]
    write_pages([result()], tmp_path / "own", ABOUT)
    (tmp_path / "own" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        write_pages([result()], tmp_path / "own", ABOUT)


def test_what_fails_halfway_leaves_the_pages_that_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "pages"
    write_pages([result()], pages, ABOUT)
    before = names(tmp_path)

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "student_page", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_pages([result(), rejected()], pages, ABOUT)
    assert names(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("broken", [pytest.param(False, marks=pytest.mark.release), True])
def test_grade_ends_with_the_pages_and_a_fault_in_them_costs_no_mark(
    broken: bool, tmp_path: Path, write_class, autograder
) -> None:
    root = make_project(tmp_path / "project", "norm", ["layer_norm"])
    batch = write_class({"ada": {"layer_norm.py": RIGHT}, "bob": {"layer_norm.py": BIASED}})
    place = tmp_path / "out"
    if broken:
        (place / "report").mkdir(parents=True)
        (place / "report" / "thesis.txt").write_text("mine")
    options = ("--assignment", "norm", "--root", root, "--out", place, "--sandbox", "none")
    done = autograder("grade", batch, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert len(names(place / "results")) == 2
    if broken:
        assert "the pages could not be written" in last
        assert "the marks are as they are" in last
        assert names(place / "report") == ["thesis.txt"]
        return
    assert last == f"Pages: {place / 'report' / 'index.html'}"
    assert names(place / "report")[1:] == ["students/ada.html", "students/bob.html"]
    # Graded again with other work, a student reads what has changed.
    (batch / "bob" / "layer_norm.py").write_text(RIGHT)
    autograder("grade", batch, *options)
    told = (place / "report" / "students" / "bob.html").read_text()
    assert "What changed since the last attempt" in told
    assert "What changed" not in (place / "report" / "students" / "ada.html").read_text()


def test_any_fault_of_the_pages_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_project: Path
) -> None:
    def broken(*_: object) -> Path:
        raise RuntimeError("[red]x[/red]\nand more")

    monkeypatch.setattr(writing, "write_pages", broken)
    console = Console(soft_wrap=True, width=80, record=True)
    assignment = load_assignment(small_project, "norm")
    write_after_grading(console, assignment, tmp_path, [result()], [])
    (line,) = console.export_text().splitlines()
    assert line.startswith("the pages could not be written")
    assert "[red]x[/red] and more" in line


@pytest.mark.release
def test_a_class_of_2000_is_a_page_below_5_mb(tmp_path: Path, parts) -> None:
    results, _ = made_class(parts, 2000, 5, "basics")
    longest: list[SubmissionResult] = [
        found.model_copy(update={"submission": f"{'é<' * 40}{found.submission}"})
        for found in results
    ]
    for some in (results, longest):
        gathered = Gathered(some)
        files = writing.files_of([found.submission for found in some])
        page = writing.class_page(gathered, files, "Large", NOW)
        assert len(page.encode()) < 5_000_000
        assert len(students(parsed(page))) == 2000


def test_what_a_link_names_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    pages, link = tmp_path / "deep" / "pages", tmp_path / "link"
    write_pages([result()], pages, ABOUT)
    link.symlink_to(pages)
    write_pages([result(), rejected()], link, ABOUT)
    assert link.is_symlink()
    assert names(pages) == ["index.html", "students/s01.html", "students/s02.html"]
    assert names(tmp_path / "deep") == [f"pages/{name}" for name in names(pages)]


def test_pages_that_cannot_take_their_place_leave_those_that_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = tmp_path / "pages"
    write_pages([result()], pages, ABOUT)
    before = names(tmp_path)
    plain, failed = Path.rename, []

    def full(path: Path, target: Path) -> Path:
        if target == pages and not failed:
            failed.append(path)
            raise OSError(28, "No space left on device")
        return plain(path, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(UsageError, match="No space left on device"):
        write_pages([result(), rejected()], pages, ABOUT)
    assert names(tmp_path) == before
