"""Cases, rules and limits of a component hold on the second tier."""

import pytest

# The tests of another module, which take the tier from this one.
from tests.judge.test_small_course import *  # noqa: F403

# A student's own run knows no tier.
del test_the_summary_of_a_students_run, test_a_students_run_has_every_components_rules  # noqa: F821
pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def tier() -> str:
    """The sandbox that the other module leaves out."""
    return "tier2"
