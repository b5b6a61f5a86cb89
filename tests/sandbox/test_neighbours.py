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
HOSTILE_ONES = 3
RIGHT_ONES = 30


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("kind", ["thief", "vandal"])
def test_neighbours_neither_take_nor_change_work(
    autograder, tmp_path: Path, kind: str, workers: int
) -> None:
    root = make_project(tmp_path / "project", "hostile", COMPONENTS)
    batch = tmp_path / "batch"
    batch.mkdir()
    step = RIGHT_ONES // HOSTILE_ONES
    for number in range(RIGHT_ONES):
        control(batch / f"s{number:02}-right", number)
        if number % step == 0:
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
    results = {path.stem: json.loads(path.read_text()) for path in (out / "results").iterdir()}
    scores = {name: (result["score"], result["max_score"]) for name, result in results.items()}
    right = {name: score for name, score in scores.items() if name.endswith("right")}
    assert len(right) == RIGHT_ONES
    assert {name: score for name, score in right.items() if score[0] != score[1]} == {}
    assert {
        name: score[0] for name, score in scores.items() if name not in right and score[0]
    } == {}
