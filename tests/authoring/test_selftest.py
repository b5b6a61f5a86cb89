"""The selftest holds for our suites, and fails, naming row or column, where they do not."""

from __future__ import annotations

import io
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from rich.console import Console
from typer.testing import CliRunner

from autograder import cli
from autograder.assignment import Assignment
from autograder.authoring import Kind
from autograder.authoring.proof import Report, print_report, report_on
from autograder.authoring.rows import Row, rows_of
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked, Unchanged
from autograder.grading.workers import Tell
from autograder.judge.places import CACHE_VARIABLE
from autograder.results import ComponentResult, CriterionResult, SubmissionResult
from tests import sources
from tests.grading.fakes import mark
from tests.tiny import write_tiny

CRITERIA = ("layer_norm.one", "layer_norm.two", "feed_forward.three")


def graded(
    lost: tuple[str, ...] = (),
    named: tuple[str, ...] = (),
    either: bool = False,
    stub: bool = False,
) -> SubmissionResult:
    """A result that loses these criteria, a point each."""
    components: dict[str, ComponentResult] = {}
    for name in ("layer_norm", "feed_forward"):
        criteria = [
            CriterionResult(
                id=criterion,
                title="title",
                score=float(criterion not in lost),
                max_score=1.0,
                passed=criterion not in lost,
                outcome="failed" if criterion in lost else "passed",
                visibility="public",
                source="page 1",
            )
            for criterion in CRITERIA
            if criterion.startswith(name)
        ]
        components[name] = ComponentResult(
            score=sum(c.score for c in criteria),
            max_score=float(len(criteria)),
            status="not_attempted" if stub else "graded",
            criteria=criteria,
            misconceptions=[n for n in named if n.startswith(name)],
            either=either,
        )
    return SubmissionResult(
        submission="s",
        assignment="a",
        status="graded",
        score=sum(c.score for c in components.values()),
        max_score=3.0,
        components=components,
        sandbox="none",
    )


def row(kind: Kind, *wrong: str) -> Row:
    component = wrong[0].partition(".")[0] if wrong else ""
    names = tuple(name.partition(".")[2] for name in wrong)
    return Row("+".join(wrong) or kind, kind, {}, component, names)


NORM, OTHER, FORWARD = "layer_norm.std", "layer_norm.eps", "feed_forward.relu"
GOOD = {
    row("solution"): graded(),
    row("stub"): graded(lost=CRITERIA, stub=True),
    row("misconception", NORM): graded(lost=CRITERIA[:2], named=(NORM,)),
    row("misconception", OTHER): graded(lost=CRITERIA[:1], named=(OTHER,)),
    row("misconception", FORWARD): graded(lost=CRITERIA[2:], named=(FORWARD,)),
    row("pair", NORM, OTHER): graded(lost=CRITERIA[:2], named=(NORM, OTHER)),
}


def report(assignment: Assignment, changes: dict[Row, SubmissionResult] | None = None) -> Report:
    found = {r.id: (r, result) for r, result in GOOD.items()}
    found |= {r.id: (r, result) for r, result in (changes or {}).items()}
    rows, results = zip(*found.values(), strict=True)
    return report_on(assignment, rows, results, "none")


def test_good_suites_hold(assignment: Assignment) -> None:
    found = report(assignment)
    assert (found.faults, found.holds) == ([], True)
    assert found.figures.model_dump() == {
        "misconceptions": 3,
        "named_alone": 3,
        "hidden_alone": 0,
        "pairs": 1,
        "named_pair": 1,
        "named_half": 0,
        "right": 1,
        "right_named": 0,
        "wrong_at_home": 0,
        "told_at_home": 0,
        "mutants": 0,
        "mutants_caught": 0,
        "mutants_equivalent": 0,
        "mutants_surviving": 0,
    }


