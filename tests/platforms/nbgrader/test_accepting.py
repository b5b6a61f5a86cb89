"""What is held for review waits in formgrader, and has its points when it was accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ROOT, make_project
from tests.platforms.nbgrader.conftest import Course, make_course
from tests.sources import RIGHT

ODD = RIGHT + "\nimport ctypes\n"
LINE = len(ODD.splitlines())
PLACE = f"layer_norm.py, line {LINE}: it imports ctypes"


def page_of(course: Course, student: str) -> str:
    return "".join(course.outputs(student)[0]["data"]["text/html"])


@pytest.mark.release
def test_what_is_held_waits_in_formgrader_and_is_accepted_from_the_course_folder(
    course: Course,
) -> None:
    for student in ("s01", "s02"):
        course.hand_in(student, {"layer_norm.py": ODD})
    said = course.autograde()
    assert f"s01: layer_norm held for review ({PLACE}); accept it with" in said
    assert f"autograder accept {course.folder} s01" in said
    for mark in course.marks().values():
        assert (mark.auto, mark.waits) == (0.0, True)
    assert "Held for review" in page_of(course, "s01")
    assert PLACE in page_of(course, "s01")

    course.run("autograder", "accept", ".", "s01")
    course.run("autograder", "accept", ".", "s02", "layer_norm")
    listed = json.loads((course.folder / "gradeformer" / "norm" / "accepted.json").read_text())
    assert sorted(listed["accepted"]) == ["s01", "s02"]
    # As nbgrader does it, and as our own command does.
    course.autograde("--force", "--student=s01")
    whole = course.results()["s01"]["max_score"]
    marks = course.marks()
    assert (marks["s01"].auto, marks["s01"].waits) == (whole, False)
    assert marks["s02"].auto == 0.0
    assert "Held for review" not in page_of(course, "s01")
    assert "s02 0 -> " in course.grade()
    assert (course.marks()["s02"].auto, course.marks()["s02"].waits) == (whole, False)

    # Other bytes are held anew, and the mark is taken back.
    course.hand_in("s01", {"layer_norm.py": ODD + "# again\n"})
    said = course.grade()
    assert "1 submission is held for review: s01;" in said
    assert (course.marks()["s01"].auto, course.marks()["s01"].waits) == (0.0, True)


@pytest.mark.release
def test_what_imports_accepted_work_keeps_its_points_and_a_swap_is_held(tmp_path: Path) -> None:
    names = ("attention", "multi_head_attention")
    project = make_project(tmp_path / "project", "norm", names)
    sections = [f"# {name}: Attention\n\nWrite it.\n" for name in names]
    course = make_course(tmp_path, project, "# introduction\n\nHand it in.\n" + "".join(sections))
    folder = ROOT / "reference" / "transformer_block"
    files = {f"{name}.py": (folder / f"{name}.py").read_text("utf-8") for name in names}
    files["attention.py"] += "\nPLUGIN = __import__('plugin' + str(1))\n"
    files["plugin1.py"] = "x = 1\n"
    course.hand_in("s01", files)
    course.autograde()
    whole = {name: course.results()["s01"]["components"][name]["max_score"] for name in names}
    heads = course.marks("multi_head_attention")
    assert heads["s01"].auto == whole["multi_head_attention"]

    course.run("autograder", "accept", ".", "s01")
    course.autograde("--force", "--student=s01")
    for name in names:
        assert course.marks(name)["s01"].auto == whole[name]

    course.hand_in("s01", {**files, "plugin1.py": "x = 2\n"})
    said = course.autograde("--force", "--student=s01")
    assert "(was accepted before plugin1.py changed)" in said
    assert (course.marks("attention")["s01"].auto, course.marks("attention")["s01"].waits) == (
        0,
        True,
    )
