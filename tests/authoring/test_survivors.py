"""What the selftest makes of mutants: a hole in a suite shows, and is closed or marked."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.authoring.mutants import Mutant
from autograder.authoring.proof import Report, print_report, report_on
from autograder.authoring.rows import Row, rows_of
from autograder.errors import UsageError
from autograder.results import ComponentResult, CriterionResult, Outcome, SubmissionResult
from tests.tiny import HIDDEN, TOML, write_tiny

# No check asks for the default of eps.
SOLUTION = """\
def layer_norm(x, eps=1e-5):
    x = x - x.mean(dim=-1, keepdim=True)
    return x / (x.square().mean(dim=-1, keepdim=True) + eps).sqrt()
"""
MARK = "# equivalent: no check is to ask for it\n"
ASKING = HIDDEN.replace('("layer_norm", x)', '("layer_norm", x, 0.5)').replace(
    '    expect.close(component.call("layer_norm", x, 0.5).output, right)\n',
    '    answer = component.asking(keep_inputs=True).call("layer_norm", x, 0.5)\n'
    "    expect.close(answer.output, right)\n"
    "    expect.unchanged(answer, x)\n",
)


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write the smallest project; no misconception is written for it."""

    def write(solution: str = SOLUTION, hidden: str = ASKING) -> Path:
        root = write_tiny(tmp_path / "project", hidden=hidden)
        (root / "reference" / "norm" / "layer_norm.py").write_text(solution)
        return root

    return write


def selftest(autograder, root: Path, code: int, *more: str) -> Report:
    options = ("--json", "--sandbox", "none", "--jobs", "1", *more)
    done = autograder("selftest", "norm", "--root", root, *options)
    assert done.returncode == code, done.stdout + done.stderr
    return Report.model_validate_json(done.stdout)


def printed(report: Report) -> str:
    said = io.StringIO()
    print_report(Console(file=said, soft_wrap=True), report)
    return said.getvalue()


@pytest.mark.release
def test_a_hole_in_a_suite_is_shown_with_what_to_write(autograder, project) -> None:
    found = selftest(autograder, project(), 1)
    assert found.faults == ["2 mutants keep every point of layer_norm"]
    survivors = [(m.line, m.new) for m in found.mutants if m.survives]
    assert survivors == [
        (1, "def layer_norm(x, eps=2e-05):"),
        (1, "def layer_norm(x, eps=1e-06):"),
    ]
    figures = found.figures
    assert figures.mutants > 15
    assert (figures.mutants_caught, figures.mutants_surviving) == (figures.mutants - 2, 2)
    # No misconception loses them: mutants do.
    assert {i for mutant in found.mutants for i in mutant.failed} == {
        "layer_norm.shape",
        "layer_norm.values",
    }
    said = printed(found)
    assert (
        "  layer_norm.py:1\n"
        "    - def layer_norm(x, eps=1e-05):\n"
        "    + def layer_norm(x, eps=2e-05):\n"
    ) in said
    assert f"mutants: {figures.mutants - 2} of {figures.mutants} lose points" in said


@pytest.mark.release
def test_a_marked_mutant_is_counted_and_faults_nothing(autograder, project) -> None:
    # What is marked is in every sample.
    found = selftest(autograder, project(MARK + SOLUTION), 0, "--mutants", "16")
    assert 16 <= found.figures.mutants <= 18
    assert found.holds
    assert (found.figures.mutants_equivalent, found.figures.mutants_surviving) == (2, 0)
    reasons = {m.equivalent for m in found.mutants if not m.caught}
    assert reasons == {"no check is to ask for it"}
    assert "mutants that keep every point" not in printed(found)


def test_a_mark_without_a_reason_ends_the_selftest_with_a_sentence(autograder, project) -> None:
    done = autograder("selftest", "norm", "--root", project("# equivalent:\n" + SOLUTION))
    assert done.returncode == 2, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert "layer_norm.py, line 1: the mark gives no reason" in said


# Without grading.

CRITERIA = ("layer_norm.shape", "layer_norm.values")


