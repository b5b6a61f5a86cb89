"""The suites of the assignments hold: rows of the selftest, graded for real."""

import subprocess
import sys

import pytest

from autograder.authoring.proof import Report
from tests.conftest import KEEPING, ROOT

# `make selftest`, a part of `make test-all`, grades more pairs, every misconception by itself, and
# every mutant.
NAMES = ["language_model", "transformer_block"]


@pytest.fixture(scope="module", params=NAMES)
def whole(request: pytest.FixtureRequest) -> Report:
    """The quick selftest of an assignment, through the command."""
    command = [sys.executable, "-m", "autograder", "selftest", request.param, "--quick", "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=KEEPING, capture_output=True, text=True, timeout=1800
    )
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
