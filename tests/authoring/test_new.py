"""`autograder new`: a course that holds at once, an assignment to fill in; or nothing at all."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from autograder import cli
from autograder.assignment import load_assignment
from autograder.authoring import new, stubs
from autograder.errors import UsageError
from autograder.judge.collection import collect
from tests.conftest import ROOT
from tests.tiny import write_tiny


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file with its bytes, and every folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b"/"
        for path in folder.rglob("*")
    }


def said(*arguments: str | Path) -> str:
    """Run the command, which refuses; return its sentence."""
    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(cli.app, [*map(str, arguments)], catch_exceptions=False)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def run(*arguments: str | Path) -> str:
    done = CliRunner().invoke(cli.app, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that was just begun, in which one stands."""
    new.new_course(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course")
    return tmp_path / "course"


@pytest.mark.parametrize("name", ["mine", "course", "new", "a/b/c", "with space [bold]", "-x"])
def test_a_course_has_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    words = run("new", "--", name)
    assert name in words
    assert "autograder selftest first_steps" in words
    files = tree(tmp_path / name)
    assert {"README.md", "pyproject.toml", ".gitignore", ".github/workflows/selftest.yml"} <= {
        *files
    }
    assert [path.name for path in tmp_path.iterdir()] == [name.partition("/")[0]]
    found = load_assignment(tmp_path / name, "first_steps")
    assert stubs.drifted(found) == []
    stubs.must_be_filled_in(found)
    assert not [text for text in files.values() if b"{{" in text or b"{%" in text]


@pytest.mark.parametrize("seed", [0, 1, 20_260_915, 10**8])
def test_its_suite_is_whole_with_every_seed(seed: int, tmp_path: Path) -> None:
    made = new.new_course(tmp_path / "course")
    assert collect(made, seed).criteria["rescale"]


def test_two_courses_ask_different_questions(tmp_path: Path) -> None:
    one, two = (new.new_course(tmp_path / name) for name in ("one", "two"))
    assert one.seed != two.seed


def test_an_empty_folder_is_filled_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    run("new", ".")
    assert tmp_path.stat().st_ino == before
    assert load_assignment(tmp_path, "first_steps").max_score == 3
    assert not list(tmp_path.glob(".gradeformer-*"))


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["full"], "full is not empty: give a new folder"),
        (["file"], "file is a file: give a new folder"),
        (["file/below"], "file/below cannot be written"),
        (["/proc/course"], "/proc/course cannot be written"),
        (["x" * 300], "cannot be written: File name too long"),
        ([""], "takes one folder"),
        (["one", "two"], "takes one folder"),
        (["one", "--component", "a"], "--component is for an assignment"),
        (["one", "--root", "full"], "--root says where --from finds"),
        (["assignment"], "the assignment's name is missing"),
        (["assignment", "a", "b"], "takes the name of one assignment"),
        (["assignment", "a", "--from", "b"], "--from begins a course"),
        (["assignment", "a", "--component", "b"], "no assignments/ and reference/"),
        (["one", "--from", "full"], "this is no assignment"),
        (["one", "--from", "transformer_block"], "give --from REPOSITORY/assignments/transformer"),
        (["one", "--from", ""], "this is no assignment"),
        (["one", "--from", "no/where"], "this is no assignment"),
    ],
)
def test_what_cannot_be_a_course_is_one_sentence_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("precious")
    (tmp_path / "file").write_text("precious")
    before = tree(tmp_path)
    assert words in said("new", *arguments)
    assert tree(tmp_path) == before


@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize(
    "target, step, at",
    [
        *((target, "write_bytes", 3) for target in ("new/course", "empty", "assignment")),
        *(("new/course", "rename", 1), ("empty", "rename", 3), ("assignment", "rename", 2)),
    ],
)
def test_a_failure_midway_leaves_nothing_behind(
    course: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    target: str,
    step: str,
    at: int,
) -> None:
    (course / "empty").mkdir()
    before, does, calls = tree(course), getattr(Path, step), []

    def fails(*arguments: object, **more: object) -> object:
        calls.append(arguments)
        if len(calls) == at:
            raise fault
        return does(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Path, step, fails)
        kind = UsageError if isinstance(fault, OSError) else KeyboardInterrupt
        with pytest.raises(kind) as caught:
            if target == "assignment":
                new.new_assignment(course, "mine", ["one", "two"])
            else:
                new.new_course(course / target)
    if kind is UsageError:
        assert "cannot be written: No space left on device" in str(caught.value)
    assert tree(course) == before


def test_an_assignment_is_written_to_be_filled_in(course: Path) -> None:
    before = tree(course)
    words = run("new", "assignment", "week_two", "--component", "first", "--component", "second")
    found = load_assignment(course, "week_two")
    assert list(found.totals) == ["first", "second"]
    assert stubs.drifted(found) == []
    assert {name: text for name, text in tree(course).items() if name in before} == before
    for component in found.totals:
        for place in ("assignments/{}/tests/test_{}.py", "reference/{}/tests/test_{}.py"):
            assert place.format("week_two", component) in words
        assert f"reference/week_two/{component}.py" in words
        assert f"reference/week_two/misconceptions/{component}.diff" in words
    for file in ("assignment.toml", "README.md"):
        assert f"assignments/week_two/{file}" in words


