"""The suites of `basics` hold: right work loses nothing, every known mistake something."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "tests" / "courses" / "basics"


# tests/e2e/test_selftest.py has the assignments of the project.
@pytest.mark.release
@pytest.mark.parametrize(
    "tier, mutants",
    [
        ("tier1", -1),
        # Whatever the tier, a mutant is answered alike: all of them once, and a few more.
        ("tier2", 5),
    ],
)
def test_the_suites_of_basics_hold(tier: str, mutants: int) -> None:
    command = [sys.executable, "-m", "autograder", "selftest", "basics", "--root", str(COURSE)]
    command += ["--sandbox", tier, "--json", "--mutants", str(mutants)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=570)
    if done.returncode == 2 and "isolated" in done.stderr:
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.stdout, done.stderr
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert report["faults"] == []
    assert report["holds"] is True
    assert done.returncode == 0
    kinds = {row["kind"] for row in report["rows"]}
    assert kinds >= {"solution", "right", "stub", "misconception", "pair"}
    assert report["figures"]["mutants"] >= (300 if mutants < 0 else 4 * 5)
