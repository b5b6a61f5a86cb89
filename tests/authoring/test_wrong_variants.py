"""Wrong variants: edits of right bases; what their heads name, the selftest holds them to."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.proof import (
    Figures,
    Naming,
    Report,
    RowReport,
    compare_at_home,
    faults_of,
    outcome_of,
    print_report,
)
from autograder.authoring.rows import rows_of
from autograder.authoring.wrong_variants import read_variants
from autograder.errors import UsageError
from autograder.judge.misconceptions import read
from tests.tiny import PUBLIC, write_tiny

LINE = "    return deviation / torch.sqrt(variance + eps)"
MISTAKES = f"""\
@@ biased: page 1
you added a constant
-{LINE}
+{LINE} + 0.5
@@ flat: page 2
you took the rows apart
-{LINE}
+    return (deviation / torch.sqrt(variance + eps)).flatten()
@@ halved: page 3
you halved the result
-{LINE}
+{LINE} / 2
"""
BASE = """
import torch


def layer_norm(x, eps=1e-5):
    mu = torch.mean(x, -1, True)
    var = torch.mean(x * x, -1, True) - mu * mu
    return (x - mu) / torch.sqrt(var + eps)
"""
LAST = "    return (x - mu) / torch.sqrt(var + eps)"
BIASED = f"the result is shifted\n-{LAST}\n+{LAST} + 1 / 2\n"
OFF = f"the result is lowered\n-{LAST}\n+{LAST} - 7.0\n"
HARMLESS = f"nothing is wrong\n-{LAST}\n+{LAST} + 0\n"


# Public, for hidden criteria name nothing.
VALUES = '''

@pytest.mark.criterion(points=1, source="page 2")
@given(seed=st.integers(0, 1000), size=st.integers(2, 5))
def test_values(component, expect, make, seed, size):
    """the values are right"""
    x = make.normal(3, size, seed=seed)
    right = torch.nn.functional.layer_norm(x, [size])
    expect.close(component.call("layer_norm", x).output, right)
'''


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write the smallest project, with three misconceptions, bases and edits of them."""

    def write(edits: str = "", **bases: str) -> Path:
        root = write_tiny(tmp_path / "project", PUBLIC + VALUES, "")
        secret = root / "reference" / "norm"
        (secret / "misconceptions").mkdir()
        (secret / "misconceptions" / "layer_norm.diff").write_text(MISTAKES)
        folder = secret / "wrong_variants" / "layer_norm"
        folder.mkdir(parents=True)
        for name, text in {"plain": BASE, **bases}.items():
            (folder / f"{name}.py").write_text(text)
        (secret / "wrong_variants" / "layer_norm.diff").write_text(edits)
        return root

    return write


def selftest(autograder, root: Path, code: int) -> Report:
    """Grade the bases and the wrong variants alone."""
    options = ("--kind", "right", "--kind", "wrong", "--sandbox", "none", "--jobs", "1", "--json")
    done = autograder("selftest", "norm", "--root", root, *options)
    assert done.returncode == code, done.stdout + done.stderr
    return Report.model_validate_json(done.stdout)


@pytest.mark.release
def test_what_is_named_is_held_against_the_head(autograder, project) -> None:
    shifted = BASE.replace(LAST, f"{LAST} + 0.5")
    root = project(
        f"@@ shifted in plain: biased\n{BIASED}"
        f"@@ lowered in plain: none\n{OFF}"
        f"@@ both in plain: biased or flat\n{BIASED}"
        f"@@ mistaken in plain: flat\n{BIASED}"
        f"@@ strange in plain: none\n{BIASED}"
        f"@@ hidden in plain: biased\n{OFF}"
        f"@@ harmless in plain: biased\n{HARMLESS}",
        shifted=shifted,
    )
    found = selftest(autograder, root, 1)
    # Nothing else is graded, nor expected of rows that were not.
    assert {row.kind for row in found.rows} == {"solution", "right", "wrong"}
    bases = {row.id: row.lost for row in found.rows if row.kind == "right"}
    assert bases.keys() == {"right-layer_norm/plain", "right-layer_norm/shifted"}
    assert bases["right-layer_norm/plain"] == []
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
        "right-layer_norm/shifted is right and is said to have layer_norm.biased",
        "right-layer_norm/shifted is right and loses layer_norm.values",
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
    # At home the same is told of all four that grading names.
    assert [found.figures.wrong_at_home, found.figures.told_at_home] == [4, 4]
    assert (
        "at home: of 4 wrong variants that grading names, a student is told the same in 4"
        in printed
    )
    assert "rows of these kinds alone: right, wrong" in printed


