"""Form counts later: names, shapes, errors and devices earn beside something that takes work."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.api.criterion import COUNTS_LATER, Criterion
from autograder.assignment import load_assignment
from autograder.authoring.trivial import faults_of, submissions
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.component import counted
from autograder.judge.suite import Attempt, Suite, SuiteFault
from autograder.results import SubmissionResult
from autograder.student.local import Terms
from autograder.student.tally import Tally
from tests import sources
from tests.tiny import TOML, write_tiny

# A criterion a line: whether it is marked as form, and what it asks.
ASKED = {
    "shape": (
        True,
        "expect.shape(component.call('layer_norm', torch.ones(2, 3)).output, (2, 3))",
    ),
    "error": (
        True,
        "expect.raises(component.call('layer_norm', torch.ones(2), eps='x'), 'TypeError')",
    ),
    "keys": (
        True,
        "expect.keys(list(component.build('LayerNorm', 3).state().entries), "
        "['weight', 'bias'], 'keys')",
    ),
    "values": (
        False,
        "expect.close(component.call('layer_norm', torch.tensor([1.0, 3.0]), eps=0.0).output, "
        "[-1.0, 1.0])",
    ),
}
CRITERION = '''
@pytest.mark.criterion(points=1, form={form}, source="page 1")
def test_{name}(component, expect, make):
    """{name}"""
    {asked}
'''
CASES = '''
@pytest.mark.criterion(points=1, source="page 1")
@pytest.mark.parametrize("x, right", [([1.0, 1.0], [0.0, 0.0]), ([1.0, 3.0], [-1.0, 1.0])])
def test_cases(component, expect, make, x, right):
    """cases"""
    answer = component.call("layer_norm", torch.tensor(x), eps=1e-12)
    expect.close(answer.output, right)
'''


def criterion(name: str, form: bool | None = None) -> str:
    marked, asked = ASKED[name]
    return CRITERION.format(name=name, asked=asked, form=marked if form is None else form)


# It has a criterion of its own, as every suite must.
HIDDEN = criterion("values").replace("test_values", "test_hidden")


def write(tmp_path: Path, public: str, hidden: str = HIDDEN) -> Path:
    root = write_tiny(tmp_path / "project", public, hidden)
    path = root / "assignments" / "norm" / "assignment.toml"
    points = (public + hidden).count("@pytest.mark.criterion")
    toml = TOML.replace("points = 2", f"points = {points}").replace("deaths = 2", "deaths = 9")
    path.write_text(toml)
    return root


def collected(root: Path) -> Suite:
    return collect(load_assignment(root, "norm"), cache=Cache(None))


def test_a_component_of_form_alone_is_a_fault(tmp_path: Path) -> None:
    root = write(tmp_path, criterion("shape"), criterion("error"))
    (fault,) = collected(root).faults
    assert fault.startswith("all criteria of layer_norm are marked form=True")
    assert collected(write(tmp_path / "other", criterion("shape"))).faults == []


def test_a_mark_that_is_misspelt_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteFault, match="has no 'forms'"):
        collected(write(tmp_path, criterion("shape").replace("form=", "forms=")))


def a(name: str, form: bool = False, points: float = 1.0) -> Criterion:
    return Criterion(f"norm.{name}", "norm", name, points, "page 1", "public", form)


def shares(*attempts: Attempt) -> list[float]:
    return [attempt.share for attempt in counted(attempts)]


def test_form_earns_once_another_criterion_holds_in_part() -> None:
    shape = Attempt(a("shape", form=True), passed=1, outcome="passed")
    nothing = Attempt(a("values"), outcome="failed")
    part = Attempt(a("values"), outcome="failed", passed=1, cases=3)
    withheld, _ = counted([shape, nothing])
    assert (withheld.outcome, withheld.share, withheld.facts) == ("failed", 0.0, [COUNTS_LATER])
    assert shares(shape, part) == [1.0, 1 / 3]
    # Other form is not enough, and what is not form needs nothing beside it.
    assert shares(shape, replace(shape, criterion=a("y", True))) == [0.0, 0.0]
    assert shares(replace(shape, passed=0, outcome="failed"), part) == [0.0, 1 / 3]


CRITERIA = st.lists(
    st.tuples(st.booleans(), st.lists(st.booleans(), min_size=1, max_size=4)),
    min_size=1,
    max_size=5,
)


@given(criteria=CRITERIA)
def test_a_student_counts_as_the_grader_does(criteria: list[tuple[bool, list[bool]]]) -> None:
    """Whatever holds: by the same rule in the student's own tally and in a mark."""
    tally = Tally({"norm": Terms(points=99.0)})
    asked, attempts = [], []
    for number, (form, cases) in enumerate(criteria):
        asked.append(a(str(number), form, points=len(cases)))
        for held in cases:
            tally.add(asked[-1], "passed" if held else "failed")
        outcome = "passed" if all(cases) else "failed"
        attempts.append(Attempt(asked[-1], outcome=outcome, passed=sum(cases), cases=len(cases)))
    marked = counted(attempts)
    earned = sum(c.points * v.share for c, v in zip(asked, marked, strict=True))
    waiting = sum(c.points * v.share for c, v in zip(asked, attempts, strict=True)) - earned
    line = tally.line("norm")
    assert f" {round(earned, 2):g} of " in line
    assert ("more count once another check holds" in line) == (waiting > 0)
    assert waiting == 0 or f"; {round(waiting, 2):g} more count" in line


