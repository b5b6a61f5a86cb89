"""Misconceptions: how they are read, and what a component answers with them."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.api.messages import Request
from autograder.api.operations import Build, Call, Reset
from autograder.assignment import Assignment
from autograder.diagnosis.search import RIGHT, examples_of
from autograder.errors import UsageError
from autograder.judge.cache import AnswerStore, Cache
from autograder.judge.misconceptions import (
    Misconception,
    read,
    together,
)
from autograder.judge.session import Planned
from autograder.judge.variants import Variants
from autograder.sandbox.wire import encode_request

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


def know(variants: Variants, question: Sequence[Request], work: int = 0) -> None:
    answers = variants.answer(RIGHT, question)
    pairs = zip(question, answers, strict=True)
    variants.know([Planned(encode_request(one, 0), one, r, {}, work) for one, r in pairs])


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
    return [Request([Reset(), Call("double", args=(X,), seed=seed)])]


def test_a_variant_answers_with_its_mistakes_and_no_others(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    assert variants.answer(RIGHT, question)[0].value.tolist() == [2.0, 4.0]
    assert variants.answer(frozenset(["tripled"]), question)[0].value.tolist() == [3.0, 6.0]
    assert variants.perform(RIGHT, question[0]).value.tolist() == [2.0, 4.0]


def test_what_is_asked_on_with_the_students_answer_is_another_example(folder: Path) -> None:
    """What mistakes answer to it was once kept, and taken for the answer to the suite's own."""
    variants = variants_in(folder)
    first, second = example()[0], Request([Call("double", args=(X + 1,))])
    known = [first, second]
    know(variants, known)
    others = [first, Request([Call("double", args=(X + 5,))])]
    names = frozenset(["tripled"])
    assert variants.answer(names, others)[1].value.tolist() == (3 * (X + 5)).tolist()
    assert variants.answer(RIGHT, others)[1].value.tolist() == (2 * (X + 5)).tolist()
    assert variants.answer(names, known)[1].value.tolist() == (3 * (X + 1)).tolist()
    assert variants.answer(names, known[:1])[0].value.tolist() == (3 * X).tolist()
    assert variants.knows(known[:1])
    assert not variants.knows(others)


def test_an_example_is_answered_once(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    first = variants.answer(frozenset(["noisy"]), question)
    assert variants.answer(frozenset(["noisy"]), question) == first
    assert variants.computed == 1
    know(variants, question)
    variants.answer(RIGHT, question)
    assert variants.computed == 2


def test_of_several_mistakes_a_long_example_counts_as_many(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    know(variants, question, work=5000)
    before = variants.computed
    variants.answer(frozenset(["noisy"]), question)
    assert variants.computed == before + 1
    variants.answer(frozenset(["noisy", "tripled"]), question)
    assert variants.computed == before + 1 + 10


def test_to_know_which_mistakes_show_counts_for_nothing(folder: Path, tmp_path: Path) -> None:
    """Or what a diagnosis may cost would hang on what is kept."""
    question = [Request([Reset(), Call("double", args=(X,), seed=0)])]
    variants = variants_in(folder, store=Cache(tmp_path).answers("a"))
    know(variants, question)
    variants.begin()
    assert variants.showing(question) == {"tripled", "noisy", "squared"}
    assert variants.computed == 0
    variants.answer(frozenset(["tripled"]), question)
    assert variants.computed == 1


def test_answers_to_a_known_example_that_are_equal_are_one(folder: Path) -> None:
    variants = variants_in(folder)
    question = [Request([Reset(), Call("double", args=(0 * X,), seed=0)])]
    know(variants, question)
    tripled, noisy, squared = (
        variants.answer(frozenset([name]), question) for name in ("tripled", "noisy", "squared")
    )
    assert tripled[0].value.tolist() == [0.0, 0.0]
    assert tripled is squared
    assert noisy is not tripled


def test_what_a_diagnosis_may_cost_is_counted_anew_and_whatever_is_there(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    know(variants, question)
    counted = []
    for _ in range(2):
        variants.begin()
        variants.answer(RIGHT, question)
        variants.answer(frozenset(["noisy"]), question)
        variants.drawn(frozenset(["noisy"]), question)
        variants.drawn(frozenset(["noisy"]), question)
        counted.append(variants.computed)
    assert counted == [2, 2]


def test_an_answer_is_kept_under_what_was_asked_and_not_where_it_stood(
    folder: Path, tmp_path: Path
) -> None:
    tripled = frozenset(["tripled"])
    (tmp_path / "kept").mkdir(mode=0o700)
    questions = [[Request([Reset(), Call("double", args=(n * X,))])] for n in (1, 10)]
    for asked in (questions, questions[::-1]):
        store = Cache(tmp_path / "kept").answers("same key")
        variants = variants_in(folder, store=store)
        for question in asked:
            know(variants, question)
        found = [variants.answer(tripled, question)[0].value.tolist() for question in questions]
        assert found == [[3.0, 6.0], [30.0, 60.0]]
        store.flush()
        store.close()


ENDLESS = """\
@@ endless
it has no end
     COUNT.append(1)
+    while len(COUNT) < 10**6:
+        COUNT.append(1)
"""


def endless(tmp_path: Path, store: AnswerStore | None = None, longest_s: float = 0.1) -> Variants:
    lines = ["COUNT = []", "def double(x):", "    COUNT.append(1)", "    return 2 * x", ""]
    written(tmp_path, ENDLESS, "\n".join(lines))
    return variants_in(tmp_path, store=store, longest_s=longest_s)


def test_what_was_stopped_is_not_kept(tmp_path: Path) -> None:
    wrong = frozenset(["endless"])
    (tmp_path / "kept").mkdir(mode=0o700)
    kinds = []
    for longest_s in (1e-2, 60.0):
        store = Cache(tmp_path / "kept").answers("same key")
        variants = endless(tmp_path, store, longest_s)
        question = example()
        know(variants, question)
        error = variants.answer(wrong, question)[0].error
        kinds.append(None if error is None else error.kind)
        store.flush()
        store.close()
    # A faster machine is not told what a slower one ran into.
    assert kinds == ["TimeoutError", None]


def test_a_mistake_without_an_end_is_ended(tmp_path: Path) -> None:
    variants = endless(tmp_path, longest_s=1e-2)
    error = variants.answer(frozenset(["endless"]), example())[0].error
    assert error is not None
    assert error.kind == "TimeoutError"
    assert "did not end" in error.text
    assert variants.answer(RIGHT, example())[0].value.tolist() == [2.0, 4.0]


def test_what_hangs_on_random_draws_is_told_by_other_seeds(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    assert not variants.drawn(RIGHT, question)
    assert not variants.drawn(frozenset(["tripled"]), question)
    assert variants.drawn(frozenset(["noisy"]), question)
    assert variants.drawn(frozenset(["noisy", "tripled"]), question)


def test_other_seeds_are_all_that_changes() -> None:
    request = Request([Reset(3), Build(1, "Net"), Call("f", args=(X,), seed=5), Call("g")])
    assert request.reseeded().ops == [
        Reset(4),
        Build(1, "Net"),
        Call("f", args=(X,), seed=6),
        Call("g"),
    ]
    assert request.ops[0] == Reset(3)


def test_requests_are_parted_into_examples_at_every_reset() -> None:
    reset, other = Request([Reset(), Call("f")]), Request([Call("f")])
    assert examples_of([]) == []
    assert examples_of([reset, other, reset, reset, other]) == [[0, 1], [2], [3, 4]]
    # What begins without one is an example of its own.
    assert examples_of([other, reset]) == [[0], [1]]