@pytest.mark.release
def test_a_bank_that_is_named_rightly_holds(autograder, project) -> None:
    found = selftest(autograder, project(f"@@ shifted in plain: biased\n{BIASED}"), 0)
    assert (found.faults, found.kinds) == ([], ["right", "wrong"])


def test_a_variant_is_its_base_with_the_lines_of_its_edits(project) -> None:
    edits = f"""\
# Two places, the second with a line that only says where it is.
@@ two in plain: biased + flat
the result is shifted and flattened
-    mu = torch.mean(x, -1, True)
+    mu = x.mean(-1, keepdim=True)

     var = torch.mean(x * x, -1, True) - mu * mu
+    var = var + 0
@@ one in plain: none
{OFF.rstrip()}
"""
    one, two = read_variants(load_assignment(project(edits), "norm"), "layer_norm")
    assert (one.name, one.expected, two.name, two.expected) == (
        "one",
        (),
        "two",
        ("biased", "flat"),
    )
    assert one.source.decode() == BASE.replace(LAST, f"{LAST} - 7.0")
    mean = BASE.replace("torch.mean(x, -1, True)", "x.mean(-1, keepdim=True)")
    assert two.source.decode() == mean.replace("mu * mu\n", "mu * mu\n    var = var + 0\n")


ROW = "@@ one in plain: biased\nin words\n"
SWAP = f"-{LAST}\n+    return x\n"


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (f"@@ one in plain\n{BIASED}", "one: what should be named must stand behind a colon"),
        (f"@@ one in plain:\n{BIASED}", "has not the form"),
        (f"@@ one\n{BIASED}", "one: what should be named must stand behind a colon"),
        (f"@@ \x1b[2J{'x' * 500}\n{BIASED}", "has not the form"),
        (f"{BIASED}", ":1: it begins with 'the result"),
        (f"@@ one in plain: baised\n{BIASED}", "one: layer_norm has no misconception 'baised'"),
        (f"@@ one in plain: biased + none\n{BIASED}", "has no misconception 'none'"),
        (f"@@ one in plain: biased, flat\n{BIASED}", "has no misconception 'biased, flat'"),
        (f"@@ one in plain: biased + biased\n{BIASED}", "none of the forms"),
        (f"@@ one in plain: flat + biased + halved\n{BIASED}", "none of the forms"),
        (f"@@ one in plain: biased or biased\n{BIASED}", "none of the forms"),
        (f"@@ one in planes: biased\n{BIASED}", "no base 'planes'; there are: plain"),
        (f"@@ one in plain: biased\n{SWAP}", "one: the line below the head must say in words"),
        ("@@ one in plain: biased\n", "one: the line below the head must say in words"),
        (f"@@ one in plain: biased\n\n{SWAP}", "one: the line below the head must say in words"),
        (ROW, "one: there is no edit"),
        (f"{ROW}{SWAP}and more\n", "one: the line 'and more' begins with no"),
        (f"{ROW}-{LAST}\n+{LAST}\n", "one: an edit changes nothing"),
        (f"{ROW} {LAST}\n", "one: an edit changes nothing"),
        (f"{ROW}+    return x\n", "one: an edit has new lines alone"),
        (f"{ROW}-    return y\n", "plain.py, the old text at 'return y' does not stand there"),
        (f"{ROW}-{LAST[4:]}\n", "does not stand there"),
        (f"{ROW}-\n+    pass\n", "plain.py, the old text at '' stands there 4 times"),
        (f"{ROW}{SWAP}\n{SWAP}", "one: two edits are about the same lines"),
        (f"{ROW}{SWAP}{ROW}{SWAP}", "one: there is a mistake of this name above"),
    ],
)
def test_a_row_that_does_not_apply_is_refused_in_a_sentence(project, edits, said) -> None:
    assignment = load_assignment(project(edits), "norm")
    with pytest.raises(UsageError) as refused:
        rows_of(assignment, pairs=0, mutants=0)
    words = str(refused.value)
    assert "wrong_variants/layer_norm.diff" in words
    assert said in words
    assert "\x1b" not in words
    assert len(words) < 600


