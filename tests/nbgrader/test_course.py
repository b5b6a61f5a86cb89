"""`autograder course init`: what is in the folder, what is not, and where it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.nbgrader.conftest import Course


def init(folder: Path, *more: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograder", "course", "init", str(folder), *map(str, more)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("autograder: ")
    for word in words:
        assert word in " ".join(done.stderr.split()), done.stderr


def test_the_folder_holds_what_nbgrader_needs(blank: Course) -> None:
    source = blank.folder / "source" / "norm"
    names = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert names == {"layer_norm.py", "README.md", "workbook.ipynb"} | {
        f"tests/{name}"
        for name in ("conftest.py", "test_layer_norm.py", "views.py", "known_mistakes.json")
    }
    assert blank.folder.stat().st_mode & 0o777 == 0o700
    config = (blank.folder / "nbgrader_config.py").read_text()
    assert 'c.CourseDirectory.course_id = "course"' in config
    assert "Execute" not in config
    released = json.loads((blank.folder / "release" / "norm" / "workbook.ipynb").read_text())
    answers = [c for c in released["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
    assert ["".join(cell["source"]) for cell in answers] == ["*Your answer:*"]


def test_nothing_secret_is_in_it_nor_where_the_secrets_are(blank: Course) -> None:
    secret = blank.project / "reference" / "norm"
    public = blank.project / "assignments" / "norm"
    known = "\n".join(p.read_text() for p in public.rglob("*") if p.suffix in (".py", ".ipynb"))
    lines = {
        line.strip()
        for path in secret.rglob("*.py")
        for line in path.read_text().splitlines()
        if len(line.strip()) > 25 and line.strip() not in known
    }
    # The words that explain a misconception travel with a release.
    code = {line for line in lines if "wrong(" in line or "return" in line or "expect." in line}
    assert len(code) > 30
    for path in blank.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert str(blank.project).encode() not in data, path
            text = data.decode(errors="replace")
            assert not [line for line in code if line in text], path
            assert "Because of the scale" not in text, path


def test_folders_that_cannot_be_a_course_are_refused(blank: Course, tmp_path: Path) -> None:
    project = ("--assignment", "norm", "--root", blank.project)
    (tmp_path / "file").write_text("precious")
    refused(init(tmp_path / "file", *project), "is a file", "give a new folder")
    refused(init(tmp_path, *project), "is not empty", "give a new folder")
    assert (tmp_path / "file").read_text() == "precious"
    inside = blank.project / "reference" / "norm" / "course"
    refused(init(inside, *project), "give a folder outside of it")
    assert not inside.exists()
    refused(init(tmp_path / "a course", *project), "'a course' cannot be a course id")
    refused(init(tmp_path / "new", "--assignment", "nrm"), "there is no assignment 'nrm'")
