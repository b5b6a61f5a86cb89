"""Wrong variants: their first line says what should be named, and the selftest holds it to that."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.matrix import print_report
from autograder.authoring.proof import Report
from autograder.authoring.rows import rows_of
from autograder.authoring.wrong_variants import Naming, faults_of, outcome_of, read_variants
from autograder.errors import UsageError
from autograder.solutions.misconceptions import read
from tests.tiny import write_tiny

MISTAKES = """
MISCONCEPTIONS = {
    "biased": ("you added a constant", "page 1"),
    "flat": ("you took the rows apart", "page 2"),
}
WRONG = frozenset()


def wrong(name):
    return name in WRONG


def layer_norm(x, eps=1e-5):
    deviation = x - x.mean(dim=-1, keepdim=True)
    result = deviation / (deviation.square().mean(dim=-1, keepdim=True) + eps).sqrt()
    if wrong("flat"):
        return result.flatten()
    return result + 0.5 if wrong("biased") else result
"""
STUDENT = """
import torch


def layer_norm(x, eps=1e-5):
    mu = torch.mean(x, -1, True)
    var = torch.mean(x * x, -1, True) - mu * mu
    return (x - mu) / torch.sqrt(var + eps){more}
"""
BIASED = STUDENT.format(more=" + 1 / 2")
OFF = STUDENT.format(more=" - 7.0")
RIGHT = STUDENT.format(more="")


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write the smallest project, with two misconceptions and these wrong variants."""

    def write(**variants: str) -> Path:
        root = write_tiny(tmp_path / "project")
        secret = root / "reference" / "norm"
        (secret / "misconceptions").mkdir()
        (secret / "misconceptions" / "layer_norm.py").write_text(MISTAKES)
        folder = secret / "wrong_variants" / "layer_norm"
        folder.mkdir(parents=True)
        for name, text in variants.items():
            (folder / f"{name}.py").write_text(text)
        return root

    return write


def selftest(autograder, root: Path, code: int, *more: str) -> Report:
    """Grade the wrong variants alone."""
    options = ("--kind", "wrong", "--sandbox", "none", "--jobs", "1", "--json")
    done = autograder("selftest", "norm", "--root", root, *options, *more)
    assert done.returncode == code, done.stdout + done.stderr
    return Report.model_validate_json(done.stdout)


@pytest.mark.slow
def test_what_is_named_is_held_against_the_first_line(autograder, project) -> None:
    root = project(
        shifted=f"# misconception: biased\n{BIASED}",
        lowered=f"# misconception: none\n{OFF}",
        both=f"# one of: biased, flat\n{BIASED}",
        mistaken=f"# misconception: flat\n{BIASED}",
        strange=f"# misconception: none\n{BIASED}",
        hidden=f"# misconception: biased\n{OFF}",
        harmless=f"# misconception: biased\n{RIGHT}",
    )
    found = selftest(autograder, root, 1)
    # Nothing else is graded, nor expected of rows that were not.
    assert {row.kind for row in found.rows} == {"solution", "wrong"}
    outcomes = {row.id: row.outcome for row in found.rows if row.kind == "wrong"}
    assert outcomes == {
        "layer_norm/both": "named",
        "layer_norm/harmless": "unnamed",
        "layer_norm/hidden": "unnamed",
        "layer_norm/lowered": "named",
        "layer_norm/mistaken": "falsely",
        "layer_norm/shifted": "named",
        "layer_norm/strange": "falsely",
    }
    assert found.wrong_variants == {
        "layer_norm": Naming(expected=5, named=2, unnamed=2, nothing=2, falsely=2)
    }
    assert sorted(found.faults) == [
        "only 2 of 5 wrong variants are named rightly, not 92%",
        "wrong variant layer_norm/harmless loses no points",
        "wrong variant layer_norm/mistaken is said to have layer_norm.biased, "
        "expected: layer_norm.flat",
        "wrong variant layer_norm/strange is said to have layer_norm.biased, expected: nothing",
    ]
    said = io.StringIO()
    print_report(Console(file=said, soft_wrap=True), found)
    printed = " ".join(said.getvalue().split())
    assert (
        "wrong variants of layer_norm: 2 of 5 named rightly, 2 unnamed, 2 falsely; "
        "in 2 more, nothing is to be named" in printed
    )
    assert "unnamed layer_norm/hidden: nothing, expected: layer_norm.biased" in printed
    assert "rows of these kinds alone: wrong" in printed


