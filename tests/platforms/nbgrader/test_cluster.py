"""A class marked in the gradebook from a Dask cluster: as from one machine, and interrupted."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.e2e.clusters import COMMAND, Run, gone
from tests.grading.processes import descendants
from tests.platforms.nbgrader.conftest import Course
from tests.platforms.nbgrader.test_autograde import FULL
from tests.platforms.nbgrader.test_class import everything, hand_in_a_class
from tests.sources import RIGHT

pytest.importorskip("distributed", reason="DASK IS NOT INSTALLED: run `make test-e2e`")

from tests.e2e.gated import EARLY_COUNT, GATE, PATCH, TRIES

# tests/e2e/test_cluster.py has a class on a cluster, graded as on one machine.
pytestmark = pytest.mark.release


def test_a_cluster_leaves_what_one_machine_leaves(course: Course, tmp_path: Path) -> None:
    hand_in_a_class(course)
    other = course.copy(tmp_path / "other")
    course.grade("--jobs", "2")
    said = other.grade("--cluster", "local:2")
    assert "5 submissions: 4 graded, 1 empty" in said
    assert "Traceback" not in said
    assert "Warning" not in said
    assert everything(other) == everything(course)
    assert other.marks()["s01"] == FULL
    said = other.grade("--cluster", "local:1")
    assert said.count("(unchanged)") == 5
    assert everything(other) == everything(course)


def test_an_interrupt_keeps_what_is_done(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("s01", "s02", "z1"):
        course.hand_in(student, {"layer_norm.py": RIGHT})
    for name, value in course.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(GATE, str(tmp_path / "gate"))
    monkeypatch.setenv(TRIES, str(tmp_path / "tries"))
    monkeypatch.setenv(EARLY_COUNT, "2")
    words: list[str | Path] = ["grade", course.folder / "submitted", "--gradebook", course.url]
    run = Run([*words, "--cluster", "local:1"], tmp_path / "said.txt", PATCH + COMMAND)
    try:
        run.has_done(2)
        left = descendants(run.process.pid)
        os.killpg(run.process.pid, signal.SIGINT)
        assert run.wait() == 130, run.said()
    finally:
        run.process.kill()
    gone(left)
    assert "stopped: what is done is kept" in run.said()
    assert "Traceback" not in run.said(), run.said()
    assert set(course.results()) == {"s01", "s02"}
    assert "z1" not in course.marks()
    (tmp_path / "gate").touch()
    said = course.grade("--cluster", "local:1")
    assert said.count("(unchanged)") == 2
    assert course.marks() == dict.fromkeys(("s01", "s02", "z1"), FULL)
