"""A worker that is killed at a known moment of a submission: the next one begins it anew.

The test itself does it, which runs in the judge: before it asks anything, when its plan was asked
ahead and lost, or between two of its questions.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.grading.batch import Batch
from autograder.grading.entries import Entry
from tests.grading.processes import marks, offspring, read_all, says
from tests.tiny import PLAIN, write_plain

pytestmark = pytest.mark.slow

SUITE = '''"""Questions, and moments at which the worker may be killed."""

import pytest

# A suite imports nothing of the kind; this one has to end its worker.
os, signal = map(__import__, ("os", "signal"))
ORDER = {order!r}


def moment(name):
    """Kill what is to be killed at this moment, once; this process ends with its worker."""
    if os.path.exists(ORDER):
        when, victim = open(ORDER).read().split()
        if when == name:
            os.unlink(ORDER)
            os.kill(int(victim) or os.getpid(), signal.SIGKILL)
            signal.pause()


@pytest.mark.criterion(points=1, source="page 1")
def test_{phase}(component, expect):
    """numbers are doubled"""
    moment("{phase}-plan")
    for number in (2, 5, 8):
        expect.same(component.call("double", number).value, 2 * number)
        moment("{phase}-live")
'''
# Right the first time, and what it answers then says how often it was asked.
COUNTS = """count = 0


def double(x):
    global count
    count += 1
    return 2 * x if count == 1 else 100 * count
"""
WORKS = {"s01": PLAIN, "s02": COUNTS, "s03": PLAIN, "s04": PLAIN.replace("2", "3")}


@dataclass(frozen=True)
class Graded:
    """A class, how it is graded undisturbed, and the file that says when what is to be killed."""

    assignment: Assignment
    entries: list[Entry]
    order: Path
    results: dict[str, object]


def begun(assignment: Assignment, out: Path) -> Batch:
    (out / "results").mkdir(parents=True)
    return Batch(assignment, out, "none", 1, resume=True)


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    folder = tmp_path_factory.mktemp("killed")
    root, order = write_plain(folder), folder / "order"
    for place, phase in (("assignments", "public"), ("reference", "hidden")):
        suite = root / place / "plain" / "tests" / "test_double.py"
        suite.write_text(SUITE.format(order=str(order), phase=phase))
    entries = []
    for student, source in WORKS.items():
        entries.append(Entry(student, folder / "class" / student))
        entries[-1].path.mkdir(parents=True)
        (entries[-1].path / "double.py").write_text(source)
    assignment, out = load_assignment(root, "plain"), folder / "out"
    batch = begun(assignment, out)
    try:
        for entry in entries:
            batch.result(entry)
    finally:
        batch.close()
    results = {student: marks(result) for student, result in read_all(out).items()}
    return Graded(assignment, entries, order, results)


@pytest.fixture
def batch(graded: Graded, tmp_path: Path) -> Iterator[Batch]:
    found = begun(graded.assignment, tmp_path / "out")
    yield found
    found.close()
    graded.order.unlink(missing_ok=True)


def workers() -> set[int]:
    return {pid for pid in offspring(os.getpid()) if says(pid, "autograder.judge.worker")}


@pytest.mark.parametrize(
    ("moment", "victim"),
    [
        ("public-plan", "worker"),
        ("hidden-live", "worker"),
        *(
            pytest.param(moment, victim, marks=pytest.mark.release)
            for moment, victim in (
                ("public-live", "worker"),
                ("hidden-plan", "worker"),
                ("public-plan", "judge"),
                ("public-live", "judge"),
                ("hidden-plan", "judge"),
                ("hidden-live", "judge"),
            )
        ),
    ],
)
def test_who_was_under_way_is_graded_anew_and_comes_out_the_same(
    graded: Graded, batch: Batch, tmp_path: Path, moment: str, victim: str
) -> None:
    """The worker is killed, or the process that judges this submission for it."""
    others = workers()
    batch.start()
    before = workers() - others
    (worker,) = before
    graded.order.write_text(f"{moment} {worker if victim == 'worker' else 0}")
    waits = {}
    for entry in graded.entries:
        batch.result(entry)
        waits[entry.id] = graded.order.exists()
    # No test runs of whom the plan shows to be right.
    assert waits == {"s01": True, "s02": False, "s03": False, "s04": False}
    assert len(workers() - others - before) == 1
    assert worker not in workers()
    found = {student: marks(result) for student, result in read_all(tmp_path / "out").items()}
    assert found == graded.results
    assert [found[student]["score"] for student in WORKS] == [2, 0, 2, 0]
    assert "200" in str(found["s02"])
