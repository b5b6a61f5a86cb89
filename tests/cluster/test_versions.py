"""A Dask worker that differs is named, with the package, both versions and the repair."""

import pytest

from autograder import __version__
from autograder.cluster.versions import difference, other_scheduler, recorded

HERE = {"python": "3.11.7", "torch": "2.13.0", "gradeformer": "0.1.0"}


def test_what_is_recorded_in_results_is_compared_and_our_own_version() -> None:
    found = recorded(["einops"])
    assert set(found) == {
        *("python", "torch", "numpy", "pytest", "hypothesis", "einops", "gradeformer")
    }
    assert found["gradeformer"] == __version__


@pytest.mark.parametrize(
    ("name", "there", "said"),
    [
        ("torch", "2.12.0", "has torch 2.12.0, and this machine has 2.13.0"),
        ("torch", "2.13.0+cu", "pip install torch==2.13.0 there"),
        ("torch", None, "has no torch"),
        ("python", "3.12.0", "start the worker with Python 3.11.7"),
        ("gradeformer", "0.2.0", "pip install gradeformer==0.1.0 there"),
    ],
)
def test_one_that_differs_is_a_sentence(name: str, there: str | None, said: str) -> None:
    found = difference("tcp://10.0.0.5:9", {**HERE, name: there}, HERE)
    assert found is not None
    assert said in found
    assert "the Dask worker tcp://10.0.0.5:9" in found


def test_what_is_the_same_is_nothing_to_say() -> None:
    assert difference("w", dict(HERE), HERE) is None
    # A package that no installer knows of, on either side.
    assert difference("w", {"mine": None}, {"mine": "unknown"}) is None


def test_a_scheduler_without_the_grader_is_named() -> None:
    assert "the Dask scheduler has no gradeformer" in other_scheduler(None, "0.1.0")
    assert "has gradeformer 0.2.0" in other_scheduler("0.2.0", "0.1.0")
