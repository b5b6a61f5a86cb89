"""Reading assignment.toml: what is wrong is named with its place, its value and the repair."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import assignment as assignments
from autograder.assignment import Assignment, load_assignment
from autograder.errors import UsageError


def test_the_points_are_those_of_the_handout(assignment: Assignment) -> None:
    assert list(assignment.totals.values()) == [14, 12, 18, 18, 12, 16, 10]
    assert assignment.max_score == 100


def test_an_unknown_assignment_names_the_known_ones(small_project: Path) -> None:
    with pytest.raises(UsageError, match="no assignment 'nrm'; there is: norm"):
        load_assignment(small_project, "nrm")


@pytest.mark.parametrize("name", ["../norm", "", "norm/tests", "/"])
def test_a_name_that_leads_elsewhere_is_unknown(small_project: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no assignment"):
        load_assignment(small_project, name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = ", "not valid TOML"),
        ("schema = 1", "schema = 2", r"schema: .*\(it is 2\)"),
        ("points = 14", "points = -1", r"component .layer_norm., points: .*\(it is -1\)"),
        ("points = 14", "pionts = 14", r"component .layer_norm., pionts: .*did you mean points\?"),
        ("points = 14", 'points = "14"', r"points: give a number, without quotes \(it is '14'\)"),
        ("points = 14", "points = 1e300", r"less than or equal to 10000"),
        ("points = 14", 'points = 14\nprogram = "yes"', r"program: .*boolean \(it is 'yes'\)"),
        ("points = 14", 'points = 14\nuses = "x"', r"uses: Input should be a valid list|a list"),
        ("deaths = 3", 'deaths = "3"', r"limits\.deaths: .*integer \(it is '3'\)"),
        ("deaths = 3", "deaths = 3\ncall_cpu = 1", r"call_cpu: there .*; did you mean call_cpu_s"),
        ('name = "layer_norm"', 'name = "layer-norm"', "cannot be the name of a Python module"),
        ('"rms_norm"', '"rmsnorm"', "'rmsnorm' is no known operation; known: layer_norm"),
        ("deaths = 3", "deaths = 0", r"limits\.deaths: .*\(it is 0\)"),
        ('name = "norm"', 'name = "other"', "its folder is called 'norm'"),
        *(
            ("[limits]", f"[feedback]\n{wrong}\n[limits]", said)
            for wrong, said in {
                'hidden = "no"': r"feedback\.hidden: .*'nothing' or 'outcomes' \(it is 'no'\)",
                'hidden_until = "2026-12-01T12:00:00Z"': r"feedback\.hidden_until: give a date",
                "hidden_until = 2026-12-01T12:00:00": r"its offset .* as 2026-12-01T12:00:00Z",
                "hidden_until = 2026-12-01": r"give a date and a time",
                "hidden_until = 12": r"give a date and a time .*\(it is 12\)",
                "hiden = 1": r"feedback\.hiden: there is no such key; did you mean hidden\?",
            }.items()
        ),
    ],
)
def test_a_malformed_file_is_one_sentence(
    small_project: Path, old: str, new: str, said: str
) -> None:
    path = small_project / "assignments" / "norm" / "assignment.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=said) as caught:
        load_assignment(small_project, "norm")
    assert str(path) in str(caught.value)


def test_a_folder_without_its_file_is_told_apart(small_project: Path) -> None:
    path = small_project / "assignments" / "norm" / "assignment.toml"
    path.unlink()
    with pytest.raises(UsageError, match=r"assignment\.toml is missing"):
        load_assignment(small_project, "norm")
    path.mkdir()
    with pytest.raises(UsageError, match=r"assignment\.toml is no file"):
        load_assignment(small_project, "norm")


@pytest.mark.parametrize(
    "path",
    ["reference/norm/layer_norm.py", "assignments/norm/tests/test_layer_norm.py"],
)
def test_the_suite_hash_follows_every_source(small_project: Path, path: str) -> None:
    before = load_assignment(small_project, "norm").suite_hash()
    assert load_assignment(small_project, "norm").suite_hash() == before
    (small_project / path).write_text((small_project / path).read_text() + "# changed\n")
    assert load_assignment(small_project, "norm").suite_hash() != before


def test_what_students_are_shown_decides_no_mark(small_project: Path) -> None:
    before = load_assignment(small_project, "norm").suite_hash()
    path = small_project / "assignments" / "norm" / "assignment.toml"
    path.write_text(
        path.read_text().replace("[limits]", '[feedback]\nhidden = "nothing"\n[limits]')
    )
    found = load_assignment(small_project, "norm")
    assert found.feedback.hidden == "nothing"
    assert found.suite_hash() == before
    path.write_text(path.read_text().replace("points = 14", "points = 14.5"))
    assert load_assignment(small_project, "norm").suite_hash() != before


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of this package's sources, which the hash is taken of."""
    copy = tmp_path / "autograder"
    origin = Path(assignments.__file__).parent
    shutil.copytree(origin, copy, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


@pytest.mark.parametrize(
    "path",
    [
        *("judge/submission.py", "judge/session.py", "api/expect.py", "api/executor.py"),
        *("sandbox/child.py", "judge/reference.py", "grading/messages.py", "results.py"),
        *("assignment.py", "text.py", "errors.py"),
    ],
)
def test_the_suite_hash_follows_what_decides_a_mark(
    small_project: Path, package: Path, path: str
) -> None:
    found = load_assignment(small_project, "norm")
    before = found.suite_hash(package)
    (package / path).write_text((package / path).read_text() + "# changed\n")
    assert found.suite_hash(package) != before


@pytest.mark.parametrize("room", ["api", "rules", "student", "diagnosis", "sandbox", "judge"])
def test_the_suite_hash_follows_a_new_file_where_marks_are_decided(
    small_project: Path, package: Path, room: str
) -> None:
    found = load_assignment(small_project, "norm")
    before = found.suite_hash(package)
    (package / room / "more.py").write_text("")
    assert found.suite_hash(package) != before


@pytest.mark.parametrize(
    "path",
    [
        *("cli/grading.py", "reports/terminal.py", "reports/disputes.py", "reports/shown.py"),
        *("reports/more.py", "authoring/release.py", "platforms/nbgrader/gradebook.py"),
        *("grading/batch.py", "grading/store.py", "__init__.py"),
    ],
)
def test_the_suite_hash_does_not_follow_what_only_lists_or_reports(
    small_project: Path, package: Path, path: str
) -> None:
    found = load_assignment(small_project, "norm")
    before = found.suite_hash(package)
    with (package / path).open("a") as file:
        file.write("# changed\n")
    assert found.suite_hash(package) == before


@pytest.mark.slow
def test_what_a_worker_imports_is_what_the_hash_follows() -> None:
    code = (
        "import sys, autograder.judge.worker\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.startswith('autograder')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    package = Path(assignments.__file__).parent
    imported = {Path(file).relative_to(package).as_posix() for file in done.stdout.split()}
    assert "judge/worker.py" in imported
    outside = {name for name in imported if not name.startswith(assignments.DECIDING)}
    assert {name for name in outside if not name.endswith("__init__.py")} == set()
