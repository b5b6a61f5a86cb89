"""What tests of pipelines share: repositories, and a platform on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ci.platform import Platform, serving
from tests.ci.repositories import Repository

TOKEN = "ghp_canary5e7a91"


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The folder that repositories are below."""
    folder = tmp_path / "server"
    folder.mkdir()
    return folder


@pytest.fixture
def repository(server: Path) -> Callable[[str], Repository]:
    return lambda name: Repository(server, f"course/{name}")


@pytest.fixture
def platform(server: Path) -> Iterator[Platform]:
    with serving(Platform(server, (TOKEN,))) as found:
        yield found
