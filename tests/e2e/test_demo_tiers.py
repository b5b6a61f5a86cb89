"""The made-up classes get their marks on the other tiers, too."""

import pytest

# The tests of another module, which take the tier from this one.
from tests.grading.test_demo import *  # noqa: F403

pytestmark = pytest.mark.release


@pytest.fixture(scope="module", params=["tier2", "tier3"])
def tier(request: pytest.FixtureRequest) -> str:
    """Each of the sandboxes, one after the other."""
    return request.param
