"""Nothing for nothing: what any answer passes counts only beside something that takes work."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.trivial import submissions
from autograder.judge.collection import collect
from autograder.judge.suite import Suite
from autograder.judge.verdict import Verdict, paid
from autograder.solutions.cache import Cache
from autograder.suite.worth import COUNTS_LATER, Worth
from tests import sources
from tests.tiny import PUBLIC, TOML, write_tiny

ALL, NONE = frozenset([""]), frozenset[str]()
EARNS, OPENS, TAKES_NO_WORK = Worth(ALL, NONE), Worth(ALL, ALL), Worth(NONE, NONE)

# A criterion a line: what it asks, and what that is worth.
ASKED = {
    "shape": (
        "expect.shape(component.call('layer_norm', torch.ones(2, 3)).output, (2, 3))",
        TAKES_NO_WORK,
    ),
    "dtype": (
        "expect.dtype(component.call('layer_norm', torch.ones(2, 3)).output, torch.float32)",
        TAKES_NO_WORK,
    ),
    "device": (
        "expect.follows_device(component.call('layer_norm', "
        "torch.empty(2, 3, device='meta')), (2, 3))",
        TAKES_NO_WORK,
    ),
    "input": (
        "x = torch.tensor([1.0, 2.0]); "
        "expect.unchanged(component.asking(keep_inputs=True).call('layer_norm', x), x)",
        TAKES_NO_WORK,
    ),
    "error": (
        "expect.raises(component.call('layer_norm', torch.ones(2), eps='x'), 'TypeError')",
        TAKES_NO_WORK,
    ),
    "comes_back": (
        "expect.that(component.call('layer_norm', torch.ones(2)))",
        TAKES_NO_WORK,
    ),
    "constant_vector": (
        "expect.close(component.call('layer_norm', torch.ones(2)).output, [0.0, 0.0])",
        TAKES_NO_WORK,
    ),
    # Any that does not look at its input passes.
    "alike": (
        "expect.close(component.call('layer_norm', torch.tensor([1.0, 2.0])).output, "
        "component.call('layer_norm', torch.tensor([2.0, 4.0]), eps=4e-5).output)",
        TAKES_NO_WORK,
    ),
    "plain_condition": (
        "expect.that(bool((component.call('layer_norm', torch.ones(3)).output < 9).all()), 'x')",
        TAKES_NO_WORK,
    ),
    "values": (
        "expect.close(component.call('layer_norm', torch.tensor([1.0, 3.0]), eps=0.0).output, "
        "[-1.0, 1.0])",
        OPENS,
    ),
    # No expectation that compares values, and yet it looks at them.
    "own_comparison": (
        "expect.that(component.call('layer_norm', torch.tensor([1.0, 3.0]), eps=0.0)"
        ".output.tolist() == [-1.0, 1.0], 'x')",
        OPENS,
    ),
    "keys": (
        "expect.keys(list(component.build('LayerNorm', 3).state().entries), "
        "['weight', 'bias'], 'keys')",
        EARNS,
    ),
    "start": (
        "expect.close(component.build('LayerNorm', 2).state().entries['weight'], [1.0, 1.0])",
        EARNS,
    ),
}
CRITERION = '''
@pytest.mark.criterion(points=1, source="page 1")
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
# It has a criterion of its own as every suite must.
HIDDEN = CRITERION.format(name="hidden", asked=ASKED["values"][0])


def collected(tmp_path: Path, public: str, hidden: str = HIDDEN) -> Suite:
    root = write_tiny(tmp_path / "project", public, hidden)
    path = root / "assignments" / "norm" / "assignment.toml"
    points = (public + hidden).count("@pytest.mark.criterion")
    path.write_text(TOML.replace("points = 2", f"points = {points}"))
    return collect(load_assignment(root, "norm"), cache=Cache(None))


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    public = [CRITERION.format(name=name, asked=asked) for name, (asked, _) in ASKED.items()]
    return collected(tmp_path_factory.mktemp("asked"), "".join([*public, CASES]))


@pytest.mark.parametrize("name", ASKED)
def test_what_a_criterion_is_worth_follows_from_who_passes_it(suite: Suite, name: str) -> None:
    assert suite.worth[f"layer_norm.{name}"] == ASKED[name][1]


def test_every_case_is_weighed_by_itself(suite: Suite) -> None:
    names = {name: len(worth.opening) for name, worth in suite.worth.items()}
    assert names["layer_norm.cases"] == 1


def test_a_component_that_asks_for_nothing_is_named_and_right_work_is_paid(tmp_path: Path) -> None:
    suite = collected(tmp_path, PUBLIC, CRITERION.format(name="more", asked=ASKED["error"][0]))
    assert "nothing that is asked of layer_norm takes any work" in suite.faults[0]
    for criterion in suite.criteria["layer_norm"]:
        assert suite.worth_of(criterion) == OPENS


def test_what_takes_no_work_is_paid_beside_something_that_does() -> None:
    shape, keys = Verdict("passed", 1.0, alone=0.0), Verdict("passed", 1.0, alone=1.0)
    values = Verdict("failed", 1 / 3, alone=1 / 3, opens=True)
    assert [v.share for v in paid([shape, keys])] == [0.0, 1.0]
    assert [v.share for v in paid([shape, keys, values])] == [1.0, 1.0, 1 / 3]
    (unpaid, _) = paid([shape, keys])
    assert (unpaid.outcome, unpaid.passed, unpaid.facts) == ("failed", False, [COUNTS_LATER])


RAISES = "raise ValueError('no')"
NOT_YET = f"class LayerNorm(nn.Module):\n    def __init__(self, *a):\n        {RAISES}\n"
HALF_RIGHT = {
    # Whose function is right, and whose module is a stub that raises: it keeps its points.
    "function": sources.RIGHT.replace(sources.MODULE, NOT_YET),
    # Whose function raises, and whose module has the right parameters.
    "parameters": sources.norm(f"    {RAISES}\n"),
    "right": sources.RIGHT,
    "known": sources.SAMPLE,
    # Its real part is right.
    "imaginary": sources.RIGHT.replace(
        "torch.sqrt(variance + eps)", "torch.sqrt(variance + eps) + 1j"
    ),
}
PAID = {
    "function": {"shape", "error", "hidden"},
    "parameters": {"keys"},
    "right": {"shape", "error", "keys", "hidden"},
    "known": {"keys"},
    "imaginary": {"keys"},
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results of half-right and of trivial submissions, by id, on a suite of four criteria."""
    from autograder.grading.batch import Batch
    from autograder.grading.entries import discover

    folder = tmp_path_factory.mktemp("graded")
    asked = {name: ASKED[name][0] for name in ("shape", "error", "keys")}
    public = "".join(CRITERION.format(name=name, asked=text) for name, text in asked.items())
    root = write_tiny(folder / "project", public, HIDDEN)
    toml = root / "assignments" / "norm" / "assignment.toml"
    toml.write_text(TOML.replace("points = 2", "points = 4").replace("deaths = 2", "deaths = 9"))
    assignment = load_assignment(root, "norm")
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
    finally:
        batch.close()
    return {result.submission: json.loads(result.model_dump_json()) for result in found}


