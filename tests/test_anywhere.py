"""The command on any terminal, in any locale, with any paths: a class is graded to its end."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.tiny import PLAIN, write_plain

# Each starts a worker for itself.
pytestmark = pytest.mark.slow
ODD = 'it\'s "Übung" n° 1 → ∑'
STUDENTS = ("Jürgen O'Neil", "a b", "ß→∑")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project and a class, below a folder with an odd name."""
    root = tmp_path_factory.mktemp("odd") / ODD
    write_plain(root)
    for student in STUDENTS:
        folder = root.parent / "class ä" / student
        folder.mkdir(parents=True)
        (folder / "double.py").write_text(PLAIN)
    return root


def command(project: Path, out: Path) -> list[str]:
    batch = project.parent / "class ä"
    options = ["--assignment", "plain", "--sandbox", "none", "--jobs", "1"]
    words = [sys.executable, "-m", "autograder", "grade", str(batch), "--out", str(out)]
    return [*words, *options, "--root", str(project)]


def grade(project: Path, out: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(project, out),
        env={**os.environ, **environment},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )


def holds(out: Path) -> None:
    """Everybody has the mark, and a page."""
    rows = (out / "results.csv").read_text().splitlines()[1:]
    assert [row.split(",")[:3] for row in rows] == [[name, "graded", "2"] for name in STUDENTS]
    assert len(list((out / "report" / "students").iterdir())) == len(STUDENTS)


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONIOENCODING": "latin-1"}, id="latin-1"),
        pytest.param({"PYTHONIOENCODING": "ascii", "COLUMNS": "40", "NO_COLOR": "1"}, id="ascii"),
        pytest.param(
            {
                "LC_ALL": "C",
                "PYTHONUTF8": "0",
                "PYTHONCOERCECLOCALE": "0",
                "FORCE_COLOR": "1",
                "HOME": "/nonexistent/home",
                "XDG_CACHE_HOME": "",
            },
            id="no-home",
        ),
    ],
)
def test_a_class_is_graded_whatever_the_terminal_can_show(
    project: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    done = grade(project, tmp_path / ODD, GRADEFORMER_CACHE="", **environment)
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"3 submissions: 3 graded" in done.stdout
    assert (b"\x1b[" in done.stdout) == ("FORCE_COLOR" in environment)
    holds(tmp_path / ODD)


def test_temporary_files_may_lie_on_another_file_system(project: Path, tmp_path: Path) -> None:
    other = Path("/dev/shm")
    if not os.access(other, os.W_OK) or other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("THERE IS NO SECOND FILE SYSTEM: /dev/shm is not one")
    folder = other / f"gradeformer test {os.getpid()}"
    folder.mkdir()
    try:
        assert grade(project, tmp_path, TMPDIR=str(folder)).returncode == 0
        holds(tmp_path)
        assert list(folder.iterdir()) == []
    finally:
        shutil.rmtree(folder)


def test_a_class_is_graded_to_its_end_where_nobody_reads(project: Path, tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as nobody:
        done = subprocess.run(
            command(project, tmp_path), stdout=nobody, stderr=subprocess.PIPE, timeout=300
        )
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    holds(tmp_path)


def test_a_class_is_graded_without_any_output(project: Path, tmp_path: Path) -> None:
    closed = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command(project, tmp_path)]
    assert subprocess.run(closed, timeout=300).returncode == 0
    holds(tmp_path)


def test_nothing_is_written_into_the_project(project: Path, tmp_path: Path) -> None:
    def tree() -> list[tuple[str, float]]:
        return [(str(path), path.lstat().st_mtime) for path in sorted(project.rglob("*"))]

    folders = [path for path in (project, *project.rglob("*")) if path.is_dir()]
    before = tree()
    for folder in folders:
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        assert grade(project, tmp_path).returncode == 0
        # Root may write there, too, so that it does not is looked at.
        assert tree() == before
    finally:
        for folder in folders:
            folder.chmod(0o700)
    holds(tmp_path)
