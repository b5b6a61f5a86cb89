"""`autograder course init`: what is in the folder, what is not, and where it cannot be."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, lines_of_code
from tests.platforms.nbgrader.conftest import HALF, Course
from tests.sources import RIGHT


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
        for name in ("conftest.py", "test_layer_norm.py", "views.py", "known_mistakes.json.gz")
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
    lines = {line for line in lines_of_code(secret) if len(line) > 25 and line not in known}
    # The words that explain a misconception travel with a release.
    code = {one for one in lines if any(w in one for w in ("wrong(", "return", "expect.", " = "))}
    assert len(code) > 30
    for path in blank.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
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


def test_a_workbook_that_has_drifted_makes_no_course(blank: Course, tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(blank.project, project)
    text = project / "reference" / "norm" / "workbook" / "text.md"
    text.write_text(text.read_text().replace("Why is there", "What for is"))
    done = init(tmp_path / "course", "--assignment", "norm", "--root", project)
    refused(
        done, "question_scale-text differ from what the solutions give", "autograder workbook norm"
    )
    assert not (tmp_path / "course").exists()


@pytest.mark.release
def test_a_course_that_nothing_else_names_a_project_to_names_it_itself(
    blank: Course, tmp_path: Path
) -> None:
    alone = {key: v for key, v in blank.environment.items() if key != "GRADEFORMER_ROOT"}
    course = Course(tmp_path / "course", blank.project, alone)
    tmp_path.joinpath("empty").mkdir()
    command = [sys.executable, "-m", "autograder", "course", "init", str(course.folder)]
    made = subprocess.run(
        [*command, "--assignment", "norm", "--root", str(blank.project)],
        cwd=tmp_path / "empty",
        env=alone,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr
    assert "which nbgrader_config.py names" in " ".join(made.stdout.split())
    named = f"c.GradeSubmission.root = {str(blank.project)!r}\n"
    config = course.folder / "nbgrader_config.py"
    assert named in config.read_text()
    assert named not in (blank.folder / "nbgrader_config.py").read_text()
    course.run("nbgrader", "generate_assignment", "norm")
    # What students get does not know the way.
    for path in (course.folder / "release").rglob("*"):
        assert path.is_dir() or str(blank.project).encode() not in path.read_bytes()
    course.hand_in("s01", {"layer_norm.py": RIGHT})
    course.autograde()
    assert course.marks()["s01"].auto == 14.0
    course.hand_in("s02", {"layer_norm.py": HALF})
    course.grade()
    marks = course.marks()
    assert marks["s01"].auto == 14.0
    assert 0.0 < marks["s02"].auto < 14.0

    # The course's own word counts before a variable that is meant for another one, in both.
    elsewhere = {**alone, "GRADEFORMER_ROOT": str(tmp_path / "empty")}
    other = Course(course.folder, course.project, elsewhere)
    other.autograde("--force", "--student=s01")
    other.grade()
    assert course.marks() == marks
    refused_by = other.grade("--root", str(tmp_path / "empty"), fails=True)
    assert "empty has no assignments/ and reference/" in " ".join(refused_by.split())

    # Where nothing names it, all ways are told; a path may be relative to the course.
    text = config.read_text()
    config.write_text(text.replace(named, ""))
    for said in (course.grade(fails=True), course.autograde("--force", fails=True)):
        words = " ".join(said.split())
        assert "no assignments/ and reference/ in or above the current folder" in words
        assert "c.GradeSubmission.root, set GRADEFORMER_ROOT to it, or run" in words
    relative = os.path.relpath(blank.project, course.folder)
    config.write_text(text.replace(named, f"c.GradeSubmission.root = {relative!r}\n"))
    course.autograde("--force", "--student=s01")
    course.grade()
    assert course.marks() == marks
