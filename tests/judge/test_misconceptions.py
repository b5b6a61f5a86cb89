"""Misconceptions: how they are read, and what a component answers with them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.api.messages import Request
from autograder.api.operations import Reset
from autograder.assignment import Assignment
from autograder.diagnosis.fits import examples_of
from autograder.diagnosis.table import RIGHT, Known
from autograder.errors import UsageError
from autograder.judge.misconceptions import (
    Misconception,
    read,
    together,
)
from autograder.judge.variants import Variants
from tests.asking import asks

SOLUTION = """\
import torch


def double(x):
    return 2 * x
"""
PATCHES = """\
@@ tripled core class: page 1
you multiplied by three
-    return 2 * x
+    return 3 * x
@@ noisy
you added
noise
-def double(x):
+def double(x):
+    x = x + torch.rand(())
@@ squared: page 3
you squared
-    return 2 * x
+    return x * x
@@ tripled.negative: page 1
of negative numbers, you multiplied by three
-    return 2 * x
+    return 3 * x if x.max() < 0 else 2 * x
"""
X = torch.tensor([1.0, 2.0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path, patches: str = PATCHES, solution: str = SOLUTION) -> Path:
    """Write a solution and patches of it; return the folder."""
    (folder / "misconceptions").mkdir(exist_ok=True)
    (folder / "double.py").write_text(solution)
    (folder / "misconceptions" / "double.diff").write_text(patches)
    return folder


def of(folder: Path) -> Any:
    """An assignment, as far as misconceptions need one."""
    return SimpleNamespace(secret=folder)


def variants_in(folder: Path, **options: Any) -> Variants:
    return Variants(folder, "double", read(of(folder), "double"), **options)


def known(folder: Path, *names: str) -> Known:
    """Return what mistakes answer to the example, with what each answers by itself at hand."""
    variants = variants_in(folder)
    question = variants.question(example())
    variants.complete(question)
    return variants.known(frozenset(names), question)


def test_misconceptions_are_read_with_their_words_and_their_source(folder: Path) -> None:
    assert read(of(folder), "double") == {
        "tripled": Misconception(
            "double", "tripled", "you multiplied by three", "page 1", severity="core", met=True
        ),
        "noisy": Misconception("double", "noisy", "you added noise", "handout"),
        "squared": Misconception("double", "squared", "you squared", "page 3"),
        "tripled.negative": Misconception(
            "double", "tripled.negative", "of negative numbers, you multiplied by three", "page 1"
        ),
    }
    found = read(of(folder), "double")["tripled"]
    assert (found.id, found.words) == ("double.tripled", "you multiplied by three (page 1)")
    assert (found.right, found.in_branch) == (SOLUTION, False)
    assert found.wrong == SOLUTION.replace("2 * x", "3 * x")
    assert read(of(folder), "other") == {}


def test_one_in_a_branch_has_the_id_of_the_mistake(folder: Path) -> None:
    found = read(of(folder), "double")["tripled.negative"]
    assert (found.id, found.in_branch) == ("double.tripled", True)


def test_a_file_of_the_earlier_form_says_what_to_do(folder: Path) -> None:
    path = folder / "misconceptions" / "double.py"
    path.write_text("raise SystemExit\n")
    with pytest.raises(UsageError) as refused:
        read(of(folder), "double")
    assert str(refused.value) == (
        f"{path}: misconceptions are patches now; write each mistake into "
        f"{path.with_suffix('.diff')} as the lines that it changes (docs/authoring.md, "
        "Misconceptions), and delete this file"
    )


def test_two_are_in_one_component_where_they_do_not_touch(folder: Path) -> None:
    known = read(of(folder), "double")
    both = together([known["tripled"], known["noisy"]])
    noisy = SOLUTION.replace("(x):", "(x):\n    x = x + torch.rand(())")
    assert both == noisy.replace("2 * x", "3 * x")
    assert together([known["tripled"], known["squared"]]) is None
    assert together([known["noisy"]]) == known["noisy"].wrong


def test_two_of_different_components_are_never_together(folder: Path) -> None:
    base = folder / "misconceptions" / "double"
    base.mkdir()
    (base / "short.py").write_text("double = lambda x: 2 * x\n")
    more = "@@ halved in short\nyou halved\n-double = lambda x: 2 * x\n+double = lambda x: x / 2\n"
    known = read(of(written(folder, PATCHES + more)), "double")
    assert together([known["halved"], known["noisy"]]) is None
    variants = Variants(folder, "double", known)
    assert variants.answer(frozenset(["halved"]), example())[0].value.tolist() == [0.5, 1.0]


def test_the_misconceptions_of_the_assignment_have_words_of_their_own(
    assignment: Assignment,
) -> None:
    for name in assignment.totals:
        found = read(assignment, name)
        assert len({m.explanation for m in found.values()}) == len(found)


def example(seed: int = 0) -> list[Request]:
    return [Request([Reset(), asks("double", X, seed=seed)])]


def test_a_variant_answers_with_its_mistakes_and_no_others(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    assert variants.answer(RIGHT, question)[0].value.tolist() == [2.0, 4.0]
    assert variants.answer(frozenset(["tripled"]), question)[0].value.tolist() == [3.0, 6.0]
    assert variants.perform(RIGHT, question[0]).value.tolist() == [2.0, 4.0]


def test_a_question_holds_what_is_answered_otherwise_than_right(folder: Path) -> None:
    variants = variants_in(folder)
    question = variants.question(example())
    variants.complete(question)
    assert {name: found.shows for name, found in question.wrong.items()} == {
        "tripled": True,
        "noisy": True,
        "squared": True,
    }
    nothing = variants.question([Request([Reset(), asks("double", 0 * X)])])
    variants.complete(nothing)
    assert set(nothing.wrong) == {"noisy"}
    assert variants.known(frozenset(["tripled"]), nothing) is nothing.right


def test_answers_to_a_question_that_are_equal_are_one(folder: Path) -> None:
    variants = variants_in(written(folder, PATCHES.replace("return x * x", "return x + 2 * x")))
    question = variants.question(example())
    variants.complete(question)
    assert question.wrong["tripled"] is question.wrong["squared"]


ENDLESS = """\
@@ endless
it has no end
     COUNT.append(1)