def test_a_base_is_right_work_of_its_component_alone(project) -> None:
    rows = {row.id: row for row in rows_of(load_assignment(project(), "norm"), pairs=0)}
    base = rows["right-layer_norm/plain"]
    assert (base.kind, base.only, base.files) == (
        "right",
        ("layer_norm",),
        {"layer_norm.py": BASE.encode()},
    )


def test_edits_without_a_base_are_refused(project) -> None:
    root = project(f"@@ one in plain: biased\n{BIASED}")
    (root / "reference" / "norm" / "wrong_variants" / "layer_norm" / "plain.py").unlink()
    with pytest.raises(UsageError, match="no base 'plain'; there are none"):
        read_variants(load_assignment(root, "norm"), "layer_norm")


@pytest.mark.parametrize("place", ["layer_norm.diff", "layer_norm/plain.py"])
def test_bytes_that_are_no_text_are_refused(project, place: str) -> None:
    root = project()
    (root / "reference" / "norm" / "wrong_variants" / place).write_bytes(b"# \xff\n")
    with pytest.raises(UsageError, match="not written in UTF-8"):
        rows_of(load_assignment(root, "norm"), pairs=0)


@pytest.mark.parametrize("name", ["layernorm", "layernorm.diff", "layer_norm.toml"])
def test_what_belongs_to_no_component_is_refused(project, name: str) -> None:
    root = project()
    (root / "reference" / "norm" / "wrong_variants" / name).mkdir()
    with pytest.raises(UsageError, match=f"{name} belongs to no component"):
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


def test_what_is_told_at_home_is_held_against_what_grading_names() -> None:
    def row(name: str, *named: str, wrong: Sequence[str] = ()) -> RowReport:
        return RowReport(
            id=name,
            kind="wrong",
            component="c",
            wrong=list(wrong),
            lost_points=1.0,
            lost=["c.first"],
            named=list(named),
            either=False,
        )

    told: dict[str, tuple[list[str], bool] | None] = {
        **{f"same{number}": ([ONE], False) for number in range(9)},
        "one_of_two": ([ONE, TWO], True),
        "nothing": ([], False),
        "public_checks_pass": None,
    }
    rows = [row(name, ONE) for name in told] + [row("unnamed"), row("at_home_alone", wrong=[ONE])]
    told |= {"unnamed": ([], False), "at_home_alone": ([ONE], False)}
    whole = Report(
        assignment="a",
        sandbox="none",
        holds=True,
        faults=[],
        figures=Figures(),
        criteria={},
        rows=rows,
    )
    compare_at_home(whole, lambda row: told[row.id])
    assert (whole.figures.wrong_at_home, whole.figures.told_at_home) == (11, 10)
    assert (whole.holds, whole.faults) == (True, [])
    told |= {"nothing": ([TWO], False), "one_of_two": ([], False), "unnamed": ([ONE], False)}
    compare_at_home(whole, lambda row: told[row.id])
    assert not whole.holds
    assert whole.faults == [
        "wrong variant nothing is called something else at home than in grading",
        "wrong variant unnamed is called something else at home than in grading",
        "a student hears less than 85% of the names at home",
    ]


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
    (secret / "wrong_variants" / "layer_norm.diff").write_text(ROW + SWAP)
    (secret / "right_variants" / "v1").mkdir(parents=True)
    (secret / "right_variants" / "v1" / "layer_norm.py").write_text(BASE)
    assert load_assignment(root, "norm").suite_hash() == before
    (secret / "layer_norm.py").write_text(BASE)
    assert load_assignment(root, "norm").suite_hash() != before


def test_every_misconception_is_tried_in_work_of_another_style(assignment: Assignment) -> None:
    """What the bank of wrong work promises of itself."""
    count = nothing = 0
    for name in assignment.totals:
        variants = read_variants(assignment, name)
        sources = [variant.source for variant in variants]
        assert len(set(sources)) == len(sources)
        tried = {mistake for variant in variants for mistake in variant.expected}
        known = read(assignment, name).items()
        assert {n for n, one in known if not one.in_branch} <= tried, name
        count += len(variants)
        nothing += sum(not variant.expected for variant in variants)
    assert count >= 300
    assert nothing >= 20
