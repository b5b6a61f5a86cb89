"""The mistake behind lost points is named, in whatever style it is written, or nothing is."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.api.operations import Reset
from autograder.assignment import Assignment
from autograder.diagnosis.fits import examples_in
from autograder.diagnosis.table import Names, Question
from autograder.judge.diagnosis import Diagnoser, Diagnosis
from autograder.judge.session import Recorder
from autograder.judge.variants import Variants
from autograder.results import ComponentResult
from tests.asking import asks
from tests.sources import FORWARD, MODULE, block, norm

BY_NUMPY = """\
    values = x.detach().to(torch.float64).numpy()
    mean = torch.from_numpy(values.mean(-1, keepdims=True)).to(x.dtype)
    deviation = torch.from_numpy((values.var(-1, keepdims=True) + eps) ** 0.5).to(x.dtype)
    return (x - mean) / deviation
"""
IN_OTHER_WORDS = """\
    spread = (x.std(dim=-1{}) ** 2 + eps) ** 0.5
    return torch.div(torch.sub(x, x.mean(-1)[..., None]), spread[..., None])
"""
SAMPLE = IN_OTHER_WORDS.format("")
SWAPPED = MODULE.replace(FORWARD, "(layer_norm(x, self.eps) + self.bias) * self.weight")
BROKEN = MODULE.replace(FORWARD, "layer_norm(x, self.eps) @ self.nothing")
STUDENTS = {
    # The same mistake as in the table, in other words.
    "sample": norm(SAMPLE),
    # Visible through gradients alone.
    "numpy": norm(BY_NUMPY),
    # Two mistakes at once.
    "pair": norm(SAMPLE, SWAPPED),
    # One known mistake, beside something that nobody has seen before.
    "part": norm(SAMPLE, BROKEN),
    # Wrong in a way that is in no table.
    "unknown": norm("    return (x - x.median(-1, keepdim=True).values) * 0.7\n"),
    "right": norm(IN_OTHER_WORDS.format(", correction=0")),
    "random": norm("    return torch.randn_like(x) + 0 * x\n"),
    "crash": norm("    raise RuntimeError('everywhere')\n"),
}


@pytest.fixture(scope="module")
def results(grade) -> dict[str, ComponentResult]:
    """The students' layer norms."""
    return {
        student: grade({"layer_norm.py": text})["layer_norm"] for student, text in STUDENTS.items()
    }


@pytest.mark.parametrize(
    ("student", "names"),
    [
        ("sample", ["sample_variance"]),
        ("numpy", ["detached_statistics"]),
        ("pair", ["sample_variance", "shift_before_scale"]),
        ("part", ["sample_variance"]),
        ("unknown", []),
        ("random", []),
        ("crash", []),
        ("right", []),
    ],
)
def test_what_is_named(results, student: str, names: list[str]) -> None:
    assert results[student].misconceptions == [f"layer_norm.{name}" for name in names]
    assert not results[student].either


def test_right_work_keeps_every_point(results) -> None:
    assert results["right"].score == 14


