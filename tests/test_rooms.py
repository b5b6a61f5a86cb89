"""The rooms of the package: what lies at the top, and who may bring torch along."""

import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import autograder

LIGHT = ["autograder.cli", "autograder.grading.batch", "autograder.platforms.nbgrader.course"]
LIGHT += ["autograder.platforms.similar.comparing", "autograder.platforms.cluster.client"]
LIGHT += [
    f"autograder.reports.{module.name}"
    for module in pkgutil.iter_modules([str(Path(autograder.__file__).parent / "reports")])
]


@pytest.mark.parametrize("module", LIGHT)
def test_what_only_reads_results_or_starts_workers_needs_no_torch(module: str) -> None:
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_only_who_asks_for_a_cluster_needs_dask() -> None:
    imported = "autograder.cli, autograder.platforms.cluster.client"
    code = f"import sys, {imported}; sys.exit('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_few_modules_lie_at_the_top() -> None:
    folder = Path(autograder.__file__).parent
    modules = {path.name for path in folder.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert len(modules) <= 10, modules


def test_every_room_says_what_it_is_for() -> None:
    folder = Path(autograder.__file__).parent
    for path in folder.rglob("*.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path
        assert (path.parent / "__init__.py").is_file(), path
