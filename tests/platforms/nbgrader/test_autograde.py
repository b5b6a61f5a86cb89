"""`nbgrader autograde` with our step in it: marks, feedback, and what nbgrader's users expect."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import lines_of_code
from tests.platforms.nbgrader.conftest import HALF, Course, Mark
from tests.sources import RIGHT

# What nbgrader's own commands leave is tried on every change by tests/e2e, with formgrader.
pytestmark = pytest.mark.release
FULL = Mark(14.0, None, None, False, None)


def answer(text: str) -> Any:
    def change(notebook: Any) -> None:
        cells = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
        cells[0]["source"] = text

    return change


def page_of(course: Course, student: str) -> str:
    return "".join(course.outputs(student)[0]["data"]["text/html"])


@pytest.fixture(scope="module")
def graded(blank: Course, tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A class that was autograded once."""
    course = blank.copy(tmp_path_factory.mktemp("graded") / "course")
    trace = course.folder / "trace"
    # In pieces: a path that leads elsewhere would be held for review.
    touch = f"open(''.join([{str(trace)!r}]), 'a').write('x')\n"
    noisy = "import sys, warnings\nwarnings.warn('careful')\nprint('x', file=sys.stderr)\n"

    def add(notebook: Any) -> None:
        cell = {**notebook["cells"][1], "source": touch, "id": "mine"}
        notebook["cells"].insert(1, cell)

    course.hand_in("s01", {"layer_norm.py": RIGHT})
    course.hand_in("s02", {"layer_norm.py": HALF}, answer("Because."))
    course.hand_in("s03", {})
    (course.hand_in("s04", {}) / "layer_norm.py").unlink()
    course.hand_in("s05", {"layer_norm.py": "def layer_norm(:\n"})
    course.hand_in("s06", {"layer_norm.py": noisy + RIGHT})
    traced = f"try:\n    {touch}except OSError:\n    pass\n"
    course.hand_in("s07", {"layer_norm.py": traced + RIGHT}, add)
    course.hand_in("s08", {"layer_norm.py": RIGHT}, late_s=0)
    course.hand_in("s09", {"layer_norm.py": RIGHT}, late_s=5)
    (course.folder / "penalty.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\n"
        "class Penalty(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n"
        "        return 0.5 * total_seconds_late\n"
    )
    with (course.folder / "nbgrader_config.py").open("a") as config:
        config.write("c.AssignLatePenalties.plugin_class = 'penalty.Penalty'\n")
    due = "--duedate=2026-01-01 00:00:00 UTC"
    course.run("nbgrader", "db", "assignment", "add", "norm", due)
    course.autograde()
    return course


def test_marks_are_those_of_the_result_files(graded: Course) -> None:
    marks, results = graded.marks(), graded.results()
    assert set(marks) == set(results) == {f"s{number:02}" for number in range(1, 10)}
    for student, result in results.items():
        score = result["components"]["layer_norm"]["score"]
        assert (marks[student].auto, marks[student].manual) == (score, None)
        assert not marks[student].waits
    assert marks["s01"] == FULL
    # Partial credit, neither nothing nor everything.
    assert 0.0 < marks["s02"].auto < 14.0


def test_a_written_answer_waits_for_a_person(graded: Course) -> None:
    marks = graded.marks("question_scale")
    assert (marks["s02"].auto, marks["s02"].waits) == (None, True)
    # Who wrote nothing gets nothing, as nbgrader has it.
    assert (marks["s01"].auto, marks["s01"].waits) == (0.0, False)


def test_every_grade_cell_has_feedback_and_ends_in_its_mark(graded: Course) -> None:
    for student, result in graded.results().items():
        page, mark = graded.outputs(student)
        assert page["output_type"] == "display_data"
        assert mark["output_type"] == "execute_result"
        score = result["components"]["layer_norm"]["score"]
        assert "".join(mark["data"]["text/plain"]) == repr(score)
        assert f"{score:g} of 14 points" in page_of(graded, student)


def test_feedback_names_criteria_and_the_misconception(graded: Course) -> None:
    page = page_of(graded, "s02")
    result = graded.results()["s02"]["components"]["layer_norm"]
    assert result["misconceptions"] == ["layer_norm.sample_variance"]
    for criterion in result["criteria"]:
        assert criterion["title"].replace("'", "&#39;").replace('"', "&#34;") in page
    assert "<b>Likely cause:</b> you divided the squared deviations by n - 1" in page
    assert 'src="data:image/png;base64,' in page
    assert "Not attempted" in page_of(graded, "s03")
    assert "not handed in" in page_of(graded, "s04")
    assert "cannot be imported" in page_of(graded, "s05")


