"""Stubs come from the solutions and give nothing of them away."""

import ast
import re
from pathlib import Path

import pytest

from autograder.assignment import Assignment
from autograder.authoring import stubs
from autograder.errors import UsageError


def _stubs(assignment: Assignment) -> dict[str, str]:
    found = [stubs.stub_of(assignment, name) for name in assignment.totals]
    return {file: text for stub in found for file, text in stub.items()}


def test_the_stubs_in_assignments_are_what_the_solutions_give(assignment: Assignment) -> None:
    assert stubs.drifted(assignment) == []


def test_a_stub_keeps_signatures_and_docstrings(assignment: Assignment) -> None:
    for name, text in _stubs(assignment).items():
        stub = ast.parse(text)
        solution = ast.parse((assignment.secret / name).read_text())
        for left, right in zip(_definitions(stub), _definitions(solution), strict=True):
            assert ast.get_docstring(left) == ast.get_docstring(right)
            assert getattr(left, "args", None) is None or (
                ast.dump(left.args) == ast.dump(right.args)
            )


def _definitions(tree: ast.AST) -> list:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def test_no_line_of_a_region_is_left(assignment: Assignment) -> None:
    for name, text in _stubs(assignment).items():
        inside = False
        for line in (assignment.secret / name).read_text().splitlines():
            if line.strip() == "### BEGIN SOLUTION":
                inside = True
            elif line.strip() == "### END SOLUTION":
                inside = False
            elif inside and line.strip():
                assert line not in text.splitlines(), f"{name} gives away {line!r}"


def test_every_function_of_a_stub_is_unwritten(assignment: Assignment) -> None:
    for text in _stubs(assignment).values():
        functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef)]
        assert functions
        for function in functions:
            last = function.body[-1]
            assert isinstance(last, ast.Raise), f"{function.name} does something"


@pytest.mark.parametrize(
    "text",
    ["x = 1\n", "### BEGIN SOLUTION\nx = 1\n", "### END SOLUTION\n"],
)
def test_unpaired_markers_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"a\.py"):
        stubs.make_stub(text, "a.py")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"x = '\xe9'\n", r"layer_norm\.py is not written in UTF-8"),
        (b"x = 1\ndef f(:\n", r"layer_norm\.py, line 2: invalid syntax"),
    ],
)
@pytest.mark.parametrize("command", ["stubs", "release", "solutions"])
def test_a_solution_that_cannot_be_read_is_one_sentence(
    autograder, small_project: Path, tmp_path: Path, command: str, source: bytes, said: str
) -> None:
    (small_project / "reference" / "norm" / "layer_norm.py").write_bytes(source)
    more = [] if command == "stubs" else ["--out", tmp_path / "out"]
    done = autograder(command, "norm", "--root", small_project, *more)
    assert done.returncode == 2
    assert re.search(said, done.stderr), done.stderr
    assert not (tmp_path / "out").exists()
