"""Cases share their criterion's points, and every component has rules and limits of its own.

One small course, graded on each tier, graded again, and run as a student runs it.
"""

import csv
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.stubs import make_stub
from autograder.reports.shown import component_page, shown_component
from autograder.results import ComponentResult

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TOML = """\
schema = 1
name = "small"
title = "A small assignment"

[[components]]
name = "numbers_work"
points = 9
rules = { modules = ["csv"], functions = ["builtins.sorted"] }
limits = { memory_mb = 300 }

[[components]]
name = "text_work"
points = 4
rules = { modules = ["numpy", "statistics"] }
limits = { memory_mb = 2000 }
"""
RIGHT = {
    "numbers_work.py": (
        "import numpy\n\n\ndef double(x):\n    return 2 * x\n\n\n"
        "def order(x):\n    return numpy.sort(x).tolist()\n\n\n"
        "def room(x):\n    return len(bytearray(x * 2**20)) // 2**20\n"
    ),
    "text_work.py": (
        "import csv\n\n\ndef upper(x):\n    return ''.join(sorted(x.upper()))\n\n\n"
        "def room(x):\n    return len(bytearray(x * 2**20)) // 2**20\n"
    ),
}
# As an instructor writes them, with the regions that students fill.
SOLUTIONS = {
    name: re.sub(
        r"^(    return .*)$",
        "    ### BEGIN SOLUTION\n\\1\n    ### END SOLUTION",
        source,
        flags=re.M,
    )
    for name, source in RIGHT.items()
}
STUBS = {name: make_stub(source, name) for name, source in SOLUTIONS.items()}
NUMBERS_TESTS = '''\
import pytest


@pytest.mark.criterion(points=6, source="handout, 1")
@pytest.mark.parametrize("x, right", [(1, 2), (0, 0), (-3, -6)])
def test_double(component, expect, x, right):
    """double doubles"""
    expect.same(component.call("double", x).number, right, "the double")


@pytest.mark.criterion(points=1, source="handout, 2")
def test_order(component, expect):
    """order sorts"""
    expect.same(component.call("order", [3, 1, 2]).items(), [1, 2, 3])
'''
NUMBERS_HIDDEN = '''\
import pytest


@pytest.mark.criterion(points=1, source="handout, 2")
@pytest.mark.parametrize("x", [[4242, 1], [5, 4]])
def test_order_more(component, reference, expect, x):
    """order sorts other lists"""
    expect.same(component.call("order", x).items(), reference.call("order", x).items())


@pytest.mark.criterion(points=1, source="handout, 3")
def test_room(component, expect):
    """a little memory is enough"""
    expect.same(component.call("room", 20).number, 20)
'''
TEXT_TESTS = '''\
import pytest


@pytest.mark.criterion(points=2, source="handout, 4")
def test_upper(component, expect):
    """upper sorts capital letters"""
    expect.same(component.call("upper", "ba").text, "AB")
'''
TEXT_HIDDEN = '''\
import pytest


@pytest.mark.criterion(points=2, source="handout, 5")
def test_room(component, expect):
    """much memory is there"""
    expect.same(component.call("room", 600).number, 600)
'''


def changed(**parts: tuple[str, str]) -> dict[str, str]:
    """Return the right submission with a text replaced in a component."""
    files = dict(RIGHT)
    for component, (old, new) in parts.items():
        assert old in files[f"{component}.py"]
        files[f"{component}.py"] = files[f"{component}.py"].replace(old, new)
    return files


STUDENTS: dict[str, dict[str, str]] = {
    "right": RIGHT,
    "stubs": STUBS,
    "two_of_three": changed(numbers_work=("2 * x", "2 * abs(x)")),
    "one_of_three": changed(numbers_work=("2 * x", "1 / (x == 0) if x else 0")),
    "none_of_three": changed(numbers_work=("2 * x", "2 * x + 1")),
    "dies_in_one": changed(numbers_work=("2 * x", "2 * x if x else os._exit(3)\n\n\nimport os")),
    "hidden_half": changed(numbers_work=("numpy.sort(x)", "numpy.sort([n % 99 for n in x])")),
    "unsteady": changed(
        numbers_work=("2 * x", "2 * x + (SEEN.append(1) or len(SEEN) == 3)\n\n\nSEEN = []")
    ),
    "sorts": changed(numbers_work=("numpy.sort(x).tolist()", "sorted(x)")),
    "reads_csv": changed(numbers_work=("import numpy\n", "import numpy\nimport csv\n")),
    "imports_numpy": changed(text_work=("import csv\n", "import csv\nimport numpy\n")),
    "much_memory": changed(numbers_work=("x * 2**20", "800 * 2**20")),
}


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def make_project(root: Path) -> Path:
    public, secret = root / "assignments" / "small", root / "reference" / "small"
    write(public, {**STUBS, "assignment.toml": TOML, "README.md": "# Small\n"})
    tests = {"test_numbers_work.py": NUMBERS_TESTS, "test_text_work.py": TEXT_TESTS}
    hidden = {"test_numbers_work.py": NUMBERS_HIDDEN, "test_text_work.py": TEXT_HIDDEN}
    write(public / "tests", tests)
    write(secret, SOLUTIONS)
    write(secret / "tests", hidden)
    return root


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "autograder", *map(str, arguments)]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300)


