"""What a grade cell would hold if nbgrader itself were to mark a component to the same points.

Runs in the notebook's kernel, beside the student's modules: both suites of the component, with the
judge's number of examples, and the points of the criteria that hold. Nothing is confined.
"""

from __future__ import annotations

import contextlib
import io
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "transformer_block"


class _Points:
    """Adds up the points of the tests that pass."""

    def __init__(self) -> None:
        self.earned = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: Any) -> Any:
        marker = item.get_closest_marker("criterion")
        if call.when == "call" and call.excinfo is None and marker is not None:
            self.earned += float(marker.kwargs["points"])
        return (yield)


def mark(component: str) -> float:
    """Return the points of the modules in the current folder."""
    os.environ["GRADEFORMER_FRESH"] = f"{ROOT}:{NAME}:{Path.cwd()}"
    suites = [ROOT / part / NAME / "tests" for part in ("assignments", "reference")]
    points = _Points()
    options = ["-p", "tests.benchmarks.fresh", "-q", "-c", os.devnull, "--rootdir", str(ROOT)]
    options += ["--import-mode=importlib", "-p", "no:cacheprovider", "--noconftest"]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        files = [str(suite / f"test_{component}.py") for suite in suites]
        pytest.main([*options, *files], plugins=[points])
    return points.earned
