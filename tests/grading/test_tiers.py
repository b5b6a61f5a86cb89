"""Each sandbox there is, once from a job to a mark: right, wrong and prying work."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.grading.messages import GradeJob, Marked
from autograder.grading.workers import CannotGrade, Worker
from autograder.sandbox.tiers import NotIsolated
from tests.conftest import TIERS, skip
from tests.sources import RIGHT, WRONG
from tests.tiny import write_tiny


# The first is tried by the real command, in test_grade.
@pytest.mark.parametrize("tier", [pytest.param(TIERS[0], marks=pytest.mark.slow), *TIERS[1:]])
def test_work_gets_its_marks_and_cannot_read_the_solution(tier: str, tmp_path: Path) -> None:
    root = write_tiny(tmp_path / "project")
    secret = root / "reference" / "norm" / "layer_norm.py"
    # A path that is computed is no matter of the text; the sandbox has it.
    prying = f"open(''.join([{str(secret)!r}])).read()\n"
    worker = Worker(load_assignment(root, "norm"), tier)
    try:
        try:
            worker.wait()
        except CannotGrade as reason:
            skip(tier, NotIsolated(str(reason)))
        assert worker.sandbox.startswith(f"tier {tier[-1]}: ")
        for name, source, score in (("a", RIGHT, 2.0), ("b", WRONG, 0.0), ("c", prying, 0.0)):
            (tmp_path / name).mkdir()
            (tmp_path / name / "layer_norm.py").write_text(source)
            path = os.fsencode(tmp_path / name)
            answer = worker.ask(GradeJob(id=name, path=path, suite_hash="now"))
            assert isinstance(answer, Marked)
            assert (answer.result.status, answer.result.score) == ("graded", score)
        found = answer.result.components["layer_norm"]
        assert found.status == "import_error"
        assert "layer_norm.py, line 1" in found.message
    finally:
        worker.close()
