"""Tier 3 keeps children side by side apart: a thief and a vandal among right classmates."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT, make_project
from tests.sandbox.test_hostile import COMPONENTS, HOSTILE, control

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="tier 3 CANNOT BE TESTED HERE: not root"),
]
RIGHT_ONES = 36
HOSTILE_ONES = {0: "thief", 6: "vandal", 12: "thief", 18: "vandal", 24: "thief", 30: "vandal"}


@pytest.mark.parametrize("workers", [2, pytest.param(4, marks=pytest.mark.release)])
def test_neighbours_neither_take_nor_change_work(autograder, tmp_path: Path, workers: int) -> None:
    root = make_project(tmp_path / "project", "hostile", COMPONENTS)
    batch = tmp_path / "batch"
    batch.mkdir()
    for number in range(RIGHT_ONES):
        control(batch / f"s{number:02}-right", number)
    for number, kind in HOSTILE_ONES.items():
        folder = batch / f"s{number:02}-{kind}"
        folder.mkdir()
        for name in COMPONENTS:
            shutil.copy(HOSTILE / "neighbours" / f"{kind}.py", folder / f"{name}.py")
    out = tmp_path / "out"
    done = autograder(
        *("grade", batch, "--assignment", "hostile", "--out", out, "--root", root),
        *("--sandbox", "tier3", "--jobs", str(workers)),
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    scores = {path.stem: json.loads(path.read_text()) for path in (out / "results").iterdir()}
    assert len(scores) == RIGHT_ONES + len(HOSTILE_ONES)
    wrong = {
        name: result["score"]
        for name, result in scores.items()
        if result["score"] != (result["max_score"] if name.endswith("right") else 0)
    }
    assert wrong == {}
