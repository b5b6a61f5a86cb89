"""Misconceptions: the table fits the code, and the variants answer with mistakes in force."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.api.messages import Request
from autograder.api.operations import Build, Call, Reset
from autograder.assignment import Assignment
from autograder.diagnosis.fits import examples_of
from autograder.diagnosis.table import RIGHT, Known
from autograder.errors import UsageError
from autograder.judge.misconceptions import (
    Misconception,
    read,
    read_in_branches,
    with_mistakes,
)
from autograder.judge.variants import Variants

TABLE = """
MISCONCEPTIONS = {
    "tripled": ("you multiplied by three", "page 1"),
    "noisy": ("you added noise", "page 2"),
}
WRONG = frozenset()


def wrong(name):
    return name in WRONG


def double(x):
    import torch

    if wrong("tripled"):
        return 3 * x
    return 2 * x + torch.rand(()) if wrong("noisy") else 2 * x
"""
X = torch.tensor([1.0, 2.0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "misconceptions").mkdir()
    (tmp_path / "misconceptions" / "double.py").write_text(TABLE)
    return tmp_path / "misconceptions"


def of(folder: Path) -> Any:
    """An assignment, as far as a table needs one."""
    return SimpleNamespace(secret=folder.parent)


def test_a_table_is_read_without_running_it(folder: Path) -> None:
    (folder / "double.py").write_text("raise SystemExit\n" + TABLE)
    assert read(of(folder), "double") == {
        "tripled": Misconception("double", "tripled", "you multiplied by three", "page 1"),
        "noisy": Misconception("double", "noisy", "you added noise", "page 2"),
    }
    found = read(of(folder), "double")["tripled"]
    assert (found.id, found.words) == ("double.tripled", "you multiplied by three (page 1)")
    assert read(of(folder), "other") == {}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('wrong("noisy")', 'wrong("nosy")', "'noisy' in its table only"),
        ('    "noisy": ("you added noise", "page 2"),\n', "", "'noisy' in its code only"),
        ("MISCONCEPTIONS =", "TABLE =", "has no table MISCONCEPTIONS"),
        ('"page 2")', "page)", "must be a plain dictionary"),
        ('("you added noise", "page 2")', '"noise"', "must be a plain dictionary"),
        ("WRONG =", "WRONG = (", "cannot be read"),
    ],
)
def test_a_table_that_does_not_fit_is_named(folder: Path, old: str, new: str, said: str) -> None:
    assert old in TABLE
    (folder / "double.py").write_text(TABLE.replace(old, new))
    with pytest.raises(UsageError, match=said):
        read(of(folder), "double")


def in_branches(branches: str, words: str) -> str:
    """Return a file in which a mistake has branches, with the words for branches."""
    row = '"tripled": ("you multiplied by three", "page 1"'
    assert row in TABLE
    return f"{TABLE.replace(row, f'{row}, {branches}')}BRANCHES = {words}\n"


def test_mistakes_in_one_branch_have_its_words_before_their_own(folder: Path) -> None:
    assert read_in_branches(of(folder), "double", read(of(folder), "double")) == {}
    assert read_in_branches(of(folder), "other", {}) == {}
    (folder / "double.py").write_text(in_branches('("loop",)', '{"loop": "in the loop"}'))
    words = "in the loop, you multiplied by three"
    found = Misconception("double", "tripled", words, "page 1", ("loop",))
    assert read_in_branches(of(folder), "double", read(of(folder), "double")) == {
        "tripled in loop": found
    }


@pytest.mark.parametrize(
    ("branches", "words", "said"),
    [
        ('("loops",)', '{"loop": "in the loop"}', "BRANCHES does not say what 'loops' is"),
        ('("loop",)', "[1]", "BRANCHES must be a plain dictionary"),
        (
            '"loop"',
            '{"loop": "in the loop"}',
            "must be a plain dictionary with rows of the form name: ",
        ),
    ],
)
def test_branches_that_do_not_fit_are_named(
    folder: Path, branches: str, words: str, said: str
) -> None:
    (folder / "double.py").write_text(in_branches(branches, words))
    with pytest.raises(UsageError, match=said):
        read_in_branches(of(folder), "double", read(of(folder), "double"))


def test_the_tables_of_the_assignment_fit_their_code(assignment: Assignment) -> None:
    for name in assignment.totals:
        found = read(assignment, name)
        assert len({m.explanation for m in found.values()}) == len(found)


def test_mistakes_are_put_in_force_in_a_source() -> None:
    namespace: dict[str, Any] = {}
    exec(with_mistakes(TABLE.encode(), ["tripled"]), namespace)
    assert namespace["double"](X).tolist() == [3.0, 6.0]
    exec(with_mistakes(TABLE.encode(), []), namespace)
    assert namespace["double"](X).tolist() == [2.0, 4.0]


def example(seed: int = 0) -> list[Request]:
    return [Request([Reset(), Call("double", args=(X,), seed=seed)])]


def variants_in(folder: Path) -> Variants:
    return Variants(folder, "double")


def known(folder: Path, *names: str) -> Known:
    """Return what mistakes answer to the example, with what each answers by itself at hand."""
    variants = variants_in(folder)
    question = variants.question(example())
    variants.complete(question, ["tripled", "noisy"])
    return variants.known(frozenset(names), question)


def test_a_variant_answers_with_its_mistakes_and_no_others(folder: Path) -> None:
    variants = variants_in(folder)
    question = example()
    assert variants.answer(RIGHT, question)[0].value.tolist() == [2.0, 4.0]
    assert variants.answer(frozenset(["tripled"]), question)[0].value.tolist() == [3.0, 6.0]
    assert variants.perform(RIGHT, question[0]).value.tolist() == [2.0, 4.0]


def test_a_question_holds_what_is_answered_otherwise_than_right(folder: Path) -> None:
    variants = variants_in(folder)
    question = variants.question(example())
    variants.complete(question, ["tripled", "noisy"])
    assert {name: found.shows for name, found in question.wrong.items()} == {
        "tripled": True,
        "noisy": True,
    }
    nothing = variants.question([Request([Reset(), Call("double", args=(0 * X,))])])
    variants.complete(nothing, ["tripled"])
    assert nothing.wrong == {}
    assert variants.known(frozenset(["tripled"]), nothing) is nothing.right


def test_answers_to_a_question_that_are_equal_are_one(folder: Path) -> None:
    (folder / "double.py").write_text(TABLE.replace("2 * x + torch.rand(())", "3 * x"))
    variants = variants_in(folder)
    question = variants.question(example())
    variants.complete(question, ["tripled", "noisy"])
    assert question.wrong["tripled"] is question.wrong["noisy"]


def endless(tmp_path: Path) -> Variants:
    lines = ["WRONG = frozenset()", "COUNT = []", "def double(x):", "    COUNT.append(1)"]
    lines += ["    while WRONG and len(COUNT) < 10**6:", "        COUNT.append(1)"]
    (tmp_path / "double.py").write_text("\n".join([*lines, "    return 2 * x", ""]))
    return Variants(tmp_path, "double", longest_s=1e-2)


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