def graded(*lost: str, outcome: Outcome = "failed") -> SubmissionResult:
    criteria = [
        CriterionResult(
            id=name,
            title="title",
            score=float(name not in lost),
            max_score=1.0,
            passed=name not in lost,
            outcome=outcome if name in lost else "passed",
            visibility="public",
            source="page 1",
        )
        for name in CRITERIA
    ]
    score = sum(criterion.score for criterion in criteria)
    component = ComponentResult(score=score, max_score=2.0, status="graded", criteria=criteria)
    return SubmissionResult(
        submission="s",
        assignment="norm",
        status="graded",
        score=score,
        max_score=2.0,
        components={"layer_norm": component},
        sandbox="none",
    )


def judged(root: Path, *results: SubmissionResult, solution: SubmissionResult) -> Report:
    """Judge suites by a solution and so many mutants of its first line."""
    rows = [Row("solution", "solution", {})]
    for number, _ in enumerate(results):
        mutant = Mutant("layer_norm.py", 1, "old [red]", f"new {number}\x1b[2J", "")
        rows.append(Row(f"m{number}", "mutant", {}, "layer_norm", mutant=mutant))
    return report_on(load_assignment(root, "norm"), rows, [solution, *results], "none")


def test_a_criterion_counts_as_lost_by_a_check_that_failed_alone(project) -> None:
    root = project()
    found = judged(root, graded(*CRITERIA), solution=graded())
    assert found.faults == []
    # What raises, hangs or dies loses everything, and proves no check.
    found = judged(root, graded(*CRITERIA, outcome="student_error"), solution=graded())
    assert found.faults == [
        f"criterion {name} is lost by no mistake and none of 1 mutants" for name in CRITERIA
    ]
    assert found.figures.mutants_caught == 1


def test_mutants_of_a_solution_that_is_wrong_itself_are_not_counted(project) -> None:
    found = judged(project(), graded(), solution=graded(*CRITERIA[:1]))
    assert "the mutants of layer_norm say nothing: its solution itself loses points" in found.faults
    assert found.mutants == []


def test_a_rotten_mark_is_a_fault(project) -> None:
    root = project("# equivalent: so it is\n" + SOLUTION)
    found = judged(root, graded(*CRITERIA), solution=graded())
    assert len(found.faults) == 1
    assert "layer_norm.py, line 1: the mark accepts nothing" in found.faults[0]


def test_many_survivors_are_cut_short_and_made_safe(project) -> None:
    found = judged(project(), *[graded()] * 25, solution=graded())
    said = printed(found)
    assert said.count("- old [red]") == 20
    assert "and 5 more: --component shows fewer, --json all" in said
    assert "\x1b" not in said
    # They come after all matrices and figures, with nothing but faults and the verdict below.
    assert said.index("mutants that keep every point") > said.index("pairs:")


# Rows.

TWO = TOML + '\n[[components]]\nname = "other"\npoints = 1\nuses = ["layer_norm"]\n'


def test_one_component_can_be_proven_alone(project) -> None:
    root = project()
    (root / "assignments" / "norm" / "assignment.toml").write_text(TWO)
    (root / "reference" / "norm" / "other.py").write_text("def other(x):\n    return x + 1\n")
    assignment = load_assignment(root, "norm")
    rows = rows_of(assignment, 8, None, ["other"])
    assert {row.only for row in rows} == {("other",)}
    mutants = [row for row in rows if row.kind == "mutant"]
    assert {row.component for row in mutants} == {"other"}
    assert len(mutants) >= 4
    # What it uses is there.
    assert all(set(row.files) == {"layer_norm.py", "other.py"} for row in mutants)
    everything = rows_of(assignment, 8, None)
    assert {row.component for row in everything if row.kind == "mutant"} == {"layer_norm", "other"}
    assert {row.only for row in everything if row.kind == "solution"} == {()}
    assert len([r for r in rows_of(assignment, 0, 3) if r.kind == "mutant"]) == 3 + 3
    assert not [r for r in rows_of(assignment, 0, 0) if r.kind == "mutant"]


def test_a_component_that_there_is_not_is_refused(project, autograder) -> None:
    root = project()
    done = autograder("selftest", "norm", "--root", root, "--component", "layernorm")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "norm has no component 'layernorm'; it has: layer_norm" in said


def test_a_solution_that_is_missing_is_named(project) -> None:
    root = project()
    (root / "reference" / "norm" / "layer_norm.py").unlink()
    with pytest.raises(UsageError, match="there is no solution"):
        rows_of(load_assignment(root, "norm"), 0)