def test_right_work_never_waits_for_what_mistakes_answer(
    grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    prepare = Diagnoser.prepare

    def noted(self: Diagnoser, component: str) -> list[Question]:
        asked.append(component)
        return prepare(self, component)

    monkeypatch.setattr(Diagnoser, "prepare", noted)
    grade({"layer_norm.py": STUDENTS["right"]})
    assert asked == []
    # Nor does work of which nothing can be said.
    grade({"layer_norm.py": "def layer_norm(:\n"})
    assert asked == []
    grade({"layer_norm.py": STUDENTS["unknown"]})
    assert asked == ["layer_norm"]


def test_the_message_explains_the_mistake(results) -> None:
    explanation = "you divided the squared deviations by n - 1; the course divides them by n"
    assert explanation in results["sample"].message
    for criterion in results["sample"].criteria:
        if criterion.visibility == "hidden":
            # It takes no part: what it answers could be what it was asked.
            assert explanation not in criterion.message
        elif not criterion.passed:
            assert f"likely cause: {explanation}" in criterion.message


def test_a_mistake_explains_only_the_criteria_it_loses(results) -> None:
    by_id = {c.id.partition(".")[2]: c.message for c in results["part"].criteria}
    assert "n - 1" in by_id["population_variance"]
    assert "n - 1" not in by_id["scale_and_shift"]


def test_of_two_mistakes_a_criterion_tells_those_that_show_there(results) -> None:
    by_id = {c.id.partition(".")[2]: c.causes for c in results["pair"].criteria}
    (alone,) = by_id["population_variance"]
    (both,) = by_id["scale_and_shift"]
    assert "n - 1" in alone
    assert "; and " not in alone
    assert both.startswith("both of these: ")
    assert "n - 1" in both.split("; and ")[0]


def test_a_component_that_uses_a_broken_one_is_diagnosed_with_a_stand_in(
    grade, assignment: Assignment
) -> None:
    files = {path.name: path.read_text() for path in assignment.secret.glob("*.py")}
    files |= {
        "layer_norm.py": STUDENTS["sample"],
        "transformer_block.py": block(second="self.norm1"),
    }
    found = grade(files)["transformer_block"]
    assert found.misconceptions == ["transformer_block.norm1_used_twice"]
    assert found.stand_ins == ["layer_norm"]
    assert "graded with a working layer_norm" in found.message


# Diagnosis by itself: a component `double`, whose mistakes show on some inputs only.
DOUBLE = """\
def double(x):
    y = 2 * x
    return y
"""
PATCHES = """\
@@ large_cut: page 1
you cut large results off
-    return y
+    return y.clamp(max=20)
@@ always_three: page 2
you multiplied by three
-    y = 2 * x
+    y = 3 * x
@@ three_if_small: page 3
you multiplied small inputs by three
     y = 2 * x
+    if float(x.abs().max()) < 5:
+        y = 3 * x
@@ three_if_tiny: page 4
you multiplied tiny inputs by three
     y = 2 * x
+    if float(x.abs().max()) < 2:
+        y = 3 * x
@@ always_three.negative: page 2
of negative numbers, you multiplied by three
     y = 2 * x
+    if float(x.max()) < 0:
+        y = 3 * x
"""


def diagnose(
    tmp_path: Path,
    student: str,
    inputs: Sequence[float],
    alive: bool = True,
    passed: Sequence[float] = (),
    free: bool = False,
    asked_on: float | None = None,
    patches: str = PATCHES,
    unasked: Sequence[float] = (),
) -> tuple[Diagnosis, int]:
    """Ask a student's `double` about inputs; return the diagnosis and how much more it asked.

    What is asked with `passed` another criterion accepts, which is `free` or not. The last input is
    asked on with `asked_on`, where the solution was asked on with 1. The suite asks with `unasked`,
    too, but it did not come to that.
    """
    secret = tmp_path / "secret"
    (secret / "misconceptions").mkdir(parents=True)
    (secret / "misconceptions" / "double.diff").write_text(patches)
    (secret / "double.py").write_text(DOUBLE)
    (tmp_path / "student").mkdir()
    (tmp_path / "student" / "handed_in.py").write_text(student)
    base = Executor(secret, "double")
    theirs = Executor(tmp_path / "student", "handed_in")
    for executor in (base, theirs):
        assert executor.load_error is None
    for name in ("double", "handed_in"):
        sys.modules.pop(name)
    recorders = Recorder(base), Recorder(base), Recorder(base)
    for recorder, numbers in zip(recorders, (inputs, passed, unasked), strict=True):
        for number in numbers:
            call = asks("double", torch.tensor([number, number / 2]))
            recorder.perform(Request([Reset(), call]))
    if asked_on is not None:
        recorders[0].perform(Request([asks("double", torch.tensor([1.0]))]))
    lost, kept = (
        [(p.request, theirs.perform(p.request)) for p in recorder.plan]
        for recorder in recorders[:2]
    )
    if asked_on is not None:
        other = Request([asks("double", torch.tensor([asked_on]))])
        lost[-1] = other, theirs.perform(other)
    asked: list[Sequence[Request]] = []

    def ask(requests: Sequence[Request]) -> list[Reply] | None:
        asked.append(requests)
        return [theirs.perform(request) for request in requests] if alive else None

    assignment: Any = SimpleNamespace(
        secret=secret,
        public=secret,
        totals={"double": 1.0},
        component=lambda name: SimpleNamespace(program=False),
    )
    diagnoser = Diagnoser(assignment, {"double": [recorder.plan for recorder in recorders]})
    examples = examples_in("double.works", False, lost)
    examples += examples_in("double.chosen", True, kept, free)
    return diagnoser.diagnose("double", examples, ask), len(asked)


def named(diagnosis: Diagnosis) -> list[str]:
    return [misconception.id.removeprefix("double.") for misconception in diagnosis.found]


def test_one_that_fits_alone_needs_no_further_question(tmp_path: Path) -> None:
    found, asked = diagnose(tmp_path, "def double(x):\n    return x + x + x\n", [1.0, 3.0, 9.0])
    assert (named(found), found.either, asked) == (["always_three"], False, 0)


def test_what_the_calls_leave_open_is_asked(tmp_path: Path) -> None:
    student = "def double(x):\n    return x + x + x\n"
    found, asked = diagnose(tmp_path, student, [1.0], unasked=[0.5, 9.0])
    assert (named(found), found.either) == (["always_three"], False)
    # The first one parts no two of them.
    assert asked == 1


def test_what_stays_open_is_said_to_be_open(tmp_path: Path) -> None:
    student = "def double(x):\n    return 3 * x\n"
    for alive, unasked in ((True, []), (False, [9.0])):
        (tmp_path / str(alive)).mkdir()
        found, _ = diagnose(tmp_path / str(alive), student, [1.0], alive=alive, unasked=unasked)
        assert found.either
        assert named(found) == ["always_three", "three_if_small", "three_if_tiny"]
        assert found.words.startswith("one of these: ")


def test_two_mistakes_are_named_together(tmp_path: Path) -> None:
    student = "def double(x):\n    return (3 * x).clamp(max=20)\n"
    found, _ = diagnose(tmp_path, student, [1.0, 3.0, 9.0])
    assert (named(found), found.either) == (["large_cut", "always_three"], False)


# Negative numbers have lines of their own.
TWO_WAYS = "def double(x):\n    return 3 * x if float(x.max()) < 0 else 2 * x\n"


def test_two_that_change_the_same_words_are_never_named_together(tmp_path: Path) -> None:
    """What they would answer together is not known."""
    student = "def double(x):\n    return (3 * x).clamp(max=20)\n"
    cut = "-    return y\n+    return y.clamp(max=20)\n"
    assert cut in PATCHES
    touching = PATCHES.replace(cut, "-    y = 2 * x\n+    y = (2 * x).clamp(max=20)\n")
    for patches, names in ((PATCHES, ["large_cut", "always_three"]), (touching, [])):
        (tmp_path / str(len(names))).mkdir()
        found, _ = diagnose(tmp_path / str(len(names)), student, [1.0, 9.0], patches=patches)
        assert named(found) == names


def test_a_mistake_in_one_branch_is_named_with_the_branch(tmp_path: Path) -> None:
    found, _ = diagnose(tmp_path, TWO_WAYS, [-1.0, 3.0, -9.0], passed=[9.0])
    assert [misconception.id for misconception in found.found] == ["double.always_three"]
    assert found.words == "of negative numbers, you multiplied by three (page 2)"


def test_a_mistake_in_every_branch_is_named_without_one(tmp_path: Path) -> None:
    found, _ = diagnose(tmp_path, "def double(x):\n    return x + x + x\n", [-1.0, 3.0, 9.0])
    assert found.words == "you multiplied by three (page 2)"


def test_a_mistake_in_another_part_than_a_branch_is_not_named(tmp_path: Path) -> None:
    student = "def double(x):\n    return 3 * x if float(x.max()) < -5 else 2 * x\n"
    found, _ = diagnose(tmp_path, student, [-9.0, 3.0], passed=[-1.0])
    assert named(found) == []


def test_a_pair_is_not_computed_that_a_right_answer_speaks_against(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: set[Names] = set()
    perform = Variants.perform

    def noted(self: Variants, wrong: Names, request: Request) -> Reply:
        computed.add(wrong)
        return perform(self, wrong, request)

    monkeypatch.setattr(Variants, "perform", noted)
    student = (
        "def double(x):\n    return 2 * x if float(x.max()) == 15 else (3 * x).clamp(max=20)\n"
    )
    found, _ = diagnose(tmp_path, student, [1.0, 3.0, 9.0], passed=[15.0])
    assert named(found) == []
    # At 15 both of these show, and no other.
    pairs = {names for names in computed if len(names) == 2}
    assert pairs == {frozenset(["large_cut", "always_three"])}


def test_what_further_questions_refute_is_not_named(tmp_path: Path) -> None:
    # As every candidate on what was asked; as none of them on anything else.
    student = "def double(x):\n    return 3 * x if float(x.max()) == 1 else 7 * x\n"
    found, _ = diagnose(tmp_path, student, [1.0], unasked=[9.0])
    assert named(found) == []


# Three times, but where the input is 7: there its answer is its own.
CHOOSES = "def double(x):\n    return -x if float(x.max()) == 7 else 3 * x\n"


@pytest.mark.parametrize(("free", "names"), [(True, ["always_three"]), (False, [])])
def test_what_may_be_chosen_speaks_against_no_mistake(
    tmp_path: Path, free: bool, names: list[str]
) -> None:
    found, _ = diagnose(tmp_path, CHOOSES, [1.0, 3.0, 9.0], passed=[7.0], free=free)
    assert named(found) == names


def test_where_a_free_answer_is_the_right_one_it_tells(tmp_path: Path) -> None:
    student = "def double(x):\n    return 2 * x if float(x.max()) == 7 else 3 * x\n"
    found, _ = diagnose(tmp_path, student, [1.0, 3.0, 9.0], passed=[7.0], free=True)
    assert named(found) == []


def test_what_is_asked_on_with_the_students_answer_is_another_question(tmp_path: Path) -> None:
    """What mistakes answer to it was once kept, and taken for the answer to the suite's own."""
    student = "def double(x):\n    return (2 * x).clamp(max=20)\n"
    found, _ = diagnose(tmp_path, student, [30.0, 3.0], asked_on=50.0)
    assert named(found) == ["large_cut"]


def test_a_right_answer_has_no_diagnosis(tmp_path: Path) -> None:
    found, asked = diagnose(tmp_path, "def double(x):\n    return x + x\n", [1.0, 30.0])
    assert (named(found), asked) == ([], 0)