@pytest.mark.parametrize(
    ("changed", "result", "fault"),
    [
        (row("solution"), graded(lost=CRITERIA[:1]), "solution is right and loses layer_norm.one"),
        (row("right"), graded(named=(NORM,)), "right is right and is said to have layer_norm.std"),
        (row("stub"), graded(stub=False), "the stub of layer_norm is graded and passes"),
        (
            row("stub"),
            graded(lost=CRITERIA[1:], stub=True),
            "the stub of layer_norm is not_attempted and passes ['layer_norm.one']",
        ),
        (row("misconception", OTHER), graded(named=(OTHER,)), "layer_norm.eps loses no points"),
        (
            row("misconception", NORM),
            graded(lost=CRITERIA, named=(NORM,)),
            "layer_norm.std loses feed_forward.three",
        ),
        (
            row("misconception", NORM),
            graded(lost=CRITERIA[:1], named=(NORM,)),
            "criterion layer_norm.two is lost by no mistake, and no mutant was tried",
        ),
        (
            row("misconception", NORM),
            graded(lost=CRITERIA[:2], named=(NORM, OTHER), either=True),
            "misconceptions layer_norm.std and layer_norm.eps cannot be told apart",
        ),
        (
            row("misconception", NORM),
            graded(lost=CRITERIA[:2]),
            "only 2 of 3 misconceptions are named alone",
        ),
        (
            row("pair", NORM, OTHER),
            graded(lost=CRITERIA[:2]),
            "only 0 of 1 pairs are named, or one of their halves",
        ),
    ],
)
def test_every_way_not_to_hold_is_named(
    assignment: Assignment, changed: Row, result: SubmissionResult, fault: str
) -> None:
    found = report(assignment, {changed: result})
    assert not found.holds
    assert any(fault in said for said in found.faults), found.faults


def test_half_a_pair_counts_and_a_stranger_does_not(assignment: Assignment) -> None:
    pair = row("pair", NORM, OTHER)
    half = report(assignment, {pair: graded(lost=CRITERIA[:2], named=(OTHER,))})
    assert (half.figures.named_pair, half.figures.named_half) == (0, 1)
    both = report(assignment, {pair: graded(lost=CRITERIA[:2], named=(OTHER, "layer_norm.x"))})
    assert (both.figures.named_pair, both.figures.named_half) == (0, 0)


def test_a_row_that_cannot_be_graded_is_a_fault(assignment: Assignment) -> None:
    result = graded().model_copy(
        update={"status": "error", "components": {}, "message": "a worker ended"}
    )
    found = report(assignment, {row("right"): result})
    assert "right could not be graded: a worker ended" in found.faults


def test_the_pairs_are_the_same_in_every_run(assignment: Assignment) -> None:
    first, second = (
        [r.id for r in rows_of(assignment, pairs=3) if r.kind == "pair"] for _ in range(2)
    )
    assert first == second
    assert len(first) == 3 * len(assignment.totals)


def test_quick_leaves_out_what_a_wrong_variant_shows(assignment: Assignment) -> None:
    whole, quick = (rows_of(assignment, 0, quick=quick) for quick in (False, True))
    left_out = {r.id for r in whole if r.kind != "trivial"} - {r.id for r in quick}
    shown = {r.ids[0] for r in whole if r.kind == "wrong" and len(r.wrong) == 1}
    assert len(left_out) > 100
    assert left_out <= shown
    mistakes = [r for r in quick if r.kind == "misconception"]
    # One of each component, which is asked what it does to others.
    assert {r.component for r in mistakes} == set(assignment.totals)
    assert Counter(r.component for r in mistakes if len(r.only) > 1) == dict.fromkeys(
        ("layer_norm", "attention", "multi_head_attention", "feed_forward"), 1
    )
    assert all(r.component in r.only for r in mistakes)
    trivial = [[r.id for r in rows if r.kind == "trivial"] for rows in (whole, quick)]
    assert 0 < len(trivial[1]) < len(trivial[0]) / 4
    assert set(trivial[1]) < set(trivial[0])