def test_the_name_is_the_title_as_it_is_given(course: Path) -> None:
    assert new.new_assignment(course, "GPU_lab", ["one"]).title == "GPU_lab"


@pytest.mark.release
def test_what_is_not_filled_in_is_neither_released_nor_proven(course: Path, tmp_path: Path) -> None:
    run("new", "assignment", "week_two", "--component", "first")
    for command in (["release", "week_two", "--out", tmp_path / "out"], ["selftest", "week_two"]):
        assert "week_two is not filled in: reference/week_two/first.py, line 1, and" in said(
            *command
        )
    assert not (tmp_path / "out").exists()
    # It is whole all the same: an author may fill it in piece by piece.
    found = load_assignment(course, "week_two")
    checked = run("check", "week_two")
    assert "places still say REPLACE(author)" in checked
    assert "week_two holds" in checked
    assert len(collect(found).criteria["first"]) == 2
    for path, _ in list(stubs.unfilled(found)):
        path.write_text(path.read_text().replace(stubs.MARK, "Done"))
    stubs.must_be_filled_in(found)
    stubs.write(found)
    run("release", "week_two", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "first.py").is_file()


@pytest.mark.parametrize(
    "name, components, words",
    [
        ("first_steps", ["a"], "exists: choose another name"),
        ("First_Steps", ["a"], "exists: choose another name"),
        ("../up", ["a"], "cannot be called '../up'"),
        ("2nd", ["a"], "cannot be called '2nd'"),
        ("a b", ["a"], "cannot be called 'a b'"),
        ("été", ["a"], "cannot be called 'été'"),
        ("", ["a"], "takes the name of one assignment"),
        ("mine", [], "has no component"),
        ("mine", ["a", "a"], "--component a: the name is given twice"),
        ("mine", ["a", "A"], "the name is given twice"),
        ("mine", ["a b"], "cannot be the name of a Python module"),
        ("mine", ["a/b"], "cannot be the name of a Python module"),
        ("mine", ["class"], "cannot be the name of a Python module"),
        ("mine", ["__init__"], "cannot be the name of a Python module"),
        ("mine", ["ﬁt"], "cannot be the name of a Python module"),
        ("mine", [""], "cannot be the name of a Python module"),
        ("mine", ["a", "json"], "is the name of another module"),
        ("mine", ["torch"], "is the name of another module"),
        ("mine", ["test_a"], "pytest takes for tests"),
        ("mine", ["x" * 300], "cannot be written: File name too long"),
    ],
)
def test_a_name_that_cannot_be_is_one_sentence_and_nothing_is_written(
    course: Path, name: str, components: Sequence[str], words: str
) -> None:
    before = tree(course)
    options = [part for component in components for part in ("--component", component)]
    assert words in said("new", "assignment", name, *options)
    assert tree(course) == before


@given(name=st.text(min_size=1, max_size=12) | st.from_regex(r"[a-z_]\w{0,8}", fullmatch=True))
@settings(max_examples=40)
def test_whatever_a_component_is_called_it_loads_or_is_refused(name: str, tmp_path_factory) -> None:
    course = tmp_path_factory.mktemp("names")
    for part in ("assignments", "reference"):
        (course / part).mkdir()
    try:
        made = new.new_assignment(course, "mine", [name])
    except UsageError:
        assert set(tree(course)) == {"assignments", "reference"}
    else:
        assert list(made.totals) == [name]
        compile((made.secret / f"{name}.py").read_bytes(), name, "exec")


def test_a_course_begins_with_an_assignment_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write_tiny(tmp_path / "project")
    (project / "reference" / "norm" / "__pycache__").mkdir()
    (project / "reference" / "norm" / "__pycache__" / "x.pyc").write_bytes(b"old")
    monkeypatch.chdir(tmp_path)
    sources: list[tuple[str, ...]] = [
        ("--from", "norm", "--root", "project"),
        *(("--from", f"project{more}") for more in ("", "/", "/assignments/norm")),
        ("--from", str(project / "reference" / "norm")),
    ]
    shutil.rmtree(tmp_path / "other", ignore_errors=True)
    for number, source in enumerate(sources):
        run("new", f"c{number}", *source)
        course = tmp_path / f"c{number}"
        for part in ("assignments", "reference"):
            copied, origin = tree(course / part), tree(project / part)
            assert copied == {k: v for k, v in origin.items() if "__pycache__" not in k}
        assert "autograder selftest norm" in (course / "README.md").read_text()
    monkeypatch.setenv("GRADEFORMER_ROOT", str(project))
    run("new", "named", "--from", "norm")
    inside = project / "reference" / "norm" / "course"
    assert "give a folder elsewhere" in said("new", inside, "--from", "norm")
    assert not inside.exists()
    shutil.rmtree(project / "reference" / "norm")
    assert "norm has no solutions" in said("new", "none", "--from", "norm")


def test_of_several_assignments_one_is_to_be_named(course: Path, tmp_path: Path) -> None:
    run("new", "assignment", "week_two", "--component", "first")
    words = said("new", tmp_path / "again", "--from", course)
    assert "it holds first_steps, week_two: give" in words


def test_a_course_can_begin_with_ours(tmp_path: Path) -> None:
    place = ROOT / "assignments" / "transformer_block"
    run("new", tmp_path / "course", "--from", place)
    found = load_assignment(tmp_path / "course", "transformer_block")
    assert found.max_score == 100
    assert stubs.drifted(found) == []
