"""Time that is over is over for everything, and what was not run then says why."""

from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.grading.batch import Batch
from autograder.grading.entries import discover
from autograder.results import ComponentResult
from tests import sources
from tests.tiny import TOML, write_tiny

SLEEPS = sources.by_variance(sources.SQUARES, "    import time\n    time.sleep({})\n")
# One call may wait for longer than the whole submission.
LIMITS = "call_wall_s = 500.0\nsubmission_wall_s = 4.0"
STUDENTS = {
    "honest": sources.RIGHT,
    "in every call": SLEEPS.format(10_000),
    "at import": "import time\ntime.sleep(10_000)\n",
    "a little": SLEEPS.format(0.9),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ComponentResult]:
    folder = tmp_path_factory.mktemp("time")
    root = write_tiny(folder / "project")
    toml = root / "assignments" / "norm" / "assignment.toml"
    toml.write_text(TOML.replace("call_wall_s = 5.0", LIMITS))
    for name, text in STUDENTS.items():
        (folder / "batch" / name).mkdir(parents=True)
        (folder / "batch" / name / "layer_norm.py").write_text(text)
    (folder / "out" / "results").mkdir(parents=True)
    batch = Batch(load_assignment(root, "norm"), folder / "out", "auto", jobs=2, resume=False)
    try:
        found = batch.run(discover(folder / "batch", "norm").entries, lambda result, kept: None)
    finally:
        batch.close()
    assert {result.status for result in found} == {"graded"}
    return {result.submission: result.components["layer_norm"] for result in found}


@pytest.mark.release
def test_who_waits_is_over_when_the_submission_is(graded: dict[str, ComponentResult]) -> None:
    for name in ("in every call", "at import", "a little"):
        assert graded[name].status == "timeout", name
        assert "the time of the whole submission (4 s) is used up" in graded[name].message
    first, second = graded["in every call"].criteria
    assert first.outcome == "timeout"
    assert "before the time for it was over" in first.message
    # Hidden questions have time of their own.
    assert (second.outcome, second.passed) == ("timeout", False)


@pytest.mark.release
def test_who_does_not_wait_notices_nothing(graded: dict[str, ComponentResult]) -> None:
    assert graded["honest"].score == graded["honest"].max_score


def test_the_time_of_a_submission_has_a_default_and_one_place(tmp_path: Path) -> None:
    root = write_tiny(tmp_path)
    toml = root / "assignments" / "norm" / "assignment.toml"
    assert load_assignment(root, "norm").submission_wall_s == 50.0
    toml.write_text(TOML.replace("deaths = 2", "deaths = 2\nsubmission_wall_s = 7"))
    assert load_assignment(root, "norm").submission_wall_s == 7.0
    toml.write_text(TOML + "limits = { submission_wall_s = 7 }\n")
    with pytest.raises(UsageError, match=r"submission_wall_s is for all components"):
        load_assignment(root, "norm")
