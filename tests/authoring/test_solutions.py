"""Model answers are the solutions as an author would publish them, and for nobody else before."""

import ast
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["transformer_block", "language_model"])
def test_they_are_the_solutions_without_what_only_authors_need(
    name: str, autograder, tmp_path: Path
) -> None:
    done = autograder("solutions", name, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assignment = load_assignment(ROOT, name)
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {f"{component}.py" for component in assignment.totals} | {"answers.md"}
    for component in assignment.totals:
        text = (tmp_path / "out" / f"{component}.py").read_text(encoding="utf-8")
        solution = (assignment.secret / f"{component}.py").read_text(encoding="utf-8")
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(solution))
        assert "SOLUTION" not in text
        assert "# equivalent" not in text
        # What explains a step stays.
        kept = [line for line in solution.splitlines() if "# (B, T, D)" in line]
        assert all(line in text for line in kept)
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_questions_come_with_what_a_good_answer_says(autograder, tmp_path: Path) -> None:
    autograder("solutions", "language_model", "--out", tmp_path / "out")
    answers = (tmp_path / "out" / "answers.md").read_text(encoding="utf-8")
    text = ROOT / "reference" / "language_model" / "workbook" / "text.md"
    _, *guides = text.read_text(encoding="utf-8").split("\n## a good answer says\n")
    assert guides
    for guide in guides:
        assert guide.split("\n# ")[0].strip() in answers


def test_without_a_workbook_there_are_no_questions(
    autograder, small_project: Path, tmp_path: Path
) -> None:
    done = autograder("solutions", "norm", "--out", tmp_path / "out", "--root", small_project)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["layer_norm.py"]


def test_nothing_is_written_over(autograder, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    done = autograder("solutions", "language_model", "--out", tmp_path)
    assert done.returncode == 2
    assert f"{tmp_path} is not empty: give --out a new folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_component_without_a_solution_is_named(
    autograder, small_project: Path, tmp_path: Path
) -> None:
    missing = small_project / "reference" / "norm" / "layer_norm.py"
    missing.unlink()
    done = autograder("solutions", "norm", "--out", tmp_path / "out", "--root", small_project)
    assert done.returncode == 2
    assert f"there is no solution {missing}" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_not_filled_in_is_not_published(
    autograder, small_project: Path, tmp_path: Path
) -> None:
    path = small_project / "reference" / "norm" / "layer_norm.py"
    path.write_text(f"{path.read_text()}# REPLACE(author): more\n")
    done = autograder("solutions", "norm", "--root", small_project, "--out", tmp_path / "out")
    assert done.returncode == 2 and "norm is not filled in" in done.stderr
    assert not (tmp_path / "out").exists()