+    while len(COUNT) < 10**6:
+        COUNT.append(1)
"""


def endless(tmp_path: Path) -> Variants:
    lines = ["COUNT = []", "def double(x):", "    COUNT.append(1)", "    return 2 * x", ""]
    written(tmp_path, ENDLESS, "\n".join(lines))
    return variants_in(tmp_path, longest_s=1e-2)


def test_a_mistake_without_an_end_is_ended(tmp_path: Path) -> None:
    variants = endless(tmp_path)
    error = variants.answer(frozenset(["endless"]), example())[0].error
    assert error is not None
    assert error.kind == "TimeoutError"
    assert "did not end" in error.text
    assert variants.answer(RIGHT, example())[0].value.tolist() == [2.0, 4.0]


def test_what_hangs_on_random_draws_is_told_by_other_seeds(folder: Path) -> None:
    assert not known(folder).drawn
    assert not known(folder, "tripled").drawn
    assert known(folder, "noisy").drawn
    assert known(folder, "noisy", "tripled").drawn


def test_other_seeds_are_all_that_changes() -> None:
    request = Request([Reset(3), asks("Net", into=1, module=True), asks("f", X, seed=5), asks("g")])
    assert request.reseeded().ops == [
        Reset(4),
        asks("Net", into=1, module=True),
        asks("f", X, seed=6),
        asks("g"),
    ]
    assert request.ops[0] == Reset(3)


def test_requests_are_parted_into_examples_at_every_reset() -> None:
    reset, other = Request([Reset(), asks("f")]), Request([asks("f")])
    assert examples_of([]) == []
    assert examples_of([reset, other, reset, reset, other]) == [[0, 1], [2], [3, 4]]
    # What begins without one is an example of its own.
    assert examples_of([other, reset]) == [[0], [1]]
