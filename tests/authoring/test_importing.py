"""`autograder import`: a notebook or a folder becomes an assignment, or nothing is written."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.authoring import stubs
from autograder.authoring.checking import check
from autograder.authoring.new import new_course
from autograder.judge.collection import collect
from tests.conftest import ROOT

SOURCES = ROOT / "tests" / "courses" / "imported"
# Of each source the outcome of its parts, and the points of its components.
EXPECTED = {
    "squares.ipynb": ({"carried": 5, "to do": 1, "dropped": 1}, {"imported": 4.5}),
    "arrays.ipynb": ({"carried": 3, "to do": 2, "dropped": 1}, {"imported": 2}),
    "tables": ({"carried": 3, "to do": 1, "dropped": 1}, {"imported": 3}),
    "rectangles": ({"carried": 7, "to do": 3}, {"rectangle": 5, "words": 2}),
    "layers": ({"carried": 2, "to do": 3}, {"layers": 2}),
}


@pytest.fixture
def course(tmp_path: Path) -> Path:
    new_course(tmp_path / "course")
    return tmp_path / "course"


@pytest.mark.parametrize("source", EXPECTED)
def test_a_source_becomes_an_assignment_and_a_table(autograder, course: Path, source: str) -> None:
    done = autograder("import", SOURCES / source, "--name", "imported", "--root", course)
    assert done.returncode == 0, done.stderr
    outcomes = [line[:9].strip() for line in done.stdout.splitlines()[:-1]]
    counts, points = EXPECTED[source]
    assert {outcome: outcomes.count(outcome) for outcome in set(outcomes)} == counts
    assert done.stdout.endswith("Next: autograder check imported\n")
    assignment = load_assignment(course, "imported")
    assert assignment.totals == points
    assert stubs.drifted(assignment) == []
    for name in points:
        assert "raise NotImplementedError" in (assignment.public / f"{name}.py").read_text()
    left = (assignment.secret / "tests" / f"test_{list(points)[-1]}.py").read_text()
    assert left.count("# REPLACE(author): ") == counts["to do"] - (source == "arrays.ipynb")


@pytest.mark.parametrize("source", EXPECTED)
@pytest.mark.release
def test_solutions_keep_every_point_of_what_was_carried(
    autograder, course: Path, source: str
) -> None:
    assert autograder("import", SOURCES / source, "--name", "imported", "--root", course)
    found = check(load_assignment(course, "imported"), "", "none")
    assert found.lost == {}
    assert found.elsewhere == {}
    for name, result in found.solution.items():
        assert result.score == result.max_score
        assert found.stub[name].status == "not_attempted"


def test_what_is_asked_of_a_notebook_is_asked_of_the_component(autograder, course: Path) -> None:
    assert autograder("import", SOURCES / "squares.ipynb", "--name", "imported", "--root", course)
    assignment = load_assignment(course, "imported")
    public = (assignment.public / "tests" / "test_imported.py").read_text()
    hidden = (assignment.secret / "tests" / "test_imported.py").read_text()
    assert "expect.same(component.call('squares', 2).value, [1, 4])" in public
    assert "form=True" in public
    assert "expect.raises(component.call('squares', 0), 'ValueError')" in public
    assert "component.call('squares', 10)" in hidden
    assert "[1, 4, 9, 16, 25" not in public
    workbook = (assignment.secret / "workbook" / "text.md").read_text()
    assert "# question cubic, 3 points" in workbook
    # The answer to a question is in no file of the student's.
    for path in assignment.public.rglob("*"):
        assert not path.is_file() or "n(n+1)(2n+1)/6" not in path.read_text()


def test_an_answer_in_a_variable_stays_with_the_author(autograder, course: Path) -> None:
    assert autograder("import", SOURCES / "arrays.ipynb", "--name", "imported", "--root", course)
    public = load_assignment(course, "imported").public
    for path in public.rglob("*"):
        assert not path.is_file() or "how_many" not in path.read_text()


def test_the_seed_of_a_course_changes_no_question(autograder, course: Path) -> None:
    assert autograder("import", SOURCES / "layers", "--name", "imported", "--root", course)
    assert len(collect(load_assignment(course, "imported"), 3).criteria["layers"]) == 2


# The body of a test, and what it becomes, or why it stays with the author.
BODIES = [
    ("assert f(2) == 4", "expect.same(component.call('f', 2).value, 4)"),
    ("assert 4 == f(2)", "expect.same(component.call('f', 2).value, 4)"),
    ("y = f(2)\nassert y == 4", "expect.same(y.value, 4)"),
    ("assert f(f(2)) == 4", "component.call('f', component.call('f', 2).value)"),
    ("assert ratio(2) == 1", "expect.same(component.call('ratio', 2).value, float(1))"),
    ("assert f(2) == approx(0.1 + 0.2)", "expect.same(component.call('f', 2).number, float"),
    ("assert abs(f(2) - 0.3) < 1e-9", "expect.same(component.call('f', 2).number, float(0.3))"),
    (
        "assert f(2) == approx(4, rel=1e-3)",
        "call('f', 2).number, float(4), scale=80",
    ),
    (
        "assert abs(f(2) - 0) < 0.01",
        "call('f', 2).number, float(0), scale=1000",
    ),
    (
        "assertAlmostEqual(f(2), 0, 2)",
        "call('f', 2).number, float(0), scale=500",
    ),
    ("assert np.allclose(f(2), [0, 0], 0, 1e-2)", "torch.as_tensor([0, 0]), scale=1000)"),
    (
        "torch.testing.assert_close(f(2), x, rtol=1e-2, atol=1e-2)",
        "call('f', 2).output, x, scale=",
    ),
    ("assert f(2) == approx(4, abs=1e-9)", "expect.same(component.call('f', 2).number, float(4))"),
    ("assert torch.allclose(f(2), x, atol=1e-2)", "it allows 0.01 whatever the values are"),
    ("assert f(2) == approx(4, rel=x)", "its tolerance `x` is not written as a number"),
    ("assert f(1) == 1 and f(2) == 2", "expect.same(component.call('f', 2).value, 2)"),
    (
        "assert np.allclose(f(2), [1, 2])",
        "expect.close(torch.as_tensor(component.call('f', 2).array",
    ),
    ("torch.testing.assert_close(f(2), x)", "expect.close(component.call('f', 2).output, x)"),
    ("assert torch.equal(f(2), x)", "expect.equal(component.call('f', 2).output, x)"),
    ("a = torch.randn(2)\nb = torch.randn(2)\nassert f(a) == b", "b = make.normal(2, seed=2)"),
    ("with raises(KeyError):\n    f(1)", "expect.raises(component.call('f', 1), 'KeyError')"),
    ("for n in (1, 2):\n    assert f(n) == n", "expect.same(component.call('f', n).value, n)"),
    ("c = C(1)\nc.add(2)\nassert c.n == 3", "expect.same(c.get('n').value, 3)"),
    ("assert C(1)(2) == 3", "expect.same(component.make('C', 1)(2).value, 3)"),
    ("assert f(1) + 1 == 2", "neither side of the comparison is a call of the component"),
    ("assert f(1) == 1 and len(f(2)) == 2", "neither side of the comparison is a call"),
    ("assert g(1) == f(2) + 1", "neither side of the comparison is a call of the component"),
    ("c = C(1)\nc.n = 5\nassert c.n == 5", "it computes with `c`, which the component returned"),
    ("assert f(unknown) == 1", "`unknown` is defined nowhere that a suite can read"),
    ("assert LIMIT == 3", "neither side of the comparison is a call of the component"),
    ("assert f(np.random.rand(3)) == 1", "it draws random numbers"),
    ("f = f(2)\nassert f == 4", "it binds the name `f`, which means something else"),
    ("assert f(os.sep) == 1", "it imports `os`, which a suite cannot"),
    ("pass", "it has no assert"),
]
CODE = """\
LIMIT = 3


