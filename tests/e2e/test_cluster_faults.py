"""Dask workers that are lost, without a judge: what is begun again, how often, and what is said."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.grading.messages import Fault, GradeAnswer, GradeJob, Marked
from autograder.grading.workers import CannotGrade
from autograder.platforms.cluster.schedulers import Local
from tests import sources
from tests.packing import make_folder
from tests.tiny import write_tiny

pytest.importorskip("distributed", reason="DASK IS NOT INSTALLED: run `make test-e2e`")

from autograder.platforms.cluster import far
from autograder.platforms.cluster.client import Grader
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
    monkeypatch.setattr(far, "Judges", quick.QuickJudges)
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
    """Also while many more wait than are graded side by side: who waits is not blamed."""
    killers = [f"{quick.KILLER}{n}" for n in range(3)]
    honest = [f"s{n:02}" for n in range(12)]
    answers = graded(quick_grader, tmp_path / "batch", [*killers, *honest])
    assert all(isinstance(answers[name], Marked) for name in honest), answers
    for name in killers:
        answer = answers[name]
        assert isinstance(answer, Fault)
        assert "was lost 2 times" in answer.reason
    begun = tries(tmp_path)
    assert max(begun.values()) <= 2
    assert sum(begun[name] for name in killers) > len(killers)


def test_an_answer_that_is_lost_with_its_dask_worker_is_made_again(
    quick_grader: Grader, tmp_path: Path
) -> None:
    """It is one answer all the same, and nobody is at fault for one lost Dask worker."""
    honest = ["s00", "s01"]
    answers = graded(quick_grader, tmp_path / "batch", [quick.LATE_KILLER, *honest])
    assert all(isinstance(answer, Marked) for answer in answers.values()), answers
    assert tries(tmp_path)[quick.LATE_KILLER] == 2


def test_a_dask_worker_that_is_gone_for_good_is_replaced(
    quick_grader: Grader, tmp_path: Path
) -> None:
    quick_grader._client.retire_workers(close_workers=True)
    answers = graded(quick_grader, tmp_path / "batch", ["s01"])
    assert isinstance(answers["s01"], Marked)


def test_a_task_that_fails_is_tried_once_more_and_is_nobodys_zero(
    quick_grader: Grader, tmp_path: Path
) -> None:
    answers = graded(quick_grader, tmp_path / "batch", [quick.STUMBLER, quick.FAILURE])
    assert isinstance(answers[quick.STUMBLER], Marked)
    assert answers[quick.FAILURE] == Fault(reason="RuntimeError: nothing of a judge")
    assert tries(tmp_path) == {quick.STUMBLER: 2, quick.FAILURE: 2}


def test_dask_workers_that_are_lost_while_they_start_are_one_sentence(
    grader: Grader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(far, "Judges", quick.ShortJudges)
    with pytest.raises(CannotGrade, match="all Dask workers were lost while they started"):
        grader.start()