@dataclass
class Course:
    """A course whose class has been graded."""

    root: Path
    batch: Path
    out: Path
    results: dict[str, Any]
    tier: str

    def component(self, student: str, name: str = "numbers_work") -> dict[str, Any]:
        found: dict[str, Any] = self.results[student]["components"][name]
        return found

    def criterion(self, student: str, name: str) -> dict[str, Any]:
        component = self.component(student, name.partition(".")[0])
        (found,) = (c for c in component["criteria"] if c["id"] == name)
        return found

    def grade(self) -> subprocess.CompletedProcess[str]:
        return command(
            *("grade", self.batch, "--assignment", "small", "--root", self.root),
            *("--out", self.out, "--sandbox", self.tier),
        )


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox; the other one is tried with the slow tests."""
    return "tier1"


@pytest.fixture(scope="module")
def course(tier: str, tmp_path_factory: pytest.TempPathFactory) -> Course:
    folder = tmp_path_factory.mktemp("small")
    batch = folder / "batch"
    for student, files in STUDENTS.items():
        write(batch / student, files)
    found = Course(make_project(folder / "project"), batch, folder / "out", {}, tier)
    done = found.grade()
    if done.returncode == 2 and "isolated" in done.stderr:
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    for path in (found.out / "results").glob("*.json"):
        found.results[path.stem] = json.loads(path.read_text())
    assert found.results.keys() == STUDENTS.keys()
    return found


def test_right_work_has_all_points_and_stubs_have_none(course: Course) -> None:
    assert course.results["right"]["score"] == course.results["right"]["max_score"] == 13
    assert course.results["stubs"]["score"] == 0
    for component in course.results["stubs"]["components"].values():
        assert component["status"] == "not_attempted"


@pytest.mark.parametrize(
    "student, passed, first",
    [("two_of_three", 2, "-3--6"), ("one_of_three", 1, "1-2"), ("none_of_three", 0, "1-2")],
)
def test_every_case_earns_its_share(course: Course, student: str, passed: int, first: str) -> None:
    found = course.criterion(student, "numbers_work.double")
    assert (found["cases"], found["passed_cases"]) == (3, passed)
    assert (found["score"], found["max_score"]) == (2 * passed, 6)
    assert found["passed"] is False
    said = f"{passed} of 3 cases pass; the first that does not: {first}"
    assert found["facts"][0] == said
    assert found["message"].splitlines()[0] == said
    assert course.component(student)["score"] == 2 * passed + 3
    assert course.results[student]["score"] == 2 * passed + 7


def test_the_message_goes_on_with_the_first_case_that_failed(course: Course) -> None:
    found = course.criterion("two_of_three", "numbers_work.double")
    assert found["facts"][1:3] == ["the double is wrong; off by 12", "in double(-3)"]
    found = course.criterion("one_of_three", "numbers_work.double")
    assert found["outcome"] == "student_error"
    assert found["facts"][1].startswith("raised ZeroDivisionError (numbers_work.py, line 5)")


def test_all_cases_are_one_criterion(course: Course) -> None:
    names = [criterion["id"] for criterion in course.component("right")["criteria"]]
    assert names == [f"numbers_work.{n}" for n in ("double", "order", "order_more", "room")]
    found = course.criterion("right", "numbers_work.double")
    assert (found["cases"], found["passed_cases"], found["passed"]) == (3, 3, True)
    assert found["facts"] == []
    single = course.criterion("none_of_three", "numbers_work.order")
    assert (single["cases"], single["passed_cases"]) == (1, 1)


def test_a_death_costs_its_case_alone(course: Course) -> None:
    found = course.criterion("dies_in_one", "numbers_work.double")
    assert (found["cases"], found["passed_cases"]) == (3, 2)
    assert (found["score"], found["outcome"]) == (4, "crashed")
    assert found["facts"][0] == "2 of 3 cases pass; the first that does not: 0-0"
    assert course.criterion("dies_in_one", "numbers_work.order")["passed"] is True


def test_a_hidden_criterion_shows_no_value(course: Course) -> None:
    found = course.criterion("hidden_half", "numbers_work.order_more")
    assert (found["score"], found["max_score"]) == (0.5, 1)
    assert found["message"].splitlines()[0] == "1 of 2 cases pass"
    assert "4242" not in json.dumps(course.component("hidden_half"))


def test_the_feedback_page_names_the_cases(course: Course) -> None:
    page = component_page(
        shown_component(ComponentResult.model_validate(course.component("two_of_three")), True)
    )
    assert "double doubles (2 of 3 cases)" in page
    assert "4 / 6" in page
    assert "2 of 3 cases pass; the first that does not: -3--6" in page
    assert "order sorts (" not in page


def test_code_that_answers_otherwise_the_next_time_is_said_to(course: Course) -> None:
    found = course.criterion("unsteady", "numbers_work.double")
    assert found["passed_cases"] == 2
    assert found["score"] == 4
    assert "the same call was answered differently a second time" in found["hints"]


# Rules and limits.


@pytest.mark.parametrize(
    "student, component, message",
    [
        ("sorts", "numbers_work", "builtins.sorted was called (numbers_work.py, line 9)"),
        ("reads_csv", "numbers_work", "csv was imported (numbers_work.py, line 2)"),
        ("imports_numpy", "text_work", "numpy was imported (text_work.py, line 2)"),
    ],
)
def test_what_one_may_not_the_other_may(
    course: Course, student: str, component: str, message: str
) -> None:
    found = course.component(student, component)
    assert (found["status"], found["score"]) == ("forbidden", 0)
    assert message in found["message"]
    (other,) = {"numbers_work", "text_work"} - {component}
    found = course.component(student, other)
    assert (found["status"], found["score"]) == ("graded", found["max_score"])


def test_memory_is_limited_for_each_component_alone(course: Course) -> None:
    assert course.criterion("right", "text_work.room")["passed"] is True
    found = course.criterion("much_memory", "numbers_work.room")
    assert (found["passed"], found["outcome"]) == (False, "student_error")


# What moved.


@pytest.mark.slow
def test_marks_that_moved_name_their_cases(course: Course) -> None:
    path = course.root / "assignments" / "small" / "tests" / "test_numbers_work.py"
    before = path.read_text()
    path.write_text(before.replace("(-3, -6)", "(3, 6)"))
    try:
        done = course.grade()
    finally:
        path.write_text(before)
    assert done.returncode == 0, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "two_of_three 11 -> 13: the suite changed" in said
    step = "gained (4 of 6, 2 of 3 cases -> 6 of 6, 3 of 3 cases)"
    assert f"numbers_work.double {step}" in said
    with (course.out / "moved.csv").open() as file:
        rows = list(csv.reader(file))
    moved = [row for row in rows if row[:2] == ["two_of_three", "numbers_work.double"]]
    assert [row[2:4] for row in moved] == [["4", "6"]]


# The student's own run.


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    root = make_project(folder / "project")
    done = command("release", "small", "--out", folder / "release", "--root", root)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "release"


def own_run(released: Path, student: str) -> str:
    write(released, STUDENTS[student])
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(released), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        line, cwd=released, capture_output=True, text=True, timeout=120, env=environment
    )
    return done.stdout + done.stderr


def line_of(output: str, component: str) -> str:
    (found,) = re.findall(rf"^{component} +(.*)$", output, re.M)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "student, numbers, text",
    [
        ("right", "7 of 7 public points (worth 9 in all)", "2 of 2 public points (worth 4 in all)"),
        ("stubs", "not attempted (worth 9)", "not attempted (worth 4)"),
        (
            "two_of_three",
            "5 of 7 public points (worth 9 in all); in part: 2 of 3 cases",
            "2 of 2 public points (worth 4 in all)",
        ),
        ("none_of_three", "1 of 7 public points (worth 9 in all)", "2 of 2 public points"),
    ],
)
def test_the_summary_of_a_students_run(
    released: Path, student: str, numbers: str, text: str
) -> None:
    output = own_run(released, student)
    assert line_of(output, "numbers_work") == numbers
    assert line_of(output, "text_work").startswith(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "student, broken, message",
    [
        ("sorts", "numbers_work", "builtins.sorted was called (numbers_work.py, line 9)"),
        ("reads_csv", "numbers_work", "csv was imported (numbers_work.py, line 2)"),
        ("imports_numpy", "text_work", "numpy was imported (text_work.py, line 2)"),
    ],
)
def test_a_students_run_has_every_components_rules(
    released: Path, student: str, broken: str, message: str
) -> None:
    output = own_run(released, student)
    assert message in output
    (other,) = {"numbers_work", "text_work"} - {broken}
    points = {"numbers_work": "7 of 7", "text_work": "2 of 2"}
    assert line_of(output, other).startswith(points[other])
    assert not line_of(output, broken).startswith(points[broken])