@pytest.mark.slow
def test_a_bank_that_is_named_rightly_holds(autograder, project) -> None:
    root = project(shifted=f"# misconception: biased\n{BIASED}")
    found = selftest(autograder, root, 0)
    assert (found.faults, found.kinds) == ([], ["wrong"])


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("import torch", "must say what should be named"),
        ("", "must say what should be named"),
        ("# misconceptions: biased", "must say what should be named"),
        ("# misconception: baised", "has no misconception 'baised'"),
        ("# misconception:", "has no misconception ''"),
        ("# misconception: biased + none", "has no misconception 'none'"),
        ("# misconception: biased, flat", "has no misconception 'biased, flat'"),
        ("# misconception: biased + biased", "must have one of the forms"),
        ("# misconception: flat + biased + flat", "must have one of the forms"),
        ("# one of: biased", "must have one of the forms"),
        ("# one of: none", "has no misconception 'none'"),
        ("# misconception: \x1b[2J" + "x" * 500, "has no misconception '[2Jxxx"),
    ],
)
def test_a_first_line_that_says_nothing_is_refused_in_a_sentence(project, first, said) -> None:
    assignment = load_assignment(project(one=f"{first}\n{BIASED}"), "norm")
    with pytest.raises(UsageError) as refused:
        rows_of(assignment, pairs=0, mutants=0)
    words = str(refused.value)
    assert "wrong_variants/layer_norm/one.py" in words
    assert said in words
    assert "\x1b" not in words
    assert len(words) < 600


def test_a_folder_of_no_component_is_refused(project) -> None:
    root = project()
    (root / "reference" / "norm" / "wrong_variants" / "layernorm").mkdir()
    with pytest.raises(UsageError, match=r"layernorm is no folder of a component"):
        rows_of(load_assignment(root, "norm"), pairs=0)


def test_a_kind_that_does_not_exist_is_refused(autograder, project) -> None:
    done = autograder("selftest", "norm", "--root", project(), "--kind", "wrongs")
    assert done.returncode == 2, done.stdout + done.stderr
    assert "no rows of the kind 'wrongs'; it is: solution" in " ".join(done.stderr.split())


ONE, TWO, THREE, FOUR = "c.one", "c.two", "c.three", "c.four"


@pytest.mark.parametrize(
    ("expected", "alternatives", "named", "either", "outcome"),
    [
        ([ONE], False, [ONE], False, "named"),
        ([ONE], False, [], False, "unnamed"),
        ([ONE], False, [TWO], False, "falsely"),
        ([ONE], False, [ONE, TWO], False, "falsely"),
        # "One of these" is right if it is one of a few.
        ([ONE], False, [ONE, TWO, THREE], True, "named"),
        ([ONE], False, [ONE, TWO, THREE, FOUR], True, "falsely"),
        ([ONE], False, [TWO, THREE], True, "falsely"),
        ([ONE, TWO], False, [TWO, ONE], False, "named"),
        ([ONE, TWO], False, [ONE], False, "unnamed"),
        ([ONE, TWO], False, [ONE, TWO], True, "unnamed"),
        ([ONE, TWO], False, [ONE, THREE], False, "falsely"),
        ([ONE, TWO], True, [TWO], False, "named"),
        ([ONE, TWO], True, [ONE, TWO], True, "named"),
        ([ONE, TWO], True, [ONE, TWO], False, "falsely"),
        ([], False, [], False, "named"),
        ([], False, [ONE], False, "falsely"),
        ([], False, [ONE, TWO], True, "falsely"),
    ],
)
def test_outcomes(expected, alternatives, named, either, outcome) -> None:
    assert outcome_of(expected, named, alternatives=alternatives, either=either) == outcome


def test_too_few_named_are_counted_over_all_components() -> None:
    assert faults_of([Naming(expected=50, named=50), Naming(expected=50, named=42)]) == []
    assert faults_of([Naming(expected=50, named=50), Naming(expected=50, named=41)]) == [
        "only 91 of 100 wrong variants are named rightly, not 92%"
    ]
    assert faults_of([]) == []


def test_wrong_and_right_variants_decide_no_mark(project) -> None:
    root = project()
    before = load_assignment(root, "norm").suite_hash()
    secret = root / "reference" / "norm"
    (secret / "wrong_variants" / "layer_norm" / "one.py").write_text("# misconception: biased\n")
    (secret / "right_variants" / "v1").mkdir(parents=True)
    (secret / "right_variants" / "v1" / "layer_norm.py").write_text(RIGHT)
    assert load_assignment(root, "norm").suite_hash() == before
    (secret / "layer_norm.py").write_text(RIGHT)
    assert load_assignment(root, "norm").suite_hash() != before


def test_every_misconception_is_tried_in_work_of_another_style(assignment: Assignment) -> None:
    """What the bank of wrong work promises of itself."""
    count = nothing = 0
    for name in assignment.totals:
        variants = read_variants(assignment, name)
        sources = [variant.source.partition(b"\n")[2] for variant in variants]
        assert len(set(sources)) == len(sources)
        tried = {mistake for variant in variants for mistake in variant.expected}
        assert read(assignment, name).keys() <= tried, name
        count += len(variants)
        nothing += sum(not variant.expected for variant in variants)
    assert count >= 300
    assert nothing >= 20