def test_feedback_holds_no_line_of_solution_or_hidden_test(graded: Course) -> None:
    graded.run("nbgrader", "generate_feedback", "norm", "--force")
    secret = graded.project / "reference" / "norm"
    lines = {line for line in lines_of_code(secret) if len(line) > 25}
    public = (graded.project / "assignments" / "norm").rglob("*")
    known = "\n".join(p.read_text() for p in public if p.suffix in (".py", ".md", ".ipynb"))
    hidden = {line for line in lines if line not in known}
    assert len(hidden) > 50
    for student in ("s02", "s03", "s04", "s05"):
        page = graded.folder / "feedback" / student / "norm" / "workbook.html"
        told = page.read_text()
        assert "of 14 points" in told
        # What explains a misconception is meant to be told.
        said = [line for line in hidden if line in told and "likely" not in line]
        assert not [line for line in said if "=" in line or "(" in line]


def test_no_kernel_and_no_student_code_in_nbgraders_process(graded: Course) -> None:
    # The module would leave its mark when it is imported here, the cell when it is executed.
    assert not (graded.folder / "trace").exists()
    assert graded.marks()["s07"] == FULL


def test_prints_and_warnings_cost_nothing(graded: Course) -> None:
    assert graded.marks()["s06"] == FULL


def test_a_late_penalty_is_taken_as_configured(graded: Course) -> None:
    marks = graded.marks()
    assert marks["s08"] == FULL
    assert marks["s09"] == Mark(14.0, None, None, False, 2.5)


def test_grading_again(course: Course, tmp_path: Path) -> None:
    """A new submission, manual marks, extra credit, --force, and a suite that was changed."""
    course.hand_in("s01", {"layer_norm.py": HALF}, answer("Because."), late_s=1)
    course.hand_in("s02", {"layer_norm.py": HALF}, late_s=1)
    course.autograde()
    first = course.marks()["s01"].auto
    assert first is not None
    course.mark_by_hand("s01", "layer_norm", manual_score=13.25, needs_manual_grade=False)
    course.mark_by_hand("s01", "question_scale", manual_score=3.5, extra_credit=1.0)

    # Without --force only what was handed in anew is graded again.
    course.hand_in("s02", {"layer_norm.py": RIGHT}, late_s=2)
    said = course.autograde()
    assert re.search(r"Skipping existing assignment: .*s01", said)
    assert course.marks() == {"s01": Mark(first, 13.25, None, False, None), "s02": FULL}

    # Points of a lost check go to one that was passed.
    project = tmp_path / "changed"
    shutil.copytree(course.project, project)
    found = course.results()["s01"]["components"]["layer_norm"]["criteria"]
    for right, by in ((False, -0.5), (True, 0.5)):
        moved = next(c for c in found if c["passed"] is right and c["max_score"] + by > 0)
        top = "reference" if moved["visibility"] == "hidden" else "assignments"
        path = project / top / "norm" / "tests" / "test_layer_norm.py"
        text = path.read_text()
        name, points = moved["id"].removeprefix("layer_norm."), moved["max_score"]
        pattern = rf"points={points:g},((?:.|\n)(?!points=))*?def test_{name}\("
        whole = re.search(pattern, text)
        assert whole is not None, name
        changed = whole[0].replace(f"points={points:g},", f"points={points + by:g},")
        path.write_text(text.replace(whole[0], changed))
    environment = {**course.environment, "GRADEFORMER_ROOT": str(project)}
    again = Course(course.folder, project, environment)
    for grade in (lambda: again.autograde("--force"), lambda: again.grade("--no-resume")):
        grade()
        # The manual mark stays, and a person is asked to look again, as nbgrader has it.
        assert again.marks()["s01"] == Mark(first + 0.5, 13.25, None, True, None)
        answered = again.marks("question_scale")["s01"]
        assert (answered.manual, answered.extra) == (3.5, 1.0)
        assert again.results()["s01"]["components"]["layer_norm"]["score"] == first + 0.5


