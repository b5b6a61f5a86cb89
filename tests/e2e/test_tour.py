"""The first ten minutes of docs/authoring.md, typed as they stand there, on each tier."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.e2e.installed import Installed
from tests.page import examples

# `make test` runs the page's other examples.
pytestmark = pytest.mark.release
TOUR = [example for example in examples() if example.section == "Ten minutes"]


@pytest.fixture(scope="session")
def autograder_command(environment: Installed) -> Path:
    """The command from the wheel; beside it are the Python and the pytest of its environment."""
    return environment.python.parent / "autograder"


@pytest.fixture(params=["tier1", "tier2"])
def shell(request: pytest.FixtureRequest, autograder_command: Path, tmp_path: Path) -> Shell:
    """A terminal in an empty folder, where the command isolates on a tier."""
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    # As it is typed, nothing names the tier: the strongest is taken.
    (bin_ / "autograder").write_text(
        "#!/bin/sh\n"
        'case "$1" in\n'
        f'check|explain|grade|selftest) exec "{autograder_command}" "$@" --sandbox '
        f"{request.param};;\n"
        f'*) exec "{autograder_command}" "$@";;\n'
        "esac\n"
    )
    (bin_ / "autograder").chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    path = f"{bin_}{os.pathsep}{autograder_command.parent}{os.pathsep}{os.environ['PATH']}"
    kept = {name: os.environ[name] for name in ("LANG", "TMPDIR") if name in os.environ}
    return Shell(home, {**kept, "PATH": path, "HOME": str(home)}, request.param)


class Shell:
    """Runs blocks of commands one after the other, as one terminal would."""

    def __init__(self, folder: Path, environment: dict[str, str], tier: str) -> None:
        self.folder = folder
        self._where = folder.parent / "where"
        self._environment = environment
        self._tier = tier

    def run(self, commands: str) -> str:
        """Run a block, to its end, and stay where it went; return what it printed."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f'{commands}\npwd > "{self._where}"'],
            cwd=self.folder,
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=570,
        )
        if "cannot be isolated" in done.stdout:
            pytest.skip(f"{self._tier} CANNOT BE TESTED HERE: {done.stdout.strip()}")
        assert done.returncode == 0, f"{commands}\n{done.stdout}"
        self.folder = Path(self._where.read_text().strip())
        return done.stdout


def test_the_tour_goes_as_the_page_says(shell: Shell) -> None:
    said = ""
    for example in TOUR:
        if example.place:
            # A file that the reader fills in: `autograder new` has written it.
            path = shell.folder / example.place
            assert path.is_file(), example.line
            path.write_text(example.text)
        elif example.language == "sh":
            said = shell.run(example.text)
        elif example.language == "text":
            for line in example.text.splitlines():
                assert line in said.splitlines(), f"line {example.line}: {line}\n{said}"
    results = shell.folder / "results" / "results"
    assert {path.stem for path in results.iterdir()} == {"s01", "s02"}
    released = {path.name for path in (shell.folder / "handout").iterdir()}
    assert released == {"README.md", "running_mean.py", "tests"}
