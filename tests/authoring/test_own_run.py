"""The student's own `pytest`: few lines, and what fails because of another component says so."""

import re
import shutil
from pathlib import Path

import pytest

from autograder.assignment import Assignment
from autograder.student.tally import condensed
from tests.authoring.test_release import run

TIERS_OF_WRONG = {
    "layer_norm": ("return deviation / torch.sqrt(variance + eps)", "return deviation / variance"),
    "positional_encoding": ("angles.sin(), angles.cos()", "angles.cos(), angles.tan()"),
    "attention": ("weights @ value, weights", "value @ weights, weights"),
    "multi_head_attention": ("self.out_proj(joined)", "joined.T"),
    "feed_forward": ("self.linear2(hidden)", "self.linear1(hidden)"),
    "transformer_block": ("        return x\n", "        return None\n"),
    "lm_head": ("hidden @ self", "hidden + self"),
}


@pytest.fixture(scope="module")
def right(assignment: Assignment, released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with everything written, and right."""
    folder = Path(shutil.copytree(released, tmp_path_factory.mktemp("own") / "release"))
    # With no causes to look for, only the checks ask.
    (folder / "tests" / "known_mistakes.json.gz").unlink()
    for name in assignment.totals:
        shutil.copy(assignment.secret / f"{name}.py", folder)
    return folder


@pytest.fixture
def folder(right: Path, tmp_path: Path) -> Path:
    """A copy of it, to be changed."""
    return Path(shutil.copytree(right, tmp_path / "release"))


def change(folder: Path, component: str, old: str, new: str) -> None:
    path = folder / f"{component}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_table_of_known_mistakes_is_read_only_where_something_fails(
    assignment: Assignment, folder: Path, released: Path
) -> None:
    table = folder / "tests" / "known_mistakes.json.gz"
    table.write_bytes(b"no table")
    assert run(folder, "tests/test_layer_norm.py").returncode == 0
    shutil.copy(released / "layer_norm.py", folder)
    assert "15 not attempted" in run(folder, "tests/test_layer_norm.py").stdout
    shutil.copy(released / "tests" / table.name, table)
    shutil.copy(assignment.secret / "layer_norm.py", folder)
    change(folder, "layer_norm", "deviation.square().mean(", "x.var(")
    assert "likely cause: " in run(folder, "tests/test_layer_norm.py").stdout


@pytest.mark.release
def test_what_fails_only_because_of_another_says_so_in_one_line(folder: Path) -> None:
    change(folder, "attention", " / math.sqrt(d_k)", "")
    done = run(folder, "tests/test_attention.py", "tests/test_multi_head_attention.py")
    shown = done.stdout
    assert done.returncode == 1
    assert "attention: 2 checks failed" in shown
    assert "multi_head_attention: " not in shown
    [line] = [one for one in shown.splitlines() if "only because of" in one]
    # As the grader counts it: an error costs its points once.
    assert re.match(
        r"multi_head_attention +11\.5 of 11\.5 public points .* only because of attention", line
    )
    # With a mistake of its own beside it, that one is told.
    change(folder, "multi_head_attention", "self.out_proj(joined), weights", "joined, weights")
    shown = run(folder, "tests/test_attention.py", "tests/test_multi_head_attention.py").stdout
    assert "multi_head_attention: " in shown
    assert "upstream" in shown


@pytest.mark.release
def test_what_builds_on_a_stub_is_checked_all_the_same(
    assignment: Assignment, folder: Path
) -> None:
    shutil.copy(assignment.public / "attention.py", folder)
    shown = run(folder, "tests/test_attention.py", "tests/test_multi_head_attention.py").stdout
    assert re.search(r"multi_head_attention +11\.5 of 11\.5 public points", shown)
    assert re.search(r"attention +not attempted", shown)


@pytest.mark.slow
def test_a_file_that_cannot_be_imported_is_named_by_what_builds_on_it(folder: Path) -> None:
    (folder / "attention.py").write_text("def broken(:\n")
    shown = run(folder, "tests/test_attention.py", "tests/test_multi_head_attention.py").stdout
    assert re.search(r"multi_head_attention +the file could .*; repair attention first", shown)


@pytest.mark.release
def test_a_wholly_wrong_submission_is_told_in_80_lines(
    assignment: Assignment, folder: Path
) -> None:
    for component, (old, new) in TIERS_OF_WRONG.items():
        change(folder, component, old, new)
    shown = run(folder).stdout.splitlines()
    assert len(shown) <= 80
    for component in assignment.totals:
        assert any(re.match(rf"{component}: \d+ checks? failed", line) for line in shown)
    # The summary ends the run, and says how to see more.
    heading = next(n for n, line in enumerate(shown) if "points on the public checks" in line)
    assert len(shown) - heading <= 12
    assert "pytest -v shows every failed check in full." in shown[-2]
    assert not any(line.startswith("FAILED") for line in shown)
    assert len(run(folder, "-v").stdout.splitlines()) > 200


COUNTING = """
import pathlib


def counted(function):
    def called(*args, **kwargs):
        with pathlib.Path(__file__).with_name("calls.txt").open("a") as calls:
            print("called", file=calls)
        return function(*args, **kwargs)

    return called


@counted
def layer_norm(x, eps=1e-5):
    raise NotImplementedError
"""


@pytest.mark.slow
def test_what_is_not_written_is_asked_once_by_every_check(folder: Path) -> None:
    (folder / "layer_norm.py").write_text(COUNTING)
    shown = run(folder, "tests/test_layer_norm.py").stdout
    assert "not attempted" in shown
    checks = (folder / "tests" / "test_layer_norm.py").read_text().count("def test_")
    assert len((folder / "calls.txt").read_text().splitlines()) <= checks


@pytest.mark.slow
def test_what_the_student_raises_is_told_in_its_own_words(folder: Path) -> None:
    change(folder, "feed_forward", "ValueError", "NotImplementedError")
    shown = run(folder, "-v", "tests/test_feed_forward.py").stdout
    assert (
        "it must raise ValueError, but raised NotImplementedError (feed_forward.py, line" in shown
    )
    assert "not attempted" not in shown
    assert "not written yet" not in shown


def test_condensed_lines_keep_within_their_share() -> None:
    checks = [[f"title {n}", "source: page 1", f"fact {n % 2}", *["more"] * 9] for n in range(30)]
    for count in (1, 3, 7):
        shown = condensed({f"part_{n}": checks for n in range(count)})
        assert len(shown) <= 60
        for n in range(count):
            assert f"part_{n}: 30 checks failed" in shown
            assert any(f"more: pytest -v tests/test_part_{n}.py" in line for line in shown)
    # Each check that says something of its own comes before those that say the same again.
    shown = condensed({"part": checks})
    assert [line for line in shown if line.startswith("- ")][:2] == ["- title 0", "- title 1"]
    assert condensed({}) == []
