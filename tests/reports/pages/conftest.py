"""Classes and their pages."""

from __future__ import annotations

import pytest

from autograder.assignment import load_assignment
from autograder.results import SubmissionResult
from tests.conftest import ROOT
from tests.reports.pages.classes import Parts, graded_parts, made_class

BASICS = ROOT / "tests" / "courses" / "basics"


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Components of a small course with every known mistake, graded."""
    return graded_parts(load_assignment(BASICS, "basics"), tmp_path_factory.mktemp("parts"), 1)


@pytest.fixture(scope="session")
def three_hundred(parts: Parts) -> tuple[list[SubmissionResult], dict[str, set[str]]]:
    """A class of 300, and whom every mistake was given to."""
    return made_class(parts, 300, 17, "basics")