def f(x):
    return x


def ratio(x) -> float:
    return x


class C:
    def __init__(self, n):
        self.n = n
"""
USING = """\
import os

import numpy as np
import torch
from pytest import approx, raises
from code_of_mine import LIMIT, C, f, ratio

x = torch.ones(2)


def test_it():
"""


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_a_test_is_rewritten_or_stays_with_its_reason(
    autograder, course: Path, tmp_path: Path, body: str, expected: str
) -> None:
    folder = tmp_path / "mine"
    (folder / "solutions").mkdir(parents=True)
    (folder / "solutions" / "code_of_mine.py").write_text(CODE)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (folder / "test_it.py").write_text(USING + lines)
    done = autograder("import", folder, "--name", "imported", "--root", course)
    assert done.returncode == 0, done.stderr
    assignment = load_assignment(course, "imported")
    suites = [
        (folder / "tests" / "test_code_of_mine.py").read_text()
        for folder in (assignment.public, assignment.secret)
    ]
    carried = expected.startswith(("expect.", "component.", "b =", "torch.", "call("))
    assert expected in (suites[0] if carried else done.stdout)
    assert ("def test_it(component, expect" in suites[0]) is carried
    assert ("REPLACE(author): test it" in suites[1]) is not carried


def notebook(path: Path, *cells: tuple[str, dict[str, object]]) -> Path:
    made = [
        {"cell_type": "code", "source": text, "metadata": about, "outputs": []}
        | {"execution_count": None}
        for text, about in cells
    ]
    whole = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    path.write_text(json.dumps(whole))
    return path


SOLVED = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n"
ODD = {
    "missing": "is not a file or folder that can be read",
    "binary": "is not written in UTF-8",
    "text": "is not a notebook",
    "deep": "is not a notebook",
    "empty": "holds no solution",
    "julia": "is written in julia, not in Python",
    "no_end": "a solution has no END SOLUTION",
    "no_python": "holds code that is not valid Python",
    "points": "are no points",
    "nested": "is nested too deeply to be read",
    "no_solutions": "holds no solutions",
    "twice": "holds two solutions of f",
    "circle": "import one another in a circle",
    "name": "'json' is the name of another module",
}


def odd_source(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.ipynb"
    own = {"nbgrader": {"solution": True, "grade": False, "grade_id": "f"}}
    graded = {"nbgrader": {"solution": False, "grade": True, "grade_id": "t", "points": "NaN"}}
    match kind:
        case "binary":
            path.write_bytes(b"\xff\xfe\x00")
        case "text":
            path.write_text("def f(): pass")
        case "deep":
            path.write_text("[" * 100_000)
        case "empty":
            notebook(path)
        case "julia":
            notebook(path, (SOLVED, own))
            whole = json.loads(path.read_text())
            whole["metadata"] = {"kernelspec": {"language": "julia", "name": "j"}}
            path.write_text(json.dumps(whole))
        case "no_end":
            notebook(path, (SOLVED, own))
        case "no_python":
            notebook(path, ("def f(:", own))
        case "points":
            notebook(path, ("assert f(1) == 1", graded))
        case "nested":
            notebook(path, (f"def f(x):\n    return {'+'.join('x' * 50_000)}", own))
        case "missing":
            pass
        case _:
            path = folder / kind
            (path / "solutions" / "more").mkdir(parents=True)
            files = {
                "no_solutions": {"f.py": "def f(): pass\n"},
                "twice": {"solutions/f.py": "x = 1\n", "solutions/more/f.py": "x = 1\n"},
                "circle": {"solutions/a.py": "import b\n", "solutions/b.py": "import a\n"},
                "name": {"solutions/json.py": "def f():\n    return 1\n"},
            }[kind]
            for name, text in files.items():
                (path / name).write_text(text)
    return path


@pytest.mark.parametrize("kind", ODD)
def test_odd_input_is_one_sentence_and_nothing_is_written(
    autograder, course: Path, tmp_path: Path, kind: str
) -> None:
    before = sorted(course.rglob("*"))
    path = odd_source(tmp_path, kind)
    done = autograder("import", path, "--name", "imported", "--root", course)
    assert done.returncode == 2
    assert ODD[kind] in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert sorted(course.rglob("*")) == before


def test_a_source_without_a_heading_has_its_name_for_a_title(autograder, course: Path) -> None:
    source = notebook(course.parent / "source.ipynb", (f"{SOLVED}    ### END SOLUTION\n", {}))
    done = autograder("import", source, "--name", "GPU_lab", "--root", course)
    assert done.returncode == 0, done.stderr
    assert load_assignment(course, "GPU_lab").title == "GPU_lab"


def test_a_name_that_is_taken_is_refused(autograder, course: Path) -> None:
    before = shutil.copytree(course, course.parent / "before")
    done = autograder("import", SOURCES / "layers", "--name", "first_steps", "--root", course)
    assert done.returncode == 2
    assert "choose another name" in done.stderr
    assert [p.name for p in sorted(before.rglob("*"))] == [
        p.name for p in sorted(course.rglob("*"))
    ]
