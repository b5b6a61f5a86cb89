"""Submissions that take no work are made from any solution, can be imported, and are rows."""

import ast
import types
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.proof import report_on
from autograder.authoring.rows import Row, rows_of
from autograder.authoring.trivial import (
    ANSWERS,
    BUILT,
    RAISED,
    built_alone,
    of_zeros,
    submissions,
    without_work,
)
from autograder.results import ComponentResult, CriterionResult, SubmissionResult
from tests.conftest import ROOT
from tests.ordinary import COURSE

SOLUTION = '''
"""A solution."""

import torch
from torch import Tensor, nn

def pair(x: Tensor, *, scale: float = 1.0) -> tuple[Tensor, Tensor]:
    return x, x

def _private(x):
    return x

class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * self.weight

class Book:
    @classmethod
    def load(cls, path):
        return cls()

    @staticmethod
    def parse(text):
        return text

    def __len__(self):
        return 3

    def find(self, word):
        return 0
'''
X = torch.tensor([[1.0, 2.0]])


def imported(source: str) -> types.ModuleType:
    module = types.ModuleType("component")
    exec(compile(source, "component.py", "exec"), module.__dict__)
    return module


def test_it_has_the_names_of_the_solution_and_none_of_its_work() -> None:
    source = without_work(SOLUTION, ANSWERS["zeros"])
    module = imported(source)
    first, second = module.pair(X, scale=2.0)
    assert torch.equal(first, torch.zeros(1, 2))
    assert torch.equal(second, torch.zeros(1, 2))
    layer = module.Layer(2)
    assert list(layer.parameters()) == []
    assert torch.equal(layer(X), torch.zeros(1, 2))
    assert isinstance(module.Book.load("x"), module.Book)
    assert module.Book.parse(X).eq(0).all()
    assert module.Book().find(X).eq(0).all()
    assert not hasattr(module, "_private")
    for line in SOLUTION.splitlines():
        assert "return" not in line or line.strip() not in source.splitlines()


@pytest.mark.parametrize("kind", RAISED)
def test_one_always_raises(kind: str) -> None:
    module = imported(without_work(SOLUTION, f"throw({kind})"))
    with pytest.raises(BaseException, match="no work") as raised:
        module.pair(X)
    assert type(raised.value).__name__ == kind


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_can_be_given_whatever_is_asked(name: str) -> None:
    module = imported(without_work(SOLUTION, ANSWERS[name]))
    for given in (X, X[0], 3, "text", [1, 2], X.numpy(), torch.tensor(1.0)):
        module.pair(given)
        module.Book().find(given)


@pytest.mark.parametrize("name", sorted(set(ANSWERS) - {"shares"}))
def test_without_torch_the_same_answers_are_numpys(name: str) -> None:
    source = without_work(SOLUTION, ANSWERS[name], tensors=False)
    assert "import torch" not in source
    module = imported(source)
    for given in (X.numpy(), 3, "text", [1, 2], np.array(1.0)):
        module.pair(given)
    like_x = module.pair(X.numpy())[0]
    if name in ("zeros", "ones", "constant", "normal", "uniform"):
        assert like_x.shape == (1, 2)


def test_work_that_empties_what_it_is_given_is_tried_with_ordinary_tests() -> None:
    way = "empties what it is given and returns it"
    made = dict(submissions(load_assignment(COURSE, "functions"), few=True))
    module = imported(made[way]["grades.py"].decode())
    marks = [1, 2]
    assert module.average(marks) is marks == []
    assert way not in dict(submissions(load_assignment(ROOT, "transformer_block"), few=True))


@pytest.mark.parametrize(
    "root, name",
    [(ROOT, "transformer_block"), (ROOT / "tests" / "courses" / "basics", "basics")],
    ids=["transformer_block", "basics"],
)
def test_every_assignment_has_these_rows(root: Path, name: str) -> None:
    assignment = load_assignment(root, name)
    made = dict(submissions(assignment))
    assert len(made) == len(RAISED) + len(ANSWERS) + len(BUILT) + 1
    for way, files in made.items():
        if way.startswith("builds"):
            continue
        assert set(files) == {f"{component}.py" for component in assignment.totals}
        for spec in assignment.components:
            tree = ast.parse(files[f"{spec.name}.py"])
            roots = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
            assert roots.isdisjoint(spec.rules.modules), spec.name
    rows = [row for row in rows_of(assignment, 0) if row.kind == "trivial"]
    assert [row.files for row in rows] == list(made.values())


def test_modules_that_are_built_right_do_no_work() -> None:
    module = imported(built_alone(SOLUTION, ANSWERS["zeros"]))
    layer = module.Layer(2)
    assert torch.equal(layer.weight, torch.ones(2))
    assert torch.equal(layer(X), torch.zeros(1, 2))
    first, second = module.pair(X)
    assert (first.sum(), second.sum()) == (0, 0)


def test_answers_of_the_right_shapes_are_zeros() -> None:
    module = imported(of_zeros(SOLUTION))
    layer = module.Layer(2)
    assert torch.equal(layer.weight, torch.ones(2))
    assert torch.equal(layer(X), torch.zeros(1, 2))
    right = imported(SOLUTION).pair(X)
    for found, shaped in zip(module.pair(X), right, strict=True):
        assert found.shape == shaped.shape
        assert not found.any()


def test_a_row_that_passes_what_is_no_form_is_a_fault(assignment: Assignment) -> None:
    def graded(passed: bool) -> SubmissionResult:
        criterion = CriterionResult(
            id="layer_norm.values",
            title="values",
            score=float(passed),
            max_score=1.0,
            passed=passed,
            outcome="passed" if passed else "failed",
            visibility="public",
            source="page 1",
            passed_cases=int(passed),
        )
        component = ComponentResult(
            score=float(passed), max_score=1.0, status="graded", criteria=[criterion]
        )
        return SubmissionResult(
            submission="s",
            assignment="a",
            status="graded",
            score=component.score,
            max_score=1.0,
            components={"layer_norm": component},
            sandbox="none",
        )

    row = Row("returns zeros", "trivial", {})
    paid = report_on(assignment, [row], [graded(True)], "none", ["trivial"])
    assert len(paid.faults) == 1
    assert paid.faults[0].startswith("layer_norm.values is passed by work that returns zeros")
    assert report_on(assignment, [row], [graded(False)], "none", ["trivial"]).holds