@pytest.mark.release
def test_who_got_some_part_right_keeps_what_is_fair(graded: dict[str, Any]) -> None:
    for name, paid_for in PAID.items():
        criteria = graded[name]["components"]["layer_norm"]["criteria"]
        assert {c["id"].partition(".")[2] for c in criteria if c["score"]} == paid_for, name


@pytest.mark.release
def test_an_answer_of_another_kind_fails_whatever_a_test_reads_of_it(
    graded: dict[str, Any],
) -> None:
    criteria = {c["id"]: c for c in criteria_of({"imaginary": graded["imaginary"]})}
    said = criteria["layer_norm.shape"]["message"]
    assert said.startswith("the result has dtype torch.complex64, expected real numbers")


@pytest.mark.release
def test_trivial_work_earns_nothing_and_is_told_why(graded: dict[str, Any]) -> None:
    rows = {name: result for name, result in graded.items() if name.startswith("trivial")}
    assert len(rows) > 20
    assert {name: result["score"] for name, result in rows.items() if result["score"]} == {}
    told = [c["message"] for c in criteria_of(rows) if COUNTS_LATER in c["message"]]
    assert len(told) > 5
    assert "counts once something of this component's values is right" in told[0]


def criteria_of(rows: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for result in rows.values():
        yield from result["components"]["layer_norm"]["criteria"]
