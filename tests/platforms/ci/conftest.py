"""What tests of pipelines share: repositories, and a platform on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.platforms.ci.platform import Platform, serving
from tests.platforms.ci.repositories import Repository

TOKEN = "ghp_canary5e7a91"


@pytest.fixture
def platform() -> Iterator[Platform]:
    with serving(Platform((TOKEN,))) as found:
        yield found


@pytest.fixture
def stranger() -> Iterator[Platform]:
    """Another server, where no token may be shown."""
    with serving(Platform(())) as found:
        yield found


@pytest.fixture
def repository(platform: Platform) -> Callable[[str], Repository]:
    return lambda name: platform.repository(f"course/{name}")
