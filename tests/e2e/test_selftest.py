"""The suites of the assignments hold: rows of the selftest, graded for real."""

import subprocess
import sys

import pytest

from autograder.authoring.proof import Report
from tests.conftest import ROOT

# How many mutants of each component are tried here; `make selftest` tries all.
MUTANTS = 12


NAMED = (
    *("learned_positions", "relative_positions", "encoder", "classifier"),
    *("language_model", "generate", "cost"),
)
RUNS = {
    "transformer_block": ["transformer_block"],
    "language_model": ["language_model", *(f"--component={name}" for name in NAMED)],
    # Of the wrong variants of training, too few are named as yet.
    "training": [
        *("language_model", "--component=training", "--kind=right", "--kind=stub"),
        *("--kind=misconception", "--kind=mutant", "--kind=stand-in", "--kind=trivial"),
    ],
}


@pytest.fixture(scope="module", params=RUNS)
def whole(request: pytest.FixtureRequest) -> Report:
    """The selftest of an assignment, through the command, with some mutants and a few pairs."""
    command = [sys.executable, "-m", "autograder", "selftest", *RUNS[request.param], "--json"]
    command += ["--pairs", "3", "--mutants", str(MUTANTS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode in (0, 1), done.stderr
    found = Report.model_validate_json(done.stdout)
    assert found.holds == (done.returncode == 0)
    return found


def test_the_suites_of_the_assignment_hold(whole: Report) -> None:
    assert whole.faults == []


def test_the_diagnosis_names_what_is_there_and_nothing_else(whole: Report) -> None:
    figures = whole.figures
    assert figures.named_alone >= 0.95 * figures.misconceptions
    assert figures.named_pair + figures.named_half >= 0.8 * figures.pairs
    assert figures.right_named == 0


def test_every_mutant_is_caught_or_marked(whole: Report) -> None:
    figures = whole.figures
    looked_at = len(whole.criteria) - len(whole.left_out)
    assert figures.mutants >= MUTANTS * looked_at
    assert figures.mutants_caught + figures.mutants_equivalent == figures.mutants
