"""Known mistakes are named in foreign styles and numerics, and no cause is a false one."""

from __future__ import annotations

import pytest

from autograder.assignment import Assignment
from tests import foreign

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def solutions(assignment: Assignment) -> dict[str, str]:
    return {path.name: path.read_text() for path in assignment.secret.glob("*.py")}


def named(grade, solutions: dict[str, str], component: str, source: str):
    files = {**solutions, f"{component}.py": source}
    return grade(files, only=(component,))[component]


@pytest.mark.parametrize("slug", foreign.CASES)
def test_the_mistake_is_named_and_no_other(grade, solutions, slug: str) -> None:
    case = foreign.CASES[slug]
    found = named(grade, solutions, case.component, case.source)
    assert found.score < found.max_score
    assert set(found.misconceptions) == {f"{case.component}.{name}" for name in case.names}
    assert not found.either


def test_a_finite_number_in_an_inverted_mask_is_told_as_nothing_else(grade, solutions) -> None:
    found = named(grade, solutions, "attention", foreign.INVERTED)
    assert found.score < found.max_score
    assert set(found.misconceptions) <= {"attention.mask_inverted", "attention.finite_mask"}