def test_a_fault_of_the_grader_leaves_no_mark_and_asks_for_a_person(
    course: Course, tmp_path: Path
) -> None:
    # Wherever a worker looks at a submission, the disk is broken.
    site = tmp_path / "site"
    site.mkdir()
    breaks = (
        "import autograder.judge.intake as intake\n"
        "def take_in(path):\n"
        "    raise OSError(5, 'the disk is broken')\n"
        "intake.take_in = intake.look_through = take_in\n"
    )
    (site / "sitecustomize.py").write_text(
        "from autograder import environment\n"
        "plain = environment.program\n"
        "def program(module):\n"
        f"    return plain(module).replace('from ' + module, {breaks!r} + 'from ' + module)\n"
        "environment.program = program\n"
    )
    path = f"{site}{os.pathsep}{course.environment['PYTHONPATH']}"
    broken = Course(course.folder, course.project, {**course.environment, "PYTHONPATH": path})
    broken.hand_in("s01", {"layer_norm.py": RIGHT})
    assert "s01 could not be graded" in broken.autograde()
    assert broken.marks()["s01"] == Mark(None, None, None, True, None)
    outputs = broken.outputs("s01")
    assert [output["output_type"] for output in outputs] == ["display_data"]
    assert "could not be graded" in page_of(broken, "s01")

    # Nor is anything marked where no project is found at all.
    lost = {**course.environment, "GRADEFORMER_ROOT": str(tmp_path / "nowhere")}
    said = Course(course.folder, course.project, lost).autograde("--force", fails=True)
    assert "nowhere has no assignments/ and reference/" in said
    assert "c.GradeSubmission.root, set GRADEFORMER_ROOT to it, or run" in said
    assert not (course.folder / "autograded" / "s01" / "norm").exists()
    assert course.marks()["s01"] == Mark(None, None, None, True, None)

    course.autograde()
    assert course.marks()["s01"] == FULL


def test_what_is_not_ours_is_neither_executed_nor_marked(course: Course) -> None:
    source = course.folder / "source"
    (source / "plain").mkdir()
    shutil.copy(source / "norm" / "workbook.ipynb", source / "plain" / "plain.ipynb")
    course.run("nbgrader", "generate_assignment", "plain")
    handed_in = course.folder / "submitted" / "s01" / "plain"
    shutil.copytree(course.folder / "release" / "plain", handed_in)
    said = course.run("nbgrader", "autograde", "plain", fails=True)
    assert "there is no assignment 'plain'; there is: norm" in said
    assert not (course.folder / "autograded" / "s01" / "plain").exists()

    # A cell that is worth something else than its component is no basis for a mark.
    path = source / "norm" / "workbook.ipynb"
    path.write_text(path.read_text().replace('"points": 14', '"points": 28'))
    course.run("nbgrader", "generate_assignment", "norm", "--force")
    course.hand_in("s01", {"layer_norm.py": RIGHT})
    said = course.autograde(fails=True)
    assert "worth 28 points in the gradebook, but 14 in assignment.toml" in said
    assert course.marks()["s01"].auto is None


def test_ctrl_c_ends_workers_and_keeps_what_is_done(course: Course) -> None:
    names = [f"s{number:02}" for number in range(30)]
    for name in names:
        course.hand_in(name, {"layer_norm.py": RIGHT + f"# {name}\n"})
    process = subprocess.Popen(
        [sys.executable, "-m", "nbgrader", "autograde", "norm"],
        cwd=course.folder,
        env={**course.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout as said:
        for line in said:
            # Once, as a rule. On a busy machine one was lost: whoever sees it go on presses again.
            if "Autograding" in line and any(name in line for name in names[1::5]):
                os.kill(process.pid, signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode != 0
    assert not processes_of(process.pid)
    before = {name for name, mark in course.marks().items() if mark == FULL}
    assert 0 < len(before) < len(names)
    course.autograde()
    assert course.marks() == dict.fromkeys(names, FULL)


def processes_of(session: int) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(path.parent.name)
    return found


def test_who_handed_in_no_notebook_is_named(course: Course) -> None:
    for student in ("s01", "s02", "s03"):
        folder = course.hand_in(student, {"layer_norm.py": RIGHT})
        if student != "s01":
            (folder / "workbook.ipynb").unlink()
    said = course.autograde()
    assert (
        "not marked by nbgrader, because no *.ipynb is there: s02, s03; "
        "`autograder grade submitted --gradebook URL` marks them, too"
    ) in said
    assert set(course.marks()) == {"s01"}
    # Nobody is named who was not asked for, or by the command that marks everybody.
    assert "not marked" not in course.autograde("--student", "s01", "--force")
    assert "not marked" not in course.grade()
    assert course.marks() == dict.fromkeys(("s01", "s02", "s03"), FULL)
