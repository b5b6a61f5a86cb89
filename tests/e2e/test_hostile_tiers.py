"""Hostile submissions get no more than their honest part on the other tiers, too."""

import pytest

from tests.conftest import TIERS

# The tests of another module, which take the tier from this one.
from tests.sandbox.test_hostile import *  # noqa: F403

pytestmark = pytest.mark.release


@pytest.fixture(scope="module", params=[tier for tier in TIERS if tier != "tier1"])
def tier(request: pytest.FixtureRequest) -> str:
    """Each of the sandboxes, one after the other."""
    return request.param
