"""The project is found in the same way by every command: option, variable, current folder."""

import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from autograder import cli
from autograder.errors import UsageError
from autograder.project import ROOT_VARIABLE, assignment_of, find_root
from autograder.results import ComponentResult, CriterionResult, Graded, SubmissionResult
from tests.tiny import write_tiny

WAYS = r"name the project with --root, set GRADEFORMER_ROOT to it, or run the command inside of it"


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the projects `one`, `two` and `three`; one stands beside them."""
    for name in ("one", "two", "three"):
        write_tiny(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_option_comes_first_then_the_variable_then_where_one_stands(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(projects / "three" / "reference" / "norm")
    assert find_root() == projects / "three"
    # Nobody has set it who has set it to nothing.
    monkeypatch.setenv(ROOT_VARIABLE, "")
    assert find_root() == projects / "three"
    monkeypatch.setenv(ROOT_VARIABLE, str(projects / "two"))
    assert find_root() == projects / "two"
    assert find_root(projects / "one") == projects / "one"
    monkeypatch.setenv(ROOT_VARIABLE, "../../../two")
    assert find_root() == projects / "two"


def test_what_is_named_and_is_no_project_is_refused(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(projects / "three")
    monkeypatch.setenv(ROOT_VARIABLE, str(projects / "two"))
    # Not even a folder inside of a project is one.
    for named in (projects / "one" / "assignments", projects / "nowhere", Path("a\0b")):
        with pytest.raises(UsageError, match=WAYS) as caught:
            find_root(named)
        assert str(named) in str(caught.value)
    monkeypatch.setenv(ROOT_VARIABLE, str(projects / "nowhere"))
    with pytest.raises(UsageError, match=f"{ROOT_VARIABLE}=.*nowhere has no .*{WAYS}"):
        find_root()
    assert find_root(projects / "one") == projects / "one"


def test_where_there_is_none_all_three_ways_are_named(
    projects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match=f"in or above the current folder: {WAYS}"):
        find_root()
    (projects / "gone").mkdir()
    monkeypatch.chdir(projects / "gone")
    (projects / "gone").rmdir()
    with pytest.raises(UsageError, match=f"the current folder cannot be opened.*{WAYS}"):
        find_root()
    loop = projects / "loop"
    loop.symlink_to(loop)
    with pytest.raises(UsageError, match=WAYS):
        find_root(loop)


_CRITERION = CriterionResult(
    id="layer_norm.shape",
    title="the shape is kept",
    score=0,
    max_score=1,
    passed=False,
    outcome="failed",
    visibility="public",
    source="page 1",
)
_COMPONENT = ComponentResult(score=0, max_score=1, status="graded", criteria=[_CRITERION])
_RESULT = SubmissionResult(
    submission="s01",
    assignment="norm",
    status="graded",
    score=0,
    max_score=1,
    components={"layer_norm": _COMPONENT},
    sandbox="none",
    graded=Graded(submission_hash="", suite_hash="", seed=0, versions={}),
)
COMMANDS = {
    "new": ["assignment", "mine", "--component", "a"],
    "import": ["batch", "--name", "mine"],
    "grade": ["batch", "--assignment", "norm", "--out", "out"],
    "explain": ["result.json", "layer_norm.shape"],
    "release": ["norm", "--out", "out"],
    "solutions": ["norm", "--out", "model-answers"],
    "check": ["norm"],
    "selftest": ["norm"],
    "similar": ["batch", "--assignment", "norm"],
    "stubs": ["norm"],
    "workbook": ["norm"],
    "demo": [],
    "course": ["init", "course", "--assignment", "norm"],
    "ci": ["github", "--assignment", "norm", "--organisation", "o", "--out", "pipelines"],
}
# It goes on without a project, and shows less.
TOLERANT = {"accept", "export", "report"}


def test_every_command_is_tried_here() -> None:
    named = {command.name or command.callback.__name__ for command in cli.app.registered_commands}
    named.update(group.name for group in cli.app.registered_groups)
    assert named == TOLERANT.union(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("by", ["option", "variable", "folder"])
def test_every_command_looks_in_the_same_places(
    projects: Path, monkeypatch: pytest.MonkeyPatch, command: str, by: str
) -> None:
    (projects / "out").mkdir()
    for name in ("out/x", "batch"):
        (projects / name).write_text("x")
    (projects / "result.json").write_text(_RESULT.model_dump_json(by_alias=True))
    arguments = [command, *COMMANDS[command]]
    if by == "option":
        # An option that names none is refused, though the variable names one.
        monkeypatch.setenv(ROOT_VARIABLE, str(projects / "one"))
        arguments += ["--root", "nowhere"]
    elif by == "variable":
        monkeypatch.setenv(ROOT_VARIABLE, "nowhere")
    before = {path: os.lstat(path).st_mtime_ns for path in projects.rglob("*")}
    with pytest.raises(UsageError, match=WAYS):
        CliRunner().invoke(cli.app, arguments, catch_exceptions=False)
    assert {path: os.lstat(path).st_mtime_ns for path in projects.rglob("*")} == before


def test_the_assignment_is_named_or_the_only_one_or_the_usual_one(tmp_path: Path) -> None:
    def add(name: str) -> None:
        (tmp_path / "assignments" / name).mkdir(parents=True)
        (tmp_path / "assignments" / name / "assignment.toml").touch()

    with pytest.raises(UsageError, match="autograder new assignment"):
        assignment_of(tmp_path)
    add("week_two")
    assert assignment_of(tmp_path) == "week_two"
    assert assignment_of(tmp_path, "week_nine") == "week_nine"
    add("week_one")
    with pytest.raises(UsageError, match="name one with --assignment, week_one, week_two"):
        assignment_of(tmp_path)
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.gradeformer]\nassignment = "week_two"\n')
    assert assignment_of(tmp_path) == "week_two"
    for nothing in (
        "tool = 3",
        "[tool]\ngradeformer = 1",
        "[tool.gradeformer]\nassignment = 1",
        "[",
    ):
        settings.write_text(nothing)
        with pytest.raises(UsageError, match="name one with --assignment"):
            assignment_of(tmp_path)


def test_the_demo_says_where_its_class_is(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in ("nothing", "one"):
        if where == "one":
            monkeypatch.chdir(projects / "one")
        with pytest.raises(UsageError, match="only gradeformer's own repository has") as caught:
            CliRunner().invoke(cli.app, ["demo"], catch_exceptions=False)
        assert re.search(r"--root", str(caught.value))
