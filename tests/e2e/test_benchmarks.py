"""Benchmarks that reach into the judge: a renamed function must not go unnoticed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# In a process of its own: it puts clocks around functions of the grader.
SPLIT = """
import json, sys
from tests.benchmarks import bench
print(json.dumps(bench.bench_split(1, bench.handed_in(sys.argv[1]))))
"""


@pytest.mark.release
def test_every_part_of_a_submissions_time_is_measured(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SPLIT, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    split = json.loads(done.stdout.splitlines()[-1])
    # The rest is what the others leave: below 0 where something is measured twice.
    assert all(part > 0 for part in split.values()), split
