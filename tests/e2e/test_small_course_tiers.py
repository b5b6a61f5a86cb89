"""Cases, rules and limits of a component hold on the second tier."""

import pytest

# The tests of another module, which take the tier from this one.
from tests.judge.test_small_course import *  # noqa: F403


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox that the other module leaves out."""
    return "tier2"
