"""Feedback pages show of hidden criteria what the assignment says; marks are what they are."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.platforms.nbgrader.conftest import Course
from tests.sources import RIGHT

# Its parts are tried in tests/reports/test_shown.py, and grading again in test_autograde.py.
pytestmark = pytest.mark.release


def page_of(course: Course, student: str) -> str:
    return "".join(course.outputs(student)[0]["data"]["text/html"])


def test_pages_follow_the_setting_and_nothing_is_graded_again(
    blank: Course, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    shutil.copytree(blank.project, project)
    copied = blank.copy(tmp_path / "course")
    course = Course(copied.folder, project, {**blank.environment, "GRADEFORMER_ROOT": str(project)})
    toml = project / "assignments" / "norm" / "assignment.toml"
    text = toml.read_text()
    toml.write_text(text.replace("[limits]", '[feedback]\nhidden = "nothing"\n\n[limits]', 1))
    course.hand_in("s02", {"layer_norm.py": RIGHT})
    course.autograde()
    found = course.results()["s02"]["components"]["layer_norm"]
    hidden = [c["title"] for c in found["criteria"] if c["visibility"] == "hidden"]
    public = sum(c["score"] for c in found["criteria"] if c["visibility"] == "public")
    titles = [title.replace("'", "&#39;").replace('"', "&#34;") for title in hidden]
    page = page_of(course, "s02")
    assert "There are hidden checks, too" in page
    assert f"{public:g} of" in page
    assert not [title for title in titles if title in page]
    assert course.marks()["s02"].auto == found["score"] != public

    # From here on they are shown: the page is made anew, of the result that is there.
    toml.write_text(text)
    assert "(unchanged)" in course.grade()
    page = page_of(course, "s02")
    assert not [title for title in titles if title not in page]
    assert "There are hidden checks" not in page
    assert course.marks()["s02"].auto == found["score"]
