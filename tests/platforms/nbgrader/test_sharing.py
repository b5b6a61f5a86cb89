"""Who reads a course, and who marks it: closed to others, shared by a group, one at a time."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.grading.lock import alone
from tests.accounts import GRADERS, NEEDS_ROOT, OWNER, SECOND
from tests.platforms.nbgrader.conftest import Course
from tests.sources import RIGHT

Command = Callable[..., subprocess.CompletedProcess[str]]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_course_in_a_folder_that_is_there_is_closed(
    blank: Course, autograder: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "course"
    folder.mkdir(0o755)
    done = autograder("course", "init", folder, "--root", blank.project)
    assert done.returncode == 0, done.stderr
    assert "computing what the known mistakes answer" in done.stdout or "importing" in done.stdout
    assert done.stderr == ""
    assert mode(folder) == 0o700
    assert {mode(path) for path in folder.rglob("*") if path.is_file()} == {0o600}
    assert "umask" not in (folder / "nbgrader_config.py").read_text()


def test_a_course_in_a_shared_folder_is_the_groups(
    blank: Course, autograder: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "course"
    folder.mkdir()
    folder.chmod(0o2775)
    done = autograder("course", "init", folder, "--root", blank.project)
    assert done.returncode == 0, done.stderr
    assert {mode(path) for path in (folder, *folder.rglob("*")) if path.is_dir()} == {0o2770}
    assert {mode(path) for path in folder.rglob("*") if path.is_file()} == {0o660}
    assert "c.CourseDirectory.groupshared = True" in (folder / "nbgrader_config.py").read_text()


def test_all_assignments_of_a_project_are_in_its_course(
    blank: Course, autograder: Command, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(blank.project, project)
    for part in ("assignments", "reference"):
        shutil.copytree(project / part / "norm", project / part / "again")
    about = project / "assignments" / "again" / "assignment.toml"
    about.write_text(about.read_text().replace('name = "norm"', 'name = "again"'))
    made = autograder("workbook", "again", "--root", project)
    assert made.returncode == 0, made.stderr
    done = autograder("course", "init", tmp_path / "course", "--root", project)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "course" / "source").iterdir()) == [
        "again",
        "norm",
    ]
    for name in ("again", "norm"):
        assert f"nbgrader generate_assignment {name}" in done.stdout
    one = autograder(
        *("course", "init", tmp_path / "one", "--root", project, "--assignment", "again")
    )
    assert one.returncode == 0, one.stderr
    assert [path.name for path in (tmp_path / "one" / "source").iterdir()] == ["again"]


def test_what_is_open_is_listed_with_its_repair(
    blank: Course, autograder: Command, reachable: Path
) -> None:
    course = blank.copy(reachable / "course")
    project = reachable / "project"
    shutil.copytree(blank.project, project)
    for path in (project, project / "reference", project / "reference" / "norm"):
        path.chmod(0o755)
    course.folder.chmod(0o755)
    (course.folder / "gradebook.db").chmod(0o644)
    done = autograder("course", "check", course.folder, "--root", project)
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert [line.rsplit(": ", 1)[1] for line in lines] == [
        f"chmod -R go-rwx {project}/reference",
        f"chmod -R go-rwx {course.folder}",
    ]
    for line in lines:
        subprocess.run(line.rsplit(": ", 1)[1], shell=True, check=True)
    done = autograder("course", "check", course.folder, "--root", project)
    assert (done.returncode, done.stdout) == (0, f"{course.folder}: nothing to repair\n")
    done = autograder("course", "check", project, "--root", project)
    assert done.returncode == 2
    assert "there is no nbgrader_config.py" in done.stderr


def test_a_course_with_old_names_of_our_classes_is_named_with_its_repair(
    course: Course, autograder: Command
) -> None:
    course.hand_in("s01", {"layer_norm.py": RIGHT})
    config = course.folder / "nbgrader_config.py"
    now = config.read_text()
    config.write_text(now.replace("autograder.platforms.nbgrader.", "autograder.nbgrader."))
    done = autograder("course", "check", course.folder, "--root", course.project)
    assert done.returncode == 1, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "old path" in line]
    assert "write autograder.platforms.nbgrader. instead of autograder.nbgrader." in line
    assert "write autograder.platforms.nbgrader. instead" in " ".join(
        course.grade(fails=True).split()
    )
    subprocess.run(line.rsplit(": ", 1)[1], shell=True, check=True)
    assert config.read_text() == now
    assert "old path" not in autograder("course", "check", course.folder).stdout


def test_a_cell_of_other_points_is_refused_in_the_words_of_nbgraders_step(course: Course) -> None:
    course.hand_in("s01", {"layer_norm.py": RIGHT})
    with contextlib.closing(sqlite3.connect(course.folder / "gradebook.db")) as gradebook:
        of_cell = "select id from base_cell where name = 'layer_norm'"
        gradebook.execute(f"update grade_cells set max_score = 20 where id in ({of_cell})")
        gradebook.commit()
    said = " ".join(course.grade(fails=True).split())
    assert (
        "the grade cell layer_norm is worth 20 points in the gradebook, but 14 in assignment.toml: "
        "give the cell 14 points in source/ and generate the assignment again"
    ) in said
    assert "Traceback" not in said
    assert course.marks() == {}


@pytest.mark.release
def test_who_comes_second_is_told_and_nothing_is_lost(course: Course) -> None:
    course.hand_in("s01", {"layer_norm.py": RIGHT})
    results = course.folder / "gradeformer" / "norm"
    results.mkdir(parents=True)
    with alone(results, False, print):
        for said, option in (
            (course.autograde(fails=True), "c.GradeSubmission.wait = True"),
            (course.grade(fails=True), "--wait"),
        ):
            words = " ".join(said.split())
            assert f"(process {os.getpid()}, since" in words
            assert f"wait for it with {option}" in words
            assert "Traceback" not in words
    assert not (course.folder / "autograded").exists()
    assert course.marks() == {}


@pytest.mark.release
@NEEDS_ROOT
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="TWO GRADERS NEED setpriv HERE")
def test_two_graders_of_a_group_mark_one_after_the_other(blank: Course, reachable: Path) -> None:
    course = blank.copy(reachable / "course")
    project = reachable / "project"
    shutil.copytree(blank.project, project)
    for name in ("s01", "s02"):
        course.hand_in(name, {"layer_norm.py": RIGHT})
    config = course.folder / "nbgrader_config.py"
    shared = "import os\nos.umask(0o007)\nc.CourseDirectory.groupshared = True\n"
    config.write_text(f"{config.read_text()}{shared}c.GradeSubmission.sandbox = 'none'\n")
    for path in (course.folder, *course.folder.rglob("*"), project, *project.rglob("*")):
        os.chown(path, OWNER, GRADERS)
        path.chmod(0o2770 if path.is_dir() else 0o660)

    def mark(uid: int, *command: str) -> None:
        home = reachable / f"home-{uid}"
        home.mkdir(exist_ok=True)
        os.chown(home, uid, GRADERS)
        environment = {**course.environment, "HOME": str(home), "GRADEFORMER_ROOT": str(project)}
        # An interpreter in a closed home is read all the same; what is written is not.
        reading = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
        who = ["setpriv", f"--reuid={uid}", f"--regid={GRADERS}", "--clear-groups", *reading]
        done = subprocess.run(
            [*who, sys.executable, "-m", *command],
            cwd=course.folder,
            env=environment,
            umask=0o022,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    grade = ("autograder", "grade", "submitted", "--sandbox", "none", "--gradebook", course.url)
    mark(OWNER, "nbgrader", "autograde", "norm", "--student=s01")
    mark(SECOND, *grade, "--no-resume")
    mark(OWNER, "nbgrader", "autograde", "norm", "--force", "--student=s02")
    assert {name: found.auto for name, found in course.marks().items()} == {"s01": 14, "s02": 14}
    made = [course.folder / "gradeformer", *(course.folder / "gradeformer").rglob("*")]
    assert {mode(path) for path in made if path.is_dir()} == {0o2770}
    assert {mode(path) for path in made if path.is_file()} == {0o660}
    assert {path.stat().st_gid for path in made} == {GRADERS}
    assert {path.stat().st_uid for path in made} == {OWNER, SECOND}