def test_there_is_enough_to_prove_them_with(assignment: Assignment) -> None:
    rows = list(rows_of(assignment, pairs=0))
    by_component = [r.component for r in rows if r.kind == "misconception"]
    assert len(by_component) >= 100
    assert min(by_component.count(name) for name in assignment.totals) >= 12
    assert sum(r.kind == "right" for r in rows) >= 12
    assert {r.kind for r in rows} >= {"solution", "stand-in", "right", "stub"}


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
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Write the smallest project, with misconceptions."""

    def write(more: str = "") -> Path:
        root = write_tiny(tmp_path / "project")
        folder = root / "reference" / "norm" / "misconceptions"
        folder.mkdir()
        (folder / "layer_norm.diff").write_text(MISTAKES + more)
        return root

    return write


def test_a_mistake_that_no_check_sees_fails_it(autograder, project) -> None:
    root = project(f"@@ unseen: y\nx\n-{LINE}\n+{LINE} + 0\n")
    options = ("--json", "--sandbox", "none", "--jobs", "1", "--mutants", "0")
    done = autograder("selftest", "norm", "--root", root, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    # Nothing else goes to standard output.
    found = Report.model_validate_json(done.stdout)
    assert not found.holds
    assert "misconception layer_norm.unseen loses no points" in found.faults
    figures = found.figures
    assert (figures.misconceptions, figures.named_alone, figures.hidden_alone) == (2, 1, 1)
    assert {row.kind for row in found.rows} >= {"solution", "stub", "misconception"}
    lost = {row.id: row.lost for row in found.rows if row.kind == "misconception"}
    assert lost == {
        "layer_norm.biased": ["layer_norm.values"],
        "layer_norm.flat": ["layer_norm.shape", "layer_norm.values"],
        "layer_norm.unseen": [],
    }
    said = io.StringIO()
    print_report(Console(file=said, soft_wrap=True), found)
    printed = " ".join(said.getvalue().split())
    assert "biased ·b 2 points flat ab 2 points unseen ·· 0 points a shape, b values" in printed
    assert "not named layer_norm.unseen: nothing" in printed
    assert "misconceptions: 1 of 2 named alone" in printed
    assert "found by hidden criteria alone, which name no mistake: 1" in printed
    assert "fault misconception layer_norm.unseen loses no points" in printed


def test_a_mistake_that_does_not_apply_is_refused_in_a_sentence(autograder, project) -> None:
    root = project(f"@@ lost: y\nx\n-{LINE} * 1\n")
    done = autograder("selftest", "norm", "--root", root)
    assert done.returncode == 2, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert "layer_norm.diff:11: lost: of" in said
    assert "does not stand there: take the lines over from it as they are now" in said


def test_a_file_of_the_earlier_form_is_refused_with_what_to_do(autograder, project) -> None:
    root = project()
    folder = root / "reference" / "norm" / "misconceptions"
    (folder / "layer_norm.py").write_text("WRONG = frozenset()\n")
    done = autograder("selftest", "norm", "--root", root)
    assert done.returncode == 2, done.stdout + done.stderr
    said = " ".join(done.stderr.split())
    assert f"{folder / 'layer_norm.py'}: misconceptions are patches now" in said
    assert f"write each mistake into {folder / 'layer_norm.diff'}" in said


@pytest.mark.release
def test_why_right_work_loses_is_told_with_the_call_and_both_answers(autograder, project) -> None:
    root = project()
    variant = root / "reference" / "norm" / "right_variants" / "v1"
    variant.mkdir(parents=True)
    (variant / "layer_norm.py").write_text(sources.BIASED)
    options = ("--sandbox", "none", "--jobs", "1", "--mutants", "0")
    done = autograder("selftest", "norm", "--root", root, *options)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "collecting the tests …" in done.stdout
    _, found, why = done.stdout.partition("right-v1 loses layer_norm.values: the values are right")
    assert found, done.stdout
    assert "layer_norm(" in why
    assert "the component answered" in why
    assert "the right answer" in why


@pytest.mark.release
def test_what_the_solution_loses_is_told_as_check_tells_it(autograder, project) -> None:
    root = project()
    test = root / "assignments" / "norm" / "tests" / "test_layer_norm.py"
    test.write_text(test.read_text().replace("x.shape)", "(3, 3))"))
    done = autograder("selftest", "norm", "--root", root, "--sandbox", "none", "--jobs", "1")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "the solution loses layer_norm.shape: the shape is kept" in done.stdout
    assert "call 1 of 1" in done.stdout
    assert "norm does not hold" in done.stdout


class Pool:
    """Stands for the workers: right work loses what it is told, all other work everything."""

    asked: ClassVar[list[GradeJob]] = []
    sandbox, fault = "tier 1", False
    lost: tuple[str, ...] = ()
    outcome = "passed"

    def __init__(self, *arguments: object) -> None:
        self.stopped = False

    def start(self, count: int, tell: Tell) -> str:
        return self.sandbox

    def grade(self, job: GradeJob) -> GradeAnswer:
        answer = mark(job)
        if isinstance(answer, Unchanged):
            return answer
        self.asked.append(job)
        if self.fault:
            return Fault(reason="the disk is broken")
        text = (job.place / "layer_norm.py").read_text()
        lost = self.lost if text.startswith(sources.RIGHT) else CRITERIA
        parts = {"layer_norm": graded(lost, stub=text == sources.STUB).components["layer_norm"]}
        parts["layer_norm"].criteria[-1].outcome = self.outcome
        return Marked(result=answer.result.model_copy(update={"components": parts}))

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[GradeJob]]:
    """Run the selftest of the small project; return what had to be graded."""
    root = write_tiny(tmp_path / "project")
    (tmp_path / "cache").mkdir(mode=0o700)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("autograder.grading.batch.WorkerPool", Pool)

    usual = {"sandbox": "tier 1", "fault": False, "lost": (), "outcome": "passed"}

    def run(*more: str, **how: object) -> list[GradeJob]:
        for name, value in {**usual, "asked": [], **how}.items():
            monkeypatch.setattr(Pool, name, value)
        command = ["selftest", "norm", "--root", str(root), "--mutants", "0", "--json", *more]
        done = CliRunner().invoke(cli.app, command)
        assert done.exit_code in (0, 1), done.output
        assert json.loads(done.stdout)["rows"]
        return Pool.asked

    run.root = root
    return run


def test_what_was_graded_by_an_earlier_selftest_is_kept(asked) -> None:
    first = asked()
    assert len(first) > 5
    assert asked() == []
    assert len(asked("--fresh")) == len(first)
    # As many as there are, whatever else was asked meanwhile.
    assert asked("--kind", "stub") == asked() == []


def test_checkouts_of_one_machine_share_what_is_kept(asked, tmp_path: Path) -> None:
    count = len(asked())
    other = Path(shutil.copytree(asked.root, tmp_path / "other"))
    assert asked("--root", str(other)) == []
    suite = other / "assignments" / "norm" / "tests" / "test_layer_norm.py"
    suite.write_text(suite.read_text() + "# changed\n")
    assert len(asked("--root", str(other))) == count
    # Neither takes the other's place.
    assert asked() == asked("--root", str(other)) == []


def test_of_trivial_work_only_marks_are_wanted(asked) -> None:
    diagnosed = [job.diagnose for job in asked("--kind", "trivial", "--fresh")]
    assert len(diagnosed) > 20
    # That is the solution.
    assert diagnosed.count(True) == 1


def test_what_a_result_follows_from_is_part_of_what_it_is_kept_under(asked) -> None:
    count = len(asked())
    assert len(asked(sandbox="tier 2")) == count
    assert asked(sandbox="tier 2") == []
    # Marks of one component alone are not those of all, which there may be more of.
    assert asked("--component", "layer_norm", sandbox="tier 2")
    suite = asked.root / "assignments" / "norm" / "tests" / "test_layer_norm.py"
    suite.write_text(suite.read_text() + "# changed\n")
    assert len(asked()) == count
    variant = asked.root / "reference" / "norm" / "right_variants" / "v1"
    variant.mkdir(parents=True)
    (variant / "layer_norm.py").write_text(sources.RIGHT)
    assert len(asked()) == 1
    (variant / "layer_norm.py").write_text(sources.RIGHT + "# changed\n")
    assert len(asked()) == 1
    assert asked() == []


def test_a_row_at_fault_is_graded_again(asked) -> None:
    count = len(asked(fault=True))
    assert len(asked()) == count
    assert asked() == []


@pytest.mark.release
def test_what_the_report_names_and_what_took_too_long_is_graded_again(asked) -> None:
    count = len(asked(lost=CRITERIA[:1]))
    # That right work loses may have been the machine; that wrong work does is as it should be.
    assert 0 < len(asked(lost=CRITERIA[:1])) < count
    asked("--fresh")
    assert len(asked("--kind", "stub", outcome="timeout", sandbox="tier 2")) == 2
    assert len(asked("--kind", "stub", sandbox="tier 2")) == 2
    assert asked("--kind", "stub", sandbox="tier 2") == []


def test_an_off_cache_keeps_nothing(asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "off")
    assert len(asked()) == len(asked()) > 5
