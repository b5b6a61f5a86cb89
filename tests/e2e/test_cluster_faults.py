"""Dask workers that are lost, without a judge: what is begun again, how often, and what is said."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.cluster.naming import Local
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked
from autograder.grading.workers import CannotGrade
from tests import sources
from tests.packing import make_folder
from tests.tiny import write_tiny

pytest.importorskip("distributed", reason="DASK IS NOT INSTALLED: run `make test-e2e`")

from autograder.cluster import far
from autograder.cluster.client import Grader
from tests.e2e import quick

# tests/e2e/test_cluster.py has a class on a cluster, graded as on one machine.
pytestmark = pytest.mark.release


@pytest.fixture
def grader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Grader]:
    """A cluster of one process with one thread."""
    monkeypatch.setenv(quick.TRIES, str(tmp_path / "tries"))
    assignment = load_assignment(write_tiny(tmp_path / "project"), "norm")
    found = Grader(Local(1), assignment, "auto")
    yield found
    found.close()


@pytest.fixture
def quick_grader(grader: Grader, monkeypatch: pytest.MonkeyPatch) -> Grader:
    """Ready, with slots that have no judge."""
    monkeypatch.setattr(far, "Slots", quick.QuickSlots)
    grader.start()
    return grader


def graded(grader: Grader, folder: Path, names: list[str]) -> dict[str, GradeAnswer]:
    """Have all of these graded side by side."""
    jobs = []
    for name in names:
        make_folder(folder / name, {"layer_norm.py": sources.RIGHT.encode()})
        jobs.append(GradeJob(id=name, path=os.fsencode(folder / name), suite_hash="suite"))
    with ThreadPoolExecutor(len(jobs)) as threads:
        return dict(zip(names, threads.map(grader.grade, jobs), strict=True))


def tries(tmp_path: Path) -> Counter[str]:
    return Counter((tmp_path / "tries").read_text().split())


def test_one_that_kills_is_begun_twice_and_costs_nobody_else_anything(
    quick_grader: Grader, tmp_path: Path
) -> None:
    killers = [f"{quick.KILLER}{n}" for n in range(3)]
    honest = [f"s{n:02}" for n in range(12)]
    answers = graded(quick_grader, tmp_path / "batch", [*killers, *honest])
    assert {name for name in answers if answers[name] == Fault(reason=far.LOST)} == set(killers)
    assert all(isinstance(answers[name], Marked) for name in honest)
    assert {tries(tmp_path)[name] for name in killers} == {far.MOST_BEGUN}


def test_an_answer_outlives_the_dask_worker_that_gave_it(
    quick_grader: Grader, tmp_path: Path
) -> None:
    """Lost three times, after each had answered: nobody is graded again, nobody is blamed."""
    names = [f"{quick.LATE_KILLER}{n}" for n in range(3)]
    answers = graded(quick_grader, tmp_path / "batch", names)
    assert all(isinstance(answer, Marked) for answer in answers.values()), answers
    assert tries(tmp_path) == dict.fromkeys(names, 1)


def test_dask_workers_that_are_always_lost_are_one_sentence(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "Slots", quick.ShortSlots)
    with pytest.raises(CannotGrade, match="lost again and again before they grade anything"):
        grader.start()