RAISES = "raise ValueError('no')"
NOT_YET = f"class LayerNorm(nn.Module):\n    def __init__(self, *a):\n        {RAISES}\n"
HALF_RIGHT = {
    # Whose function is right, and whose module is a stub that raises: it keeps its points.
    "function": sources.RIGHT.replace(sources.MODULE, NOT_YET),
    # Whose function raises, and whose module has the right parameters.
    "parameters": sources.norm(f"    {RAISES}\n"),
    "right": sources.RIGHT,
    # A known mistake: that it is one has no part in the mark.
    "known": sources.SAMPLE,
    # Its real part is right.
    "imaginary": sources.RIGHT.replace(
        "torch.sqrt(variance + eps)", "torch.sqrt(variance + eps) + 1j"
    ),
}
PAID = {
    "function": {"shape", "error", "hidden"},
    "parameters": set(),
    "right": {"shape", "error", "keys", "hidden"},
    "known": set(),
    "imaginary": set(),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SubmissionResult]:
    """Results of half-right and of trivial submissions, by id, on a suite of four criteria."""
    from autograder.grading.batch import Batch
    from autograder.grading.entries import discover

    folder = tmp_path_factory.mktemp("graded")
    assignment = load_assignment(
        write(folder, "".join(map(criterion, ("shape", "error", "keys")))), "norm"
    )
    handed_in = {name: {"layer_norm.py": text.encode()} for name, text in HALF_RIGHT.items()}
    handed_in |= {f"trivial {way}": files for way, files in submissions(assignment)}
    for name, files in handed_in.items():
        (folder / "batch" / name).mkdir(parents=True)
        for file, data in files.items():
            (folder / "batch" / name / file).write_bytes(data)
    (folder / "out" / "results").mkdir(parents=True)
    batch = Batch(assignment, folder / "out", "auto", jobs=2, resume=False)
    try:
        found = batch.run(discover(folder / "batch", "norm").entries, lambda result, kept: None)
        return {result.submission: result.model_copy() for result in found}
    finally:
        batch.close()


def criteria_of(rows: dict[str, SubmissionResult]) -> Iterator[dict[str, Any]]:
    for result in rows.values():
        yield from json.loads(result.model_dump_json())["components"]["layer_norm"]["criteria"]


@pytest.mark.slow
def test_who_got_some_part_right_keeps_what_is_fair(graded: dict[str, SubmissionResult]) -> None:
    for name, paid_for in PAID.items():
        found = criteria_of({name: graded[name]})
        assert {c["id"].partition(".")[2] for c in found if c["score"]} == paid_for, name


@pytest.mark.slow
def test_the_result_says_what_asks_for_form(graded: dict[str, SubmissionResult]) -> None:
    found = {c["id"].partition(".")[2]: c["form"] for c in criteria_of({"": graded["right"]})}
    assert found == {"shape": True, "error": True, "keys": True, "hidden": False}


@pytest.mark.slow
def test_an_answer_of_another_kind_fails_whatever_a_test_reads_of_it(
    graded: dict[str, SubmissionResult],
) -> None:
    found = {c["id"]: c for c in criteria_of({"imaginary": graded["imaginary"]})}
    said = found["layer_norm.shape"]["message"]
    assert said.startswith("the result has dtype torch.complex64, expected real numbers")


@pytest.mark.slow
def test_trivial_work_earns_nothing_and_is_told_why(graded: dict[str, SubmissionResult]) -> None:
    rows = {name: result for name, result in graded.items() if name.startswith("trivial")}
    assert len(rows) > 30
    assert {name: result.score for name, result in rows.items() if result.score} == {}
    assert sum(COUNTS_LATER in c["message"] for c in criteria_of(rows)) > 5
    assert faults_of(rows) == []


@pytest.mark.slow
def test_what_trivial_work_passes_must_be_marked_as_form(
    graded: dict[str, SubmissionResult],
) -> None:
    row = graded["trivial returns zeros"]
    (first, *others) = row.components["layer_norm"].criteria
    passed = first.model_copy(update={"form": False, "passed": False, "passed_cases": 1})
    part = passed.model_copy(update={"cases": 2})
    component = row.components["layer_norm"].model_copy(update={"criteria": [part, *others]})
    changed = row.model_copy(update={"components": {"layer_norm": component}})
    (fault,) = faults_of({"returns zeros": changed, "returns ones": changed})
    assert fault == (
        "layer_norm.shape is passed by work that returns zeros, whatever it is asked (and by 1 "
        "more like it), in 1 of 2 cases: mark it form=True if it asks for names, shapes, errors "
        "or devices; else ask for values that nobody has without work"
    )
